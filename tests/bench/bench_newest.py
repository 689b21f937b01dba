# SPDX-License-Identifier: MIT
"""What .NET 11 costs: the start of a program with the library that connects its tracepoints against without it, on
.NET 11 and on .NET 10, which does not need it; and how fast the images of both are read, for each function. Runs
alternate. Asserts no time.

bench_newest.py CLRSYM CLRSYMD PLUGIN_DIR R2R-MAPS
"""

import os
import statistics
import sys
import tempfile

from tests.bench import measure
from tests.live import live, runtimes

N_STARTS, N_READS = 40, 5
RUNTIMES = runtimes.OWN, runtimes.NEWEST


def environment(**variables):
    return {name: value for name, value in os.environ.items() if not name.startswith(('DOTNET_', 'LD_PRELOAD'))} | variables


def bench_start(directory, library):
    """CPU and wall time of a program that ends at once."""
    for runtime in RUNTIMES:
        command = [*runtimes.command(directory, runtime, 'silent', 'clrsym-silent'), '1']
        ways = {'without': environment(), 'with': environment(LD_PRELOAD=str(library))}
        costs = {name: [] for name in ways}
        for _ in range(N_STARTS):
            for name, variables in ways.items():
                costs[name].append(measure.run(command, environment=variables))
        without, preloaded = (measure.median(costs[name]) for name in ways)
        print(f'# .NET {runtime}, start: {without.wall * 1000:.1f} ms, {without.cpu * 1000:.1f} ms of CPU; with the library '
              f'{preloaded.wall / without.wall:.3f} x, {preloaded.cpu / without.cpu:.3f} x of CPU')


def bench_images(directory, reader):
    """CPU time of reading the maps of all functions."""
    paths = {runtime: sorted(runtimes.framework(runtimes.host(directory, runtime), runtime).glob('*.dll')) for runtime in RUNTIMES}
    costs = {runtime: [] for runtime in RUNTIMES}
    for _ in range(N_READS):
        for runtime in RUNTIMES:
            costs[runtime].append(measure.run([reader, *paths[runtime]]).cpu)
    each = {}
    for runtime in RUNTIMES:
        n = sum(len(line.split()) > 2 for line in live.run(reader, *paths[runtime]).splitlines())
        each[runtime] = statistics.median(costs[runtime]) / n
        print(f'# .NET {runtime}: {len(paths[runtime])} images, {n} functions, {each[runtime] * 1e6:.3f} us each')
    print(f'# .NET {runtimes.NEWEST} against {runtimes.OWN}, for each function: '
          f'{each[runtimes.NEWEST] / each[runtimes.OWN]:.3f} x')


def main():
    plugins, reader = sys.argv[3:5]
    with tempfile.TemporaryDirectory(prefix='clrsym-') as directory:
        bench_start(directory, runtimes.tracepoints(plugins))
        bench_images(directory, reader)
    print('1..0 # SKIP figures only')


if __name__ == '__main__':
    main()
