# SPDX-License-Identifier: MIT
"""clrsym-holder, and sockets that others have put where a target's is: the target is attached all the same,
and nobody in its place.

test_holder_ports.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
for sibling in ('traces', 'live'):
    sys.path.insert(0, str(HERE.parent / sibling))

import live  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
from test_holder import NOBODY, RUNTIME, Holder, python, runtimes  # pylint: disable=wrong-import-position

OTHER = 64998
N_LINKS = 1000
CLONE3 = 435

# Maps a runtime, and has no socket.
MUTE = '''
import mmap, os, sys, time
path = os.path.join(sys.argv[1], 'libcoreclr.so')
open(path, 'wb').write(bytes(4096))
kept = mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)
print('READY', flush=True)
time.sleep(600)
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
    """Runs COMMAND as a process with that PID; yields the first line that it prints."""
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
def left(directory):
    """A socket that a process of another user has left to its child; yields the number that it had."""
    with subprocess.Popen([*as_user(OTHER), sys.executable, '-c', RUNTIME, directory, 'left', '1'],
                          stdout=subprocess.PIPE) as process:
        pid, heir = map(int, process.stdout.readline().split())
        try:
            process.wait()
            yield pid
        finally:
            os.kill(heir, signal.SIGKILL)


def test_links(tap, holder):
    """Links to another user's socket, named as the target's."""
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
    """Another user's process had the target's number, and has left its socket to a child."""
    directory = holder.directory / 'tmp-reused'
    directory.mkdir()
    directory.chmod(0o777)
    with left(directory) as pid:
        command = [*as_user(NOBODY), sys.executable, '-c', MUTE, str(directory)]
        with with_number(pid, command, TMPDIR=str(directory)) as line:
            tap.equal(line, 'READY\n', 'a process has the number of one that ended')
            answer = holder.ask('attach', pid, via='eventpipe')
            tap.equal(answer.get('error', {}).get('kind'), 'no-port',
                      'the socket that the other one has left is not its own')
    shutil.rmtree(directory)


def test(tap, programs, directory, _):
    holder = Holder(programs, directory)
    # A holder of nothing ends.
    with holder.running(), runtimes(holder, 'early') as (kept,):
        holder.ask('attach', kept, via='eventpipe')
        test_links(tap, holder)
        test_reused(tap, holder)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
