# SPDX-License-Identifier: MIT
"""Recorded traces fed to a daemon: its answers are those of --trace. Feeding a trace again, as a whole or after a
killed feeder, changes nothing."""

import json
import pathlib
import re
import random
import select
import signal
import socket
import subprocess
import threading

from tests.daemon.traceserver import TraceServer
from tests.traces import calls, recorded

SEED = 20240607
# A feeder is killed at each of these shares of a whole feed.
SHARES = (0.02, 0.2, 0.45, 0.7, 0.98) if recorded.IS_FULL else (0.02, 0.45, 0.98)
TO_KILL = ('dynamic', 'collectible', 'lateattach', 'lossy')
PROBES_OF_ALL = 1000
# Recordings that stopped before their program.
ENDLESS = ('lateattach', 'perf', 'rejit-tiered')
# The names of their main threads.
PROGRAMS = {'hello': ['dotnet'], 'net8.0': ['old'], 'perpid': ['dotnet', 'dotnet'], 'pidns': ['dotnet', 'dotnet']}


class Proxy:
    """Relays between feeder and daemon, and kills the feeder after LIMIT bytes."""

    def __init__(self, daemon, limit=None):
        self.n_bytes, self.limit, self.victim = 0, limit, None
        self.was_cut = False
        self.path = pathlib.Path(daemon.directory) / 'proxy'
        self.path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1)
        self.daemon = daemon
        self.thread = threading.Thread(target=self.serve)

    def serve(self):
        feeder, _ = self.listener.accept()
        with feeder, self.listener, socket.socket(socket.AF_UNIX) as upstream:
            upstream.connect(str(self.daemon.ingest))
            while True:
                for ready in select.select([feeder, upstream], [], [], recorded.TIMEOUT)[0]:
                    data = ready.recv(65536)
                    if ready is feeder and self.limit is not None:
                        data = data[:self.limit - self.n_bytes]
                    if ready is feeder:
                        self.n_bytes += len(data)
                    if data:
                        (upstream if ready is feeder else feeder).sendall(data)
                    if self.n_bytes == self.limit:
                        self.was_cut = True
                        self.victim.send_signal(signal.SIGKILL)
                        return
                    if not data:
                        return

    def feed(self, programs, command):
        """Runs a feeder through the proxy to its end. Returns its exit status; negative: a signal."""
        self.victim = subprocess.Popen(command, env=programs.environment,
                                       stderr=subprocess.DEVNULL)
        self.thread.start()
        status = self.victim.wait(recorded.TIMEOUT)
        self.thread.join(recorded.TIMEOUT)
        return status


def methods(connection):
    return connection.rows('ListMethods', 'methods', all=True)


def processes(connection):
    return connection.rows('ListProcesses', 'processes')


def check_states(tap, name, *lists):
    """No process of an ended recording runs, whatever program reads it; processes have their names."""
    states, commands = [], []
    for processes in lists:
        rows = [json.loads(row) for row in processes]
        states.append([row['state'] for row in rows])
        commands.append([row['command'] for row in rows])
        tap.check(rows and all(row['state'] == ('exited' if row['exited'] else 'recorded')
                               for row in rows), f'{name}: states {states[-1]}', *rows)
    tap.equal(states[0], states[1], f'{name}: the same of the daemon and of --trace')
    tap.equal(commands[0], commands[1], f'{name}: the same commands')
    tap.check(name not in PROGRAMS or commands[0] == PROGRAMS[name],
              f'{name}: the names of its programs, of procname', commands[0])
    tap.check(name not in ENDLESS or 'recorded' in states[0], f'{name}: has a process without end')


