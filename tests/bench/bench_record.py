# SPDX-License-Identifier: MIT
"""`clrsym record` beside `dotnet-trace collect`: what each costs the program, how long it takes from the
end of the recording to the picture, how many frames have names, and how many of these are right where
memory is used for one method after another. And what recording a whole machine takes besides perf.
Runs alternate. Asserts no time.

The oracle of the names is the program, which prints when it was in which method. dotnet-trace is its
published package, from where NuGet gets packages; without it the other rows are there."""

import contextlib
import os
import pathlib
import shutil
import statistics
import time

from tests.bench import bench_attach, measure, record_tools
from tests.live import live
from tests.traces import recorded

N_RUNS = 5
WORK_SECONDS = 1.5
PICTURE_SECONDS = 8
N_PICTURES = 3
REUSE_SECONDS = 5
MACHINE_SECONDS = 15
MACHINE_HZ = 99
N_IDLE = 3
TICKS = os.sysconf('SC_CLK_TCK')


def say(*columns):
    print('#   ' + ''.join(f'{column:<24}' if i == 0 else f'{column:>17}' for i, column in enumerate(columns)),
          flush=True)


def median(values, form='{:.3f}'):
    return form.format(statistics.median(values)) if values else '-'


def measure_overhead(tap, tools, command, directory):
    """The program's CPU for a unit of work, and that of the tool itself."""
    work = {kind: {tool.name: [] for tool in tools} for kind in ('compute', 'compile', 'switch')}
    for _ in range(N_RUNS):
        for tool in tools:
            with bench_attach.Target(command, directory) as target:
                target.work('compute')  # until its code is what it stays
                with tool.recording(target.pid, directory):
                    for kind, by_tool in work.items():
                        by_tool[tool.name].append(target.work(kind, WORK_SECONDS))
    say('CPU ms a unit, median', *(f'{kind} (x)' for kind in work))
    for tool in tools:
        say(tool.name, *(f'{median(by_tool[tool.name])} ({ratio(by_tool, tool, tools[0]):.2f})'
                         for by_tool in work.values()))
    tap.check(True, f"the program's CPU for its work, {N_RUNS} runs")


def ratio(by_tool, tool, base):
    return statistics.median(by_tool[tool.name]) / statistics.median(by_tool[base.name])


def measure_picture(tap, tools, command, directory):
    """From the signal that ends a recording to the end of the tool, which has written the picture then."""
    waits, cpus, shares = ({tool.name: [] for tool in tools} for _ in range(3))
    for _ in range(N_PICTURES):
        for tool in tools:
            with bench_attach.Target(command, directory) as target:
                with tool.recording(target.pid, directory) as recording:
                    target.work('compile', PICTURE_SECONDS)
                waits[tool.name].append(recording.wait)
                cpus[tool.name].append(recording.cpu)
                shares[tool.name].append(tool.shares(target.pid, directory))
    say(f'{PICTURE_SECONDS} s that compile', 's to the picture', "tool's CPU s", '% of leaves', 'or a library',
        '% of frames', '% managed')
    for tool in tools:
        columns = zip(*shares[tool.name])
        say(tool.name, median(waits[tool.name], '{:.2f}'), median(cpus[tool.name], '{:.2f}'),
            *(median([value for value in column if value is not None], '{:.2f}') for column in columns))
    tap.check(True, f'to the picture, and what has the name of a function (main thread), {N_PICTURES} runs')


def spans(path):
    """(begin, end, method) of the program's own account; and how many methods had another's address."""
    found, addresses = [], []
    for line in path.read_text(encoding='utf-8').splitlines():
        words = line.split()
        if words[:1] == ['SPAN']:
            found.append((int(words[1]), int(words[2]), words[3]))
        elif words[:1] == ['CODE']:
            addresses.append(words[2])
    return sorted(found), len(addresses) - len(set(addresses))


def measure_reuse(tap, tools, command, directory):
    say('memory that is reused', 'methods', 'reuses', 'right', 'wrong', 'missing')
    for tool in tools:
        output = directory / 'reuse.txt'
        with open(output, 'wb') as stream:
            tool.run([*command, 'reuse', REUSE_SECONDS], directory, stream)
        truth, n_reuses = spans(output)
        right, wrong, missing = record_tools.judge(tool.samples(directory), truth)
        say(tool.name, len(truth), n_reuses, right, wrong, missing)
    tap.check(True, 'samples of a thread that is in a known method: the method that the tool shows')


class Machine:
    """What records the machine, by program: CPU of the processes, seconds."""

    def __init__(self, pid):
        self.pid = pid

    def cpu(self):
        seconds = {}
        for pid in measure.tree(self.pid):
            with contextlib.suppress(OSError, ValueError):
                stat = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8', errors='replace')
                name = stat[stat.index('(') + 1:stat.rindex(')')]
                seconds[name] = seconds.get(name, 0) + run_time(pid)
        return seconds


def run_time(pid):
    """Seconds of all threads: schedstat is finer than the ticks of stat."""
    return sum(int((task / 'schedstat').read_text(encoding='ascii').split()[0])
               for task in pathlib.Path(f'/proc/{pid}/task').iterdir()) / 1e9


MACHINES = {'idle': None, 'one computes': 'compute', 'one compiles': 'compile'}


def measure_machine(tap, clrsym, command, directory):
    rows = {}
    for name, kind in MACHINES.items():
        with contextlib.ExitStack() as stack:
            targets = [stack.enter_context(bench_attach.Target(command, directory)) for _ in range(N_IDLE + 1)]
            recorder = Machine(stack.enter_context(clrsym.machine(directory, MACHINE_HZ)).pid)
            time.sleep(2)
            before, begin = recorder.cpu(), time.monotonic()
            if kind:
                targets[0].work(kind, MACHINE_SECONDS)
            else:
                time.sleep(MACHINE_SECONDS)
            took, after = time.monotonic() - begin, recorder.cpu()
            rows[name] = {program: (after[program] - before.get(program, 0)) / took * 100 for program in after}
        rows[name]['named'] = clrsym.machine_named
    programs = sorted({program for row in rows.values() for program in row} - {'named'})
    say(f'-a, {N_IDLE + 1} .NET, {MACHINE_HZ} Hz', *programs, 'without perf', '% managed')
    for name, row in rows.items():
        say(name, *(f'{row.get(program, 0):.2f} %' for program in programs),
            f'{sum(row.get(program, 0) for program in programs if program != "perf"):.2f} %', row['named'])
    tap.check(True, 'the whole machine: CPU, percent of a core')


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    command = ['dotnet', str(live.build(directory / 'app'))]
    nothing, clrsym = record_tools.Nothing(), record_tools.Clrsym(programs, directory)
    dotnet_trace, why = record_tools.DotnetTrace.install(directory)
    others = [dotnet_trace] if dotnet_trace else []
    if why:
        print(f'# no dotnet-trace: {why}')
    if not os.path.exists('/sys/kernel/tracing/user_events_data'):
        print('# no dotnet-trace collect-linux: the kernel has no user_events')
    measure_machine(tap, clrsym, command, directory)
    measure_reuse(tap, [clrsym, *others, record_tools.PerfMap()], command, directory)
    measure_picture(tap, [clrsym, *others], command, directory)
    attached = [record_tools.Attached(programs, directory, tool) for tool in (None, clrsym)]
    measure_overhead(tap, [nothing, clrsym, record_tools.PerfThreads(), *others, *attached], command, directory)


if __name__ == '__main__':
    if not shutil.which('perf') or not shutil.which('dotnet'):
        print('1..0 # SKIP no perf, or no dotnet')
    else:
        recorded.main(run)
