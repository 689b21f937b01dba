# SPDX-License-Identifier: MIT
"""Three million methods through a daemon with 64 MiB that keeps a journal: it stays within bounds all
the while, and what is read back of it in the end is what was known."""

import json
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'traces'))

import recorded  # pylint: disable=wrong-import-position
import test_budget_run as budget  # pylint: disable=wrong-import-position

MIB = 1 << 20
N_BODIES, N_ALIVE = 3 * 10**6, 20000
# The journal may have 64 MiB, or two images, none of which is larger than the budget; beside it an
# image that is being written, and what comes meanwhile.
BOUND = 64 * MIB + 2 * budget.MEMORY_MAX + 128 * MIB
SAMPLE_S = 0.02


def size(state):
    total = 0
    for path in state.glob('journal.*'):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # an image has taken its place
            pass
    return total


class Sizes:
    """Sizes of the journal, taken until the `with` ends."""

    def __init__(self, state):
        self.state, self.sizes, self.is_over = state, [], threading.Event()
        self.thread = threading.Thread(target=self.take)

    def take(self):
        while not self.is_over.wait(SAMPLE_S):
            self.sizes.append(size(self.state))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def listed(programs, daemon):
    return [json.loads(line) for line in programs.ask(daemon.source, 'methods', '--all')]


def numbers(state):
    """The numbers of the parts: how many there have been."""
    return [int(path.name.split('.')[1]) for path in state.glob('journal.*')]


def test(tap, programs, directory, rest):
    program, = rest
    state = pathlib.Path(directory) / 'state'
    options = ['--memory-max', '64M', '--state', state]
    with recorded.Daemon(programs, directory, *options) as daemon:
        with Sizes(state) as sizes:
            fed = budget.feed(program, daemon, bodies=N_BODIES, alive=N_ALIVE, seed=7,
                              pid=budget.CHURNING)
        tap.note(f'{fed.records} records in {fed.ns / 1e9:.1f} s: '
                 f'{fed.records * 1e9 / fed.ns:,.0f} a second')
        largest, images = max(sizes.sizes), max(numbers(state)) // 2
        tap.check(largest <= BOUND,
                  f'the journal has {largest / MIB:.1f} MiB at most, with {images} images on the way',
                  f'may have {BOUND / MIB:.0f} MiB')
        tap.check(images > 3, 'it was made shorter again and again', images)
        tap.check('cannot' not in daemon.log(), 'nothing went wrong', daemon.log())
        want = listed(programs, daemon)
        whole_since = min(row['unloaded'] or 'z' for row in want)
        daemon.process.kill()
        daemon.process.wait()
    begin = time.monotonic()
    with recorded.Daemon(programs, directory, *options) as daemon:
        status = budget.status(programs, daemon)
        tap.note(f'{status["bodies"]} bodies back in {time.monotonic() - begin:.2f} s, from '
                 f'{size(state) / MIB:.1f} MiB')
        tap.check(status['bytes'] <= budget.MEMORY_MAX, 'in the same budget', status['bytes'])
        budget.check_living(tap, programs, daemon, fed)
        budget.check_evicted(tap, programs, daemon, fed)
        # A few more or fewer of the oldest may be gone; what is there is the same.
        got = listed(programs, daemon)
        known = {json.dumps(row) for row in want}
        common = sum(json.dumps(row) in known for row in got)
        tap.check(common == min(len(got), len(want)) and common > 0.95 * len(want),
                  f'{len(got)} bodies of {len(want)}, {common} of them the same', whole_since)


if __name__ == '__main__':
    recorded.main(test)
