# SPDX-License-Identifier: MIT
"""The words of clrsym: what its help shows, its manual explains and bash completes are the same."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'traces'))

import ingest  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = ROOT / 'src' / 'cli' / 'clrsym.bash'
MANUAL = ROOT / 'man' / 'clrsym.1'
NS = 10**9
# What bash does when TAB is pressed behind these words.
PRESS_TAB = '''
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
_clrsym "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
'''


class Help:
    """The verbs that --help shows, and the options of each, by its own --help."""

    def __init__(self, programs):
        def text(*words):
            return programs.run([programs.clrsym, *words, '--help']).stdout
        self.verbs = re.findall(r'^  (-*[a-z]+)  +\S', text(), re.MULTILINE)
        self.options = {verb: re.findall(r'^  (?:-., |    )(--[a-z-]+)', text(verb), re.MULTILINE)
                        for verb in self.verbs}
        self.letters = {verb: re.findall(r'^  (-.), --', text(verb), re.MULTILINE)
                        for verb in self.verbs}
        self.usage = {verb: text(verb).splitlines()[0] for verb in self.verbs}
        self.lines = {verb: text(verb).splitlines() for verb in self.verbs}


def plain(text):
    """A manual's text without its fonts."""
    return re.sub(r'\\f.', '', text).replace('\\-', '-')


def check_manual(tap, help_):
    manual = plain(MANUAL.read_text(encoding='utf-8'))
    sections = dict(re.findall(r'^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)', manual,
                               re.MULTILINE | re.DOTALL))
    synopsis = re.findall(r'^clrsym (-*[a-z]+)', sections['SYNOPSIS'], re.MULTILINE)
    tap.equal(list(dict.fromkeys(synopsis)), help_.verbs, 'manual: synopsis of each verb')
    verbs = re.findall(r'^\.TP\n\.B (-*[a-z]+)$', sections['VERBS'], re.MULTILINE)
    tap.equal(verbs, help_.verbs, 'manual: each verb is explained, in that order')
    explained = {option for heading in
                 re.findall(r'^\.TP\n(.*)$', sections['OPTIONS'], re.MULTILINE)
                 for option in re.findall(r'(?<!\S)(-[a-z]|--[a-z-]+)', heading)}
    known = {option for verb in help_.verbs for option in help_.options[verb] + help_.letters[verb]}
    tap.equal(sorted(explained), sorted(known), 'manual: each option is explained, and no other')
    # "(methods) ..." says whose option it is.
    for option, whose in re.findall(r'^\.TP\n(?:\.B )?(?:-., )?(--[a-z-]+).*\n\(([a-z, ]+)\)',
                                    sections['OPTIONS'], re.MULTILINE):
        tap.equal(sorted(whose.split(', ')),
                  sorted(verb for verb in help_.verbs if option in help_.options[verb]),
                  f'manual: whose {option} is')
    for verb, option in re.findall(r'clrsym ([a-z]+)[^\n|]*? (--[a-z-]+)', sections['EXAMPLES']):
        tap.check(option in help_.options[verb], f'manual: example of {verb} {option}')
    tap.check(all(f'clrsym {verb}' in sections['EXAMPLES']
                  for verb in ('resolve', 'methods', 'perfmap', 'save', 'jit', 'dump')),
              'manual: examples')


def check_help(tap, help_):
    tap.check(len(help_.verbs) == 13 and all(help_.options.values()), 'help: verbs', help_.verbs)
    for verb in help_.verbs:
        tap.check(help_.usage[verb].startswith(f'Usage: clrsym {verb}') and
                  '--help' in help_.options[verb] and
                  all(len(line) <= 100 for line in help_.lines[verb]), f'help: {verb}',
                  *help_.lines[verb])
    for verb in help_.verbs:
        if verb not in ('dump', 'save', '--version'):
            tap.check({'--socket', '--trace', '--pid'} - {'--pid' if verb in ('status', 'metrics')
                                                          else ''} <= set(help_.options[verb]),
                      f'help: {verb} can be asked of a daemon or a trace, about a process')
        if verb not in ('dump', 'save', 'perfmap'):
            tap.check('--json' in help_.options[verb], f'help: {verb} speaks JSON')


