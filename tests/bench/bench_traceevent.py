# SPDX-License-Identifier: MIT
"""`clrsym resolve --trace` with probes to answer, against a program on TraceEvent that reads the
same trace and counts its methods. Whole processes, from start to exit. Asserts no time."""

import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'traces'), str(TESTS / 'oracle')]

import measure  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
import traceevent  # pylint: disable=wrong-import-position

N_RUNS = 7
TRACES = ('perf', 'dynamic', 'net8.0', 'rejit-tiered')


def run(tap, programs, directory, names):
    command = traceevent.build(directory)
    traces = recorded.unpack(directory, [name for name in TRACES if name in names])
    for name, trace in traces.items():
        archive = traceevent.pack(trace, os.path.join(directory, f'{name}.zip'))
        questions = os.path.join(directory, f'{name}.probes')
        rows = recorded.Truth(name).rows('probes.tsv')
        with open(questions, 'w', encoding='ascii') as output:
            output.writelines(recorded.probe_line(row) + '\n' for row in rows)
        ours, theirs = [], []
        for _ in range(N_RUNS):
            ours.append(measure.run([programs.clrsym, 'resolve', '--trace', trace, '--json'],
                                    stdin=questions, environment=programs.environment))
            theirs.append(measure.run([*command, '--bench', archive],
                                      environment=traceevent.ENVIRONMENT))
        us, them = measure.median(ours), measure.median(theirs)
        tap.check(us.cpu > 0 and them.cpu > 0,
                  f'{name}: clrsym {us.wall * 1000:.0f} ms, {us.cpu * 1000:.0f} ms CPU, '
                  f'{us.rss:.0f} MiB; TraceEvent {them.wall * 1000:.0f} ms, '
                  f'{them.cpu * 1000:.0f} ms CPU, {them.rss:.0f} MiB')
        tap.note(f'{name}: ratio of wall time {us.wall / them.wall:.2f}, CPU time '
                 f'{us.cpu / them.cpu:.2f}, memory {us.rss / them.rss:.2f} '
                 f'(median of {N_RUNS}; {len(rows)} addresses resolved)')


if __name__ == '__main__':
    recorded.main(run)
