# SPDX-License-Identifier: MIT
"""The files of live sessions at the relay daemon: they are removed when the session is over and no feeder needs them,
and nothing else is removed. A full disk ends a session for good, unless its feeder has it restarted.

test_relay_disk.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN"""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import stat
import subprocess
import time

from tests.live import alone, live, test_status
from tests.live.test_session import emit
from tests.traces import recorded


# s: more than the age of data that a feeder reads.
OLD = 7200
# A system call, on all architectures.
PIDFD_GETFD = 438


def directories(relay, name='clrsym'):
    return sorted(relay.glob(f'*/{name}-*'))


def make_old(path):
    for one in (path, *path.rglob('*')):
        os.utime(one, (time.time() - OLD,) * 2, follow_symlinks=False)


def start_stop(world, relay, emitter, *options):
    """A session from start to stop; its directory."""
    before = directories(relay)
    world.call('start', '--relay-output', relay, *options)
    emit(emitter)
    world.call('stop')
    made, = set(directories(relay)) - set(before)
    time.sleep(1.1)  # the next session's name needs another second
    return made


def test_age(tap, world, emitter):
    """Without a feeder, files stay for an hour, in which one may come."""
    relay = world.directory / 'relay'
    first = start_stop(world, relay, emitter)
    second = start_stop(world, relay, emitter)
    tap.equal(directories(relay), [first, second], 'what is new stays after the session')
    others = first.with_name('clrsym-20200101-000000')
    others.mkdir()
    (others / 'metadata').write_text('of another session of that name', encoding='ascii')
    outside = world.directory / 'outside'
    outside.mkdir()
    (outside / 'file').write_text('x', encoding='ascii')
    (first / 'link').symlink_to(outside)
    for path in (first, others):
        make_old(path)
    kept = start_stop(world, relay, emitter, '--keep')
    tap.equal(directories(relay), sorted([others, second, kept]), 'what is old goes, if clrsym made it')
    tap.check((outside / 'file').exists(), 'and nothing that a link points to')
    for path in (second, kept):
        make_old(path)
    last = start_stop(world, relay, emitter)
    tap.equal(directories(relay), sorted([others, kept, last]), 'and not with --keep')


def test_feeder(tap, world, emitter):
    """With a feeder, files are removed when it has read them."""
    relay = world.directory / 'relay'
    before = set(directories(relay))
    world.call('start', '--relay-output', relay)
    first, = set(directories(relay)) - before
    with world.feeding() as feed:
        emit(emitter)
        world.wait('the feed', 'live')
        loads = world.status()['method_loads']
        time.sleep(1.1)
        os.kill(world.relayd(), signal.SIGKILL)
        live.wait_for('a new session', lambda: len(set(directories(relay)) - before) == 2, feed)
        world.wait('the session', 'active', rows='sessions', key='name')
        emit(emitter)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > loads, feed)
        world.wait('the feed', 'live')
        live.wait_for('the removal', lambda: not first.exists(), feed)
        tap.equal(len(set(directories(relay)) - before), 1,
                  'what is left of a repaired session goes once it is read')
        loads = world.status()['method_loads']
        emit(emitter)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > loads, feed)
        tap.check(True, 'and the present one goes on')
    world.call('stop')


def fill(path):
    """The file system of PATH."""
    with contextlib.suppress(OSError), open(path, 'wb', buffering=0) as file:
        while True:
            file.write(bytes(4096))


def hang_up(process, port):
    """Shuts down the connection of PROCESS to PORT; the listener need not notice."""
    libc = ctypes.CDLL(None, use_errno=True)
    holder = os.pidfd_open(process.pid)
    try:
        for entry in pathlib.Path(f'/proc/{process.pid}/fd').iterdir():
            fd = libc.syscall(PIDFD_GETFD, holder, int(entry.name), 0)
            if fd < 0:
                continue
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.close(fd)
                continue
            with contextlib.suppress(OSError), socket.socket(fileno=fd) as one:
                if one.getpeername()[1:2] == (port,):
                    one.shutdown(socket.SHUT_RDWR)
                    return True
    finally:
        os.close(holder)
    return False


def test_full(tap, world, emitter):
    """The relay daemon ends a session whose files it cannot write, and the session daemon does not notice: later
    events are lost, in a gap, until there is room. A viewer that is disconnected meanwhile still knows the session."""
    relay = world.directory / 'full'
    relay.mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'none', str(relay)], check=True)
    world.call('start', '--relay-output', relay)
    with world.feeding() as feed:
        emit(emitter)
        world.wait('the feed', 'live')
        before = world.status()

        def is_given_up():
            emit(emitter)
            return 'has no session' in world.run_status().stdout

        def has_more():
            emit(emitter)
            return world.status()['method_loads'] > before['method_loads']

        fill(relay / 'filler')
        live.wait_for('the end of the session', is_given_up, feed)
        with world.hanging_relayd():
            live.wait_for('a connection', lambda: hang_up(feed, test_status.RELAY_PORTS['live']), feed)
        (relay / 'filler').unlink()
        live.wait_for('the methods', has_more, feed)
        world.wait('the feed', 'live')
        tap.check(world.status()['gaps'] > before['gaps'], 'a full disk is a gap, and the session goes on')
    world.call('stop')


def test(tap, programs, directory, rest):
    emitter, = rest
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    world = test_status.World(programs, directory)
    with recorded.Daemon(programs, directory) as daemon:
        world.daemon = daemon
        test_age(tap, world, emitter)
        test_feeder(tap, world, emitter)
        test_full(tap, world, emitter)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
