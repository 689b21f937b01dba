# SPDX-License-Identifier: MIT
"""clrsym-holder with hostile users and targets: connections of one user do not keep other users
out, and a process that only pretends to be a .NET runtime blocks neither its worker nor the
holder.

test_holder.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from tests.daemon.examine import fake
from tests.live import live
from tests.traces import recorded

NOBODY = 65534
N_CONNECTIONS = 900

# Opens connections to the socket in its argument, and waits.
CROWD = '''
import os, resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
held = []
for _ in range(int(sys.argv[2])):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].connect(sys.argv[1])
print('READY', flush=True)
time.sleep(600)
'''

# COUNT processes that listen as a runtime does, in a directory, and open sessions on request.
# Modes: a calm process stops its session on request; slow and fast ones send bytes for ever
# instead. An early one begins no session before SIGUSR1, and writes each opener's pid to a file. A
# left one ends, and leaves its socket to a calm child. A mute one never answers. A creeping one is
# an old runtime whose listings never end.
RUNTIME = '''
import contextlib, mmap, os, signal, socket, struct, sys, time
directory, mode, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
kept = []
for name in 'libcoreclr.so', 'libcoreclrtraceptprovider.so':
    path = os.path.join(directory, name)
    open(path, 'wb').write(bytes(4096))
    kept.append(mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ))
pids = [os.getpid()]
for _ in range(count - 1):
    pids.append(os.fork())
    if pids[-1] == 0:
        break
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.path.join(directory, f'dotnet-diagnostic-{os.getpid()}-1-socket'))
listener.listen(50)
if mode == 'left':
    if os.fork():
        time.sleep(600)
    os.setsid()
    left, mode, pids = os.getppid(), 'calm', [0]
    os.kill(left, signal.SIGKILL)
    print(left, os.getpid(), flush=True)
if pids[-1]:
    while len([name for name in os.listdir(directory) if name.startswith('dotnet')]) < count:
        time.sleep(0.02)
    print(*pids, flush=True)
def reply(connection, payload, code=0xff00):
    with contextlib.suppress(OSError):  # the one who asked may have died
        connection.sendall(b'DOTNET_IPC_V1\\0' + struct.pack('<H', 20 + len(payload)) +
                           struct.pack('>H', code) + bytes(2) + payload)
version = '10.0.0\\0'.encode('utf-16-le')
strings = b''.join(struct.pack('<I', 1) + bytes(2) for _ in range(4))
sessions, n = {}, 0
def begin(*_):
    global mode
    mode = 'calm'
    for session in sessions.values():
        session.sendall(b'Nettrace')
signal.signal(signal.SIGUSR1, begin)
# The first session ends, as if somebody else had stopped it.
signal.signal(signal.SIGUSR2, lambda *_: sessions.pop(min(sessions)).close())
while True:
    connection, _ = listener.accept()
    if mode == 'late':
        mode = 'calm'
        reverse = socket.socket(socket.AF_UNIX)
        reverse.connect(sys.argv[4])
        reverse.sendall(b'ADVR_V1\\0' + bytes(16) + struct.pack('<QH', os.getpid(), 0))
        time.sleep(0.5)
        connection.close()
        continue
    if mode == 'mute':
        sessions[n] = connection
        n += 1
        continue
    header = b''
    with contextlib.suppress(OSError):
        header = connection.recv(20, socket.MSG_WAITALL)
    if len(header) < 20:
        continue
    payload = connection.recv(struct.unpack('<H', header[14:16])[0] - 20, socket.MSG_WAITALL)
    command = header[16] << 8 | header[17]
    if command == 0x0404:
        reply(connection, struct.pack('<Q', os.getpid()) + bytes(16) + strings +
              struct.pack('<I', len(version) // 2) + version)
    elif command == 0x0201:
        stopped = sessions.pop(struct.unpack('<Q', payload)[0], None)
        if mode == 'calm':
            if stopped:
                stopped.close()
            reply(connection, payload)
        elif os.fork() == 0:
            while True:
                try:
                    stopped.sendall(bytes(1 << 20 if mode == 'flood' else 1))
                except OSError:
                    os._exit(0)
                time.sleep(0 if mode == 'flood' else 0.1)
    elif mode == 'creep' and command != 0x0203:
        reply(connection, struct.pack('<I', 0x80131385), 0xffff)
    else:
        n += 1
        reply(connection, struct.pack('<Q', n))
        sessions[n] = connection
        if mode in ('calm', 'creep'):
            with contextlib.suppress(OSError):
                connection.sendall(b'Nettrace')
        # Who has opened it: a recording of the whole machine, of another test, may have.
        peer, = struct.unpack('i8x', connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        with contextlib.suppress(OSError), open(f'/proc/{peer}/cmdline') as file, \
                open(os.path.join(directory, f'session-{n}'), 'w') as to:
            to.write(file.read())
'''


class Holder:
    """A holder, and raw requests to it."""

    def __init__(self, programs, directory):
        self.directory = pathlib.Path(directory)
        self.control = self.directory / 'control'
        program = pathlib.Path(programs.clrsym).parent.parent / 'attach' / 'clrsym-holder'
        self.command = [str(program), '--directory', str(self.directory), '--ingest',
                        str(self.directory / 'ingest')]

    @contextlib.contextmanager
    def running(self, **variables):
        with live.child(self.command, env={**os.environ, **variables}) as process:
            live.wait_for('the holder', self.control.exists, process)
            yield process

    def send(self, verb, pid=None, **more):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(120)
        connection.connect(str(self.control))
        request = {'verb': verb, **more} if pid is None else {'verb': verb, 'pid': pid, **more}
        connection.sendall(json.dumps(request).encode() + b'\n')
        return connection

    @staticmethod
    def answer(connection):
        with connection, connection.makefile() as stream:
            return json.loads(stream.readline() or '{}')

    def ask(self, verb, pid=None, **more):
        return self.answer(self.send(verb, pid, **more))

    def has_file(self, pid):
        """Returns True once a session was opened."""
        return any(path.name.startswith(f'{pid}-') for path in self.directory.iterdir())

    def n_sessions(self, place):
        """Returns the number of sessions that were opened in an early process."""
        notes = [path.read_text(encoding='utf-8') for path in (self.directory / f'tmp-{place}').glob('session-*')]
        return sum(str(self.directory) in note for note in notes)

    def state(self, pid):
        rows = [row for row in self.ask('list')['attachments'] if row['pid'] == pid]
        return rows[0]['state'] if rows else None


def took(call, *arguments):
    begin = time.monotonic()
    return call(*arguments), time.monotonic() - begin


@contextlib.contextmanager
def python(script, *arguments, before=(), **options):
    """Starts a Python script; yields the process and the words of its first line."""
    with live.child([*before, sys.executable, '-c', script, *map(str, arguments)],
                    stdout=subprocess.PIPE, start_new_session=True, **options) as process:
        try:
            yield process.stdout.readline().decode().split()
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def runtimes(holder, mode, count=1, place=None, **options):
    """Starts processes that pretend to be .NET runtimes; yields their pids. PLACE is the end of
    their directory's name."""
    directory = holder.directory / f'tmp-{place or mode}'
    directory.mkdir()
    directory.chmod(0o777)
    with python(RUNTIME, directory, mode, count, holder.directory / 'port', env={**os.environ, 'TMPDIR': str(directory)},
                **options) as words:
        if len(words) != count:
            raise RuntimeError(f'{len(words)} of {count} processes have begun')
        yield list(map(int, words))
    shutil.rmtree(directory)


