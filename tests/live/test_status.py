# SPDX-License-Identifier: MIT
"""`clrsym status` of sessions and feeders, while parts are killed and restarted; with a test program that emits the
runtime's events.

test_status.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from tests.live import alone, live, test_session
from tests.live.test_session import check_failure, emit, running
from tests.traces import recorded


# This test's uid for relay daemon and feeders, and another one.
SYSTEM_UID, OTHER_UID = 64123, 64124
RELAY_PORTS = {'control': 5342, 'data': 5343, 'live': 5344}


class World(test_session.Sessions):
    """Sessions, a daemon, and a feeder."""

    def __init__(self, programs, directory):
        super().__init__(programs, directory)
        self.directory = pathlib.Path(directory)
        self.daemon = None

    def run_status(self, *arguments):
        return self.programs.run([self.programs.clrsym, 'status', *self.daemon.source, *arguments],
                                 env=self.environment)

    def status(self):
        done = self.run_status('--json')
        if not done.stdout.startswith('{'):
            raise RuntimeError(f'status: {done.returncode}: {done.stdout}{done.stderr}')
        return json.loads(done.stdout)

    def session(self, name='clrsym'):
        return next((row for row in self.status().get('sessions', []) if row['name'] == name), {})

    def feeder(self, name='clrsym'):
        return next((row for row in self.status().get('feeders', []) if row['session'] == name),
                    {})

    def wait(self, what, state, session='clrsym', rows='feeders', key='session'):
        """Waits until the row has the state; returns the row."""
        def find():
            return [row for row in self.status().get(rows, [])
                    if row[key] == session and row['state'] == state]

        return live.wait_for(f'{what}: {state} in {self.status()}', find)[0]

    def relayd(self):
        """Its pid, if clrsym started it."""
        return json.loads((self.place / 'lttng-relayd').read_text(encoding='utf-8'))['pid']

    @contextlib.contextmanager
    def hanging_relayd(self):
        live.freeze(self.relayd())
        try:
            yield
        finally:
            os.kill(self.relayd(), signal.SIGCONT)

    def wait_text(self, text):
        live.wait_for(repr(text), lambda: text in self.run_status().stdout)

    @contextlib.contextmanager
    def feeding(self, place=None, *options):
        scratch = self.directory / 'a "temporary\\ place'
        scratch.mkdir(exist_ok=True)
        environment = {**self.environment, 'CLRSYM_SESSIONS': str(place or self.place),
                       'TMPDIR': str(scratch)}
        errors = self.directory / 'feed.err'
        with open(errors, 'w', encoding='utf-8') as file, \
             live.child([self.programs.clrsym, 'feed', '--session', 'clrsym',
                         '--socket', self.daemon.ingest, *options],
                        env=environment, stderr=file) as process:
            try:
                yield process
            except RuntimeError as error:
                text = errors.read_text(encoding='utf-8')
                raise RuntimeError(f'{error}; the feeder has printed:\n{text}') from error


@contextlib.contextmanager
def relay_of(uid, directory):
    """A relay daemon of another user, where viewers search for it."""
    for path in (directory, directory / 'home'):
        path.mkdir(exist_ok=True)
        os.chown(path, uid, uid)
    ports = [f'--{name}-port=tcp://127.0.0.1:{port}' for name, port in RELAY_PORTS.items()]
    with live.child(['setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups',
                     'lttng-relayd', *ports, f'--output={directory}'], cwd='/',
                    env={**os.environ, 'LTTNG_HOME': str(directory / 'home')},
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        live.wait_for('lttng-relayd', lambda: listens(RELAY_PORTS['live']), process)
        yield process


def listens(port):
    table = pathlib.Path('/proc/net/tcp').read_text(encoding='utf-8')
    return re.search(rf': 0100007F:{port:04X} \S+ 0A ', table) is not None


def end(process):
    process.kill()
    process.wait()


def test_nothing(tap, world):
    done = world.run_status()
    tap.check(done.returncode == 0 and 'SESSION' not in done.stdout and
              'FEEDER' not in done.stdout and '\n\n' not in done.stdout,
              'without a session there is no table', done.stdout, done.stderr)
    tap.check(not {'sessions', 'feeders'} & set(world.status()), 'nor such a member')
    tap.check(not world.place.exists(), 'looking creates nothing')


def test_recorded(tap, world):
    with live.child(['sleep', '1000']) as other:
        before = set(world.status())
        trace = world.directory / 'recorded'
        world.call('start', '--name', 'rec', '--output', trace, '--track', str(other.pid),
                   '--disk', '64M')
        row = world.session('rec')
        tap.equal(row, {'name': 'rec', 'state': 'active', 'reason': None, 'live': False,
                        'output': str(trace), 'track': [other.pid], 'disk': 64 << 20,
                        'discarded_events': 0}, 'a recorded session')
        status = world.status()
        tap.equal(set(status) - before, {'sessions'}, 'it is all that is new')
        text = world.run_status().stdout
        tap.check(re.search(r'^processes: 0\n', text, re.M) and
                  re.search(rf'\n\nSESSION +STATE +TO +TRACKED +DISK +LOST +NOTE\nrec +active +'
                            rf'{re.escape(str(trace))} +{other.pid} +64.0 MiB +0 +-\n$', text),
                  'the table follows the counters', text)
        live.run('lttng', 'stop', 'rec')
        tap.equal(world.session('rec')['state'], 'stopped', 'one that is stopped')
        sessiond, = running('lttng-sessiond')
        live.freeze(sessiond)
        row = world.session('rec')
        tap.check(row['state'] == 'unknown' and 'does not answer' in row['reason'],
                  'a session daemon that hangs keeps nobody', row)
        os.kill(sessiond, signal.SIGKILL)
        live.wait_for('its end', lambda: not running('lttng-sessiond'))
        row = world.session('rec')
        tap.check(row['state'] == 'gone' and
                  row['reason'] == 'lttng-sessiond is gone: clrsym session stop rec',
                  'one whose session daemon is gone', row)
        world.call('stop', 'rec')


def test_feeder(tap, world, emitter):
    """The daemon, the session daemon and the feeder end and restart."""
    world.call('start', '--relay-output', world.directory / 'relay')
    with world.feeding() as feed:
        world.wait('the feed', 'idle')
        world.wait_text('live, no program yet')
        tap.check(True, 'a feeder with no program')
        emit(emitter)
        row = world.wait('the feed', 'live')
        tap.check(row['pid'] == feed.pid and row['restarts'] == 0 and row['last_error'] is None and
                  row['reason'] is None and 0 <= time.time() - row['since'] < live.TIMEOUT,
                  'a feeder that is live', row)
        text = world.run_status().stdout
        tap.check(re.search(r'\n\nSESSION .*\nclrsym +active +live +all +2.0 GiB +0 +-\n\n'
                            rf'FEEDER OF +STATE .*\nclrsym +live +20\S+ \S+ +0 +{feed.pid} +-\n$',
                            text), 'both tables', text)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > 0, feed)

        query = world.daemon.query
        end(world.daemon.process)
        done = world.run_status()
        check_failure(tap, done, 1, 'without a daemon it fails as ever', f'no daemon at {query}')
        tap.check(re.search(r'^SESSION .*\nclrsym +active ', done.stdout) and
                  re.search(r'\n\nFEEDER OF', done.stdout), 'and shows the sessions',
                  done.stdout)
        row = world.wait('the feed', 'no-daemon')
        tap.check(row['reason'] == row['last_error'] != '', 'the feeder waits for it', row)
        world.wait_text('waiting for clrsymd')
        tap.check(True, 'for people, too')
        for path in (world.daemon.ingest, world.daemon.query):
            path.unlink(missing_ok=True)
        world.daemon.__enter__()
        row = world.wait('the feed', 'live')
        tap.check(row['restarts'] > 0 and row['reason'] is None and row['last_error'],
                  'live again, and what was is not forgotten', row)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > 0, feed)

        # A stopped feeder repairs nothing.
        live.freeze(feed.pid)
        sessiond, = running('lttng-sessiond')
        os.kill(sessiond, signal.SIGKILL)
        live.wait_for('its end', lambda: sessiond not in running('lttng-sessiond'))
        row = world.session()
        tap.check(row['state'] == 'gone' and
                  row['reason'] == 'lttng-sessiond is gone: clrsym session repair clrsym',
                  'a live session without its session daemon', row)
        feed.send_signal(signal.SIGCONT)
        world.wait('the session', 'active', rows='sessions', key='name')
        before = world.status()['method_loads']
        emit(emitter)
        live.wait_for('the methods', lambda: world.status()['method_loads'] > before, feed)
        row = world.wait('the feed', 'live')
        tap.check(row['restarts'] > 1 and row['last_error'], 'the feed has repaired it', row)

        end(feed)
        row = world.feeder()
        tap.check(row['state'] == 'gone' and row['pid'] == feed.pid, 'a feeder that was killed',
                  row)
    world.call('stop')
    tap.check(not {'sessions', 'feeders'} & set(world.status()), 'and nothing is left')


def test_system_relay(tap, world, emitter):
    """Another user stops and restarts the system's relay daemon."""
    output = world.directory / 'system'
    users = world.directory / 'passwd'
    users.write_text(pathlib.Path('/etc/passwd').read_text(encoding='utf-8') +
                     f'clrsym-ingest:x:{SYSTEM_UID}:{SYSTEM_UID}::/:/bin/false\n'
                     f'clrsym-other:x:{OTHER_UID}:{OTHER_UID}::/:/bin/false\n')
    alone.mount('--bind', str(users), '/etc/passwd')
    with relay_of(OTHER_UID, world.directory / 'other'):
        done = world.call('start', '--relay-output', world.directory / 'own')
        tap.check('lttng-relayd: started' in done.stdout, "root uses no other user's relay daemon",
                  done.stdout, done.stderr)
        world.call('stop')
    with relay_of(SYSTEM_UID, output) as relay:
        done = world.call('start')
        tap.check(done.returncode == 0 and
                  f'lttng-relayd: that of clrsym-ingest, writes to {output}' in done.stdout,
                  "but the system's, and says so", done.stdout, done.stderr)
        stack = contextlib.ExitStack()
        feed = stack.enter_context(world.feeding())
        with stack:
            emit(emitter)
            world.wait('the feed', 'live')
            end(relay)
            row = world.wait('the feed', 'no-relayd')
            tap.check(row['restarts'] > 0, 'the feeder waits for it', row)
            world.wait_text('waiting for lttng-relayd')
            tap.check(True, 'for people, too')
            row = world.session()
            tap.equal((row['state'], row['reason']),
                      ('gone', 'lttng-relayd of clrsym-ingest is gone: systemctl restart '
                               'clrsym-relayd'), 'the session is dead, and what to do is shown')
            check_failure(tap, world.call('repair'), 1, 'none is started in its place',
                          'lttng-relayd of clrsym-ingest is gone')
            tap.equal(running('lttng-relayd'), [], 'indeed')
            stack.enter_context(relay_of(SYSTEM_UID, output))
            world.wait('the session', 'active', rows='sessions', key='name')
            before = world.status()['method_loads']
            emit(emitter)
            live.wait_for('the methods', lambda: world.status()['method_loads'] > before, feed)
            world.wait('the feed', 'live')
            tap.check(True, 'all goes on when it is back')
            world.call('stop')


