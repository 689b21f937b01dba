# SPDX-License-Identifier: MIT
"""The recorded traces, the programs under test, and TAP output, for all tests that read traces.

Each test gets the paths of the built `clrsym`, `clrsymd` and the directory of the built babeltrace2 plugin."""

import argparse
import collections
import csv
import json
import lzma
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

# Texts of events of later versions: the stored dumps are older than their support.
LATER_TEXT = re.compile(r'"(?:ModuleLoad|MethodLoadVerbose|ModuleDCEnd)_V3\.')

DATA = pathlib.Path(__file__).resolve().parent / 'data'
NAMES = sorted(entry.name for entry in DATA.iterdir() if entry.is_dir())
# Its events do not name their processes: every program refuses it.
REFUSED = 'noctx'
GOOD = [name for name in NAMES if name != REFUSED]
# It has 195,583 of the 480,000 events, but only kinds of events that other traces have, too.
LARGEST = 'perf'
# `tests/all --full` repeats tests with all versions of .NET, and with the largest trace.
IS_FULL = bool(os.environ.get('CLRSYM_TEST_FULL'))
# Tests that read all traces read the largest in `tests/all --full` only; some tests read only that one.
USUAL = NAMES if IS_FULL else [name for name in NAMES if name != LARGEST]
TIMEOUT = 300

csv.field_size_limit(1 << 24)

# The caller of the tests may ignore or block signals (nohup, a shell's background job). The programs under test
# inherit that, but need signals to stop.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Settings of the caller are not for the programs under test.
for variable in [name for name in os.environ
                 if name.startswith('CLRSYM_') and not name.startswith('CLRSYM_TEST_')]:
    del os.environ[variable]

# For the programs under test only.
if 'CLRSYM_TEST_PRELOAD' in os.environ:
    os.environ['LD_PRELOAD'] = os.environ.pop('CLRSYM_TEST_PRELOAD')


def without_later(text):
    """Removes events of later versions, which clrsym did not support when the dump was stored."""
    return ''.join(line for line in text.splitlines(True) if not LATER_TEXT.search(line))


class Tap:
    """Prints a numbered line for each check; the plan comes last, so that a crash before it shows."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def check(self, ok, name, *details):
        self.n += 1
        self.failed += not ok
        print(f'{"" if ok else "not "}ok {self.n} - {name}')
        if not ok:
            for detail in details:
                for line in str(detail).splitlines()[:60]:
                    print('#   ' + line[:400])
        sys.stdout.flush()
        return bool(ok)

    def equal(self, got, want, name):
        return self.check(got == want, name, f'got:  {got!r}', f'want: {want!r}')

    def same_rows(self, got, want, name):
        """Equal as multisets; prints missing and additional rows."""
        got, want = collections.Counter(got), collections.Counter(want)
        missing, surplus = want - got, got - want
        return self.check(not missing and not surplus, f'{name} ({sum(want.values())} rows)',
                          f'{sum(missing.values())} missing, {sum(surplus.values())} too much',
                          *[f'missing: {row}' for row in list(missing)[:5]],
                          *[f'surplus: {row}' for row in list(surplus)[:5]])

    def skip(self, name, why):
        self.n += 1
        print(f'ok {self.n} - {name} # SKIP {why}')

    def note(self, text):
        print(f'# {text}', flush=True)

    def finish(self):
        print(f'1..{self.n}', flush=True)
        sys.exit(1 if self.failed else 0)


class Programs:
    """The built programs, with an environment in which babeltrace2 finds the built plugin."""

    def __init__(self, arguments, directory):
        """DIRECTORY has the sockets and files of a user's own services; initially there are none."""
        self.clrsym, self.clrsymd = (os.path.abspath(path) for path in
                                     (arguments.clrsym, arguments.clrsymd))
        self.plugin_dir = os.path.abspath(arguments.plugin_dir)
        self.environment = {**os.environ, 'BABELTRACE_PLUGIN_PATH': self.plugin_dir,
                            'LC_ALL': 'C.UTF-8', 'TZ': 'UTC',
                            'CLRSYM_SESSIONS': os.path.join(directory, 'no-sessions'),
                            'CLRSYM_HOLDER': os.path.join(directory, 'no-holder'),
                            'CLRSYM_INGEST': os.path.join(directory, 'no-ingest')}

    def run(self, command, text=None, **options):
        """Runs to the end. The result has returncode, stdout and stderr as text."""
        options = {'timeout': TIMEOUT, 'env': self.environment, **options}
        done = subprocess.run([str(word) for word in command], capture_output=True, check=False,
                              input=None if text is None else text.encode(), **options)
        done.stdout, done.stderr = (stream.decode('utf-8', 'replace')
                                    for stream in (done.stdout, done.stderr))
        return done

    def babeltrace(self, trace, *arguments, **options):
        return self.run(['babeltrace2', f'--plugin-path={self.plugin_dir}', trace, *arguments],
                        **options)

    def dump(self, trace, output, **options):
        return self.babeltrace(trace, '-c', 'sink.clrsym.dump', '-p', f'output="{output}"',
                               **options)

    def feed_command(self, trace, socket):
        return ['babeltrace2', f'--plugin-path={self.plugin_dir}', str(trace),
                '-c', 'sink.clrsym.feed', '-p', f'socket="{socket}"']

    def feed(self, trace, socket, **options):
        return self.run(self.feed_command(trace, socket), **options)

    def ask(self, source, verb, *arguments, text=None):
        """The lines of an answer of `clrsym --json`."""
        done = self.run([self.clrsym, verb, *source, '--json', *arguments], text=text)
        if done.returncode != 0 or done.stderr:
            raise RuntimeError(f'clrsym {verb} {source}: exit {done.returncode}: {done.stderr}')
        return done.stdout.splitlines()

    def answers(self, source, text):
        """Lines of `clrsym resolve`, without the epochs, which differ by daemon."""
        return [re.sub(r',"epoch":\d+\}$', '}', line)
                for line in self.ask(source, 'resolve', text=text)]

    def bodies(self, source):
        return [json.loads(line) for line in self.ask(source, 'methods', '--all')]


