# SPDX-License-Identifier: MIT
"""perf record on web servers under load, named by a daemon while they run: one in our pid namespace, one in its
own. Only tracing is set for them: W^X is on, and there is no perf map."""

import bisect
import collections
import concurrent.futures
import contextlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import urllib.parse

from tests.live import attached, live, runtimes
from tests.perf import perftool
from tests.traces import recorded

LIVE_TIMER_US = 100000
# s: enough for samples of both servers on a busy machine.
SECONDS = 6
MIN_REQUESTS = 150
# The rest are stubs of the runtime, which have a larger share on a busy machine; check_unnamed() finds methods among
# them.
MIN_SHARE = 0.95
# Some are in handlers, which are functions of their own.
MIN_PRECOMPILED = 0.98
MIN_LISTED = 0.9


class Server:
    """The running server; PREFIX: a command that starts it."""

    def __init__(self, command, directory, name):
        self.command = command
        self.output = directory / name
        self.process = self.address = None

    @contextlib.contextmanager
    def running(self):
        environment = {**os.environ, **live.ENVIRONMENT}
        for setting in ('DOTNET_PerfMapEnabled', 'DOTNET_EnableWriteXorExecute'):
            environment.pop(setting, None)
        with open(self.output, 'w', encoding='utf-8') as output, \
             live.child(self.command, stdin=subprocess.DEVNULL, stdout=output,
                        env=environment) as process:
            self.process = process
            line = live.wait_for('the server', self.first_line, process)
            self.address = urllib.parse.urlsplit(line).netloc
            yield self
            # Signal the server, not its parent: at an orderly exit the runtime lists its code.
            os.kill(self.pid, signal.SIGTERM)
            process.wait(live.TIMEOUT)

    def first_line(self):
        text = self.output.read_text(encoding='utf-8')
        return text.splitlines()[0] if '\n' in text else None

    @property
    def pid(self):
        """The pid of the runtime's process, which may be a child of the started program."""
        pid = self.process.pid
        while children := pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
            pid = int(children[0])
        return pid

    def load(self, until):
        """Sends requests, one after the other; returns their number."""
        n = 0
        while time.monotonic() < until or n < MIN_REQUESTS:
            connection = http.client.HTTPConnection(self.address, timeout=live.TIMEOUT)
            connection.request('GET', f'/text/some-words-{n}-and-more-')
            reply = connection.getresponse()
            if reply.status != 200 or b'"words"' not in reply.read():
                raise RuntimeError(f'{self.address} answers {reply.status}')
            connection.close()
            n += 1
        return n


def record(servers, data):
    """perf record under load."""
    pids = ','.join(str(server.pid) for server in servers)
    command = ['perf', 'record', '-q', '--namespaces', '-F', '499', '-e', 'cpu-clock', '-k', 'mono',
               '-g', '-p', pids, '-o', data, '--', 'cat']
    live.tell(command)
    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool, \
         subprocess.Popen(command, stdin=subprocess.PIPE) as perf:
        # perf fails if a thread ends while perf starts: it writes the header once it records.
        live.wait_for('perf', lambda: data.exists() and data.stat().st_size, perf)
        until = time.monotonic() + SECONDS
        loads = [pool.submit(server.load, until) for server in servers]
        n_requests = [load.result() for load in loads]
        perf.stdin.close()
        if perf.wait(live.TIMEOUT):
            raise RuntimeError(f'{command}: exit {perf.returncode}')
        return n_requests


def figures(done):
    found = re.search(r'^clrsym: (\d+) samples, (\d+) managed frames: \S+ named \((\d+) of (\d+) jitted, '
                      r'(\d+) of (\d+) precompiled; (\d+) marked ~\)', done.stderr, re.M)
    return dict(zip(('samples', 'managed', 'named', 'jitted', 'precompiled named', 'precompiled',
                     'marked'), map(int, found.groups()))) if found else {}


def frames_of(done, servers, is_wanted):
    """(server, its wanted frames), for each server."""
    found = {}
    for sample in perftool.samples(done.stdout):
        tid = int(perftool.HEAD.fullmatch(sample.head)['tid'])
        found.setdefault(tid, []).extend(filter(is_wanted, sample.frames))
    return [(server, [frame for tid in threads(server) for frame in found.get(tid, ())])
            for server in servers]


def threads(server):
    return {int(entry.name) for entry in pathlib.Path(f'/proc/{server.pid}/task').iterdir()}


