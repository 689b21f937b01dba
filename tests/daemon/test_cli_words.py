# SPDX-License-Identifier: MIT
"""Checks that the help of clrsym, its manual and its bash completion have the same verbs and
options."""

import os
import pathlib
import re
import subprocess

from tests.daemon import ingest
from tests.traces import recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = ROOT / 'src' / 'cli' / 'clrsym.bash'
MANUALS = ROOT / 'man'
ASKING = ('resolve', 'ps', 'methods', 'history', 'versions', 'modules', 'assemblies', 'perfmap',
          'jit', 'status', 'metrics')
NS = 10**9
# Prints the completions that bash offers after these words.
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
    """The verbs from --help, and the options of each verb from its own --help."""

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
    """Returns the text of a manual page without its font changes."""
    return re.sub(r'\\f.', '', text).replace('\\-', '-')


class Manual:
    """The sections of a manual page, and the options that it explains."""

    def __init__(self, page):
        text = plain((MANUALS / page).read_text(encoding='utf-8'))
        self.sections = dict(re.findall(r'^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)', text,
                                        re.MULTILINE | re.DOTALL))
        headings = re.findall(r'^\.TP\n(.*)$', self.sections['OPTIONS'], re.MULTILINE)
        self.options = {option for heading in headings
                        for option in re.findall(r'(?<![^\s"])(-[a-zA-Z]|--[a-z-]+)', heading)}


def check_manual(tap, help_):
    """clrsym(1) has each verb, and explains its options or names the page that does."""
    main = Manual('clrsym.1')
    synopsis = re.findall(r'^clrsym (-*[a-z]+)', main.sections['SYNOPSIS'], re.MULTILINE)
    tap.equal(list(dict.fromkeys(synopsis)), help_.verbs, 'manual: synopsis of each verb')
    entries = re.findall(r'^\.TP\n\.B (-*[a-z]+)\n(.*?)(?=^\.TP|\Z)', main.sections['VERBS'],
                         re.MULTILINE | re.DOTALL)
    tap.equal([verb for verb, _ in entries], help_.verbs,
              'manual: each verb is explained, in that order')
    # clrsym(1) explains options of several verbs; the page of a verb explains its own options.
    lacking = {}
    for verb, text in entries:
        page = re.search(r'see\n\.BR (clrsym-[a-z]+) \(1\)', text)
        own = {*help_.options[verb], *help_.letters[verb]}
        lacking[verb] = own - (Manual(f'{page[1]}.1').options if page else set())
        tap.equal(sorted(lacking[verb] - main.options), [], f'manual: options of {verb}')
        if page and page[1] == f'clrsym-{verb}' and verb not in ('attach', 'feed', 'session'):
            tap.equal(sorted(Manual(f'{page[1]}.1').options - own), [], f'manual: no other options of {verb}')
    tap.equal(sorted(main.options - set().union(*lacking.values())), [], 'manual: no other options')
    # "(resolve, methods) ..." names the verbs of an option.
    for option, whose in re.findall(r'^\.TP\n(?:\.B )?(?:-., )?(--[a-z-]+).*\n\(([a-z, ]+)\)',
                                    main.sections['OPTIONS'], re.MULTILINE):
        tap.equal(sorted(whose.split(', ')), sorted(verb for verb in lacking if option in lacking[verb]),
                  f'manual: whose {option} is')
    for verb, option in re.findall(r'clrsym ([a-z]+)[^\n|]*? (--[a-z-]+)', main.sections['EXAMPLES']):
        tap.check(option in help_.options[verb], f'manual: example of {verb} {option}')
    tap.check(all(f'clrsym {verb}' in main.sections['EXAMPLES']
                  for verb in ('resolve', 'methods', 'perfmap', 'snapshot', 'jit', 'dump')),
              'manual: examples')


# Misspelt verb -> suggestion; None: no suggestion.
MISSPELT = {'reslove': 'resolve', 'recrod': 'record', 'repotr': 'report', 'hlep': 'help', 'snapshoot': 'snapshot',
            'metods': 'methods', 'xyzzy': None, 'q': None, 'r' * 100: None}


