# SPDX-License-Identifier: MIT
"""A .NET program under its own tracing session: the session, the program, and the code that the program and its
runtime report. To be used inside of tests/support/lttng-sandbox."""

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
# s: timeout of everything, also on a busy machine.
TIMEOUT = 300
INSIDE = 'CLRSYM_TEST_LIVE'

RUNTIME_EVENTS = ('Method*', 'Module*', 'RuntimeInformation*', 'AppDomain*', 'Assembly*', 'Tiered*',
                  'R2RGetEntryPoint*', 'ILStubGenerated', 'BulkType')
# Loader, JIT, NGEN, end enumeration, IL maps, R2R entry points, types, details of methods, interop. A filter without a
# matching event source prevents the runtime from enabling everything for its own listener.
ENVIRONMENT = {
    'DOTNET_LTTng': '1',
    'DOTNET_EnableEventLog': '1',
    'DOTNET_EventSourceFilter': 'ZZZ',
    'DOTNET_LTTngConfig': 'Microsoft-Windows-DotNETRuntime:60000A20B8:5',
}

# A method body, as the runtime's perf map and the daemon name it.
Name = collections.namedtuple('Name', 'type method tier size')
# A line of the program's output: at TIME its TYPE.METHOD began at ADDRESS.
Code = collections.namedtuple('Code', 'time address type method')

PERF_MAP_LINE = re.compile(r'(?:0x)?([0-9a-f]+) ([0-9a-f]+) (.*)')
PERF_MAP_METHOD = re.compile(r'(?:.* )?\[[^\[\]]+\] (?P<type>.+?)::(?P<method>[^(]+)\(.*'
                             r'\[(?P<tier>\w+)\]')


def no_dotnet():
    """Why no .NET program can run here, or None."""
    return None if shutil.which('dotnet') else 'no dotnet'


def run_or_skip(reason, run_test):
    """Runs the test; skips it if there is a REASON."""
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
    """Called with each command on the way; a demonstration prints it."""


def run(*command, **options):
    """Runs to the end; prints the output only after a failure."""
    tell(command)
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(map(str, command))}: exit {done.returncode}: {done.stdout}')
    return done.stdout


def wait_for(what, condition, process=None, seconds=TIMEOUT):
    """Waits until CONDITION is true, and returns its value. PROCESS must not end meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        begin = time.monotonic()
        if value := condition():
            return value
        if process is not None and process.poll() is not None:
            raise RuntimeError(f'{what}: the process ended with {process.returncode}')
        if time.monotonic() > deadline:
            raise RuntimeError(f'{what}: not within {seconds} s')
        # If a condition runs a program, that takes at most half of the time.
        time.sleep(max(0.02, time.monotonic() - begin))


def own_pid(pid):
    """The pid of a process in its own namespace."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8')
    return int(re.search(r'^NSpid:.*\s(\d+)$', status, re.MULTILINE)[1])


def start_ticks(pid):
    """The start of a process, as in the name of its diagnostic socket."""
    stat = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8')
    return int(stat.rpartition(')')[2].split()[19])


def freeze(pid):
    """Stops a process, and waits: SIGSTOP reaches one thread first, while others may still run."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(f'the stop of {pid}', lambda: all(
        re.search(r'^State:\s+T', path.read_text(encoding='utf-8'), re.MULTILINE)
        for path in pathlib.Path(f'/proc/{pid}/task').glob('*/status')))


@contextlib.contextmanager
def machine(is_shared):
    """A lock. Recordings of the whole machine attach the programs of all parallel tests; a test whose program must
    not be attached shares the machine only with tests of its kind."""
    with open(pathlib.Path(tempfile.gettempdir()) / 'clrsym-tests.lock', 'a', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def child(command, stop=signal.SIGTERM, **options):
    """A process that ends with the `with`."""
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
    """SIGTERM and SIGINT end the program through its `with` blocks, which stop child processes. A shell's background
    job ignores SIGINT, and so would our child processes; babeltrace2 needs it to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(1))


def enter_sandbox(what_is_missing):
    """Runs this program again, beside its own session daemon; skips if that is impossible."""
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
    """Calls RUN in the sandbox; skips with the reason of WHAT_IS_MISSING, unless that is None."""
    if os.environ.get(INSIDE):
        end_orderly()
        run()
    else:
        sys.exit(enter_sandbox(what_is_missing))


def made_once(name, directory, make):
    """The directory that MAKE has filled: DIRECTORY, or, with $CLRSYM_TEST_APPS, one that all tests share."""
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
    """A program's assembly, in its own directory. FRAMEWORK: another framework than this machine's (net8.0)."""
    directory = pathlib.Path(directory)
    options = [framework, 'shared'] if framework else []
    made = made_once('-'.join([program, *options[:1]]), directory / 'made',
                     lambda place: run(HERE / 'build-app', place, program, *options))
    shutil.copytree(made / 'bin', directory / 'bin')
    return directory / 'bin' / assembly


def publish(directory, framework, *how, program='app', name=None):
    """The program for another runtime, which is beside it: fetched if possible. HOW: see build-app."""
    made = made_once('-'.join(['published', program, framework, *how]), pathlib.Path(directory),
                     lambda place: run(HERE / 'build-app', place, program, framework, *how))
    return made / 'bin' / (name or ('clrsym-live' if program == 'app' else f'clrsym-{program}'))


@contextlib.contextmanager
def session(name, *create):
    """A started session of the runtime's method events; the `with` destroys it."""
    run('lttng', 'create', name, *create)
    try:
        run('lttng', 'enable-channel', '-u', 'methods', '--subbuf-size=1M', '--num-subbuf=32')
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
    """An lttng-relayd with its own ports, for this machine only."""

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
        """Waits until the program has printed READY. It then waits for end of file on its standard input."""
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
        """(code at its time, code that stays)."""
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
        """(start -> the bodies there, in order of appearance; lines without a method)."""
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
