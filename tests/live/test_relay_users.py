# SPDX-License-Identifier: MIT
"""Other users beside the relay daemon: who may not read from it, nor send to it, nor stand in for it.

test_relay_users.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN
"""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from tests.live import alone, live, test_status
from tests.live.test_session import emit, running
from tests.live.test_status import OTHER_UID, RELAY_PORTS, SYSTEM_UID
from tests.traces import recorded

PR_SET_NAME, CLONE_NEWNET = 15, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def process(function):
    """FUNCTION in a process of its own, until the end of the `with`; it says when it is ready."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        function(lambda: os.write(writer, b'x'))
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    try:
        yield pid
    finally:
        os.close(reader)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def become(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def squat(counter):
    """Listens as another user at every port of a relay daemon, and counts who connects."""
    def run(ready):
        become(OTHER_UID)
        listeners = [socket.create_server(('127.0.0.1', port)) for port in RELAY_PORTS.values()]
        for one in listeners:
            one.settimeout(0.05)
        ready()
        while True:
            for one in listeners:
                with contextlib.suppress(TimeoutError):
                    connection, _ = one.accept()
                    os.write(counter, b'x')
                    connection.close()
    return run


def pretend(ready):
    """A process of the system's relay user that is called lttng-relayd, and listens nowhere."""
    LIBC.prctl(PR_SET_NAME, b'lttng-relayd', 0, 0, 0)
    become(SYSTEM_UID)
    ready()
    signal.pause()


def relay_apart(directory):
    """The system's relay daemon in a network namespace of its own, as its unit has it."""
    for path in (directory, directory / 'home'):
        path.mkdir(exist_ok=True)
        os.chown(path, SYSTEM_UID, SYSTEM_UID)

    def run(ready):
        if LIBC.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), 'unshare')
        alone.loopback_up()
        become(SYSTEM_UID)
        ports = [f'--{name}-port=tcp://127.0.0.1:{port}' for name, port in RELAY_PORTS.items()]
        ready()
        os.chdir('/')
        os.execvpe('lttng-relayd', ['lttng-relayd', *ports, f'--output={directory}'],
                   {**os.environ, 'LTTNG_HOME': str(directory / 'home')})
    return run


def listens_in(pid, port):
    try:
        table = pathlib.Path(f'/proc/{pid}/net/tcp').read_text(encoding='utf-8')
    except OSError:
        return False
    return f' 0100007F:{port:04X} ' in table


def test_squatter(tap, world):
    """Another user has the ports while lttng-relayd is away."""
    counted, counter = os.pipe()
    os.set_blocking(counted, False)
    with process(squat(counter)), process(pretend):
        done = world.call('start', '--name', 'squatted', '--relay-output', world.directory / 'own')
        tap.check(done.returncode == 0 and 'lttng-relayd: started' in done.stdout,
                  'a session does not go to a port of another user', done.stdout, done.stderr)
        world.call('stop', 'squatted')
        with world.feeding():
            row = world.wait('the feed', 'no-relayd')
            user = 'clrsym-other'
            tap.check(f'port {RELAY_PORTS["live"]} belongs to user {user}' in row['reason'],
                      'a feeder says whose port it is', row)
            time.sleep(1)
        try:
            n_connections = len(os.read(counted, 4096))
        except BlockingIOError:
            n_connections = 0
        tap.equal(n_connections, 0, 'and nobody has connected to it')
    os.close(counted)
    os.close(counter)


def test_apart(tap, world, emitter):
    """The system's relay daemon is reached by root's session daemon and its feeders only."""
    output = world.directory / 'apart'
    port = RELAY_PORTS['live']
    with process(relay_apart(output)) as relay:
        live.wait_for('lttng-relayd', lambda: listens_in(relay, port))

        def connect(ready):
            become(OTHER_UID)
            with socket.socket() as one:
                code = one.connect_ex(('127.0.0.1', port))
            (world.directory / 'result').write_text(str(code), encoding='utf-8')
            ready()
            signal.pause()

        world.directory.chmod(0o777)
        with process(connect):
            code = int((world.directory / 'result').read_text(encoding='utf-8'))
        tap.check(code != 0, 'another user does not reach it', code)
        done = world.call('start')
        tap.check(done.returncode == 0 and
                  f'lttng-relayd: that of clrsym-ingest, writes to {output}' in done.stdout,
                  "root's session does", done.stdout, done.stderr)
        own = pathlib.Path('/proc/self/ns/net').stat().st_ino
        there = pathlib.Path(f'/proc/{relay}/ns/net').stat().st_ino
        sessiond = pathlib.Path(f'/proc/{running("lttng-sessiond")[0]}/ns/net').stat().st_ino
        tap.check(sessiond == there != own, 'the session daemon was started beside it')
        with world.feeding() as feed:
            emit(emitter)
            world.wait('the feed', 'live')
            live.wait_for('the methods', lambda: world.status()['method_loads'] > 0, feed)
            tap.check(True, 'and so does a feeder of root')
        world.call('stop')
    live.run('lttng-sessiond', '--daemonize', '--no-kernel')
    try:
        with process(relay_apart(output)) as relay:
            live.wait_for('lttng-relayd', lambda: listens_in(relay, port))
            done = world.call('start')
            tap.check(done.returncode == 1 and 'cannot reach lttng-relayd' in done.stderr and
                      'systemctl restart lttng-sessiond' in done.stderr,
                      'a session daemon elsewhere is reported, with what to do', done.stdout,
                      done.stderr)
    finally:
        for pid in running('lttng-sessiond'):
            os.kill(pid, signal.SIGTERM)
        live.wait_for('its end', lambda: not running('lttng-sessiond'))


def test_owner(tap, world, emitter):
    """Directories of other users below the relay daemon's are not read."""
    relay = world.directory / 'relay'
    world.call('start', '--relay-output', relay)
    emit(emitter)
    world.call('stop')
    recorded_by_us, = relay.glob('*/clrsym-*')
    n_before = world.status()['method_loads']
    forged = recorded_by_us.with_name('clrsym-29991231-235959')
    subprocess.run(['cp', '-r', recorded_by_us, forged], check=True)
    subprocess.run(['chown', '-R', f'{OTHER_UID}:{OTHER_UID}', forged], check=True)
    recorded_by_us.rename(recorded_by_us.with_name('other-20000101-000000'))
    world.call('start', '--relay-output', relay, '--name', 'later')
    with world.feeding(None, '--relay-output', relay):
        time.sleep(4)
        tap.equal(world.status()['method_loads'], n_before, "another user's directory is not read")
        os.chown(forged, 0, 0)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > n_before)
        tap.check(True, 'but it would have been found')
    world.call('stop')


def test(tap, programs, directory, rest):
    emitter, = rest
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    if not test_status.has_other_users():
        tap.skip('other users', 'there are none in this user namespace')
        return
    world = test_status.World(programs, directory)
    users = world.directory / 'passwd'
    users.write_text(pathlib.Path('/etc/passwd').read_text(encoding='utf-8') +
                     f'clrsym-ingest:x:{SYSTEM_UID}:{SYSTEM_UID}::/:/bin/false\n'
                     f'clrsym-other:x:{OTHER_UID}:{OTHER_UID}::/:/bin/false\n')
    alone.mount('--bind', str(users), '/etc/passwd')
    with recorded.Daemon(programs, directory) as daemon:
        world.daemon = daemon
        test_squatter(tap, world)
        test_apart(tap, world, emitter)
        test_owner(tap, world, emitter)
        tap.note(json.dumps(world.status().get('feeders', [])))


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
