# SPDX-License-Identifier: MIT
"""How long `clrsym attach` takes until the map is complete, and what it costs the target: the CPU time
of a unit of work that compiles nothing, and of one that compiles without a pause; of a start; and of
the listing itself; by LTTng and by EventPipe. Against nothing, DOTNET_PerfMapEnabled=1, and an
EventPipe session with a rundown such as dotnet-trace opens. Runs alternate. Asserts no time."""

import contextlib
import os
import pathlib
import statistics
import subprocess
import time

from tests.live import attached, diagport, live, test_eventpipe, test_live
from tests.traces import recorded

N_RUNS = 10
SECONDS = 1
KEYWORDS, VERBOSE = 0x2000022098, 5
NO_LTTNG = {'DOTNET_LTTng': '0'}
PERF_MAP = {'DOTNET_PerfMapEnabled': '1'}


class Target:
    """The live program as it measures itself."""

    def __init__(self, command, directory, **variables):
        self.directory = directory
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith('DOTNET_')}
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in command] + ['rate'], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment, 'TMPDIR': str(directory), 'DOTNET_PerfMapJitDumpPath':
                 str(directory), **variables})
        if self.process.stdout.readline() != 'READY\n':
            raise RuntimeError(f'{command} is not ready')
        self.started = time.monotonic() - begin

    @property
    def pid(self):
        return self.process.pid

    def port(self):
        return diagport.Port(self.pid, self.directory)

    def work(self, kind, seconds=SECONDS):
        """CPU ms of a unit of that work."""
        self.process.stdin.write(f'{kind} {seconds}\n')
        self.process.stdin.flush()
        word, units, cpu = self.process.stdout.readline().split()
        if word != 'RATE':
            raise RuntimeError(f'{word} is not a rate')
        return float(cpu) * 1000 / int(units)

    def cpu(self):
        """ms so far."""
        tasks = pathlib.Path(f'/proc/{self.pid}/task')
        return sum(int((task / 'schedstat').read_text(encoding='utf-8').split()[0])
                   for task in tasks.iterdir()) / 1e6

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(live.TIMEOUT)


@contextlib.contextmanager
def nothing(feed, target):
    yield


@contextlib.contextmanager
def attach(feed, target):
    feed.rows('attach', '--via=lttng', target.pid)
    yield
    feed.rows('detach', target.pid)


@contextlib.contextmanager
def attach_eventpipe(feed, target):
    feed.rows('attach', test_eventpipe.VIA, target.pid)
    yield
    feed.rows('detach', target.pid)


@contextlib.contextmanager
def event_pipe(feed, target):
    session = diagport.Session(target.port(), KEYWORDS, VERBOSE, True)
    yield
    session.stop()


# What is compared: name -> (what is done to a running one, what it is started with). But where it is
# attached, nothing goes to LTTng.
MODES = {
    'nothing': (nothing, NO_LTTNG),
    'attach by LTTng': (attach, {}),
    'attach by EventPipe': (attach_eventpipe, NO_LTTNG),
    'perf map': (nothing, {**PERF_MAP, **NO_LTTNG}),
    'EventPipe': (event_pipe, NO_LTTNG),
}
# The same for a start. The EventPipe session writes to a file, as it is done without a tool.
STARTS = {
    'nothing': NO_LTTNG,
    'untraced': {},
    'clrsym env': live.ENVIRONMENT,
    'perf map': {**PERF_MAP, **NO_LTTNG},
    'EventPipe': {**NO_LTTNG, 'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeOutputStreaming': '1',
                  'DOTNET_EventPipeConfig': f'{diagport.RUNTIME}:{KEYWORDS:x}:{VERBOSE}'},
}


def table(tap, what, unit, figures):
    """The medians of each, and their ratio to the first."""
    medians = {name: statistics.median(values) for name, values in figures.items()}
    base = next(iter(medians.values()))
    tap.check(all(len(values) == N_RUNS for values in figures.values()),
              f'{what} (median of {N_RUNS}): ' + ', '.join(
                  f'{name} {median:.3f} {unit} (x {median / base:.2f})'
                  for name, median in medians.items()))


def measure_work(tap, feed, command, directory):
    figures = {kind: {name: [] for name in MODES} for kind in ('compute', 'compile')}
    for _ in range(N_RUNS):
        for name, (session, variables) in MODES.items():
            with Target(command, directory, **variables) as target:
                target.work('compute')  # until its code is what it stays
                with session(feed, target):
                    for kind, by_name in figures.items():
                        by_name[name].append(target.work(kind))
    for kind, by_name in figures.items():
        table(tap, f'CPU of a unit of work that is all {kind}', 'ms', by_name)


def measure_start(tap, command, directory):
    figures = {name: [] for name in STARTS}
    for _ in range(N_RUNS):
        for name, variables in STARTS.items():
            if 'DOTNET_EnableEventPipe' in variables:
                variables = {**variables, 'DOTNET_EventPipeOutputPath': f'{directory}/start.nettrace'}
            with Target(command, directory, **variables) as target:
                figures[name].append(target.started * 1000)
    table(tap, 'a start', 'ms', figures)


# How a process is attached: name -> (option, what it is started with).
WAYS = {
    'LTTng': ('--via=lttng', {}),
    'EventPipe': (test_eventpipe.VIA, NO_LTTNG),
}


class Attached:
    """One process is attached that has run for a while, and compiled much."""

    def __init__(self, feed, target, option):
        target.work('compile')
        begin, cpu = time.monotonic(), target.cpu()
        row, = feed.rows('attach', option, target.pid)
        self.took = (time.monotonic() - begin) * 1000
        self.cost = target.cpu() - cpu
        begin_ns, end_ns = (test_live.ns(row['rundown'][name]) for name in ('begin', 'end'))
        self.listed = (end_ns - begin_ns) / 1e6
        self.methods = row['methods']
        feed.rows('detach', target.pid)


def measure_attach(tap, feed, command, directory):
    runs = {name: [] for name in WAYS}
    pipe, sizes = [], []
    for _ in range(N_RUNS):
        for name, (option, variables) in WAYS.items():
            with Target(command, directory, **variables) as target:
                runs[name].append(Attached(feed, target, option))
        with Target(command, directory, **NO_LTTNG) as target:
            target.work('compile')
            cpu = target.cpu()
            session = diagport.Session(target.port(), KEYWORDS, VERBOSE, True)
            session.stop()
            pipe.append(target.cpu() - cpu)
            sizes.append(session.n_bytes)
    for name, attachments in runs.items():
        tap.check(min(each.methods for each in attachments) > 500,
                  f'attach by {name} to a complete map (median of {N_RUNS}): '
                  f'{statistics.median(each.took for each in attachments):.0f} ms, of which the runtime '
                  f'lists for {statistics.median(each.listed for each in attachments):.0f} ms; '
                  f'{statistics.median(each.methods for each in attachments):.0f} methods')
    tap.note(f'the live timer is {attached.LIVE_TIMER_US / 1000:.0f} ms; EventPipe\'s rundown has '
             f'{statistics.median(sizes) / 1024:.0f} KiB')
    table(tap, "the target's CPU for it", 'ms', {
        'EventPipe with rundown': pipe,
        **{f'attach by {name}': [each.cost for each in attachments]
           for name, attachments in runs.items()}})


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    command = ['dotnet', live.build(directory / 'app')]
    feed = attached.Feed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        measure_attach(tap, feed, command, directory)
        measure_work(tap, feed, command, directory)
        measure_start(tap, command, directory)


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(run))
