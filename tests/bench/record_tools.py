# SPDX-License-Identifier: MIT
"""Tools that record where a program spends its time: how each is started and ended, and what is in its
files. `samples` yields (ns of CLOCK_MONOTONIC, names of the frames, the leaf first) of the main thread."""

import bisect
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

from tests.live import collect_linux

TIMEOUT = 240
# What of it is of interest.
METHOD = re.compile(r'Reuse_\d+_\d+')
MANAGED = re.compile(r'([\d.]+)% named')


@dataclasses.dataclass
class Recording:
    wait: float = 0  # seconds from the signal to the end
    cpu: float = 0  # seconds of the tool and of its children


def wait_until(is_so):
    deadline = time.monotonic() + TIMEOUT
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.05)


@contextlib.contextmanager
def recording(command, is_ready, directory, environment=None):
    """The tool, from when it records until it has ended at SIGINT."""
    result = Recording()
    log = directory / 'tool.log'
    with open(log, 'wb') as stream:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stream,
                                   stderr=stream, env=environment, cwd=directory, start_new_session=True)
    deadline = time.monotonic() + TIMEOUT
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f'{command}: {log.read_text()}')
        time.sleep(0.05)
    time.sleep(0.5)
    yield result
    begin = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, status, usage = os.wait4(process.pid, 0)
    result.wait = time.monotonic() - begin
    result.cpu = usage.ru_utime + usage.ru_stime
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, -signal.SIGINT):
        raise RuntimeError(f'{command}: exit {process.returncode}: {log.read_text()}')


def judge(samples, spans):
    """(right, wrong, missing): the method of each sample in one of the SPANS, sorted by their begin."""
    begins = [begin for begin, _, _ in spans]
    right = wrong = missing = 0
    for at, frames in samples:
        i = bisect.bisect_right(begins, at) - 1
        if i < 0 or at > spans[i][1]:
            continue
        shown = METHOD.search(' '.join(frames))
        if not shown:
            missing += 1
        elif shown[0] == spans[i][2]:
            right += 1
        else:
            wrong += 1
    return right, wrong, missing


HEADER = re.compile(r'^\S.*?\s(\d+)(?:/(\d+))?\s+(?:\[\d+\]\s+)?(\d+)\.(\d{9}):')
FRAME = re.compile(r'^\s+([0-9a-f]+) (.*)$')
LIBRARY = re.compile(r'\((?!\[unknown\])[^()]+\)$')


def script_samples(path, tid=None):
    """Reads text as `perf script --ns` prints it. TID: default: of the first sample."""
    at, frames = None, []
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in [*lines, '']:
            if header := HEADER.match(line):
                number = int(header[2] or header[1])
                tid = tid or number
                at, frames = (int(header[3] + header[4]), []) if number == tid else (None, [])
            elif frame := FRAME.match(line):
                frames.append(frame[2])
            elif at is not None:
                yield at, frames
                at = None


def script_shares(path, tid):
    """Percent: of the leaves with the name of a function; of those with that or a library's; of all frames
    with the name of a function."""
    leaves = frames = named_leaves = placed_leaves = named = 0
    for _, stack in script_samples(path, tid):
        has_name = [not frame.startswith(('[unknown]', '??')) for frame in stack]
        if has_name:
            leaves += 1
            named_leaves += has_name[0]
            placed_leaves += has_name[0] or bool(LIBRARY.search(stack[0]))
            frames += len(has_name)
            named += sum(has_name)
    return named_leaves * 100 / max(leaves, 1), placed_leaves * 100 / max(leaves, 1), named * 100 / max(frames, 1)


class Nothing:
    name = 'nothing'

    def recording(self, _pid, _directory):
        return contextlib.nullcontext()


class Clrsym:
    def __init__(self, programs, directory, *options):
        self.name = ' '.join(['clrsym record', *options])
        self.options = options
        self.program = programs.clrsym
        self.environment = {**programs.environment, 'TMPDIR': str(directory)}
        self.machine_named = '-'

    def command(self, *arguments):
        return [self.program, 'record', *map(str, arguments)]

    def recording(self, pid, directory):
        # perf has written its head; or the runtime's samples have a file.
        files = [f'clrsym-record-*/{name}' for name in ('perf.data', '*/*.nettrace')]
        return recording(self.command('-p', pid, *self.options, '-o', 'a.html', '-o', 'a.txt'),
                         lambda: any(path.stat().st_size for pattern in files for path in directory.glob(pattern)),
                         directory, self.environment)

    def run(self, command, directory, output):
        subprocess.run(self.command('-o', 'a.txt', '--', *command), cwd=directory, env=self.environment,
                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, check=True, timeout=TIMEOUT)

    def samples(self, directory):
        return script_samples(directory / 'a.txt')

    def shares(self, pid, directory):
        named = MANAGED.search((directory / 'tool.log').read_text(encoding='utf-8'))
        return *script_shares(directory / 'a.txt', pid), float(named[1]) if named else None

    @contextlib.contextmanager
    def machine(self, directory, frequency):
        """The process that records it."""
        log = directory / 'machine.log'
        with open(log, 'wb') as stream:
            process = subprocess.Popen(self.command('-a', '-F', frequency), env=self.environment, cwd=directory,
                                       stdin=subprocess.DEVNULL, stderr=stream)
        yield process
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT)
        text = log.read_text(encoding='utf-8')
        named = MANAGED.search(text)
        if process.returncode:
            raise RuntimeError(text)
        self.machine_named = named[1] if named else '-'


