# SPDX-License-Identifier: MIT
"""`clrsym resolve --trace` with probes to answer, against `babeltrace2 -o dummy` and a loop over all
events in python3-bt2, of the same trace. Whole processes, which take turns. Asserts no time."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'traces'))

import measure  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position

N_RUNS = 9
TRACES = ('perf', 'dynamic', 'net8.0', 'rejit-tiered')
PYTHON_LOOP = """
import sys, bt2
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    pass
"""


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, [name for name in TRACES if name in names])
    for name, trace in traces.items():
        questions = pathlib.Path(directory) / f'{name}.probes'
        rows = recorded.Truth(name).rows('probes.tsv')
        questions.write_text(''.join(recorded.probe_line(row) + '\n' for row in rows),
                             encoding='ascii')
        clrsym = [programs.clrsym, 'resolve', '--trace', trace, '--json']
        ways = {
            'clrsym': (clrsym, questions, programs.environment),
            'clrsym by babeltrace2': (clrsym, questions, programs.by_babeltrace),
            'dummy': (['babeltrace2', trace, '-o', 'dummy'], None, programs.environment),
            'python3-bt2': (['/usr/bin/python3', '-c', PYTHON_LOOP, trace], None,
                            programs.environment),
        }
        costs = {way: [] for way in ways}
        for _ in range(N_RUNS):
            for way, (command, stdin, environment) in ways.items():
                costs[way].append(measure.run(command, stdin, environment))
        medians = {way: measure.median(cost) for way, cost in costs.items()}
        peak = measure.peak_memory(*ways['clrsym'])
        ours = medians['clrsym']
        tap.check(all(peak), f'{name}: clrsym {ours.cpu * 1000:.0f} ms CPU, {peak[0]:.0f} MiB '
                  f'({peak[1]:.0f} anonymous)')
        for way, cost in medians.items():
            tap.note(f'{name}: {way}: {cost.wall * 1000:.0f} ms, {cost.cpu * 1000:.0f} ms CPU; '
                     f'clrsym is {ours.wall / cost.wall:.3f} of its wall time, '
                     f'{ours.cpu / cost.cpu:.3f} of its CPU time (median of {N_RUNS})')


if __name__ == '__main__':
    recorded.main(run)
