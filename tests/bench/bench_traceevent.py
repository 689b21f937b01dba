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
        us = {'command': [programs.clrsym, 'resolve', '--trace', trace, '--json'],
              'stdin': questions, 'environment': programs.environment}
        them = {'command': [*command, '--bench', archive],
                'environment': traceevent.ENVIRONMENT}
        ours, theirs = [], []
        for _ in range(N_RUNS):
            ours.append(measure.run(**us))
            theirs.append(measure.run(**them))
        our_peak, their_peak = (measure.peak_memory(**who) for who in (us, them))
        our, their = measure.median(ours), measure.median(theirs)
        tap.check(all(our_peak) and all(their_peak),
                  f'{name}: clrsym {our.wall * 1000:.0f} ms, {our.cpu * 1000:.0f} ms CPU, '
                  f'{our_peak[0]:.0f} MiB ({our_peak[1]:.0f} anonymous); '
                  f'TraceEvent {their.wall * 1000:.0f} ms, {their.cpu * 1000:.0f} ms CPU, '
                  f'{their_peak[0]:.0f} MiB ({their_peak[1]:.0f})')
        tap.note(f'{name}: ratio of wall time {our.wall / their.wall:.2f}, CPU time '
                 f'{our.cpu / their.cpu:.2f}, memory {our_peak[0] / their_peak[0]:.2f}, '
                 f'anonymous {our_peak[1] / their_peak[1]:.2f} '
                 f'(median of {N_RUNS}; {len(rows)} addresses resolved)')


if __name__ == '__main__':
    recorded.main(run)
