# SPDX-License-Identifier: MIT
"""More methods than the journal keeps as single records: clrsymd is killed during the feed and
during the compaction of the journal, and the next daemon has the same state."""

import contextlib
import os
import pathlib
import random
import subprocess
import time

from tests.daemon.test_journal import Daemon, check_same, knowledge
from tests.traces import recorded

SEED = 20250611
CHURN_BODIES, CHURN_ALIVE = 150_000, 100_000


def test(tap, programs, directory, rest):
    churn, = rest
    directory = pathlib.Path(directory)
    state = directory / 'churn-state'
    command = [churn, '--bodies', str(CHURN_BODIES), '--alive', str(CHURN_ALIVE), '--socket']
    with recorded.Daemon(programs, directory) as daemon:
        subprocess.run([*command, daemon.ingest], check=True, stdout=subprocess.DEVNULL)
        want = knowledge(daemon)
    chance = random.Random(SEED)
    has_image = False
    for i in range(6):
        with Daemon(programs, directory, state) as daemon:
            with subprocess.Popen([*command, daemon.ingest], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as feeder:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    feeder.wait(chance.uniform(0.1, 0.6) * (i + 1))
                daemon.kill()
            tap.check('gap' not in daemon.log() and 'is damaged' not in daemon.log(),
                      f'churn: nothing is wrong with the journal, round {i}', daemon.log())
    with Daemon(programs, directory, state) as daemon:
        subprocess.run([*command, daemon.ingest], check=True, stdout=subprocess.DEVNULL)
        check_same(tap, knowledge(daemon), want, 'churn')
        for _ in range(200):
            has_image = has_image or not (state / 'journal.1').exists()
            time.sleep(0 if has_image else 0.05)
        tap.check(has_image, 'churn: an image took the place of what came first',
                  os.listdir(state))
        daemon.kill()
    with Daemon(programs, directory, state) as daemon:
        check_same(tap, knowledge(daemon), want, 'churn, after an image')


if __name__ == '__main__':
    recorded.main(test)
