# SPDX-License-Identifier: MIT
"""`clrsym resolve --trace` with probes to answer, against `babeltrace2 -o dummy`, a loop over all
events in python3-bt2, and a program on TraceEvent that counts methods, of the same trace. Whole
processes, which take turns. Directories can be given instead: of them `clrsym ps` is measured.
Asserts no time."""

import os
import pathlib
import shutil

from tests.bench import measure
from tests.oracle import traceevent
from tests.traces import recorded

N_RUNS = 9
TRACES = ('perf', 'dynamic', 'net8.0', 'rejit-tiered')
PYTHON_LOOP = """
import sys, bt2
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    pass
"""


def probes(directory, name):
    """The options and the input of clrsym for a trace."""
    path = pathlib.Path(directory) / f'{name}.probes'
    path.write_text(''.join(recorded.probe_line(row) + '\n'
                            for row in recorded.Truth(name).rows('probes.tsv')), encoding='ascii')
    return ['resolve', '--json'], path


def compare(tap, programs, name, trace, verb, questions, others):
    clrsym = [programs.clrsym, *verb, '--trace', trace]
    ways = {
        'clrsym': (clrsym, questions, programs.environment),
        'dummy': (['babeltrace2', trace, '-o', 'dummy'], None, programs.environment),
        'python3-bt2': (['/usr/bin/python3', '-c', PYTHON_LOOP, trace], None,
                        programs.environment),
        **others,
    }
    costs = {way: [] for way in ways}
    for _ in range(N_RUNS):
        for way, (command, stdin, environment) in ways.items():
            costs[way].append(measure.run(command, stdin, environment))
    peaks = {way: measure.peak_memory(*ways[way]) for way in ('clrsym', *others)}
    medians = {way: measure.median(cost) for way, cost in costs.items()}
    ours = medians['clrsym']
    tap.check(all(peaks['clrsym']), f'{name}: clrsym {ours.cpu * 1000:.0f} ms CPU')
    for way, cost in medians.items():
        tap.note(f'{name}: {way}: {cost.wall * 1000:.0f} ms, {cost.cpu * 1000:.0f} ms CPU; '
                 f'clrsym is {ours.wall / cost.wall:.3f} of its wall time, '
                 f'{ours.cpu / cost.cpu:.3f} of its CPU time (median of {N_RUNS})')
    for way, (total, anonymous) in peaks.items():
        tap.note(f'{name}: {way}: {total:.0f} MiB, {anonymous:.0f} of them anonymous; clrsym has '
                 f'{peaks["clrsym"][0] / total:.2f} of it')


def run(tap, programs, directory, names):
    has_dotnet = shutil.which('dotnet') is not None
    command = traceevent.build(directory) if has_dotnet else None
    if not has_dotnet:
        tap.note('no `dotnet`: nothing is compared with TraceEvent')
    given = [name for name in names if name not in recorded.NAMES]
    traces = recorded.unpack(directory, [name for name in TRACES if name in names])
    for name, trace in (*traces.items(), *((pathlib.Path(path).name, path) for path in given)):
        others = {}
        if has_dotnet:
            archive = traceevent.pack(trace, os.path.join(directory, f'{name}.zip'))
            others['TraceEvent'] = ([*command, '--bench', archive], None, traceevent.ENVIRONMENT)
        verb, questions = probes(directory, name) if name in traces else (['ps'], None)
        compare(tap, programs, name, trace, verb, questions, others)


if __name__ == '__main__':
    recorded.main(run)