class Daemon:
    """A clrsymd with its own sockets; the `with` stops it."""

    def __init__(self, programs, directory, *options, prefix=()):
        """PREFIX: a command that runs another command."""
        self.programs = programs
        self.options, self.prefix = options, prefix
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.ingest, self.query = self.directory / 'ingest', self.directory / 'query'
        self.source = ['--socket', str(self.query)]

    def __enter__(self):
        with open(self.directory / 'log', 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.programs.clrsymd, '--ingest', self.ingest,
                 '--query', self.query, *self.options],
                stderr=log, stdin=subprocess.DEVNULL, env=self.programs.environment)
        deadline = time.monotonic() + 30
        while not (self.ingest.exists() and self.query.exists()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError('clrsymd does not start: ' + self.log())
            time.sleep(0.01)
        return self

    def log(self):
        return (self.directory / 'log').read_text(encoding='utf-8', errors='replace')

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.status = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.status = self.process.wait()
            raise RuntimeError(f'clrsymd does not end: {self.log()}') from None


class Truth:
    """Independent knowledge about one recorded trace."""

    def __init__(self, name):
        self.name = name

    def path(self, name):
        return DATA / self.name / name

    def text(self, name):
        """A file's text; None: this trace has none. The runtime's perf map has invalid UTF-8."""
        if self.path(name + '.xz').exists():
            data = lzma.open(self.path(name + '.xz')).read()
        elif self.path(name).exists():
            data = self.path(name).read_bytes()
        else:
            return None
        return data.decode('utf-8', 'surrogateescape')

    def rows(self, name):
        """A table with a heading, as dictionaries."""
        return list(csv.DictReader(self.text(name).split('\n'), delimiter='\t',
                                   quoting=csv.QUOTE_NONE))

    def counts(self):
        """(events, the two numbers in brackets)."""
        lines = [line.split('\t') for line in self.text('counts.tsv').splitlines()]
        counts = {name: int(count) for name, count in lines}
        special = {name: counts.pop(name) for name in list(counts) if name.startswith('(')}
        return counts, special


def unpack(directory, names=NAMES):
    """Unpacks traces; returns name -> the trace's directory, as lttng created it."""
    paths = {}
    for name in names:
        target = pathlib.Path(directory) / name
        with tarfile.open(DATA / name / 'trace.tar.xz') as archive:
            archive.extractall(target)
        paths[name], = target.iterdir()
    return paths


def ctf_directories(trace):
    """The CTF traces below a directory: those with a file metadata."""
    return sorted(path.parent for path in pathlib.Path(trace).rglob('metadata'))


def probe_line(row):
    return f'{row["pid_ns"]}:{row["pid"]} {row["addr"]} {row["time_ns"]}'


def says_add_context(message):
    """True if the message has the command that fixes a trace without vpid. babeltrace2 breaks lines anywhere."""
    return re.search(r'lttng add-context -u .*-t vpid', ' '.join(message.split())) is not None


def main(run):
    """Parses the arguments, and calls RUN with TAP output, the programs and a working directory."""
    parser = argparse.ArgumentParser()
    parser.add_argument('clrsym')
    parser.add_argument('clrsymd')
    parser.add_argument('plugin_dir')
    parser.add_argument('traces', nargs='*', help='only these (default: all)')
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix='clrsym-')
    os.chmod(directory, 0o755)
    # With sanitizers, the largest trace would take a third of the time.
    names = [name for name in USUAL if name != LARGEST or 'LD_PRELOAD' not in os.environ]
    tap = Tap()
    try:
        run(tap, Programs(arguments, directory), directory, arguments.traces or names)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    tap.finish()
