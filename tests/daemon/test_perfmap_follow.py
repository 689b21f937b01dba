# SPDX-License-Identifier: MIT
"""`clrsym perfmap --follow`: the file is equal to the output of `clrsym perfmap` while code
comes and goes, is complete at each time, and stays untouched if it belongs to another
program."""

import contextlib
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from tests.daemon import ingest
from tests.live import live
from tests.traces import recorded

SEED = 20261128
PID_NS = os.stat('/proc/self/ns/pid').st_ino
NOBODY = 65534
LINE = re.compile(r'([0-9a-f]+) ([0-9a-f]+) N\.T\.M\d+\(\)')
N_BATCHES, N_EVENTS, N_PLACES = 40, 30, 60
# bytes: less than the map of a hundred bodies
SMALL = 1024


class Runtime:
    """Feeds the events of a .NET runtime about process PID."""

    def __init__(self, daemon, pid):
        self.feeder = ingest.Feeder(daemon.ingest)
        self.where = {'pid': pid, 'pid_ns': PID_NS}
        self.living = {}  # start -> (name, size)
        self.number = 0
        self.feeder.send(ingest.hello(), ingest.stream_open())

    def send(self, *frames):
        self.feeder.send(*frames, ingest.commit())
        self.feeder.receive_until(ingest.COMMITTED)

    def load(self, start, size=16):
        """Loads a body; it replaces the bodies at its addresses."""
        end, self.number = start + size, self.number + 1
        for other, (_, n) in list(self.living.items()):
            if other < end and start < other + n:
                del self.living[other]
        self.living[start] = f'M{self.number}', size
        return ingest.body(time.monotonic_ns(), start, f'M{self.number}', method=self.number, size=size, **self.where)

    def unload(self, start):
        name, size = self.living.pop(start)
        return ingest.unload(time.monotonic_ns(), start, name, method=int(name[1:]), size=size, **self.where)

    def map(self):
        return ''.join(f'{start:x} {size:x} N.T.{name}()\n' for start, (name, size) in sorted(self.living.items()))


@contextlib.contextmanager
def target(user=None, code='import time; time.sleep(600)', *arguments):
    """Starts a process that only sleeps."""
    with live.child([sys.executable, '-c', code, *arguments], signal.SIGKILL, user=user, group=user) as process:
        yield process


class Follower:
    def __init__(self, process, errors, path):
        self.process, self.path, self.error_path = process, pathlib.Path(path), errors

    def errors(self):
        return self.error_path.read_text(encoding='utf-8')

    def text(self):
        try:
            return self.path.read_text(encoding='utf-8')
        except FileNotFoundError:
            return None

    def wait_for_error(self, text, count=1):
        live.wait_for(text, lambda: self.errors().count(text) >= count, self.process, 60)

    def wait_for_text(self, text):
        """Returns True once the file has this text."""
        with contextlib.suppress(RuntimeError):
            return bool(live.wait_for('the file', lambda: self.text() == text, self.process, 60))
        return False

    def end(self):
        return self.process.wait(60)


def ignore_limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def limit_size():
    ignore_limit()
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@contextlib.contextmanager
def following(programs, daemon, pid, *options, path=None, prepare=ignore_limit):
    path = pathlib.Path(path or f'/tmp/perf-{pid}.map')
    with tempfile.NamedTemporaryFile(dir=daemon.directory) as errors:
        try:
            with live.child([programs.clrsym, 'perfmap', *daemon.source, '--follow', '-p', pid, *options], stdout=errors,
                            stderr=errors, env=programs.environment, preexec_fn=prepare) as process:
                yield Follower(process, pathlib.Path(errors.name), path)
        finally:
            path.unlink(missing_ok=True)


def printed(programs, daemon, pid):
    return programs.run([programs.clrsym, 'perfmap', *daemon.source, '-p', f'{PID_NS}:{pid}']).stdout


