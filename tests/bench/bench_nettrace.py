# SPDX-License-Identifier: MIT
"""How fast a .nettrace file is read: by the reader alone from memory, and by `clrsym ps --trace` as
whole processes, beside the LTTng trace of the same run. Asserts no time."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'traces'), str(TESTS / 'nettrace')]

import measure  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
import test_nettrace  # pylint: disable=wrong-import-position

N_RUNS = 9
RECORDINGS = ('lib', 'stacks')


def run(tap, programs, directory, names):
    reader, = names
    for name in RECORDINGS:
        recording = test_nettrace.Recording(name, directory)
        done = programs.run([reader, recording.trace])
        tap.equal(done.returncode, 0, f'{name}: the reader alone')
        for line in done.stdout.splitlines():
            tap.note(f'{name}: {line}')
        costs = {path: [] for path in (recording.trace, recording.twin)}
        for _ in range(N_RUNS):
            for path, runs in costs.items():
                runs.append(measure.run([programs.clrsym, 'ps', '--trace', path], None, programs.environment))
        ours, theirs = (measure.median(runs) for runs in costs.values())
        tap.note(f'{name}: clrsym ps: {ours.cpu * 1000:.0f} ms CPU of the .nettrace file, '
                 f'{theirs.cpu * 1000:.0f} of the LTTng trace (median of {N_RUNS})')


if __name__ == '__main__':
    recorded.main(run)
