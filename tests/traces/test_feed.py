# SPDX-License-Identifier: MIT
"""Recorded traces fed to a daemon: the answers are those of --trace; sending a trace again, whole
or after a feeder's violent end, changes nothing."""

import json
import pathlib
import random
import select
import signal
import socket
import subprocess
import threading

import recorded

SEED = 20240607
# Killed feeders a trace, each after another share of what a whole feed sends.
SHARES = (0.02, 0.2, 0.45, 0.7, 0.98)
TO_KILL = ('dynamic', 'collectible', 'lateattach', 'lossy')
PROBES_OF_ALL = 1000
# Recordings that stopped before their program did.
ENDLESS = ('lateattach', 'perf', 'rejit-tiered')


class Proxy:
    """Between feeder and daemon: passes bytes on, and kills the feeder after LIMIT of them."""

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

    def feed(self, programs, trace):
        """Runs one feeder to its end. Its exit status, negative for a signal."""
        self.victim = subprocess.Popen(programs.feed_command(trace, self.path),
                                       env=programs.environment, stderr=subprocess.DEVNULL)
        self.thread.start()
        status = self.victim.wait(recorded.TIMEOUT)
        self.thread.join(recorded.TIMEOUT)
        return status


def probes(name, n=None):
    rows = recorded.Truth(name).rows('probes.tsv')[:n]
    return ''.join(recorded.probe_line(row) + '\n' for row in rows)


def check_states(tap, name, *lists):
    """Nothing runs of a recording that is over, whoever has read it."""
    states = []
    for processes in lists:
        rows = [json.loads(row) for row in processes]
        states.append([row['state'] for row in rows])
        tap.check(rows and all(row['state'] == ('exited' if row['exited'] else 'recorded')
                               for row in rows), f'{name}: states {states[-1]}', *rows)
    tap.equal(states[0], states[1], f'{name}: the same of the daemon and of --trace')
    tap.check(name not in ENDLESS or 'recorded' in states[0], f'{name}: has a process without end')


class Trace:
    """A trace, and a snapshot of it, which is read in no time."""

    def __init__(self, programs, name, path, directory):
        self.name, self.path = name, path
        self.source = ['--trace', str(pathlib.Path(directory) / f'{name}.snapshot')]
        done = programs.run([programs.clrsym, 'save', '--trace', path, '-o', self.source[1]])
        if done.returncode:
            raise RuntimeError(f'{name}: save: exit {done.returncode}: {done.stderr}')


def check_one(tap, programs, trace, directory):
    """One trace, one daemon: as --trace, and once more changes nothing."""
    name = trace.name
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.feed(trace.path, daemon.ingest)
        tap.check(done.returncode == 0, f'{name}: feed succeeds', done.stderr, daemon.log())
        want = programs.answers(trace.source, probes(name))
        got = programs.answers(daemon.source, probes(name))
        tap.same_rows(list(enumerate(got)), list(enumerate(want)),
                      f'{name}: the daemon answers probes as --trace does')
        bodies = programs.ask(daemon.source, 'methods', '--all')
        tap.check(bodies == programs.ask(trace.source, 'methods', '--all') and bodies,
                  f'{name}: the daemon lists the {len(bodies)} bodies of --trace')
        processes = programs.ask(daemon.source, 'ps')
        check_states(tap, name, processes, programs.ask(['--trace', trace.path], 'ps'))
        tap.equal(programs.feed(trace.path, daemon.ingest).returncode, 0, f'{name}: feed again')
        tap.check(programs.ask(daemon.source, 'methods', '--all') == bodies and
                  programs.ask(daemon.source, 'ps') == processes and
                  programs.answers(daemon.source, probes(name)) == got,
                  f'{name}: the same trace twice changes nothing')
    tap.equal(daemon.status, 0, f'{name}: the daemon stops on request')
    return bodies


def check_killed(tap, programs, trace, want, directory):
    """Feeders that die in the middle, then a whole one: as if there had been one whole feed."""
    name = trace.name
    with recorded.Daemon(programs, directory) as daemon:
        proxy = Proxy(daemon)
        status = proxy.feed(programs, trace.path)
        total = proxy.n_bytes
        tap.check(status == 0 and total > 10000, f'{name}: {total} bytes through a proxy', status)
        tap.check(programs.ask(daemon.source, 'methods', '--all') == want,
                  f'{name}: and the same bodies')
    with recorded.Daemon(programs, directory) as daemon:
        sizes = []
        for share in SHARES:
            # What is known already need not be sent again: the limit may not be reached.
            proxy = Proxy(daemon, int(total * share))
            status = proxy.feed(programs, trace.path)
            tap.check(status == (-signal.SIGKILL if proxy.was_cut else 0),
                      f'{name}: a feeder ends after {proxy.n_bytes} bytes', status, daemon.log())
            sizes.append(json.loads(programs.ask(daemon.source, 'status')[0])['bodies'])
        tap.check(sizes == sorted(sizes) and sizes[-1] <= len(want) and
                  any(0 < size < len(want) for size in sizes),
                  f'{name}: bodies after each: {sizes} of {len(want)}')
        tap.equal(programs.feed(trace.path, daemon.ingest).returncode, 0, f'{name}: a whole feed')
        got = programs.ask(daemon.source, 'methods', '--all')
        tap.same_rows(got, want, f'{name}: after killed feeders and a whole one, the same bodies')
        tap.check(got == want, f'{name}: and in the same order')
        tap.same_rows(list(enumerate(programs.answers(daemon.source, probes(name)))),
                      list(enumerate(programs.answers(trace.source, probes(name)))),
                      f'{name}: and the same answers, none less certain')


def check_all(tap, programs, traces, directory):
    """Every trace into one daemon at once: processes, and their namespaces, stay apart."""
    names = sorted(traces)
    random.Random(SEED).shuffle(names)
    tap.note(f'seed {SEED}: {" ".join(names)}')
    lines = [line for name in names for line in probes(name, PROBES_OF_ALL).splitlines(True)]
    random.Random(SEED).shuffle(lines)
    alone = {}
    for name in names:
        of_name = probes(name, PROBES_OF_ALL)
        alone.update(zip(of_name.splitlines(True),
                         programs.answers(traces[name].source, of_name)))
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
        want = check_one(tap, programs, trace, directory)
        if name in TO_KILL:
            check_killed(tap, programs, trace, want, directory)
    check_all(tap, programs, traces, directory)
    if refused:
        check_refused(tap, programs, refused, directory)


if __name__ == '__main__':
    recorded.main(run)