class Trace:
    """A trace, and the answers of `--trace`, taken from its snapshot, which loads faster."""

    def __init__(self, programs, name, path, directory):
        self.name, self.path = name, path
        self.probes = recorded.Truth(name).rows('probes.tsv')
        self.snapshot = snapshot = str(pathlib.Path(directory) / f'{name}.snapshot')
        done = programs.run([programs.clrsym, 'save', '--trace', path, '-o', snapshot])
        if done.returncode:
            raise RuntimeError(f'{name}: save: exit {done.returncode}: {done.stderr}')
        with TraceServer(programs, snapshot) as server:
            server.read()
            self.answers, self.methods = server.answers(self.probes), methods(server)


def check_one(tap, programs, trace, directory):
    """One trace, one daemon: as --trace; feeding it again changes nothing."""
    name = trace.name
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.feed(trace.path, daemon.ingest)
        tap.check(done.returncode == 0, f'{name}: feed succeeds', done.stderr, daemon.log())
        with calls.connect(daemon.query) as connection:
            got, bodies = connection.answers(trace.probes), methods(connection)
            running = processes(connection)
        tap.same_rows(list(enumerate(got)), list(enumerate(trace.answers)),
                      f'{name}: the daemon answers probes as --trace does')
        tap.check(bodies == trace.methods and bodies,
                  f'{name}: the daemon lists the {len(bodies)} bodies of --trace')
        check_states(tap, name, running, programs.ask(['--trace', trace.path], 'ps'))
        tap.equal(programs.feed(trace.path, daemon.ingest).returncode, 0, f'{name}: feed again')
        with calls.connect(daemon.query) as connection:
            tap.check(methods(connection) == bodies and processes(connection) == running and
                      connection.answers(trace.probes) == got,
                      f'{name}: the same trace twice changes nothing')
    tap.equal(daemon.status, 0, f'{name}: the daemon stops on request')


def feed_path(programs, path, socket):
    """`clrsym feed` of a path: (exit status, stderr, events, events that the daemon already had)."""
    done = programs.run([programs.clrsym, 'feed', '--socket', socket, path])
    found = re.search(r': (\d+) events of .NET code; the daemon had (\d+) of them', done.stderr)
    return done.returncode, done.stderr, *(map(int, found.groups()) if found else (0, 0))


def check_path(tap, programs, trace, path, what):
    """Without babeltrace2: the daemon's state is that of --trace; feeding it again changes nothing."""
    with recorded.Daemon(programs, pathlib.Path(trace.snapshot).parent) as daemon:
        status, errors, n, n_known = feed_path(programs, path, daemon.ingest)
        tap.check(status == 0 and n > 0 and not n_known, f'{trace.name}: clrsym feed {what}', errors, daemon.log())
        with calls.connect(daemon.query) as connection:
            got, bodies = connection.answers(trace.probes), methods(connection)
        tap.check(got == trace.answers and bodies == trace.methods, f'{trace.name}: {what} as --trace')
        status, errors, n_again, n_known = feed_path(programs, path, daemon.ingest)
        with calls.connect(daemon.query) as connection:
            tap.check((status, n_again, n_known) == (0, n, n) and methods(connection) == bodies,
                      f'{trace.name}: {what} again changes nothing', errors, n)