def faults(text):
    """Returns the faults of a map: incomplete lines, and addresses with two entries."""
    found, end = [], 0
    for line in text.splitlines(True):
        match = LINE.fullmatch(line[:-1]) if line.endswith('\n') else None
        if not match or int(match[1], 16) < end:
            found.append(line)
        else:
            end = int(match[1], 16) + int(match[2], 16)
    return found


def check_churn(tap, programs, daemon):
    generator = random.Random(SEED)
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(*(runtime.load(0x10000 + 64 * i) for i in range(N_PLACES)))
        with following(programs, daemon, process.pid) as follower:
            follower.wait_for_error('is kept current')
            tap.equal(follower.text(), runtime.map(), 'the file is there, with the code of now')
            wrong, n_reads, inodes = [], 0, set()
            for _ in range(N_BATCHES):
                frames = []
                for _ in range(N_EVENTS):
                    if runtime.living and generator.randrange(3) == 0:
                        frames.append(runtime.unload(generator.choice(sorted(runtime.living))))
                    else:
                        frames.append(runtime.load(0x10000 + 16 * generator.randrange(4 * N_PLACES),
                                                   16 * generator.randrange(1, 5)))
                runtime.send(*frames)
                for _ in range(5):
                    wrong += faults(follower.text())
                    inodes.add(follower.path.stat().st_ino)
                    n_reads += 1
                if not follower.wait_for_text(runtime.map()):
                    wrong.append(f'{follower.text()} is not {runtime.map()}')
                    break
            tap.check(not wrong, f'{n_reads} readings while code comes and goes: each is a whole map, no address has two '
                      'entries', *wrong[:3])
            tap.equal(follower.text(), printed(programs, daemon, process.pid), 'it is what clrsym perfmap prints')
            tap.equal(list(pathlib.Path('/tmp').glob(f'.perf-{process.pid}.map*')), [], 'nothing else is left there')
            check_end(tap, programs, daemon, runtime, follower, process)


def check_end(tap, programs, daemon, runtime, follower, process):
    """A runtime unloads all code at its exit."""
    last = runtime.map()
    runtime.send(*(runtime.unload(start) for start in list(runtime.living)))
    tap.check(follower.wait_for_text(''), 'what is unloaded goes from the file', follower.text())
    process.kill()
    process.wait()
    tap.equal(follower.end(), 0, 'the program ends, and so does clrsym')
    text = follower.text()
    tap.check(not faults(text) and len(text.splitlines()) >= len(last.splitlines()) and
              text == printed(programs, daemon, process.pid),
              'the file has the code of the moment at which most was there', follower.errors())


def check_restart(tap, programs, daemon):
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000), runtime.load(0x2000))
        with following(programs, daemon, process.pid) as follower:
            follower.wait_for_error('is kept current')
            before = follower.text()
            daemon.__exit__()
            follower.wait_for_error('stays as it is until a daemon knows')
            tap.equal((follower.process.poll(), follower.text()), (None, before),
                      'the daemon goes: that is reported, and the file stays')
            daemon.__enter__()
            follower.wait_for_error('reconnected to clrsymd')
            tap.equal(follower.text(), before, 'a daemon that does not know the process: the file stays')
            runtime = Runtime(daemon, process.pid)
            runtime.send(runtime.load(0x2000), runtime.load(0x3000))
            tap.check(follower.wait_for_text(runtime.map()), 'it knows the process: the file is true again',
                      follower.text(), follower.errors())
            follower.process.send_signal(signal.SIGTERM)
            tap.equal((follower.end(), follower.text()), (0, None), 'SIGTERM: the file is removed')
            tap.check('is removed, because' in follower.errors(), 'and that is reported', follower.errors())
        with following(programs, daemon, process.pid, '--keep') as follower:
            follower.wait_for_error('is kept current')
            follower.process.send_signal(signal.SIGINT)
            tap.equal((follower.end(), follower.text()), (0, runtime.map()), 'SIGINT with --keep: the file stays')