def check_named(tap, done, servers, name):
    share = figures(done)
    tap.check(done.returncode == 0 and share and
              share['jitted'] > 1000 and share['named'] >= MIN_SHARE * share['jitted'],
              f'{name}: {share.get("named")} of {share.get("jitted")} frames in jitted memory '
              f'are named', done.stderr)
    tap.note(f'{name}: {share}')
    for server, frames in frames_of(done, servers, perftool.is_managed):
        names = {frame.symbol.rsplit('+', 1)[0] for frame in frames}
        tap.check('Web.Program.Hash(string, int)' in names and
                  any(text.startswith('[dynamic] Sum') for text in names) and
                  any('Regex' in text for text in names),
                  f'{name}: {server.output.name}: {len(frames)} frames of {len(names)} methods, '
                  'regexes and dynamic ones among them',
                  *sorted(text for text in names if 'Program' in text or 'Sum' in text)[:20])


def check_unnamed(tap, done, servers):
    """Unnamed code in jitted memory is not in any method that the runtimes list."""
    def is_unnamed(frame):
        return not frame.symbol and 'doublemapper' in frame.module

    for server, unnamed in frames_of(done, servers, is_unnamed):
        bodies = attached.perf_map(server.pid)
        starts = sorted(bodies)
        missed = []
        for frame in unnamed:
            i = bisect.bisect(starts, frame.address) - 1
            if i >= 0 and frame.address < starts[i] + bodies[starts[i]].size:
                missed.append((frame, bodies[starts[i]]))
        tap.check(len(bodies) > 1000 and not missed,
                  f'{server.output.name}: {len(unnamed)} frames in jitted memory have no name, and are '
                  f'in none of the {len(bodies)} methods that the runtime lists', *missed[:5])


def mapping_of(server):
    """perf's names, and the names of the runtime's events."""
    namespace = pathlib.Path(f'/proc/{server.pid}/ns/pid').stat().st_ino
    return f'map={server.pid}={namespace}:{live.own_pid(server.pid)}'


def is_same(one, other):
    """True if both names are equal. OTHER is from a rundown, which lacks type arguments, and only a file shows
    whether it is a thunk. If the file is gone, ONE may know more."""
    if ' [thunk]' not in other.symbol:
        one = one._replace(symbol=one.symbol.replace(' [thunk]', ''))
    pattern = re.escape(other.symbol).replace(re.escape('<?>'), '<.*>')
    return one._replace(symbol='') == other._replace(symbol='') and re.fullmatch(pattern, one.symbol)


def check_precompiled(tap, early, ended, plain):
    """Names printed EARLY, while the programs ran, by the assemblies' files, against the rundowns after the
    programs had ENDED, without the files."""
    frames = [rows for samples in zip(*(perftool.samples(done.stdout)
                                        for done in (plain, ended, *early.values())))
              for rows in zip(*map(perftool.frames_of_perf, samples))
              if rows[0].module.endswith('.dll')]
    for i, (what, done) in enumerate(early.items(), 2):
        printed = [rows for rows in frames if rows[i].symbol]
        # The runtime does not list precompiled calls to native code.
        listed = [rows for rows in printed if rows[1].symbol]
        differing = [(rows[i], rows[1]) for rows in listed if not is_same(rows[i], rows[1])]
        tap.check(len(listed) > 1000 and len(listed) >= MIN_LISTED * len(printed) and not differing,
                  f'{what}: {len(printed)} frames in assemblies had names at once, of {len(listed)} the '
                  'runtime names in the end: the same', *differing[:5])
        tap.check(len(printed) >= MIN_PRECOMPILED * len(frames),
                  f'{what}: {len(printed)} of {len(frames)} precompiled frames were named', done.stderr)


def check_offline(tap, programs, data, trace, done):
    """The relay's copy of the trace gives the same names later."""
    later = perftool.clrsym_perf(programs, '-i', data, '--trace', trace)
    one, other = perftool.samples(done.stdout), perftool.samples(later.stdout)
    differing = [(first, second) for before, after in zip(one, other)
                 for first, second in zip(*map(perftool.frames_of_perf, (before, after)))
                 if first.symbol != second.symbol and first.symbol and second.symbol]
    tap.check(later.returncode == 0 and len(one) == len(other) and not differing,
              'from the trace afterwards, no frame has another name', later.stderr, *differing[:5])