def check_killed(tap, programs, trace, directory):
    """Some killed feeders, then a whole one: the result is that of one whole feed."""
    name, want = trace.name, trace.methods
    with recorded.Daemon(programs, directory) as daemon:
        proxy = Proxy(daemon)
        status = proxy.feed(programs, programs.feed_command(trace.path, proxy.path))
        total = proxy.n_bytes
        tap.check(status == 0 and total > 10000, f'{name}: {total} bytes through a proxy', status)
        with calls.connect(daemon.query) as connection:
            tap.check(methods(connection) == want, f'{name}: and the same bodies')
    with recorded.Daemon(programs, directory) as daemon:
        sizes = []
        for share in SHARES:
            # Known records need not be sent again, so the limit may not be reached.
            proxy = Proxy(daemon, int(total * share))
            status = proxy.feed(programs, programs.feed_command(trace.path, proxy.path))
            tap.check(status == (-signal.SIGKILL if proxy.was_cut else 0),
                      f'{name}: a feeder ends after {proxy.n_bytes} bytes', status, daemon.log())
            sizes.append(json.loads(programs.ask(daemon.source, 'status')[0])['bodies'])
        tap.check(sizes == sorted(sizes) and sizes[-1] <= len(want) and
                  any(0 < size < len(want) for size in sizes),
                  f'{name}: bodies after each: {sizes} of {len(want)}')
        tap.equal(programs.feed(trace.path, daemon.ingest).returncode, 0, f'{name}: a whole feed')
        with calls.connect(daemon.query) as connection:
            got, answers = methods(connection), connection.answers(trace.probes)
        tap.same_rows(got, want, f'{name}: after killed feeders and a whole one, the same bodies')
        tap.check(got == want, f'{name}: and in the same order')
        tap.same_rows(list(enumerate(answers)), list(enumerate(trace.answers)),
                      f'{name}: and the same answers, none less certain')


def check_all(tap, programs, traces, directory):
    """All traces into one daemon at once: processes and their namespaces stay separate."""
    names = sorted(traces)
    random.Random(SEED).shuffle(names)
    tap.note(f'seed {SEED}: {" ".join(names)}')
    alone = {}
    for name in names:
        trace = traces[name]
        alone.update((recorded.probe_line(row) + '\n', answer)
                     for row, answer in zip(trace.probes[:PROBES_OF_ALL], trace.answers))
    lines = [recorded.probe_line(row) + '\n' for name in names
             for row in traces[name].probes[:PROBES_OF_ALL]]
    random.Random(SEED).shuffle(lines)
    with recorded.Daemon(programs, directory) as daemon:
        feeders = [subprocess.Popen(programs.feed_command(traces[name].path, daemon.ingest),
                                    env=programs.environment, stderr=subprocess.PIPE)
                   for name in names]
        errors = [feeder.communicate(timeout=recorded.TIMEOUT)[1] for feeder in feeders]
        tap.check(not any(feeder.returncode for feeder in feeders),
                  f'{len(names)} feeders at once succeed', *errors)
        got = programs.answers(daemon.source, ''.join(lines))
        wrong = [f'{answer}\nalone: {alone[line]}' for line, answer in zip(lines, got)
                 if answer != alone[line]]
        tap.check(len(got) == len(lines) and not wrong,
                  f'one daemon answers {len(lines)} probes of all traces', len(wrong), *wrong[:3])


def check_refused(tap, programs, trace, directory):
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.feed(trace, daemon.ingest)
        tap.check(done.returncode == 1 and recorded.says_add_context(done.stderr),
                  'noctx: feed refuses it', done.returncode, done.stderr)
        status, errors, *_ = feed_path(programs, trace, daemon.ingest)
        tap.check(status == 1 and recorded.says_add_context(errors), 'noctx: and so does clrsym feed', status, errors)
        tap.equal(programs.ask(daemon.source, 'methods', '--all'), [],
                  'noctx: and the daemon has nothing of it')
    done = programs.feed(trace, pathlib.Path(directory) / 'nobody-there')
    tap.check(done.returncode == 1 and 'nobody-there' in done.stderr, 'feed without a daemon fails',
              done.returncode, done.stderr)


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, names)
    refused = traces.pop(recorded.REFUSED, None)
    traces = {name: Trace(programs, name, path, directory) for name, path in traces.items()}
    for name, trace in traces.items():
        check_one(tap, programs, trace, directory)
        check_path(tap, programs, trace, trace.path, 'the directory')
        check_path(tap, programs, trace, trace.snapshot, 'the snapshot')
        if name in TO_KILL:
            check_killed(tap, programs, trace, directory)
    check_all(tap, programs, traces, directory)
    if refused:
        check_refused(tap, programs, refused, directory)


if __name__ == '__main__':
    recorded.main(run)
