# SPDX-License-Identifier: MIT
"""For tests of `clrsym attach`: a program that starts without tracing and compiles all the time, and a daemon that
is fed meanwhile."""

import contextlib
import fcntl
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from tests.live import diagport, live, test_live
from tests.traces import recorded

LIVE_TIMER_US = 100_000
# Listings can crash .NET 10 and 11 while contexts unload, more often on a busy machine.
N_ATTEMPTS = 10


@contextlib.contextmanager
def alone_in(directory):
    """No other test runs meanwhile. Programs in two pid namespaces can have the same pid, and the same names of
    files."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def perf_map(pid, directory='/tmp'):
    """start -> the jitted bodies of a runtime with its port in DIRECTORY, by its perf map."""
    vpid = live.own_pid(pid)
    path = pathlib.Path(f'/proc/{pid}/root/tmp/perf-{vpid}.map')
    port = diagport.Port(vpid, f'/proc/{pid}/root{directory}', live.start_ticks(pid))
    with alone_in(path.parent):
        try:
            port.enable_perf_map()
            live.wait_for('the perf map', path.exists)
            time.sleep(0.2)  # the map is usually complete before the answer, but the runtime does not guarantee that
            port.disable_perf_map()
            lines = path.read_text(encoding='utf-8').splitlines()
        finally:
            path.unlink(missing_ok=True)
    bodies = {}
    for line in lines:
        start, size, text = live.PERF_MAP_LINE.fullmatch(line).groups()
        if method := live.PERF_MAP_METHOD.fullmatch(text):
            bodies[int(start, 16)] = live.Name(method['type'], method['method'], method['tier'],
                                               int(size, 16))
    return bodies


class Busy:
    """The live program, busy until it gets the order to stop. Then it waits, and keeps its code."""

    # The programs of this attempt.
    started = []

    def __init__(self, command, directory, user=None, contexts=False):
        """CONTEXTS: it also loads and unloads load contexts, which can crash a runtime (in_attempts)."""
        self.command = [*map(str, command), 'busy', *['contexts'] * contexts]
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        if user is not None:
            os.chown(self.directory, user, user)
        self.user = user
        self.output = self.directory / 'output'
        self.errors = self.directory / 'errors'
        self.process = self.pid = None
        self.vpid = None
        self.is_stopped = False

    @contextlib.contextmanager
    def running(self, prefix=(), is_ready=None, **variables):
        """PREFIX: a command that starts another one as its only child. IS_READY: wait until it is ready; else until
        it works."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(('DOTNET_', 'COMPlus_', 'LTTNG_'))}
        environment |= {'TMPDIR': str(self.directory), **variables}
        with open(self.output, 'w', encoding='utf-8') as output, \
             open(self.errors, 'w', encoding='utf-8') as errors, \
             live.child([*prefix, *self.command], stdin=subprocess.PIPE, stdout=output,
                        stderr=errors, env=environment, user=self.user) as process:
            self.process = process
            Busy.started.append(self)
            try:
                live.wait_for('the program', is_ready or (lambda: 'CODE ' in self.text()), process)
                self.pid = process.pid
                if prefix:
                    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
                    self.pid, = map(int, children.read_text(encoding='utf-8').split())
                self.vpid = live.own_pid(self.pid)
                yield self
            finally:
                if prefix and self.pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.pid, signal.SIGKILL)

    def runtime_has_crashed(self):
        """True if the runtime has found its memory corrupt: it ends itself with SIGABRT, and prints neither an
        exception nor FailFast()."""
        code = self.process.returncode
        return code == -signal.SIGSEGV or (
            code == -signal.SIGABRT and self.complaint().startswith('Fatal error.'))

    def complaint(self):
        return self.errors.read_text(encoding='utf-8', errors='replace')

    def text(self):
        return self.output.read_text(encoding='utf-8')

    def stop(self):
        self.is_stopped = True
        self.process.stdin.write(b'\n')
        self.process.stdin.flush()

    def freeze(self):
        """Orders it to stop, once, and to wait with all its code."""
        if not self.is_stopped:
            self.stop()
        live.wait_for('the program', lambda: 'READY' in self.text(), self.process)

    def codes(self):
        """The program's output so far."""
        found = []
        for line in self.text().splitlines():
            if line.startswith('CODE ') and line.count(' ') == 4:
                moment, address, holder, method = line.split(' ')[1:]
                found.append(live.Code(int(moment), int(address, 16), holder, method))
        return found

    def perf_map(self):
        """start -> the present jitted bodies, by the runtime's perf map. The program must be frozen."""
        return perf_map(self.pid, self.directory)


