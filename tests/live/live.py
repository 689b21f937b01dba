# SPDX-License-Identifier: MIT
"""A .NET program under a tracing session of its own: the session, the program, and what the program
and its runtime say about its code. To be used inside of tests/support/lttng-sandbox."""

import collections
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# s: for anything, also where many others have the machine.
TIMEOUT = 300
INSIDE = 'CLRSYM_TEST_LIVE'

RUNTIME_EVENTS = ('Method*', 'Module*', 'RuntimeInformation*', 'AppDomain*', 'Assembly*', 'Tiered*',
                  'R2RGetEntryPoint*', 'ILStubGenerated', 'BulkType')
# Loader, JIT, NGEN, end enumeration, IL maps, R2R entry points, types, details of methods,
# interop. A filter that matches no event
# source keeps the runtime from turning everything on for its own listener.
ENVIRONMENT = {
    'DOTNET_LTTng': '1',
    'DOTNET_EnableEventLog': '1',
    'DOTNET_EventSourceFilter': 'ZZZ',
    'DOTNET_LTTngConfig': 'Microsoft-Windows-DotNETRuntime:60000A20B8:5',
}

# One method body as the runtime's perf map, and the daemon, name it.
Name = collections.namedtuple('Name', 'type method tier size')
# A line that the program printed: at TIME its TYPE.METHOD began at ADDRESS.
Code = collections.namedtuple('Code', 'time address type method')

PERF_MAP_LINE = re.compile(r'(?:0x)?([0-9a-f]+) ([0-9a-f]+) (.*)')
PERF_MAP_METHOD = re.compile(r'(?:.* )?\[[^\[\]]+\] (?P<type>.+?)::(?P<method>[^(]+)\(.*'
                             r'\[(?P<tier>\w+)\]')


def no_dotnet():
    """Why no .NET program can run here, or None."""
    return None if shutil.which('dotnet') else 'no dotnet'


def run_or_skip(reason, run_test):
    """Runs the test, unless there is a REASON why it cannot run."""
    if reason:
        print(f'1..0 # SKIP {reason}')
    else:
        end_orderly()
        run_test()


def missing():
    """Why no live run is possible here, or None."""
    for program in ('dotnet', 'lttng', 'lttng-sessiond', 'lttng-relayd'):
        if not shutil.which(program):
            return f'no {program} on PATH'
    found = subprocess.run(['find', '/lib', '/usr/lib', '/usr/local/lib', '-name',
                            'liblttng-ust.so.0', '-print', '-quit'],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return None if found.stdout else "no liblttng-ust.so.0, which the .NET runtime's provider needs"


def tell(command):
    """Called with each command that is part of the way; a demonstration shows it."""


def run(*command, **options):
    """Runs to the end; what it says is shown only if it fails."""
    tell(command)
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(map(str, command))}: exit {done.returncode}: {done.stdout}')
    return done.stdout


def wait_for(what, condition, process=None, seconds=TIMEOUT):
    """Until CONDITION is true, which it returns; PROCESS must not end meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        begin = time.monotonic()
        if value := condition():
            return value
        if process is not None and process.poll() is not None:
            raise RuntimeError(f'{what}: the process ended with {process.returncode}')
        if time.monotonic() > deadline:
            raise RuntimeError(f'{what}: not within {seconds} s')
        # A condition may run a program: that takes half of the time at most.
        time.sleep(max(0.02, time.monotonic() - begin))


def own_pid(pid):
    """The pid that a process has in its own namespace."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8')
    return int(re.search(r'^NSpid:.*\s(\d+)$', status, re.MULTILINE)[1])


def start_ticks(pid):
    """When it was started, as its diagnostic socket has that in its name."""
    stat = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8')
    return int(stat.rpartition(')')[2].split()[19])


def freeze(pid):
    """Stops a process. The signal reaches one thread first: another one may run until all have stopped."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(f'the stop of {pid}', lambda: all(
        re.search(r'^State:\s+T', path.read_text(encoding='utf-8'), re.MULTILINE)
        for path in pathlib.Path(f'/proc/{pid}/task').glob('*/status')))


@contextlib.contextmanager
def machine(is_shared):
    """A recording of the whole machine attaches the programs of all tests that run at the same time; a
    test whose program must not be attached shares the machine with its like only."""
    with open(pathlib.Path(tempfile.gettempdir()) / 'clrsym-tests.lock', 'a', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def child(command, stop=signal.SIGTERM, **options):
    """A process that has ended when the `with` has."""
    tell(command)
    process = subprocess.Popen([str(word) for word in command], **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(stop)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def end_orderly():
    """What is under way is stopped on the way out. Started in the background by a shell, we would
    ignore SIGINT, and so would our children, of which babeltrace2 needs it to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(1))


def enter_sandbox(what_is_missing):
    """This program again, beside a session daemon of its own; skipped where that cannot be."""
    reason = what_is_missing()
    if reason is None:
        sandbox = HERE.parent / 'support' / 'lttng-sandbox'
        process = subprocess.Popen([sandbox, sys.executable, *sys.argv],
                                   env={**os.environ, INSIDE: '1'})
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda caught, _: process.send_signal(caught))
        code = process.wait()
        if code != 77:
            return code
        reason = 'no private mounts'
    print(f'1..0 # SKIP {reason}')
    return 0


def in_sandbox(run, what_is_missing=missing):
    """RUN, in the sandbox; skipped with what WHAT_IS_MISSING returns, if it is not None."""
    if os.environ.get(INSIDE):
        end_orderly()
        run()
    else:
        sys.exit(enter_sandbox(what_is_missing))