def test_service(tap, world):
    """A feeder as the service runs it, in its user's directory."""
    place = pathlib.Path('/run/clrsym/feed-clrsym')
    place.mkdir(parents=True)
    odd = pathlib.Path('/run/clrsym/feed-odd')
    odd.mkdir()
    os.mkfifo(odd / 'pipe.feeder')
    (odd / 'link.feeder').symlink_to('/dev/zero')
    (odd / 'broken.feeder').write_text('{"pid":')
    (odd / 'none.feeder').write_text('[]')
    (odd / 'large.feeder').write_text('{"state":"' + 'x' * (2 << 20) + '"}')
    (odd / 'dead.feeder').write_text('{"pid": 1, "start": 1, "state": "live"}')
    world.call('start', '--relay-output', world.directory / 'relay')
    with world.feeding(place) as feed:
        live.wait_for('the feed', world.feeder, feed)
        os.chown(place, SYSTEM_UID, SYSTEM_UID)
        row = world.wait('the feed', 'idle')
        tap.equal([one['pid'] for one in world.status()['feeders']], [feed.pid],
                  'root sees the feeder of the service, and of odd files nothing')
        done = world.programs.run([world.programs.clrsym, 'feed', '--socket', world.daemon.ingest],
                                  env=world.environment)
        check_failure(tap, done, 1, 'which is enough for a session',
                      f'has a feeder already, process {row["pid"]}')
    world.call('stop')


def has_other_users():
    uids = pathlib.Path('/proc/self/uid_map').read_text(encoding='utf-8').split()
    return int(uids[0]) <= SYSTEM_UID and int(uids[0]) + int(uids[2]) > OTHER_UID


def test(tap, programs, directory, rest):
    emitter, = rest
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    world = World(programs, directory)
    begin = time.monotonic()
    with recorded.Daemon(programs, directory) as daemon:
        world.daemon = daemon
        test_nothing(tap, world)
        test_recorded(tap, world)
        test_feeder(tap, world, emitter)
        if has_other_users():
            test_system_relay(tap, world, emitter)
            test_service(tap, world)
        else:
            tap.skip('other users', 'there are none in this user namespace')
    tap.note(f'{time.monotonic() - begin:.1f} s')


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
