# SPDX-License-Identifier: MIT
"""CPU time of source.clrsym.ctf with `dummy`, of the events that clrsym reads and of all, against
babeltrace2's own source with `dummy`. Runs alternate, so all see the same machine. Asserts no time."""

import pathlib

from tests.bench import measure
from tests.traces import recorded

N_RUNS = 9
TRACES = ('perf', 'dynamic', 'net8.0', 'hello')


def commands(programs, trace):
    start = ['babeltrace2', f'--plugin-path={programs.plugin_dir}']
    own = [*start, '-c', 'source.clrsym.ctf', '--params']
    return {'source.ctf.fs': [*start, str(trace), '-o', 'dummy'],
            'wanted': [*own, f'inputs=["{trace}"]', '-o', 'dummy'],
            'all': [*own, f'inputs=["{trace}"],all=yes', '-o', 'dummy']}


def check(tap, programs, name, trace):
    costs = {}
    for _ in range(N_RUNS):
        for what, command in commands(programs, trace).items():
            cost = measure.run(command, environment=programs.environment)
            costs.setdefault(what, []).append(cost)
    cpu = {what: measure.median(values).cpu * 1000 for what, values in costs.items()}
    base = cpu.pop('source.ctf.fs')
    tap.check(base > 0, f'{name}: source.ctf.fs {base:.0f} ms CPU; source.clrsym.ctf ' + ', '.join(
        f'{what} {time:.0f} ms, ratio {time / base:.3f}' for what, time in cpu.items()) +
        f' (median of {N_RUNS})')


def run(tap, programs, directory, names):
    # Others can be given by name of a directory: a trace that is too large for the tree.
    given = [name for name in names if name not in recorded.NAMES]
    for name, trace in recorded.unpack(
            directory, [name for name in TRACES if name in names]).items():
        check(tap, programs, name, trace)
    for trace in given:
        check(tap, programs, pathlib.Path(trace).name, trace)


if __name__ == '__main__':
    recorded.main(run)