def in_namespace(command, directory):
    """The command in its own pid namespace, with its dotnet at a path that only it sees."""
    dotnet = pathlib.Path(command[-2])
    place = directory / 'dotnet'
    place.mkdir()
    return ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-ec',
            'mount --bind "$1" "$2"; shift 2; exec "$@"', 'sh', dotnet.resolve().parent, place,
            *(str(word).replace(str(dotnet.parent), str(place)) for word in command)]


def run_live(tap, programs, command, directory):
    name = 'clrsym-perf'
    servers = [Server(command, directory, 'beside us'),
               Server(in_namespace(command, directory), directory, 'in a namespace')]
    relay = live.Relay(directory / 'relay')
    data = directory / 'perf.data'
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(recorded.Daemon(programs, directory))
        stack.enter_context(relay.running())
        tracing = stack.enter_context(contextlib.ExitStack())
        tracing.enter_context(relay.session(name, LIVE_TIMER_US))
        log = stack.enter_context(open(directory / 'feeder', 'w', encoding='utf-8'))
        feeder = stack.enter_context(live.child(
            ['babeltrace2', f'--plugin-path={programs.plugin_dir}', '-i', 'lttng-live',
             relay.url(name), '--params', 'session-not-found-action="end"',
             '-c', 'sink.clrsym.feed', '--params', f'socket="{daemon.ingest}"'],
            signal.SIGINT, env=programs.environment, stderr=log))
        live.wait_for('the feeder', relay.has_viewer, feeder)
        with contextlib.ExitStack() as programs_running:
            for server in servers:
                programs_running.enter_context(server.running())
            n_requests = record(servers, data)
            tap.note(f'{n_requests} requests were answered')
            settings = [f'socket={daemon.query}', *map(mapping_of, servers), 'mapped-only']
            done = perftool.clrsym_perf(programs, '-i', data, *daemon.source)
            filtered = perftool.script(programs, data, settings=settings)
            # A daemon without processes: only the files give names.
            with recorded.Daemon(programs, directory) as empty:
                alone = perftool.clrsym_perf(programs, '-i', data, *empty.source)
            nowhere = {**perftool.environment(programs), 'CLRSYM_SOCKET': str(directory / 'nowhere')}
            without = perftool.clrsym_perf(programs, '-i', data, env=nowhere)
            tap.check(without.returncode == 0 and 'no daemon at ' in without.stderr and
                      without.stdout == alone.stdout, 'without a daemon the files name as much', without.stderr)
            check_named(tap, done, servers, 'live')
            check_unnamed(tap, done, servers)
            explained = perftool.clrsym_perf(programs, '-i', data, *daemon.source, '--explain').stdout
            counts = collections.Counter(re.findall(r' \{([^{}]+)\}$', explained, re.M))
            tap.check({'event', 'ELF symbol', 'kernel symbol'} <= counts.keys(),
                      f'which sources named the frames: {dict(counts)}')
            graph = directory / 'graph.svg'
            drawn = perftool.clrsym_perf(programs, '-i', data, *daemon.source, '-o', graph)
            tap.check(drawn.returncode == 0 and
                      'Web.Program.Hash' in graph.read_text(encoding='utf-8'),
                      'live: a flame graph', drawn.stderr)
        tracing.close()
        feeder.wait(live.TIMEOUT)
        check_precompiled(tap, {'clrsym perf': done, "perf's filter by itself": filtered,
                                'without events': alone},
                          perftool.script(programs, data, settings=settings),
                          perftool.script(programs, data, '--ns', '--no-inline'))
        done = perftool.clrsym_perf(programs, '-i', data, *daemon.source)
        share = figures(done)
        tap.check(share and share['named'] >= MIN_SHARE * share['jitted'],
                  'named as well when they have ended', done.stderr)
    check_offline(tap, programs, data, directory / 'relay', done)


def test(tap, programs, directory, _):
    for _, command, place in runtimes.runs(tap, __file__, directory, program='web', name='clrsym-web',
                                           library=runtimes.tracepoints(programs.plugin_dir)):
        run_live(tap, programs, command, place)


def missing():
    if not shutil.which('perf'):
        return 'no perf on PATH'
    probe = subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-o', '/dev/null', 'true'],
                           capture_output=True, check=False)
    return 'perf may not record' if probe.returncode else live.missing()


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test), missing)