def made_once(name, directory, make):
    """The directory that MAKE filled: DIRECTORY, or, with $CLRSYM_TEST_APPS, one that all tests share."""
    if not (kept := os.environ.get('CLRSYM_TEST_APPS')):
        make(directory)
        return directory
    kept = pathlib.Path(kept) / name
    kept.mkdir(parents=True, exist_ok=True)
    with open(kept / 'lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (kept / 'is-made').exists():
            make(kept)
            (kept / 'is-made').touch()
    return kept


def build(directory, program='app', assembly='clrsym-live.dll', framework=None):
    """A program's assembly, in a directory of its own. FRAMEWORK: another one than this machine's (net8.0)."""
    directory = pathlib.Path(directory)
    options = [framework, 'shared'] if framework else []
    made = made_once('-'.join([program, *options[:1]]), directory / 'made',
                     lambda place: run(HERE / 'build-app', place, program, *options))
    shutil.copytree(made / 'bin', directory / 'bin')
    return directory / 'bin' / assembly


def publish(directory, framework, *how, program='app', name=None):
    """The program for another runtime, with that runtime beside it: fetched, if it can be. HOW: see build-app."""
    made = made_once('-'.join(['published', program, framework, *how]), pathlib.Path(directory),
                     lambda place: run(HERE / 'build-app', place, program, framework, *how))
    return made / 'bin' / (name or ('clrsym-live' if program == 'app' else f'clrsym-{program}'))


@contextlib.contextmanager
def session(name, *create):
    """A started session of the runtime's method events; stopped and destroyed in the end."""
    run('lttng', 'create', name, *create)
    try:
        run('lttng', 'enable-channel', '-u', 'methods', '--subbuf-size=1M', '--num-subbuf=8')
        events = ','.join('DotNETRuntime:' + event for event in RUNTIME_EVENTS)
        run('lttng', 'enable-event', '-u', '-c', 'methods', events + ',DotNETRuntimeRundown:*')
        run('lttng', 'add-context', '-u', '-c', 'methods', '-t', 'vpid', '-t', 'vtid',
            '-t', 'procname', '-t', 'pid_ns')
        run('lttng', 'start')
        yield
        run('lttng', 'stop')
    finally:
        run('lttng', 'destroy', name)


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in sockets]


class Relay:
    """An lttng-relayd on ports of its own, for this machine only."""

    def __init__(self, directory):
        self.directory = directory
        self.control, self.data, self.live = free_ports(3)

    @contextlib.contextmanager
    def running(self):
        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(('127.0.0.1', self.live)) == 0

        ports = [f'--{name}-port=tcp://127.0.0.1:{port}' for name, port in
                 (('control', self.control), ('data', self.data), ('live', self.live))]
        with child(['lttng-relayd', *ports, f'--output={self.directory}'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_for('lttng-relayd', answers, process)
            yield self

    def session(self, name, timer_us):
        return session(name, f'--live={timer_us}',
                       f'--set-url=net://127.0.0.1:{self.control}:{self.data}')

    def has_viewer(self):
        said = run('babeltrace2', 'query', 'src.ctf.lttng-live', 'sessions', '-p',
                   f'url="net://127.0.0.1:{self.live}"')
        return re.search(r'client-count: [1-9]', said) is not None

    def url(self, name):
        return f'net://127.0.0.1:{self.live}/host/{socket.gethostname()}/{name}'


class Program:
    """The built program, running."""

    def __init__(self, program, directory, rounds):
        """PROGRAM: an assembly for this machine's runtime, or a command."""
        self.directory = pathlib.Path(directory)
        self.command = [*(program if isinstance(program, list) else ['dotnet', program]), str(rounds)]
        self.output = self.directory / 'output'
        self.process = None

    @contextlib.contextmanager
    def ready(self):
        """Has printed READY, and waits until its standard input is closed."""
        environment = {**os.environ, **ENVIRONMENT, 'TMPDIR': str(self.directory),
                       'DOTNET_PerfMapEnabled': '3',  # the map, no jitdump
                       'DOTNET_PerfMapJitDumpPath': str(self.directory)}
        with open(self.output, 'w', encoding='utf-8') as output, \
             child(self.command, stdin=subprocess.PIPE, stdout=output, env=environment) as process:
            self.process = process
            wait_for('the program', lambda: 'READY' in self.lines(), process)
            yield self
            self.finish()

    def finish(self):
        self.process.stdin.close()
        if self.process.wait(TIMEOUT) != 0:
            raise RuntimeError(f'the program ended with {self.process.returncode}')

    @property
    def pid(self):
        return self.process.pid

    def lines(self):
        return self.output.read_text(encoding='utf-8').splitlines()

    def codes(self):
        """(code at its time, code that is there to stay)."""
        passing, lasting = [], []
        into = passing
        for line in self.lines():
            if line == 'LASTING':
                into = lasting
            elif line.startswith('CODE '):
                moment, address, holder, method = line.split(' ')[1:]
                into.append(Code(int(moment), int(address, 16), holder, method))
        return passing, lasting

    def perf_map(self):
        """(start -> the bodies there in the order they came, lines without a method)."""
        bodies, odd = collections.defaultdict(list), []
        path = self.directory / f'perf-{self.pid}.map'
        for line in path.read_text(encoding='utf-8', errors='replace').splitlines():
            start, size, text = PERF_MAP_LINE.fullmatch(line).groups()
            if text.startswith(('stub ', 'stub<')):
                continue
            if method := PERF_MAP_METHOD.fullmatch(text):
                name = Name(method['type'], method['method'], method['tier'], int(size, 16))
                bodies[int(start, 16)].append(name)
            else:
                odd.append(line)
        return bodies, odd
