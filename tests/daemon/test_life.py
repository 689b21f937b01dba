# SPDX-License-Identifier: MIT
"""The state of a process: running, exited, or only recorded; and the uid of its owner."""

import os
import pathlib
import time

from tests.daemon import ingest
from tests.daemon.test_daemon import Client, wait_for
from tests.traces import recorded

BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
OWN_NS = os.stat('/proc/self/ns/pid').st_ino
# A namespace in which the daemon finds no process.
OTHER_NS = 1
HERE, ELSEWHERE = b'recorded here...', b'of another boot.'
# (pid namespace, pid), stream.
RUNS_HERE, HIDDEN, FOREIGN, TWICE = ((OWN_NS, os.getpid()), 0), ((OTHER_NS, 7), 0), \
    ((OWN_NS, 7000), 1), ((OWN_NS, 7001), 1)
PROCESSES = (RUNS_HERE, HIDDEN, FOREIGN, TWICE)


def close_stream(number):
    return ingest.frame(ingest.STREAM_CLOSE, number.to_bytes(4, 'little'))


class World:
    def __init__(self, tap, programs, daemon):
        self.tap, self.programs, self.daemon = tap, programs, daemon
        self.client, self.feeder = Client(daemon.query), ingest.Feeder(daemon.ingest)

    def send(self, *frames):
        self.feeder.send(*frames, ingest.commit())
        self.feeder.receive_until(ingest.COMMITTED)

    def states(self):
        self.client.ask('ListProcesses')
        rows = {(row['pid_ns'], row['pid']): row['state']
                for row in self.client.reply()['parameters']['processes']}
        return [rows.get(key) for key, _ in PROCESSES]

    def check(self, want, name):
        self.tap.check(wait_for(lambda: self.states() == want), name, want, self.states())


def check_states(world):
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    world.send(ingest.hello(),
               ingest.stream_open(0, uuid=HERE, uid=os.getuid(), boot=BOOT),
               ingest.stream_open(1, 1, uuid=ELSEWHERE, uid=4711),
               ingest.stream_open(2, 2, uuid=ELSEWHERE, uid=4711),
               *[ingest.body(now + i, 0x1000, pid=pid, pid_ns=ns, stream=stream)
                 for i, ((ns, pid), stream) in enumerate(PROCESSES)],
               ingest.domain_unload(now + 10, pid=7001, pid_ns=OWN_NS, stream=1))
    running = ['running'] * len(PROCESSES)
    first = world.states()
    world.tap.equal(first[:3], running[:3], 'while streams come, what has not ended runs')
    last = first[3]
    world.send(close_stream(1))
    world.check([*running[:3], last], 'a stream of the trace still comes')
    world.send(close_stream(2))
    world.check(['running', 'running', 'recorded', last],
                'the trace of another boot is over, and its process did not end')
    world.send(close_stream(0))
    world.check(['running', 'recorded', 'recorded', last],
                'of a trace of this boot, what this host has runs, the rest is recorded')
    world.send(ingest.stream_open(3, 2, uuid=ELSEWHERE, uid=4711))
    world.check(['running', 'recorded', 'running', last], 'a stream of it comes again')


def check_long(world):
    done = world.programs.run([world.programs.clrsym, 'ps', '--long', *world.daemon.source])
    lines = [line.split() for line in done.stdout.splitlines()]
    world.tap.equal([line[:2] for line in lines],
                    [['UID', 'PID'], [str(os.getuid()), str(os.getpid())], [str(os.getuid()), '7'],
                     ['4711', '7000'], ['4711', '7001']], 'ps --long: the uid of each')
    done = world.programs.run([world.programs.clrsym, 'ps', *world.daemon.source])
    world.tap.check(done.returncode == 0 and 'UID' not in done.stdout,
                    'and without --long there is none', done.stdout)


def run(tap, programs, directory, _):
    if os.getuid() != 0:
        tap.skip('states of processes', 'needs root, who sees all')
        return
    with recorded.Daemon(programs, directory) as daemon:
        world = World(tap, programs, daemon)
        check_states(world)
        check_long(world)
        world.client.close()
        world.feeder.close()


if __name__ == '__main__':
    recorded.main(run)
