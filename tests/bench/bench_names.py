# SPDX-License-Identifier: MIT
"""CPU time of a graph with filter.clrsym.names against one with lttng-utils' filter, of events with an `ip`: of the addresses
of a recording, each some times, as a program's tracepoints have them. A daemon has the names. Asserts no time."""

import pathlib

from tests.bench import measure
from tests.ctf import test_filter
from tests.traces import recorded

N_RUNS = 9
EVENTS_EACH = 40


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    recording = recorded.unpack(directory / 'recorded', [test_filter.RECORDING])[test_filter.RECORDING]
    samples = [test_filter.Sample(sample.pid, sample.time + i, [sample.ip])
               for sample in test_filter.recorded_samples() for i in range(EVENTS_EACH)]
    trace = test_filter.write(directory / 'samples', samples)
    with recorded.Daemon(programs, directory) as daemon:
        programs.feed(recording, daemon.ingest)
        start = ['babeltrace2', f'--plugin-path={programs.plugin_dir}', str(trace)]
        dummy = ['-c', 'sink.utils.dummy']
        source = test_filter.names(socket=str(daemon.query), fields=['ip'])
        commands = {'no filter': [*start, *dummy],
                    "lttng-utils' filter": [*start, '-c', 'filter.lttng-utils.debug-info', *dummy],
                    'filter.clrsym.names': [*start, *source, *dummy]}
        costs = {}
        for _ in range(N_RUNS):
            for what, command in commands.items():
                costs.setdefault(what, []).append(measure.run(command, environment=programs.environment))
    cpu = {what: measure.median(values).cpu * 1000 for what, values in costs.items()}
    base = cpu["lttng-utils' filter"]
    tap.check(base > 0, f'{len(samples)} events: ' + ', '.join(f'{what} {time:.0f} ms CPU, ratio {time / base:.2f}'
                                                             for what, time in cpu.items()) + f' (median of {N_RUNS})')


if __name__ == '__main__':
    recorded.main(run)
