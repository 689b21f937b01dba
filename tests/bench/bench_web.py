# SPDX-License-Identifier: MIT
"""What a recording costs a web server under load: its CPU for a request, against that just before and just after. Each
kind of events alone, as a session that somebody drains; `clrsym record` with what it has by default, and with more;
`dotnet-trace collect`, where that can do the same. Asserts no time.

A second server without a recording has the same load at the same time. What else runs on the machine changes both, so the
figure is also given in proportion to it; but perf's own work on the whole machine, which is on both, is not in that one.

CLRSYM_BENCH_SECONDS: of each part (3). CLRSYM_BENCH_RUNS: for each row (5)."""

import contextlib
import os
import pathlib
import selectors
import shutil
import socket
import statistics
import subprocess
import threading
import time
import urllib.parse

from tests.bench import record_tools
from tests.live import diagport, runtimes
from tests.traces import recorded

SECONDS = float(os.environ.get('CLRSYM_BENCH_SECONDS', '3'))
N_RUNS = int(os.environ.get('CLRSYM_BENCH_RUNS', '5'))
WARM_SECONDS = 4 * SECONDS
N_CONNECTIONS = 16
REQUEST = b'GET /await/one-two-three HTTP/1.1\r\nHost: localhost\r\n\r\n'
# clock_getcpuclockid(3), by the kernel's include/linux/posix-timers.h.
CLOCK_SCHED = 2
LAST_CHUNK = b'0\r\n\r\n'
# As clrsym-holder orders them (src/attach/eventpipe-session.c).
SESSIONS = {'code': (diagport.RUNTIME, 0x60000a2098, 5), 'collections': (diagport.RUNTIME, 0x1, 4),
            'async methods': ('System.Runtime.CompilerServices.AsyncProfilerEventSource', 0x2f05c, 4)}


class Load:
    """Requests without a pause, one at a time on each connection."""

    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.selector = selectors.DefaultSelector()
        self.n_requests = 0
        self.is_over = False
        for _ in range(N_CONNECTIONS):
            connection = socket.create_connection((parts.hostname, parts.port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(REQUEST)
            self.selector.register(connection, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.1):
                answer = key.fileobj.recv(4096)
                if not answer.startswith(b'HTTP/1.1 200') and answer != LAST_CHUNK:
                    raise RuntimeError(f'the server answers {answer}')
                if answer.endswith(LAST_CHUNK):
                    self.n_requests += 1
                    key.fileobj.sendall(REQUEST)

    def stop(self):
        self.is_over = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


class Server:
    def __init__(self, command, directory):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('DOTNET_')}
        self.directory = directory
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, env={**environment, 'TMPDIR': str(directory)})
        self.load = Load(self.process.stdout.readline().strip())

    @property
    def pid(self):
        return self.process.pid

    def cpu(self):
        """ns so far, also of threads that have ended: by the clock that the kernel has for a process."""
        return time.clock_gettime_ns(~self.pid << 3 | CLOCK_SCHED)

    def stop(self):
        self.load.stop()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Session:
    def __init__(self, kind):
        self.name = f'session: {kind}'
        self.provider, self.keywords, self.level = SESSIONS[kind]

    @contextlib.contextmanager
    def recording(self, pid, directory):
        session = diagport.Session(diagport.Port(pid, directory), self.keywords, self.level, False, self.provider)
        time.sleep(0.5)
        yield
        session.stop()


def tools(programs, directory):
    nothing = record_tools.Nothing()
    found = [nothing, *map(Session, SESSIONS), record_tools.Clrsym(programs, directory)]
    found += [record_tools.Clrsym(programs, directory, *options) for options in
              (['--stacks', 'physical'], ['--off-cpu'], ['--alloc'])]
    dotnet_trace, why = record_tools.DotnetTrace.install(directory)
    if why:
        print(f'# no dotnet-trace: {why}')
        return found
    return [*found, dotnet_trace, dotnet_trace.with_profile('gc-verbose')]


def measure(servers, seconds=SECONDS):
    """us of CPU for a request, of each."""
    before = [(server.cpu(), server.load.n_requests) for server in servers]
    time.sleep(seconds)
    return [(server.cpu() - cpu) / (server.load.n_requests - n) / 1000 for server, (cpu, n) in zip(servers, before)]


def measure_row(servers, tool, directory):
    """(times as much CPU as without, the same in proportion to the other server)"""
    before = measure(servers)
    with tool.recording(servers[0].pid, directory):
        during = measure(servers)
    time.sleep(0.5)
    after = measure(servers)
    own, other = (2 * during[i] / (before[i] + after[i]) for i in range(2))
    return own, own / other


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    command = runtimes.command(directory, runtimes.NEWEST, 'web', 'clrsym-web')
    rows = {tool: [] for tool in tools(programs, directory)}
    with contextlib.ExitStack() as stack:
        servers = [Server(command, directory) for _ in range(2)]
        for server in servers:
            stack.callback(server.stop)
        cpu, _ = measure(servers, WARM_SECONDS)
        for _ in range(N_RUNS):
            for tool, row in rows.items():
                row.append(measure_row(servers, tool, directory))
    print(f'# .NET {runtimes.NEWEST}: {cpu:.0f} us of CPU a request at first; {N_RUNS} runs of {SECONDS} s, '
          f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs')
    print(f'#   {"CPU a request, median (range)":<36}{"against before and after":>26}{"and the other server":>26}')
    for tool, row in rows.items():
        columns = (f'{statistics.median(ratios):.3f} x ({min(ratios):.2f} to {max(ratios):.2f})' for ratios in zip(*row))
        print(f'#   {tool.name:<36}' + ''.join(f'{column:>26}' for column in columns))
    tap.check(True, f'a web server with {len(rows) - 1} kinds of recordings')


if __name__ == '__main__':
    if not shutil.which('perf') or not shutil.which('dotnet'):
        print('1..0 # SKIP no perf, or no dotnet')
    else:
        recorded.main(run)