def test_crowd(tap, holder):
    with python(CROWD, holder.control, N_CONNECTIONS) as words:
        answer, seconds = took(holder.ask, 'list')
        tap.check(words == ['READY'] and answer == {'attachments': []} and seconds < 5,
                  f'{N_CONNECTIONS} connections of one user: root is answered after '
                  f'{seconds:.2f} s', answer)
        answer, seconds = took(holder.ask, 'detach', os.getpid())
        tap.check(answer['error']['kind'] == 'not-attached' and seconds < 5,
                  'and whatever root asks', answer, seconds)


def test_share_by_root(tap, holder):
    """Root attaches: the processes of one user leave places for every other user, and for root."""
    others = [('setpriv', f'--reuid={uid}', '--clear-groups', f'--regid={uid}') for uid in (NOBODY, NOBODY - 1)]
    with contextlib.ExitStack() as stack:
        many, few = (stack.enter_context(runtimes(holder, 'calm', 20, place=f'share-{i}', before=before))
                     for i, before in enumerate(others))
        own = stack.enter_context(runtimes(holder, 'calm', 20, place='share-own'))
        # A holder without attachments exits, and starting so many processes takes time.
        stack.enter_context(holder.running(CLRSYM_MAX_ATTACHMENTS='32'))
        kinds = [[holder.ask('attach', pid, via='eventpipe').get('error', {}).get('kind') for pid in pids]
                 for pids in (many, few, own)]
        # An eighth is reserved; of the other 28 places, a user may have half of the places that are
        # still free.
        tap.equal([kind.index('no-place') for kind in kinds], [14, 7, 11],
                  'root attaches 20 processes of each of two users, and 20 of its own: all have places')
        tap.check(all(kind in (None, 'no-place') for kind in sum(kinds, [])), 'and nothing else is refused', kinds)