def in_attempts(tap, part):
    """Runs PART, again if the runtime crashed in it: clrsym-attach(1) describes the crash of .NET 10. PART gets the
    number of the attempt. Checks before a crash do not count."""
    for attempt in range(N_ATTEMPTS):
        n, failed, error = tap.n, tap.failed, None
        Busy.started.clear()
        with contextlib.redirect_stdout(io.StringIO()) as output:
            try:
                part(attempt)
            except Exception as caught:  # pylint: disable=broad-exception-caught
                error = caught
        crashed = [program for program in Busy.started if program.runtime_has_crashed()]
        for program in Busy.started:
            sys.stderr.write(program.complaint())
        if not crashed:
            print(output.getvalue(), end='', flush=True)
            if error:
                raise error
            return
        tap.n, tap.failed = n, failed
        tap.note(f'the runtime has crashed with signal {-crashed[0].process.returncode}')
    tap.check(False, f'the runtime has crashed {N_ATTEMPTS} times')


class Feed:
    """A daemon, fed from a live session."""

    def __init__(self, programs, directory, name='clrsym-attach', daemon=None):
        """DAEMON: not started yet."""
        self.programs, self.directory, self.name = programs, pathlib.Path(directory), name
        self.next_daemon = daemon or recorded.Daemon(programs, directory)
        self.relay = live.Relay(self.directory / 'relay')
        self.daemon = self.feeder = self.feeders = None

    @contextlib.contextmanager
    def running(self):
        with self.next_daemon as self.daemon, self.relay.running(), \
             contextlib.ExitStack() as self.feeders, \
             self.relay.session(self.name, LIVE_TIMER_US):
            self.start_feeder()
            yield self

    def start_feeder(self):
        command = ['babeltrace2', f'--plugin-path={self.programs.plugin_dir}',
                   '-i', 'lttng-live', self.relay.url(self.name),
                   '--params', 'session-not-found-action="end"',
                   '-c', 'sink.clrsym.feed', '--params', f'socket="{self.daemon.ingest}"']
        with open(self.directory / 'feeder', 'a', encoding='utf-8') as log:
            self.feeder = self.feeders.enter_context(live.child(
                command, signal.SIGINT, env=self.programs.environment, stderr=log))
        live.wait_for('the feeder', self.relay.has_viewer, self.feeder)

    def clrsym(self, *arguments, **options):
        """Runs `clrsym` with this feed's daemon, and a timeout for a busy machine."""
        source = [*self.daemon.source, '--wait=60'] if arguments[0] == 'attach' else []
        return self.programs.run([self.programs.clrsym, arguments[0], *source, *arguments[1:]],
                                 **options)

    def rows(self, *arguments):
        """The output of `clrsym --json`, which must succeed."""
        done = self.clrsym(*arguments, '--json')
        if done.returncode != 0 or done.stderr:
            raise RuntimeError(f'clrsym {arguments}: {done.returncode}: {done.stderr}')
        return [json.loads(line) for line in done.stdout.splitlines()]

    def settle(self, pid):
        """Waits until the daemon has all events that the process has emitted so far."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

        def is_in():
            answer, = test_live.resolve(self.programs, self.daemon, pid, [(1, now)])
            return answer['horizon'] is not None and test_live.ns(answer['horizon']) >= now

        live.wait_for('the horizon', is_in)

    def resolve_now(self, pid, addresses):
        text = ''.join(f'{address:#x}\n' for address in addresses)
        lines = self.programs.ask(self.daemon.source, 'resolve', '--pid', str(pid), text=text)
        if len(lines) != len(addresses):
            raise RuntimeError(f'{len(lines)} answers to {len(addresses)} questions')
        return [json.loads(line) for line in lines]


def check_now(tap, feed, program, what):
    """Each jitted method of a frozen program has its name at its first byte, in the middle, and at its last byte;
    and all bodies that are alive for the daemon exist. Returns them, start -> Name."""
    # Frequently called methods are compiled again in the background, a moment later.
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    bodies = program.perf_map()
    questions = [(start, start + offset) for start, name in bodies.items()
                 for offset in (0, name.size // 2, name.size - 1)]
    # The map has the last methods before their events arrive. On a busy machine, the compiling thread may wait for a
    # long time in between.
    deadline = time.monotonic() + 20
    is_listed_again = False
    while True:
        feed.settle(program.pid)
        answers = feed.resolve_now(program.pid, [address for _, address in questions])
        wrong = [f'{bodies[start]} at {address:#x} answered: {json.dumps(answer)}'
                 for (start, address), answer in zip(questions, answers)
                 if answer['status'] != 'ok' or int(answer['start'], 16) != start or
                 test_live.name_of(answer) != bodies[start]]
        if not wrong:
            break
        if time.monotonic() > deadline:
            # On a busy machine the runtime's rundown can omit a body that was compiled a moment before; the next one
            # lists it. Only one body may be missing, and it must have no name instead of a wrong one.
            missing = {start for (start, _), answer in zip(questions, answers)
                       if answer['status'] != 'ok'}
            if is_listed_again or len(missing) > 1 or len(wrong) > 3 * len(missing):
                break
            tap.note(f'{what}: one body is missing, and is listed again: {wrong[0]}')
            feed.clrsym('attach', '--again', program.pid)
            is_listed_again = True
        time.sleep(0.2)
    tap.check(len(bodies) > 100 and not wrong,
              f'{what}: now, {len(bodies)} jitted methods are named', f'{len(wrong)} wrong',
              *wrong[:5])
    marked = [answer for answer in answers if answer.get('confidence') != 'exact']
    tap.check(not marked, f'{what}: with exact confidence', f'{len(marked)} are not', *marked[:3])
    listed = [json.loads(line) for line in
              feed.programs.ask(feed.daemon.source, 'methods', '--pid', str(program.pid))]
    surplus = [row for row in listed if int(row['start'], 16) not in bodies
               and row['version']['tier'] != 'ReadyToRun'
               and not (row['loaded'] and test_live.ns(row['loaded']) > begin)]
    tap.check(not surplus, f'{what}: nothing else is taken for alive of {len(listed)} listed',
              f'{len(surplus)} are', *surplus[:5])
    return bodies


def check_printed(tap, feed, program, since_ns, what, until_ns=None):
    """Answers about the code that the program printed after SINCE are right and exact; those about earlier code are
    right, or have a mark."""
    codes = program.codes()
    answers = test_live.resolve(feed.programs, feed.daemon, program.pid,
                                [(code.address, code.time) for code in codes])
    after = [(code, answer) for code, answer in zip(codes, answers)
             if code.time > since_ns and (until_ns is None or code.time < until_ns)]
    wrong = [f'{code}: {json.dumps(answer)}' for code, answer in after
             if test_live.wrong_codes([code], [answer]) or answer['confidence'] != 'exact']
    tap.check(len(after) > 100 and not wrong,
              f'{what}: {len(after)} addresses printed since then are named at their time',
              f'{len(wrong)} wrong', *wrong[:5])
    # An answer "no code there" is wrong, too.
    sure = [f'{code}: {json.dumps(answer)}' for code, answer in zip(codes, answers)
            if answer['confidence'] == 'exact' and test_live.wrong_codes([code], [answer])]
    tap.check(not sure, f'{what}: of all {len(codes)} none is answered wrong and surely',
              f'{len(sure)} are', *sure[:5])
