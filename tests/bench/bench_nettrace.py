# SPDX-License-Identifier: MIT
"""How fast a .nettrace file is read: by the reader alone from memory, and by `clrsym ps --trace` as
whole processes, beside the LTTng trace of the same run, and beside a program on TraceEvent that
reads the names of all methods. More .nettrace files can be given. Asserts no time."""

import shutil

from tests.bench import measure
from tests.nettrace import test_nettrace
from tests.oracle import traceevent
from tests.traces import recorded

N_RUNS = 9
RECORDINGS = ('lib', 'stacks')


def compare(tap, name, ways):
    """WAYS: what -> command, environment. The first is ours."""
    costs = {way: [] for way in ways}
    for _ in range(N_RUNS):
        for way, (command, environment) in ways.items():
            costs[way].append(measure.run(command, None, environment))
    costs = {way: measure.median(runs) for way, runs in costs.items()}
    peaks = {way: measure.peak_memory(command, None, environment)[0]
             for way, (command, environment) in ways.items()}
    ours = next(iter(ways))
    for way, cost in costs.items():
        tap.note(f'{name}: {way}: {cost.wall * 1000:.0f} ms, {cost.cpu * 1000:.0f} ms CPU, '
                 f'{peaks[way]:.0f} MiB; it takes {cost.wall / costs[ours].wall:.2f} x the time of '
                 f'{ours}, {cost.cpu / costs[ours].cpu:.2f} x the CPU time, '
                 f'{peaks[way] / peaks[ours]:.2f} x the memory (median of {N_RUNS})')


def run(tap, programs, directory, names):
    reader, *given = names
    recordings = [test_nettrace.Recording(name, directory) for name in RECORDINGS]
    command = traceevent.build(directory) if shutil.which('dotnet') else None
    if not command:
        tap.note('no `dotnet`: nothing is compared with TraceEvent')
    for name, path, twin in (*((each.directory.name, each.trace, each.twin) for each in recordings),
                             *((path, path, None) for path in given)):
        done = programs.run([reader, path])
        tap.equal(done.returncode, 0, f'{name}: the reader alone')
        for line in done.stdout.splitlines():
            tap.note(f'{name}: {line}')
        ways = {'clrsym ps': ([programs.clrsym, 'ps', '--trace', path], programs.environment)}
        if twin:
            ways['clrsym ps of the LTTng trace'] = (
                [programs.clrsym, 'ps', '--trace', twin], programs.environment)
        if command:
            ways['TraceEvent'] = ([*command, '--bench', path], traceevent.ENVIRONMENT)
        compare(tap, name, ways)


if __name__ == '__main__':
    recorded.main(run)