def workers_of(process):
    path = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
    return list(map(int, path.read_text().split()))


def test_endless(tap, holder, process, mode):
    with runtimes(holder, mode) as (target,):
        waiting = holder.send('attach', target)
        live.wait_for('the session', lambda: holder.has_file(target), process)
        tap.equal(holder.state(target), 'attaching', f'{mode}: a rundown that never ends')
        answer, seconds = took(holder.ask, 'detach', target)
        tap.check(answer.get('pid') == target and seconds < 25,
                  f'{mode}: detached after {seconds:.2f} s', answer)
        tap.equal(holder.answer(waiting).get('error', {}).get('kind'), 'failed',
                  f'{mode}: the waiting client is answered')
        live.wait_for('the end of its worker', lambda: not workers_of(process), process)
        tap.equal(holder.state(target), None, f'{mode}: it is gone')


def test_early(tap, holder, process):
    """A starting runtime: opening and stopping a second session beside the first would crash it."""
    with runtimes(holder, 'early') as (target,):
        answer = holder.ask('attach', target, via='eventpipe')
        tap.equal(answer.get('state'), 'waiting', 'a runtime that has not started is attached')
        answer = holder.ask('attach', target, via='eventpipe', list='always')
        tap.equal(answer.get('state'), 'waiting', 'and not listed either when that is ordered')
        for _ in range(3):
            holder.ask('horizon')
            time.sleep(0.5)
        tap.equal(holder.n_sessions('early'), 1, 'it has one session')
        os.kill(target, signal.SIGUSR1)
        live.wait_for('its start', lambda: holder.state(target) == 'attached', process)
        holder.ask('horizon')
        live.wait_for('another session', lambda: holder.n_sessions('early') > 1, process)
        tap.check(True, 'once it has started, others are opened')
    live.wait_for('the end of the attachment', lambda: not holder.ask('list')['attachments'], process)


def test_late(tap, holder, process):
    """A runtime that connects to the holder's port while the first attempt to attach it fails, as one does whose
    program was found a moment before its own port opened."""
    with runtimes(holder, 'late') as (target,):
        answer = holder.ask('attach', target, via='eventpipe')
        tap.equal(answer.get('pid'), target, 'a runtime that connects meanwhile is attached by the next attempt')
    live.wait_for('the end of the attachment', lambda: not holder.ask('list')['attachments'], process)


def test_stopped_session(tap, holder, process):
    """Somebody else stops the session: events are missing from then on, although the worker ends later."""
    with runtimes(holder, 'calm', place='stopped') as (target,):
        begin = time.monotonic()
        holder.ask('attach', target, via='eventpipe')
        stopped = time.monotonic()
        os.kill(target, signal.SIGUSR2)
        row = live.wait_for('another session', lambda: next(
            (row for row in holder.ask('list')['attachments'] if row['pid'] == target and row['restarts'] and
             row['state'] == 'waiting'), None), process)
        tap.check(begin < float(row['lost_since']) < stopped, 'a session that somebody stops: events are missing since then',
                  begin, stopped, row)
        holder.ask('detach', target)


def test_stopped_worker(tap, holder, process):
    with runtimes(holder, 'trickle') as (target,):
        waiting = holder.send('attach', target)
        live.wait_for('its worker', lambda: holder.state(target) and workers_of(process), process)
        worker, = workers_of(process)
        live.freeze(worker)
        answer, seconds = took(holder.ask, 'detach', target)
        tap.check('pid' in answer and seconds < 30,
                  f'a worker that does nothing any more is killed, after {seconds:.2f} s', answer)
        holder.answer(waiting)
        tap.check(not pathlib.Path(f'/proc/{worker}').exists(), 'it is gone')