def check_no_room(tap, programs, daemon):
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(*(runtime.load(0x1000 + 16 * i) for i in range(100)))
        path = daemon.directory / 'map'
        with following(programs, daemon, process.pid, '-o', path, path=path) as follower:
            follower.wait_for_error('is kept current')
            before = follower.text()
            limit = resource.prlimit(follower.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(follower.process.pid, resource.RLIMIT_FSIZE, (SMALL, limit[1]))
            runtime.send(*(runtime.load(0x10000 + 16 * i) for i in range(1000)))
            follower.wait_for_error('the file is outdated')
            tap.equal(follower.text(), before, 'no room: that is reported, and the file stays whole')
            resource.prlimit(follower.process.pid, resource.RLIMIT_FSIZE, limit)
            tap.check(follower.wait_for_text(runtime.map()), 'there is room again: the file is true', follower.errors())
            follower.wait_for_error('is current again')
            tap.equal(follower.errors().count('the file is outdated'), 1, 'each is reported once')
            tap.equal([entry.name for entry in daemon.directory.glob('.map*')], [], 'nothing else is left there')
        with following(programs, daemon, process.pid, '-o', path, path=path, prepare=limit_size) as follower:
            tap.check(follower.end() == 1 and f'cannot write {path}' in follower.errors() and follower.text() is None,
                      'no room for the first map: that is an error', follower.errors())


def check_foreign(tap, programs, daemon):
    """Files that the process itself has open, links, and other programs that write the file."""
    code = 'import sys, os, time; f = open(f"/tmp/perf-{os.getpid()}.map", "w"); print(1, flush=True); time.sleep(600)'
    with live.child([sys.executable, '-c', code], signal.SIGKILL, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
        with following(programs, daemon, process.pid) as follower:
            tap.check(follower.end() == 1 and 'has /tmp/perf-' in follower.errors() and '--force' in follower.errors() and
                      follower.text() == '', 'a file that the process itself has open is left alone', follower.errors())
            with following(programs, daemon, process.pid, '--force') as forced:
                forced.wait_for_error('is kept current')
                tap.equal(forced.text(), runtime.map(), '--force replaces it')
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
        victim = daemon.directory / 'victim'
        victim.write_text('precious', encoding='utf-8')
        os.symlink(victim, f'/tmp/perf-{process.pid}.map')
        with following(programs, daemon, process.pid) as follower:
            follower.wait_for_error('is kept current')
            tap.equal((victim.read_text(encoding='utf-8'), follower.path.is_symlink(), follower.text()),
                      ('precious', False, runtime.map()), 'a link is replaced, not followed')
            follower.path.write_text('1000 10 other\n', encoding='utf-8')
            runtime.send(runtime.load(0x2000))
            tap.equal((follower.end(), follower.text()), (1, '1000 10 other\n'),
                      'what another program has written is left alone')
            tap.check('another program has changed' in follower.errors(), 'and that is reported', follower.errors())


def check_two(tap, programs, daemon):
    """A second follower leaves the file to the first, who is idle; a file of nobody does not prevent one."""
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
        with following(programs, daemon, process.pid) as first:
            first.wait_for_error('is kept current')
            with following(programs, daemon, process.pid, path=daemon.directory / 'unused') as second:
                tap.check(second.end() == 1 and f'another clrsym keeps {first.path} current' in second.errors() and
                          '--force' in second.errors(), 'a second follower ends with an error', second.errors())
            tap.equal(first.text(), runtime.map(), 'and leaves the file to the first')
            runtime.send(runtime.load(0x2000))
            tap.check(first.wait_for_text(runtime.map()), 'who writes it', first.errors())
            with following(programs, daemon, process.pid, path=daemon.directory / 'unused') as second:
                tap.check(second.end() == 1 and 'another clrsym keeps' in second.errors(),
                          'a file that was written again is still of the first', second.errors())
            first.path.unlink()
            first.wait_for_error('it is there again')
            tap.equal(first.text(), runtime.map(), 'a file that somebody removes is written again, without a change of code')
            with following(programs, daemon, process.pid, '--force', path=daemon.directory / 'unused') as second:
                second.wait_for_error('is kept current')
                tap.check(first.end() == 1 and 'another program has changed' in first.errors() and
                          first.text() == runtime.map(), 'a second one with --force: the first, without a change of code, ends',
                          first.errors())
                second.process.kill()
                second.process.wait()
            tap.equal(first.text(), runtime.map(), 'a follower that is killed leaves its file')
            with following(programs, daemon, process.pid) as third:
                third.wait_for_error('is kept current')
                tap.equal(third.text(), runtime.map(), 'which does not prevent another')


def check_user(tap, programs, daemon):
    """Root writes with the rights of the process's user."""
    if os.geteuid() != 0:
        tap.skip('a process of another user', 'needs root')
        return
    with target(user=NOBODY) as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
        with following(programs, daemon, process.pid) as follower:
            follower.wait_for_error('is kept current')
            status = follower.path.stat()
            tap.equal((status.st_uid, status.st_gid, follower.text()), (NOBODY, NOBODY, runtime.map()),
                      "root's file for a process of a user belongs to that user")
        pathlib.Path(f'/tmp/perf-{process.pid}.map').write_text('', encoding='utf-8')
        with following(programs, daemon, process.pid) as follower:
            tap.check(follower.end() == 1 and 'belongs to user 0: remove it' in follower.errors() and
                      follower.text() == '', 'a file of root is not replaced with the rights of that user',
                      follower.errors())
    # The process's user controls its /tmp: here a directory that only root may write.
    code = 'import os, sys, time; os.setuid(65534); print(1, flush=True); time.sleep(600)'
    closed = daemon.directory / 'closed'
    closed.mkdir(mode=0o755)
    with live.child(['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /tmp && exec "$@"', closed, sys.executable, '-c',
                     code], signal.SIGKILL, stdout=subprocess.PIPE, cwd='/') as process:
        process.stdout.readline()
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
        with following(programs, daemon, process.pid) as follower:
            tap.check(follower.end() == 1 and 'cannot write /tmp/perf-' in follower.errors() and
                      not list(closed.iterdir()), 'nothing is written where the user may not write', follower.errors())


def check_refused(tap, programs, daemon):
    def run(*options):
        done = programs.run([programs.clrsym, 'perfmap', *daemon.source, *options])
        return done.returncode, done.stderr

    for options, text in ((['--follow', '--at', 'now'], 'no --at'), (['--follow', '--json'], 'no --json'), (['--follow', '-o', '-'], 'no --output -'),
                          (['--force'], 'need --follow'), (['--keep'], 'need --follow')):
        code, errors = run(*options)
        tap.check(code == 2 and text in errors, f'{options}: {text}', errors)
    code, errors = run('--follow', '-p', '999999')
    tap.check(code == 1 and 'the process is not known' in errors, 'a process that is not known', errors)
    with target() as process:
        runtime = Runtime(daemon, process.pid)
        runtime.send(runtime.load(0x1000))
    code, errors = run('--follow', '-p', f'{PID_NS}:{process.pid}')
    tap.check(code == 1 and 'does not run' in errors, 'a process that has ended', errors)
    code, errors = run('--follow', '-p', '1', '--socket', '/nonexistent/query')
    tap.check(code == 1 and '/nonexistent/query' in errors, 'a daemon that is not there', errors)


def run_tests(tap, programs, directory, _):
    for check in check_churn, check_restart, check_no_room, check_foreign, check_two, check_user, check_refused:
        with recorded.Daemon(programs, directory) as daemon:
            check(tap, programs, daemon)


if __name__ == '__main__':
    recorded.main(run_tests)
