# SPDX-License-Identifier: MIT
"""Which tool shows the right method where the runtime uses memory for one method after the other: `clrsym record`, perf
with the runtime's perf map, `dotnet-trace collect`, and `dotnet-trace collect-linux`, whose file TraceEvent and clrsym
show; clrsym also with the events of the program. clrsym-comparison(7) has the table that it prints.

The program prints when it was in which method: a sample in between is right, wrong, or has no name of such a method.
Runs alternate. Asserts nothing of the figures."""

import collections
import pathlib
import shutil

from tests.bench import bench_record, record_tools
from tests.live import collect_linux, live
from tests.oracle import traceevent
from tests.traces import recorded

N_RUNS = 3
SECONDS = 12


def tools_of(programs, directory):
    tools = [record_tools.Clrsym(programs, directory), record_tools.PerfMap()]
    dotnet_trace, why = record_tools.DotnetTrace.install(directory)
    if why:
        print(f'# no dotnet-trace: {why}')
    else:
        tools.append(dotnet_trace)
    if why := collect_linux.missing():
        print(f'# no dotnet-trace collect-linux: {why}')
    else:
        tools.append(record_tools.CollectLinux('TraceEvent', traceevent=traceevent.build(directory)))
        tools.append(record_tools.CollectLinux('clrsym', programs=programs))
        tools.append(record_tools.CollectLinux('events', programs=programs, has_events=True))
    return tools


def percent(n, of):
    return f'{100 * n / of:.1f} %' if of else '-'


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    command = ['dotnet', str(live.build(directory / 'app'))]
    tools = tools_of(programs, directory)
    sums = collections.defaultdict(collections.Counter)
    for _ in range(N_RUNS):
        for tool in tools:
            output = directory / 'reuse.txt'
            with open(output, 'wb') as stream:
                tool.run([*command, 'reuse', SECONDS], directory, stream)
            truth, n_reuses = bench_record.spans(output)
            right, wrong, missing = record_tools.judge(tool.samples(directory), truth)
            sums[tool.name].update(methods=len(truth), reuses=n_reuses, right=right, wrong=wrong, missing=missing)
    bench_record.say('memory that is reused', 'methods', 'reuses', 'samples', 'right', 'wrong', 'without')
    for name, row in sums.items():
        n = row['right'] + row['wrong'] + row['missing']
        bench_record.say(name, row['methods'], row['reuses'], n,
                         *(percent(row[kind], n) for kind in ('right', 'wrong', 'missing')))
    tap.check(all(row['right'] for row in sums.values()), f'each tool shows methods, {N_RUNS} runs of {SECONDS} s')


if __name__ == '__main__':
    if not shutil.which('perf') or not shutil.which('dotnet'):
        print('1..0 # SKIP no perf, or no dotnet')
    else:
        recorded.main(run)
