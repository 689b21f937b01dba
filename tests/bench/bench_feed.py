# SPDX-License-Identifier: MIT
"""CPU time of babeltrace2 with `sink.clrsym.feed` into a running daemon, against the same trace
read by `babeltrace2 -o dummy`. Runs alternate, so both see the same machine. Asserts no time."""

from tests.bench import measure
from tests.traces import recorded

N_RUNS = 9
TRACES = ('perf', 'dynamic', 'net8.0', 'hello')


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, [name for name in TRACES if name in names])
    for name, trace in traces.items():
        dummy, feed = [], []
        for _ in range(N_RUNS):
            dummy.append(measure.run(['babeltrace2', trace, '-o', 'dummy'],
                                     environment=programs.environment))
            # A new daemon each time: one that knows the trace already is sent nothing.
            with recorded.Daemon(programs, directory) as daemon:
                feed.append(measure.run(programs.feed_command(trace, daemon.ingest),
                                        environment=programs.environment))
                n_bodies = len(programs.ask(daemon.source, 'methods', '--all'))
        low, high = measure.median(dummy), measure.median(feed)
        tap.check(n_bodies > 0, f'{name}: feed {high.cpu * 1000:.0f} ms CPU, dummy '
                  f'{low.cpu * 1000:.0f} ms, ratio {high.cpu / low.cpu:.2f} '
                  f'(median of {N_RUNS}; {n_bodies} bodies)')
        tap.note(f'{name}: feed {[round(c.cpu * 1000) for c in feed]} ms, '
                 f'dummy {[round(c.cpu * 1000) for c in dummy]} ms')


if __name__ == '__main__':
    recorded.main(run)
