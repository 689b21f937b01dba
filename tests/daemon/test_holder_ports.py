# SPDX-License-Identifier: MIT
"""clrsym-holder, and sockets that other users put at the place of a target's socket: the holder
attaches the target, and no other process in its place. And hostile connections to the holder's
own port.

test_holder_ports.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys

from tests.daemon.test_holder import CROWD, Holder, NOBODY, RESUME, RUNTIME, announce, python, runtimes
from tests.live import live
from tests.traces import recorded

OTHER = 64998
N_LINKS = 1000
# More connections than the holder takes from all users together.
N_SILENT = 3000
# Sanitizers have costs of their own, which hide those of the holder.
IS_SANITIZED = 'LD_PRELOAD' in os.environ
N_COOKIES = 100 if IS_SANITIZED else 1000
# Upper limit of the holder's descriptors with one user's share of silent connections.
MAX_DESCRIPTORS = 300
CLONE3 = 435

# Maps a runtime, and has no socket.
MUTE = '''
import mmap, os, sys, time
path = os.path.join(sys.argv[1], 'libcoreclr.so')
if not os.path.exists(path):
    open(path, 'wb').write(bytes(4096))
kept = mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)
print('READY', flush=True)
time.sleep(600)
'''

# Announces a runtime at a port, exits, and leaves the connection to a child, which prints the
# answer.
CALLER = '''
import os, signal, socket, struct, sys, time
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.sendall(b'ADVR_V1\\0' + bytes(16) + struct.pack('<QH', os.getpid(), 0))
if os.fork():
    time.sleep(600)
os.setsid()
left = os.getppid()
os.kill(left, signal.SIGKILL)
print(left, os.getpid(), flush=True)
print(len(connection.recv(100)), flush=True)
'''


def as_user(uid):
    return 'setpriv', f'--reuid={uid}', '--clear-groups', f'--regid={uid}'


class CloneArguments(ctypes.Structure):
    """struct clone_args of clone(2)."""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        'flags', 'pidfd', 'child_tid', 'parent_tid', 'exit_signal', 'stack', 'stack_size', 'tls', 'set_tid',
        'set_tid_size', 'cgroup')]


@contextlib.contextmanager
def with_number(pid, command, **options):
    """Runs COMMAND as a process with the given PID; yields the first line of its output."""
    reader, writer = os.pipe()
    numbers = (ctypes.c_int * 1)(pid)
    arguments = CloneArguments(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(numbers), set_tid_size=1)
    libc = ctypes.CDLL(None, use_errno=True)
    got = libc.syscall(CLONE3, ctypes.byref(arguments), ctypes.c_size_t(ctypes.sizeof(arguments)))
    if got == 0:
        os.dup2(writer, 1)
        os.execvpe(command[0], command, {**os.environ, **options})
    os.close(writer)
    if got < 0:
        raise OSError(ctypes.get_errno(), f'no process {pid}')
    try:
        with open(reader, encoding='ascii') as stream:
            yield stream.readline()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@contextlib.contextmanager
def left(script, *arguments):
    """Runs SCRIPT as another user; the process exits and leaves its socket to a child. Yields
    the pid of the process, and the output of the child."""
    with subprocess.Popen([*as_user(OTHER), sys.executable, '-c', script, *map(str, arguments)],
                          stdout=subprocess.PIPE) as process:
        pid, heir = map(int, process.stdout.readline().split())
        try:
            process.wait()
            yield pid, process.stdout
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(heir, signal.SIGKILL)


def test_links(tap, holder):
    """Links to another user's socket under the name of the target's socket."""
    with runtimes(holder, 'calm', before=as_user(NOBODY)) as (target,), socket.socket(socket.AF_UNIX) as trap:
        directory = holder.directory / 'tmp-calm'
        first = directory / 'trap'
        trap.bind(str(first))
        trap.listen(4096)
        trap.setblocking(False)
        os.chown(first, OTHER, OTHER)
        first.chmod(0o777)
        for i in range(N_LINKS):
            os.link(first, directory / f'dotnet-diagnostic-{target}-{i + 2}-socket')
        answer = holder.ask('attach', target, via='eventpipe')
        tap.equal(answer.get('pid'), target, f'{N_LINKS} links that are named as its socket: it is attached')
        try:
            trap.accept()
            n = 1
        except BlockingIOError:
            n = 0
        tap.equal(n, 0, 'and nobody has connected to them')
        holder.ask('detach', target)


def test_reused(tap, holder):
    """Another user's process had the target's pid before, and has left its socket to a child."""
    directory = holder.directory / 'tmp-reused'
    directory.mkdir()
    directory.chmod(0o777)
    with left(RUNTIME, directory, 'left', 1) as (pid, _):
        command = [*as_user(NOBODY), sys.executable, '-c', MUTE, str(directory)]
        with with_number(pid, command, TMPDIR=str(directory)) as line:
            tap.equal(line, 'READY\n', 'a process has the number of one that ended')
            answer = holder.ask('attach', pid, via='eventpipe')
            tap.equal(answer.get('error', {}).get('kind'), 'no-port',
                      'the socket that the other one has left is not its own')
    shutil.rmtree(directory)


def test_reused_caller(tap, holder, process):
    """A process has connected and exited, and another user's process has its pid now."""
    directory = holder.directory / 'tmp-caller'
    directory.mkdir()
    directory.chmod(0o777)
    live.freeze(process.pid)
    with left(CALLER, holder.directory / 'port') as (pid, output):
        command = [*as_user(NOBODY), sys.executable, '-c', RUNTIME, str(directory), 'calm', '1']
        with with_number(pid, command, TMPDIR=str(directory)) as line:
            process.send_signal(signal.SIGCONT)
            tap.equal((line, output.readline()), (f'{pid}\n', b'20\n'),
                      'the connection that is left is answered')
            tap.equal(holder.state(pid), None, 'and the process that has the number is not attached for it')
    shutil.rmtree(directory)


