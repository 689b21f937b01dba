# SPDX-License-Identifier: MIT
"""`clrsym feed` while a program's dynamic methods are loaded and unloaded, and while parts between the program and the
daemon are killed at random moments. At the end, the daemon has the contents of the relay daemon's files; data that the
relay daemon lost is a gap.

test_feed_live.py CLRSYM CLRSYMD PLUGIN_DIR"""

import collections
import contextlib
import ctypes
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

from tests.live import alone, live, runtimes, test_live
from tests.traces import recorded

SECONDS, N_BODIES = 30, 36_000
SETTLE_S = 30
SEED = 20261121
SYS_PIDFD_GETFD = 438
LIBC = ctypes.CDLL(None, use_errno=True)


def children_of(pid, name=None):
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            head, _, tail = (entry / 'stat').read_text().rpartition(')')
            if int(tail.split()[1]) == pid and tail.split()[0] != 'Z' and \
               (name is None or head.partition('(')[2] == name):
                found.append(int(entry.name))
    return found


def connections_of(pid):
    """Duplicates of the process's TCP connections."""
    pidfd = os.pidfd_open(pid)
    try:
        for entry in pathlib.Path(f'/proc/{pid}/fd').iterdir():
            number = LIBC.syscall(SYS_PIDFD_GETFD, pidfd, int(entry.name), 0)
            if number < 0:
                continue
            try:
                one = socket.socket(fileno=number)
            except OSError:
                os.close(number)
                continue
            with one:
                if one.family == socket.AF_INET:
                    yield one
    finally:
        os.close(pidfd)


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Program(live.Program):
    """The live program that loads and unloads methods, for SECONDS or as long as it takes."""

    def __init__(self, command, directory, seconds=SECONDS, bodies=N_BODIES):
        pathlib.Path(directory).mkdir()
        super().__init__(command, directory, 0)
        self.command = [*command, 'churn', str(seconds), str(bodies)]

    @contextlib.contextmanager
    def running(self):
        environment = {**os.environ, **live.ENVIRONMENT, 'TMPDIR': str(self.directory)}
        with open(self.output, 'w', encoding='utf-8') as output, \
             live.child(self.command, stdin=subprocess.PIPE, stdout=output,
                        env=environment) as process:
            self.process = process
            yield self
            live.wait_for('the program', lambda: 'READY' in self.lines(), process)
            self.finish()

    def all_codes(self):
        return [code for codes in self.codes() for code in codes]