class Bash:
    def __init__(self, programs, daemon, directory):
        self.programs, self.directory = programs, directory
        self.environment = {**programs.environment, 'CLRSYM_SOCKET': str(daemon.query)}

    def complete(self, *words, **environment):
        done = subprocess.run(['bash', '--norc', '-c', PRESS_TAB, 'bash', COMPLETION,
                               self.programs.clrsym, *words], capture_output=True, check=True,
                              cwd=self.directory, env={**self.environment, **environment})
        return sorted(word for word in done.stdout.decode().split('\n') if word)


def check_completion(tap, bash, help_, programs):
    tap.equal(bash.complete(''), sorted(help_.verbs + ['--help']), 'completion: verbs')
    tap.equal(bash.complete('m'), ['methods', 'metrics', 'modules'], 'completion: verbs with m')
    tap.equal(bash.complete('--'), ['--help', '--version'], 'completion: --')
    for verb in help_.verbs:
        tap.equal(bash.complete(verb, '--'), sorted(help_.options[verb]),
                  f'completion: options of {verb}')
    tap.equal(bash.complete('methods', '--t'), ['--tier', '--trace'], 'completion: methods --t')
    for option in ('--tier', '--sort'):
        words = bash.complete('methods', option, '')
        taken = [programs.run([programs.clrsym, 'methods', option, word, '--socket', '/nowhere'])
                 .returncode for word in words]
        tap.check(len(words) >= 5 and set(taken) == {1}, f'completion: {option} takes each of {words}',
                  taken)
    manual = plain(MANUAL.read_text(encoding='utf-8'))
    tiers = re.search(r'^--tier TIER\n\(methods\)[^:]*:(.*?)\.\n', manual, re.MULTILINE | re.DOTALL)
    tap.equal(sorted(re.findall(r'\w+', tiers[1])), bash.complete('methods', '--tier', ''),
              'manual: tiers')
    tap.equal(bash.complete('methods', '--tier', 'Opt'),
              ['Optimized', 'OptimizedTier1', 'OptimizedTier1OSR'], 'completion: tiers with Opt')
    for letter in ('-p', '--pid'):
        tap.equal(bash.complete('history', letter, ''), ['100', '200'], f'completion: {letter}')
    socket = bash.environment['CLRSYM_SOCKET']
    tap.equal(bash.complete('history', '--socket', socket, '-p', '2', CLRSYM_SOCKET='/nowhere'),
              ['200'], 'completion: pids of the daemon that is named')
    tap.equal(bash.complete('ps', '-p', '', CLRSYM_SOCKET='/nowhere'), [],
              'completion: no pids without a daemon')
    tap.equal(bash.complete('ps', '--trace', '/nowhere', '-p', ''), [],
              'completion: no trace is read for it')
    os.mkdir(os.path.join(bash.directory, 'a trace'))
    for words in (['dump', 'a'], ['ps', '--trace', 'a'], ['save', '-o', 'a']):
        tap.equal(bash.complete(*words), ['a trace'], f'completion: files for {" ".join(words)}')
    tap.equal(bash.complete('methods', '--older', ''), [], 'completion: nothing for a number')
    tap.equal(bash.complete('nonsense', '--'), [], 'completion: nothing for an unknown verb')
    done = subprocess.run(['bash', '--norc', '-c', f'source {COMPLETION}; complete -p clrsym'],
                          capture_output=True, check=False)
    tap.equal((done.returncode, done.stdout.strip()), (0, b'complete -F _clrsym clrsym'),
              'completion: bash takes it')


def run(tap, programs, directory, _):
    help_ = Help(programs)
    check_help(tap, help_)
    check_manual(tap, help_)
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), ingest.runtime_start(9 * NS),
                    ingest.runtime_start(10 * NS, pid=200), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        work = os.path.join(directory, 'work')
        os.mkdir(work)
        check_completion(tap, Bash(programs, daemon, work), help_, programs)
        feeder.close()


if __name__ == '__main__':
    recorded.main(run)