def test_killed_together(tap, holder, process):
    """Worker and target are killed together: the next worker finds no target."""
    with runtimes(holder, 'calm') as (target,):
        answer = holder.ask('attach', target)
        tap.check(answer.get('pid') == target, 'a calm process is attached', answer)
        worker, = workers_of(process)
        live.freeze(worker)
    os.kill(worker, signal.SIGKILL)
    live.wait_for('the end of the attachment', lambda: not holder.ask('list')['attachments'],
                  process)
    tap.equal(workers_of(process), [], 'worker and target killed together: nobody tries again')


def test_large_environment(tap, holder):
    with fake(STRETCH='1') as pid:
        answer, seconds = took(holder.ask, 'attach', pid)
        tap.check('too large an environment' in answer['error']['message'] and seconds < 10,
                  f'an environment of 3 GiB: refused after {seconds:.2f} s', answer)


def test_end(tap, holder):
    """SIGTERM while a worker hangs."""
    with runtimes(holder, 'flood') as (target,), holder.running() as process:
        waiting = holder.send('attach', target)
        live.wait_for('its worker', lambda: holder.state(target) and workers_of(process), process)
        live.freeze(workers_of(process)[0])
        begin = time.monotonic()
        process.terminate()
        code = process.wait(60)
        tap.check(code == 0 and time.monotonic() - begin < 30,
                  f'SIGTERM: the holder has ended after {time.monotonic() - begin:.2f} s', code)
        waiting.close()


RESUME = b'DOTNET_IPC_V1\0' + struct.pack('<HBBH', 20, 4, 1, 0)


def announce(holder, cookie, rest=b'', size=16):
    """Connects as a runtime with COOKIE, repeated to SIZE, and waits for a command."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(str(holder.directory / 'port'))
    connection.sendall(b'ADVR_V1\0' + cookie * size + struct.pack('<QH', os.getpid(), 0) + rest)
    return connection


def test_port(tap, holder):
    """The holder never keeps a connection to its port waiting. (Real runtimes: tests/live)"""
    tap.equal(holder.ask('port'), {'port': str(holder.directory / 'port'), 'lasting': False},
              'the port for runtimes')
    with announce(holder, b'a') as connection:
        tap.equal(connection.recv(100), RESUME, 'what is not a runtime is let go on')
        with announce(holder, b'a', b'?' * 9999) as again:
            again.settimeout(0.3)
            try:
                answer = again.recv(100)
            except socket.timeout:
                answer = None
            tap.equal(answer, None, 'when it comes again, it is left alone')
        with announce(holder, b'b') as other:
            tap.equal(other.recv(100), RESUME, 'another runtime in its place is let go on as well')
    with announce(holder, b'b') as connection:
        connection.shutdown(socket.SHUT_RDWR)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(holder.directory / 'port'))
        connection.sendall(b'GET / HTTP/1.0\r\n\r\n' + bytes(20))
        tap.equal(connection.recv(100), b'', 'what speaks otherwise is hung up on')
    tap.equal(holder.ask('list'), {'attachments': []}, 'nothing of it is attached')


def test_boot(tap, holder):
    """A hidden boot id, as with ProcSubset=pid in a unit."""
    hidden = 'mount -t proc -o subset=pid proc /proc && exec "$@"'
    # The leak sanitizer would use ids that are different in the new pid namespace.
    done = subprocess.run(['unshare', '--mount', '--pid', '--fork', 'sh', '-c', hidden, 'sh',
                           *holder.command], capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'})
    tap.check(done.returncode == 1 and 'set ProcSubset=all' in done.stderr,
              'without the id of the boot it does not start', done.returncode, done.stderr)


def test(tap, programs, directory, _):
    holder = Holder(programs, directory)
    test_boot(tap, holder)
    with holder.running() as process:
        test_crowd(tap, holder)
        for mode in ('trickle', 'flood'):
            test_endless(tap, holder, process, mode)
        test_early(tap, holder, process)
        test_late(tap, holder, process)
        test_stopped_session(tap, holder, process)
        test_stopped_worker(tap, holder, process)
        test_killed_together(tap, holder, process)
        test_large_environment(tap, holder)
        test_port(tap, holder)
    test_share_by_root(tap, holder)
    test_end(tap, holder)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
