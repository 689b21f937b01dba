# SPDX-License-Identifier: MIT
"""A feeder that lacks something while it catches up: room in /tmp, or descriptors; and one whose relay daemon hangs.
Nothing is lost that the relay daemon has.

test_feed_trouble.py CLRSYM CLRSYMD PLUGIN_DIR EMIT_MAIN"""

import resource
import subprocess
import time

from tests.live import alone, live, test_status
from tests.live.test_session import emit
from tests.traces import recorded


# s: longer than a catch-up retries unreadable data.
TROUBLE = 4
# s: longer than a session's live timer and the writing of its flush.
LIVE_TIMER = 3


class World(test_status.World):
    def scratch(self):
        return self.directory / 'a "temporary\\ place'

    def counts(self):
        status = self.status()
        return {name: status[name] for name in ('method_loads', 'gaps')}

    def wait_loads(self, n_loads):
        live.wait_for(f'{n_loads} loads', lambda: self.counts()['method_loads'] >= n_loads)


def test_full(tap, world, emitter, n_loads):
    """The file system for temporary files is full: a feeder does not need one."""
    world.scratch().mkdir(exist_ok=True)
    alone.mount('-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', str(world.scratch()))
    filler = world.scratch() / 'filler'
    emit(emitter)
    with open(filler, 'wb', buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    with world.feeding():
        world.wait_loads(n_loads)
        row = world.wait('the feed', 'live')
        tap.check(row['reason'] is None, 'full: the feeder is live all the same', row)
        time.sleep(TROUBLE)
        filler.unlink()
        tap.equal(world.counts(), {'method_loads': n_loads, 'gaps': 0}, 'full: nothing is lost')
    subprocess.run(['umount', str(world.scratch())], check=True)


def test_descriptors(tap, world, emitter, n_loads):
    """The feeder has no descriptors left when it finds new streams."""
    emit(emitter)
    # Longer than the live timer: all data is in the files, and no stream is read live.
    time.sleep(LIVE_TIMER)
    with world.feeding() as feed:
        world.wait('the feed', 'live')
        loads = world.counts()['method_loads']
        before = resource.prlimit(feed.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(feed.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        emit(emitter)
        time.sleep(TROUBLE)
        tap.equal(feed.poll(), None, 'descriptors: the feeder goes on')
        resource.prlimit(feed.pid, resource.RLIMIT_NOFILE, before)
        world.wait_loads(loads + n_loads)
        world.wait('the feed', 'live')
        tap.equal(world.counts(), {'method_loads': loads + n_loads, 'gaps': 0},
                  'descriptors: nothing is lost')


def test_hanging(tap, world, emitter, n_loads):
    """The relay daemon accepts connections, but does not answer."""
    loads = world.counts()['method_loads']
    with world.feeding():
        world.wait('the feed', 'live')
        with world.hanging_relayd():
            row = world.wait('the feed', 'no-relayd')
            tap.check('does not answer' in row['reason'], 'hanging: the reason is there', row)
        world.wait('the feed', 'live')
        emit(emitter)
        world.wait_loads(loads + n_loads)
        tap.equal(world.counts(), {'method_loads': loads + n_loads, 'gaps': 0},
                  'hanging: nothing is lost')


def test(tap, programs, directory, rest):
    emitter, = rest
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    world = World(programs, directory)
    world.call('start', '--relay-output', world.directory / 'relay')
    with recorded.Daemon(programs, directory) as daemon:
        world.daemon = daemon
        with world.feeding():
            emit(emitter)
            live.wait_for('the methods', lambda: world.counts()['method_loads'] > 0)
            time.sleep(1)
            n_loads = world.counts()['method_loads']
    (world.directory / 'ingest').unlink(missing_ok=True)
    with recorded.Daemon(programs, directory) as daemon:
        world.daemon = daemon
        test_full(tap, world, emitter, 2 * n_loads)
        test_descriptors(tap, world, emitter, n_loads)
        test_hanging(tap, world, emitter, n_loads)
    world.call('stop')


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test))
