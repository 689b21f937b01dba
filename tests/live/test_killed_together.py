# SPDX-License-Identifier: MIT
"""A program that starts without tracing and compiles all the time is attached while it runs. Everything between it and
the answers is killed at random moments: the feed and its connections, the holder and its workers, the daemon, the
relay daemon. Afterwards each answer is right or marked, and the daemon has the contents of the relay daemon's files.

test_killed_together.py CLRSYM CLRSYMD PLUGIN_DIR [SEED]"""

import collections
import json
import os
import random
import time

from tests.live import alone, attached, live, runtimes, test_feed_live, test_live
from tests.live.test_attach import holder_of
from tests.live.test_feed_live import kill
from tests.traces import recorded

SECONDS = 24
# A killed relay daemon loses its unwritten data; all other kills lose nothing.
RELAY_KILLS = 2
SEED = 20261121
PARTS = ('feed', 'reader', 'worker', 'holder', 'daemon', 'relay')
# Number of the printed addresses that are asked about.
N_ASKED = 40_000


class World(test_feed_live.World):
    """All its parts can be killed and restarted."""

    def __init__(self, programs, directory, seed):
        super().__init__(programs, directory, f'together-{seed}')
        self.random = random.Random(seed)
        self.turns = []
        self.kills = collections.Counter()
        self.state = self.directory / 'state'
        self.program = None
        os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = \
            str(self.directory / 'holder')

    def new_daemon(self):
        return recorded.Daemon(self.programs, self.directory, '--state', self.state)

    def pause(self):
        time.sleep(self.random.uniform(0, 1.5))

    def attach(self, *options):
        return self.programs.run([self.programs.clrsym, 'attach', *self.daemon.source, *options,
                                  str(self.program.pid)])

    def strike_feed(self):
        self.feed.kill()
        self.pause()
        self.feed.start()

    def strike_reader(self):
        if not self.feed.cut():
            raise RuntimeError('it has no connection')

    def strike_worker(self):
        kill(holder_of(self.program.pid)[1][0])

    def strike_holder(self):
        kill(holder_of(self.program.pid)[0])
        self.pause()
        self.attach()

    def strike_daemon(self):
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.pause()
        for path in (self.daemon.ingest, self.daemon.query):
            path.unlink(missing_ok=True)
        self.daemon.__enter__()

    def strike_relay(self):
        if self.kills['relay'] < RELAY_KILLS:
            kill(json.loads((self.directory / 'place' / 'lttng-relayd').read_text())['pid'])

    def strike(self):
        """Kills each part once, in random order, then each once more."""
        self.turns = self.turns or self.random.sample(PARTS, len(PARTS))
        name = self.turns.pop()
        try:
            getattr(self, 'strike_' + name)()
        except (RuntimeError, IndexError, OSError):
            return  # it does not exist now
        self.kills[name] += 1


def check(tap, world, command):
    program = world.program = attached.Busy(command, world.directory / 'program', contexts=True)
    with program.running():
        first = world.attach()
        tap.check(first.returncode == 0, 'attached', first.stdout, first.stderr)
        with test_feed_live.beside(world.strike):
            time.sleep(SECONDS)
        tap.note(f'killed: {dict(world.kills)}')
        tap.check(program.process.poll() is None, 'the program goes on', program.process.poll())
        tap.check(len(+world.kills) == len(PARTS), 'each was killed', world.kills)
        feed = attached.Feed(world.programs, world.directory)
        feed.daemon = world.daemon
        world.wait_live()
        last = world.attach('--again')
        tap.check(' complete at ' in last.stdout, 'attached again', last.stdout, last.stderr)
        time.sleep(1)
        program.freeze()
        attached.check_now(tap, feed, program, 'afterwards')
        check_printed(tap, world, program)
        world.check_bodies(tap, program.pid, 'afterwards')


def check_printed(tap, world, program):
    codes = program.codes()
    codes = codes[::max(1, len(codes) // N_ASKED)]
    answers = test_live.resolve(world.programs, world.daemon, program.pid,
                                [(code.address, code.time) for code in codes])
    wrong, exact, bad = test_feed_live.marked_or_right(codes, answers)
    tap.check(len(exact) > 500 and not bad, f'afterwards: of {len(codes)} answers {len(exact)} are '
              'exact, and right', f'{len(bad)} are not', *bad[:5])
    tap.note('confidence: %s; %d do not name it' % (
        dict(collections.Counter(str(answer.get('confidence')) for answer in answers)), len(wrong)))


def test(tap, programs, directory, arguments):
    seed = int(arguments[0]) if arguments != recorded.USUAL else SEED
    tap.note(f'seed {seed}')
    for _, command, place in runtimes.runs(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        def part(attempt, command=command, place=place):
            world = World(programs, place, seed + attempt)
            with world.running():
                check(tap, world, command)

        attached.in_attempts(tap, part)


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(test), live.missing)