def check_verbs(tap, programs, help_):
    """Checks the verbs of `clrsym help`, old spellings, and words that are no verbs."""
    def run(*words):
        return programs.run([programs.clrsym, *words])

    tap.equal(run('help').stdout, run('--help').stdout, 'help')
    differing = [verb for verb in help_.verbs if verb[0] != '-' and run('help', verb).stdout != run(verb, '--help').stdout]
    tap.equal(differing, [], 'help VERB')
    tap.equal(run('help', 'session', 'start').stdout, run('session', 'start', '--help').stdout, 'help VERB VERB')
    tap.equal(run('help', 'session', 'strat').stderr,
              'clrsym: no verb strat (did you mean start?): see clrsym help --help\n', 'help of a misspelt verb')
    for old in 'perf', 'save':
        done = run(old, '--help')
        tap.check(done.returncode == 0 and done.stdout.startswith(f'Usage: clrsym {old} ') and old not in help_.verbs,
                  f'the old spelling {old}', done.stderr)
    tap.equal(run('session', 'fix', '--help').returncode, 0, 'the old spelling session fix')
    # Old and new spelling have the same error, so the old one is read.
    for words, old, reason in ((['methods', '--at', '5'], '--all', 'give --at or --unloaded, not both'),
                               (['attach', '1', '--list'], '--list=never', 'exactly one of PID'),
                               (['feed', '/nowhere'], '--socket=/nowhere', 'clrsym import'),
                               (['session', 'repair', 'a', 'b'], '--force', 'session repair')):
        done = run(*words, old)
        tap.check(done.returncode in (1, 2) and 'unknown option' not in done.stderr, f'the old spelling {words[0]} {old}',
                  reason, done.stderr)
    for word, meant in MISSPELT.items():
        guess = f' (did you mean {meant}?)' if meant else ''
        done = run(word)
        tap.equal((done.returncode, done.stderr), (2, f'clrsym: no verb {word}{guess}: see clrsym --help\n'),
                  f'misspelt: {word[:10]}')


def check_help(tap, help_):
    tap.check(len(help_.verbs) > 12, 'help: verbs', help_.verbs)
    for verb in help_.verbs:
        tap.check(help_.usage[verb].startswith(f'Usage: clrsym {verb}') and
                  all(len(line) <= 100 for line in help_.lines[verb]), f'help: {verb}',
                  *help_.lines[verb])
    for verb in ASKING:
        tap.check({'--socket', '--trace', *(() if verb in ('status', 'metrics') else ('--pid',)),
                   '--json'} <= set(help_.options[verb]),
                  f'help: {verb} can be asked of a daemon or a trace, about a process, for JSON')


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
    tap.equal(bash.complete('session', ''), ['list', 'repair', 'start', 'stop'],
              'completion: verbs of session')
    for verb in bash.complete('session', ''):
        shown = re.findall(r'^  (?:-., |    )(--[a-z-]+)',
                           programs.run([programs.clrsym, 'session', verb, '--help']).stdout,
                           re.MULTILINE)
        tap.equal(bash.complete('session', verb, '--'), sorted(shown),
                  f'completion: options of session {verb}')
        tap.equal(sorted({*shown} - Manual('clrsym-session.1').options - {'--help'}), [],
                  f'manual: options of session {verb}')
    tap.equal(bash.complete('methods', '--t'), ['--tier', '--trace'], 'completion: methods --t')
    for verb, option, usual in (('methods', '--tier', 1), ('methods', '--sort', 1),
                                ('perf', '--style', 1),
                                ('perf', '--names', 1), ('env', '--format', 0)):
        words = bash.complete(verb, option, '')
        # A valid command is accepted; afterwards it may fail because there is no daemon.
        refused = [word for word in [*words, 'nonsense'] if
                   programs.run([programs.clrsym, verb, option, word],
                                env={**programs.environment, 'CLRSYM_SOCKET': '/nowhere'})
                   .returncode != usual]
        tap.check(len(words) >= 3 and refused == ['nonsense'],
                  f'completion: {option} takes each of {words}', refused)
    tiers = re.search(r'^--tier TIER\nOnly code of that tier:(.*?)\.\n', Manual('clrsym-methods.1').sections['OPTIONS'],
                      re.MULTILINE | re.DOTALL)
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
    for words in (['dump', 'a'], ['ps', '--trace', 'a'], ['save', '-o', 'a'], ['perf', '-i', 'a']):
        tap.equal(bash.complete(*words), ['a trace'], f'completion: files for {" ".join(words)}')
    tap.check('root' in bash.complete('attach', '--user', 'ro'), 'completion: users')
    tap.equal(bash.complete('methods', '--older', ''), [], 'completion: nothing for a number')
    tap.equal(bash.complete('nonsense', '--'), [], 'completion: nothing for an unknown verb')
    done = subprocess.run(['bash', '--norc', '-c', f'source {COMPLETION}; complete -p clrsym'],
                          capture_output=True, check=False)
    tap.equal((done.returncode, done.stdout.strip()), (0, b'complete -F _clrsym clrsym'),
              'completion: bash takes it')


def run(tap, programs, directory, _):
    help_ = Help(programs)
    check_verbs(tap, programs, help_)
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