class Feed:
    """`clrsym feed`, which can be killed and restarted."""

    def __init__(self, programs, daemon, directory, name):
        self.command = [programs.clrsym, 'feed', '--session', name, '--socket', daemon.ingest]
        self.environment = programs.environment
        self.log = pathlib.Path(directory) / 'feed.log'
        self.process = None

    def start(self):
        with open(self.log, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen([str(word) for word in self.command], stderr=log,
                                            env=self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def cut(self):
        """Shuts down its connections to the relay daemon; returns their number."""
        n = 0
        for connection in connections_of(self.process.pid):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
                n += 1
        return n

    def said(self):
        return self.log.read_text(encoding='utf-8')

    @contextlib.contextmanager
    def running(self):
        self.start()
        try:
            yield self
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                self.code = self.process.wait(live.TIMEOUT)


class World:
    """Session, daemon and feed of one scene."""

    def __init__(self, programs, directory, name):
        self.programs, self.name = programs, name
        self.directory = pathlib.Path(directory) / name
        self.directory.mkdir()
        self.relay = self.directory / 'relay'
        programs.environment['CLRSYM_SESSIONS'] = str(self.directory / 'place')

    def new_daemon(self):
        return recorded.Daemon(self.programs, self.directory)

    def session(self, *arguments):
        done = self.programs.run([self.programs.clrsym, 'session', *arguments])
        if done.returncode != 0:
            raise RuntimeError(f'session {arguments}: {done.stdout}{done.stderr}')
        return done.stdout

    def start(self):
        """Keeps all files of the relay daemon for comparison."""
        return self.session('start', '--name', self.name, '--relay-output', self.relay, '--keep')

    @contextlib.contextmanager
    def running(self):
        self.start()
        try:
            with self.new_daemon() as daemon:
                self.daemon = daemon
                self.feed = Feed(self.programs, daemon, self.directory, self.name)
                with self.feed.running():
                    yield self
        finally:
            with contextlib.suppress(RuntimeError):
                self.session('stop', self.name)

    def wait_live(self):
        live.wait_for('the feed', lambda: f'session {self.name}: live' in self.feed.said(),
                      self.feed.process)

    def bodies(self, source, pid):
        return self.programs.ask(source, 'methods', '--all', '--pid', str(pid))

    def status(self):
        return json.loads(self.programs.ask(self.daemon.source, 'status')[0])

    def settled(self, pid):
        """(the daemon's bodies, those on disk), when they are equal or after a timeout."""
        deadline = time.monotonic() + SETTLE_S
        while True:
            read = self.bodies(['--trace', str(self.relay)], pid)
            try:
                fed = self.bodies(self.daemon.source, pid)
            except RuntimeError as error:
                fed = [str(error)]
            if collections.Counter(fed) == collections.Counter(read) or \
               time.monotonic() > deadline:
                return fed, read
            time.sleep(0.5)

    def check_bodies(self, tap, pid, what):
        fed, read = self.settled(pid)
        if not tap.same_rows(fed, read, f"{what}: the daemon has what the relay daemon's files say"):
            for name, rows in (('missing', collections.Counter(read) - collections.Counter(fed)),
                               ('surplus', collections.Counter(fed) - collections.Counter(read))):
                for row in sorted(rows)[:10]:
                    body = json.loads(row)
                    tap.note(name + ' ' + ' '.join(f'{key}={body[key]}' for key in (
                        'symbol', 'start', 'size', 'loaded', 'unloaded', 'source')))
            tap.note(self.feed.said())
            tap.note(self.daemon.log())
        made = {body['method']['name'] for body in map(json.loads, read)
                if body['method']['name'].startswith('Churn_')}
        return len(made)

    def answers(self, program):
        return test_live.resolve(self.programs, self.daemon, program.pid,
                                 [(code.address, code.time) for code in program.all_codes()])


@contextlib.contextmanager
def beside(function):
    """Calls FUNCTION again and again, at random moments, during the `with`."""
    end = threading.Event()
    failed = []

    def loop():
        while not end.wait(RANDOM.uniform(0.3, 2.5)):
            try:
                function()
            except Exception as error:  # pylint: disable=broad-except
                failed.append(error)
                return

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
    if failed:
        raise failed[0]


RANDOM = random.Random(SEED)


def check_all_named(tap, world, program, what):
    codes, answers = program.all_codes(), world.answers(program)
    wrong = test_live.wrong_codes(codes, answers)
    tap.check(len(codes) > 400 and not wrong, f'{what}: all {len(codes)} addresses are named',
              f'{len(wrong)} wrong', *wrong[:5])
    inexact = collections.Counter(answer.get('confidence') for answer in answers)
    tap.equal(set(inexact), {'exact'}, f'{what}: all exactly')


def test_killed(tap, world, command):
    """The feed is disconnected and killed: nothing is missing or uncertain."""
    with world.running():
        kills = collections.Counter()

        def strike():
            if RANDOM.random() < 0.3 or not (n_cut := world.feed.cut()):
                world.feed.kill()
                kills['feed'] += 1
                time.sleep(RANDOM.uniform(0, 1.5))
                world.feed.start()
            else:
                kills['connection'] += n_cut

        program = Program(command, world.directory / 'program')
        with program.running(), beside(strike):
            live.wait_for('the program', lambda: 'READY' in program.lines(), program.process)
        tap.note(f'killed: {dict(kills)}')
        tap.check(kills['feed'] > 1 and kills['connection'] > 3, 'both were cut several times',
                  kills)
        n = world.check_bodies(tap, program.pid, 'killed')
        tap.equal(n, N_BODIES, 'killed: every method is there')
        check_all_named(tap, world, program, 'killed')
        status = world.status()
        lost = {name: status[name] for name in ('gaps', 'discarded_events', 'discarded_packets',
                                                'refused', 'evicted_bodies')}
        tap.check(not any(lost.values()), 'killed: nothing was lost', lost)
        left = children_of(os.getpid(), 'babeltrace2') + children_of(1, 'babeltrace2')
        tap.equal(left, [], 'killed: no babeltrace2 was started, or outlives its feed')
        world.feed.process.terminate()
        tap.equal(world.feed.process.wait(live.TIMEOUT), 0, 'a feed that is stopped ends in order')


def test_daemon(tap, world, command):
    """The daemon restarts without its state, and gets all data again."""
    with world.running():
        program = Program(command, world.directory / 'program', 8, 8000)
        with program.running():
            time.sleep(4)
            world.daemon.process.kill()
            world.daemon.process.wait()
            time.sleep(2)
            for path in (world.daemon.ingest, world.daemon.query):
                path.unlink(missing_ok=True)
            world.daemon.__enter__()
        n = world.check_bodies(tap, program.pid, 'daemon')
        tap.equal(n, 8000, 'daemon: every method is there')
        check_all_named(tap, world, program, 'daemon')
        tap.check('no daemon at' in world.feed.said() or 'it has ended' in world.feed.said(),
                  'daemon: the feed says that it was away', world.feed.said())


def test_viewer(tap, world, command):
    """Another viewer has the session: the feed reads the files instead."""
    url = json.loads(world.start()
                     and world.session('list', '--json').splitlines()[0])['url']
    world.session('stop', world.name)
    with contextlib.ExitStack() as stack:
        world.start()
        viewer = stack.enter_context(live.child(
            ['babeltrace2', '-i', 'lttng-live', url, '-c', 'sink.utils.dummy'], signal.SIGINT))
        time.sleep(1)
        daemon = stack.enter_context(recorded.Daemon(world.programs, world.directory))
        world.daemon = daemon
        world.feed = Feed(world.programs, daemon, world.directory, world.name)
        stack.enter_context(world.feed.running())
        program = Program(command, world.directory / 'program', 4, 4000)
        with program.running():
            pass
        n = world.check_bodies(tap, program.pid, 'viewer')
        tap.equal(n, 4000, 'viewer: every method is there')
        said = world.feed.said()
        tap.check(said.count('another viewer holds the session') == 1,
                  'viewer: the feed says so, once', said)
        viewer.send_signal(signal.SIGINT)
        viewer.wait(live.TIMEOUT)
        world.wait_live()
        tap.check(True, 'viewer: it is live once the other one has gone')
        world.session('stop', world.name)


def marked_or_right(codes, answers):
    """Answers that are neither right nor marked."""
    wrong = test_live.wrong_codes(codes, answers)
    exact = [answer for answer in answers if answer.get('confidence') == 'exact']
    bad = [f'{code} answered: {json.dumps(answer)}' for code, answer in zip(codes, answers)
           if answer.get('confidence') == 'exact' and test_live.wrong_codes([code], [answer])]
    return wrong, exact, bad


def test_relayd(tap, world, command):
    """Killing the relay daemon loses its unwritten data, which is a gap."""
    with world.running():
        program = Program(command, world.directory / 'program', 16, 16000)
        with program.running():
            time.sleep(5)
            relay = json.loads((world.directory / 'place' / 'lttng-relayd').read_text())
            kill(relay['pid'])
            killed = time.monotonic()
            live.wait_for('a new session', lambda: len(list(world.relay.glob('*/*'))) == 2,
                          program.process)
            tap.note(f'a new session after {time.monotonic() - killed:.1f} s')
        time.sleep(3)
        n = world.check_bodies(tap, program.pid, 'relayd')
        tap.check(1000 < n <= 16000, f'relayd: {n} of the methods are there')
        said = world.feed.said()
        tap.check('lttng-relayd was' in said and 'was restarted' in said,
                  'relayd: what was done is printed', said)
        live.wait_for('the feed', lambda: world.status()['feeders'][0]['state'] == 'live')
        status = world.status()
        session, feeder = status['sessions'][0], status['feeders'][0]
        tap.check(session['state'] == 'active' and
                  feeder['restarts'] > 0 and feeder['last_error'],
                  'relayd: the status shows that it is repaired, and what was wrong', session,
                  feeder)
        wrong, exact, bad = marked_or_right(program.all_codes(), world.answers(program))
        for confidence in ('exact', 'gap', 'assumed', 'provisional', None):
            times = [code.time / 1e9 for code, answer in zip(program.all_codes(), world.answers(program))
                     if answer.get('confidence') == confidence]
            if times:
                tap.note(f'{confidence}: {len(times)}, {min(times):.3f} to {max(times):.3f}')
        tap.note(f'{len(exact)} exact answers, {len(wrong)} that name another or no method')
        tap.check(len(exact) > 500 and not bad, 'relayd: every exact answer is right', len(bad),
                  *bad[:5])
        tap.check(world.status()['gaps'] > 0, 'relayd: there is a gap', world.status())


def test_recreated(tap, world, command):
    """The session is destroyed and recreated; the feed continues with the new one."""
    with world.running():
        first = Program(command, world.directory / 'first', 3, 3000)
        with first.running():
            pass
        world.session('stop', world.name)
        if RANDOM.random() < 0.5:
            world.feed.kill()
        world.start()
        second = Program(command, world.directory / 'second', 3, 3000)
        with second.running():
            if world.feed.process.poll() is not None:
                world.feed.start()
        for program, what in ((first, 'first'), (second, 'second')):
            tap.equal(world.check_bodies(tap, program.pid, f're-created, {what}'), 3000,
                      f're-created, {what}: every method is there')
            check_all_named(tap, world, program, f're-created, {what}')


SCENES = {'killed': test_killed, 'daemon': test_daemon, 'viewer': test_viewer,
          'relayd': test_relayd, 'recreated': test_recreated}


def test(tap, programs, directory, chosen):
    for runtime, command, place in runtimes.runs(tap, __file__, directory,
                                                 library=runtimes.tracepoints(programs.plugin_dir)):
        for name, scene in SCENES.items():
            if chosen != recorded.USUAL and name not in chosen:
                continue
            begin = time.monotonic()
            scene(tap, World(programs, place, f'{name}-{os.getpid()}'), command)
            tap.note(f'.NET {runtime}, {name}: {time.monotonic() - begin:.1f} s')


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), live.missing)