class PerfThreads:
    """perf alone, with events for each thread, which are switched with it."""
    name = 'perf record -p'

    def recording(self, pid, directory):
        return recording(['perf', 'record', '-F', '499', '-g', '-p', pid, '-o', 'threads.data'],
                         (directory / 'threads.data').exists, directory)


class Attached:
    """A daemon of the machine that has attached the program already (EventPipe); and with that, TOOL."""

    def __init__(self, programs, directory, tool=None):
        self.name = f'attached, {tool.name}' if tool else 'attached'
        self.tool = tool
        self.programs = programs
        self.directory = directory / self.name.replace(' ', '')
        self.environment = {**programs.environment, 'TMPDIR': str(directory)}

    def start(self, *command):
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, env=self.environment,
                                stderr=subprocess.DEVNULL)

    @contextlib.contextmanager
    def recording(self, pid, directory):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        ingest, query, holder = (self.directory / name for name in ('ingest', 'query', 'holder'))
        programs = [self.start(self.programs.clrsymd, '--ingest', ingest, '--query', query)]
        wait_until(query.exists)
        program = pathlib.Path(self.programs.clrsym).parent.parent / 'attach' / 'clrsym-holder'
        programs.append(self.start(program, '--directory', holder, '--ingest', ingest))
        wait_until((holder / 'port').exists)
        subprocess.run([self.programs.clrsym, 'attach', '--via', 'eventpipe', '--socket', query, str(pid)],
                       env={**self.environment, 'CLRSYM_HOLDER': str(holder), 'CLRSYM_INGEST': str(ingest)},
                       stdin=subprocess.DEVNULL,
                       check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        with self.tool.recording(pid, directory) if self.tool else contextlib.nullcontext() as result:
            yield result
        for process in reversed(programs):
            process.terminate()
            process.wait(TIMEOUT)


class PerfMap:
    """perf with the runtime's perf map, which has a name for an address, but no time for it."""
    name = 'perf, perf map'

    def run(self, command, directory, output):
        variables = {'DOTNET_PerfMapEnabled': '3', 'DOTNET_EnableWriteXorExecute': '0'}
        subprocess.run(['perf', 'record', '-k', 'mono', '-g', '-F', '499', '-o', 'map.data', '--', *map(str, command)],
                       cwd=directory, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=output,
                       stderr=subprocess.DEVNULL, check=True, timeout=TIMEOUT)

    def samples(self, directory):
        with open(directory / 'map.txt', 'wb') as output:
            subprocess.run(['perf', 'script', '--ns', '-i', 'map.data'], cwd=directory, stdout=output,
                           stderr=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
        return script_samples(directory / 'map.txt')


# In its pictures, but not a function.
PSEUDO = re.compile(r'Process\d* |Process\d*\(|\(Non-Activities\)|Threads$|Thread \(')
PSEUDO_LEAVES = {'CPU_TIME': True, 'UNMANAGED_CODE_TIME': False}


class DotnetTrace:
    def __init__(self, program, *options):
        self.name = ' '.join(['dotnet-trace', *options])
        self.program = program
        self.options = options

    def with_profile(self, name):
        return DotnetTrace(self.program, '--profile', name)

    @classmethod
    def install(cls, directory):
        """(tool or None, why it is None)"""
        path = directory / 'tools'
        home = {'DOTNET_CLI_HOME': str(directory / 'tool-home'), 'NUGET_PACKAGES': str(directory / 'tool-packages')}
        try:
            done = subprocess.run(['dotnet', 'tool', 'install', '--tool-path', path, 'dotnet-trace'], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT,
                                  env={**os.environ, **home})
        except subprocess.TimeoutExpired as error:
            return None, str(error)
        if done.returncode:
            return None, (done.stdout + done.stderr).strip().splitlines()[-1]
        return cls(path / 'dotnet-trace'), None

    def command(self, *arguments):
        return [self.program, 'collect', *self.options, '--format', 'Speedscope', '-o', 'b.nettrace', *map(str, arguments)]

    def recording(self, pid, directory):
        for old in directory.glob('b.*'):
            old.unlink()
        # The session is there when its first bytes are.
        return recording(self.command('-p', pid), lambda: any(
            path.stat().st_size for path in directory.glob('b.nettrace')), directory,
            {**os.environ, 'TMPDIR': str(directory)})

    def run(self, command, directory, output):
        for old in directory.glob('b.*'):
            old.unlink()
        command = [shutil.which('dotnet'), *command[1:]]
        subprocess.run(self.command('--show-child-io', '--', *command), cwd=directory, stdin=subprocess.DEVNULL,
                       stdout=output, stderr=subprocess.PIPE, check=True, timeout=TIMEOUT)

    def stacks(self, directory, pid=None):
        """(begin, end, frames, the leaf first), ms, of the main thread, without what is not a function."""
        picture = json.loads((directory / 'b.speedscope.json').read_text(encoding='utf-8'))
        names = [frame['name'] for frame in picture['shared']['frames']]
        threads = {profile['name']: profile for profile in picture['profiles']}
        thread = threads[f'Thread ({pid})'] if pid else picture['profiles'][0]
        stack, since = [], 0
        for event in thread['events']:
            # Times are rounded in more than one way.
            if event['at'] > since + 0.001 and stack:
                yield since, event['at'], [names[frame] for frame in reversed(stack)
                                           if not PSEUDO.match(names[frame])]
            since = event['at']
            if event['type'] == 'O':
                stack.append(event['frame'])
            else:
                stack.pop()

    def samples(self, directory):
        """Each time at which the stack changes is that of a sample."""
        origin = self.origin(directory)
        for begin, _, frames in self.stacks(directory):
            yield origin + int(begin * 1e6), frames

    @staticmethod
    def origin(directory):
        """What the times of the picture count from, in ns: the clock in the trace object of the file."""
        head = (directory / 'b.nettrace').read_bytes()[:4096]
        place = head.index(b'\5\0\0\0Trace\6') + len(b'\5\0\0\0Trace\6')
        clock, frequency = struct.unpack_from('<qq', head, place + 16)
        if frequency != 10**9:
            raise ValueError('no nanosecond clock')
        return clock

    def shares(self, pid, directory):
        """By time: its samples are at an even pace."""
        leaves = named_leaves = frames = named = 0
        for begin, end, stack in self.stacks(directory, pid):
            took = end - begin
            is_named = PSEUDO_LEAVES.get(stack[0], True) if stack else False
            functions = [frame for frame in stack if frame not in PSEUDO_LEAVES]
            n_named = sum('?!?' not in frame for frame in functions)
            leaves += took
            named_leaves += took * (is_named and n_named == len(functions))
            frames += took * (len(functions) + (not is_named))
            named += took * n_named
        share = named_leaves * 100 / leaves
        return share, share, named * 100 / frames, None


class CollectLinux:
    """The recorder of dotnet-trace collect-linux, and who shows its file: TraceEvent, as PerfView does, or clrsym."""
    file = 'c.nettrace'

    def __init__(self, shown_by, traceevent=None, programs=None, has_events=False):
        self.name = f'collect-linux, {shown_by}'
        self.has_events = has_events
        self.main = 0  # thread of the program that was recorded
        self.traceevent = traceevent
        self.programs = programs

    def run(self, command, directory, output):
        environment = collect_linux.events_environment(directory / 'events.nettrace') if self.has_events else None
        with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                              env=environment, cwd=directory) as program:
            self.main = program.pid
            time.sleep(0.5)
            with collect_linux.recording(directory / self.file, '--on-cpu', '--pid', program.pid):
                # Its names are in the program: it must end later.
                time.sleep(max(float(command[-1]) - 3, 1))
            program.wait(TIMEOUT)

    def samples(self, directory):
        ahead = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        found = self.leaves(directory) if self.traceevent else self.report(directory)
        return ((at - ahead, frames) for at, frames in found)

    def leaves(self, directory):
        done = subprocess.run([*self.traceevent, '--leaves', directory / self.file], capture_output=True, text=True,
                              check=True, timeout=TIMEOUT)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [(row['time'], [row['name']]) for row in rows if row['tid'] == self.main]

    def report(self, directory):
        trace = ['--trace', directory / 'events.nettrace'] if self.has_events else []
        with open(directory / 'c.txt', 'wb') as output:
            subprocess.run([self.programs.clrsym, 'report', directory / self.file, *trace], env=self.programs.environment,
                           stdout=output, stderr=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
        return script_samples(directory / 'c.txt', self.main)