def test_silent(tap, holder, process):
    """Silent connections of one user: a runtime of another user does not wait."""
    with python(CROWD, holder.directory / 'port', N_SILENT) as words:
        with announce(holder, b's') as connection:
            answer = connection.recv(100)
            n_open = len(os.listdir(f'/proc/{process.pid}/fd'))
        tap.check(words == ['READY'] and answer == RESUME and n_open < MAX_DESCRIPTORS,
                  f'{N_SILENT} silent connections of a user: of these {n_open} at most are held while another '
                  "user's runtime is let go on", answer)


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def announce_all(holder, process, first):
    """Announces N_COOKIES runtimes from this process, from FIRST on. Returns the CPU seconds of
    the holder."""
    begin = cpu_seconds(process.pid)
    for i in range(first, first + N_COOKIES):
        with announce(holder, struct.pack('<H', i), size=8) as connection:
            if connection.recv(100) != RESUME:
                raise RuntimeError(f'cookie {i} is not let go on')
    return cpu_seconds(process.pid) - begin


def test_cookies(tap, holder, process):
    """One process announces new runtimes again and again: the last ones cost no more than the
    first ones."""
    seconds = [announce_all(holder, process, i * N_COOKIES) for i in range(3)]
    tap.check(IS_SANITIZED or seconds[2] < 2 * seconds[0] + 0.1,
              f'{3 * N_COOKIES} cookies of one process', seconds)
    tap.note(f'seconds of CPU for each third: {seconds}')


def test(tap, programs, directory, _):
    holder = Holder(programs, directory)
    # A holder without attachments exits.
    with holder.running() as process, runtimes(holder, 'early') as (kept,):
        holder.ask('attach', kept, via='eventpipe')
        test_silent(tap, holder, process)
        test_cookies(tap, holder, process)
        test_links(tap, holder)
        test_reused(tap, holder)
        test_reused_caller(tap, holder, process)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
