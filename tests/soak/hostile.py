# SPDX-License-Identifier: MIT
"""A long run of clrsymd: many processes load and unload methods as fast as the daemon takes them,
while clients send queries. Then rounds of faults, from a printed seed.

    tests/python tests/soak/hostile.py [--build DIR] [--bodies N] [--processes N] [--seconds N] [--rounds N] [--seed N]

The defaults are those of the test suite; the long run is `--bodies 100000000 --processes 10000
--rounds 500`. After `--seconds` no further process begins. Prints TAP; a line of the curve is time,
bodies fed, resident set, descriptors, journal size, and the slowest of 100 batches of queries (p99)
since the line before.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import random
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

from tests.daemon.test_daemon import Client
from tests.soak import test_budget_run as budget
from tests.traces import recorded

MIB = 1 << 20
MEMORY_MAX = 64 * MIB
RSS_MAX = MEMORY_MAX * 5 // 4 + 48 * MIB
# Pids above the maximum of this machine.
FIRST_PID = 10_000_000
ALIVE = 500
FEEDERS = 2
LINES = 20
BATCH = 256
HEAP_START, HEAP_SIZE = 0x7f2000000000, ALIVE * 6 * 4 * 64
# Limits for the medians of both halves of a run; in seconds, for a busy machine.
P99_FACTOR, P99_SLACK = 4, 0.25
# Rounds of faults reuse the same pids.
ROUND_PIDS, ROUND_BODIES = 5, 20_000
ROUND_NS = 10**9


class Queries:
    """Sends batches of queries about the last fed processes, until the `with` ends."""

    def __init__(self, daemon, draw):
        self.daemon, self.draw = daemon, draw
        self.n_pids, self.took, self.failures = 0, [], []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        try:
            client = Client(self.daemon.query, timeout=60)
            while not self.is_over.wait(0.005):
                pids = [FIRST_PID + max(0, self.n_pids - self.draw.randrange(4))
                        for _ in range(BATCH)]
                begin = time.monotonic()
                client.ask('Resolve', queries=[
                    {'pid': pid, 'pid_ns': 0, 'addr': HEAP_START + self.draw.randrange(HEAP_SIZE)}
                    for pid in pids])
                reply = client.reply()
                self.took.append(time.monotonic() - begin)
                if len(reply['parameters'].get('answers', ())) != BATCH:
                    raise RuntimeError(f'an answer is missing: {str(reply)[:300]}')
        except (OSError, RuntimeError, TypeError) as error:
            self.failures.append(error)

    def p99(self):
        """Returns the p99 in seconds of the batches since the last call."""
        took, self.took = sorted(self.took), []
        return took[len(took) * 99 // 100] if took else 0.0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def n_descriptors(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def feed_all(programs, feeder, daemon, queries, sizes, end):
    """Feeds one process for each of SIZES, until END; yields the numbers of bodies and processes
    fed so far."""
    numbers = queue.SimpleQueue()
    for i, size in enumerate(sizes):
        numbers.put((i, size))

    def work():
        done = 0
        with contextlib.suppress(queue.Empty):
            while time.monotonic() < end:
                i, size = numbers.get_nowait()
                queries.n_pids = max(queries.n_pids, i)
                command = [feeder, '--socket', daemon.ingest, '--bodies', size, '--alive',
                           min(ALIVE, size), '--seed', i + 1, '--pid', FIRST_PID + i, '--exit']
                result = programs.run(command, timeout=3600)
                if result.returncode:
                    raise RuntimeError(f'{result.stderr} {daemon.log()[-2000:]}')
                done += size
                with lock:
                    fed[0] += size
                    fed[1] += 1
        return done

    fed, lock = [0, 0], threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(FEEDERS) as pool:
        workers = [pool.submit(work) for _ in range(FEEDERS)]
        while not all(worker.done() for worker in workers):
            yield tuple(fed)
            time.sleep(0.1)
        for worker in workers:
            worker.result()
    yield tuple(fed)


def soak(tap, programs, directory, options):
    """Prints the curve, and checks the limits at each of its points."""
    state = pathlib.Path(directory) / 'soak-state'
    share, rest = divmod(options.bodies, options.processes)
    sizes = [share + (i < rest) for i in range(options.processes)]
    curve, begin = [], time.monotonic()
    end = begin + (options.seconds or float('inf'))
    with recorded.Daemon(programs, directory, '--memory-max', str(MEMORY_MAX), '--state',
                         state) as daemon:
        with Queries(daemon, random.Random(options.seed)) as queries:
            for fed, n_processes in feed_all(programs, options.feeder, daemon, queries, sizes, end):
                part = max(fed / options.bodies, (time.monotonic() - begin) / (end - begin))
                if part < (len(curve) + 1) / LINES:
                    continue
                curve.append((time.monotonic() - begin, fed, budget.rss(daemon.process.pid),
                              n_descriptors(daemon.process.pid), budget.journal_size(state),
                              queries.p99()))
                tap.note('%8.1f s %12d bodies  rss %6.1f MiB  %3d descriptors  journal %6.1f MiB  '
                         'p99 %7.2f ms' % (*curve[-1][:2], curve[-1][2] / MIB, curve[-1][3],
                                           curve[-1][4] / MIB, curve[-1][5] * 1e3))
        status = budget.status(daemon)
        tap.equal(queries.failures, [], 'each batch of queries was answered')
        tap.equal(status['method_loads'], fed, f'{fed} bodies of {n_processes} processes were taken')
        tap.check(n_processes == options.processes or options.seconds, 'of all processes')
        _, _, sets, descriptors, journals, slowest = zip(*curve)
        tap.check(max(sets) <= RSS_MAX, f'resident set: at most {max(sets) / MIB:.1f} MiB',
                  f'may have {RSS_MAX / MIB:.0f} MiB')
        tap.check(status['bytes'] <= MEMORY_MAX, 'accounted bytes stay in the budget',
                  status['bytes'])
        tap.check(max(descriptors) - min(descriptors) <= 2 * FEEDERS + 2,
                  f'descriptors: {min(descriptors)} to {max(descriptors)}')
        tap.check(max(journals) <= budget.JOURNAL_MAX, f'journal: at most {max(journals) / MIB:.1f} MiB')
        half = len(slowest) // 2
        first, last = statistics.median(slowest[:half]), statistics.median(slowest[half:])
        tap.check(last <= P99_FACTOR * first + P99_SLACK,
                  f'p99: {first * 1e3:.2f} ms in the first half, {last * 1e3:.2f} ms in the second')
    tap.equal(daemon.status, 0, 'the daemon ends in good order')


class Round:
    """Feeds one process while the daemon or its feeder has a fault."""

    def __init__(self, programs, options, number, draw):
        self.programs, self.feeder, self.draw = programs, options.feeder, draw
        self.pid = FIRST_PID + number % ROUND_PIDS
        self.words = ['--bodies', ROUND_BODIES, '--alive', ALIVE, '--seed', number + 1, '--pid',
                      self.pid, '--begin', 10**12 + number * ROUND_NS, '--exit']

    def start_feeder(self, daemon):
        command = [self.feeder, '--socket', daemon.ingest, *self.words]
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)

    def finish(self, daemon, feeder):
        """Waits for the feeder's report; restarts the feeder until it succeeds."""
        for _ in range(20):
            text, _ = feeder.communicate(timeout=300)
            if feeder.returncode == 0:
                return text
            feeder = self.start_feeder(daemon)
        raise RuntimeError(f'a feeder does not get through: {daemon.log()[-2000:]}')

    def check(self, daemon, text):
        """Returns a line for each wrong answer; an answer may be missing only if it is marked."""
        lines = [line.split(' ') for line in text.splitlines()]
        end = int(next(line for line in lines if line[0] == 'sent')[5])
        living = [budget.FedBody(*map(int, line[1:4]), line[4]) for line in lines
                  if line[0] == 'living']
        answers = budget.resolve(self.programs, daemon, self.pid,
                                 [(body.start, end) for body in living])
        return [f'{body}: {answer}' for body, answer in zip(living, answers)
                if not (budget.says(answer, body) if answer['status'] == 'ok' else
                        answer['confidence'] == 'gap' or answer['status'] == 'evicted')]


def limit_files(pid, limit):
    """Makes writes beyond LIMIT fail in the process, as on a full disk."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def disturb(daemon, feeder, draw):
    """Causes a random fault. Returns its name. The daemon may be dead afterwards."""
    fault = draw.choice(('kill the daemon', 'stop the daemon', 'kill the feeder', 'a full disk',
                         'nothing'))
    pid = daemon.process.pid
    time.sleep(draw.random() * 0.3)
    if fault == 'kill the daemon':
        daemon.process.kill()
    elif fault == 'kill the feeder':
        feeder.kill()
    elif fault == 'stop the daemon':
        os.kill(pid, signal.SIGSTOP)
        time.sleep(draw.random())
        os.kill(pid, signal.SIGCONT)
    elif fault == 'a full disk':
        limit_files(pid, draw.randrange(8 * MIB))
        time.sleep(draw.random())
        limit_files(pid, resource.RLIM_INFINITY)
    return fault


def faults(tap, programs, directory, options):
    state = pathlib.Path(directory) / 'fault-state'
    seed, wrong, drawn = options.seed, [], {}
    with contextlib.ExitStack() as stack:
        daemon = None
        for number in range(options.rounds):
            draw = random.Random(f'{seed}-{number}')
            if daemon is None or daemon.process.poll() is not None:
                daemon = stack.enter_context(recorded.Daemon(
                    programs, directory, '--memory-max', str(MEMORY_MAX), '--state', state))
            one = Round(programs, options, number, draw)
            feeder = one.start_feeder(daemon)
            fault = disturb(daemon, feeder, draw)
            drawn[fault] = drawn.get(fault, 0) + 1
            if daemon.process.poll() is not None or fault == 'kill the daemon':
                daemon.process.wait()
                daemon = stack.enter_context(recorded.Daemon(
                    programs, directory, '--memory-max', str(MEMORY_MAX), '--state', state))
            found = one.check(daemon, one.finish(daemon, feeder))
            wrong += [f'round {number} of seed {seed}, {fault}: {line}' for line in found]
            if found:
                tap.note(f'round {number} of seed {seed}: {fault}: {len(found)} wrong answers')
    tap.note(f'seed {seed}: {json.dumps(drawn)}')
    tap.check(not wrong, f'{options.rounds} rounds of faults: answers are right or say why not',
              len(wrong), *wrong[:5])


def main():
    parser = argparse.ArgumentParser(description='A long run of clrsymd among hostile neighbours.')
    parser.add_argument('--build', default='build/plain', help='a build directory')
    parser.add_argument('--bodies', type=int, default=300_000)
    parser.add_argument('--processes', type=int, default=60)
    parser.add_argument('--seconds', type=float, default=0, help='0: as long as it takes')
    parser.add_argument('--rounds', type=int, default=12)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    options.clrsym, options.clrsymd = build / 'src/cli/clrsym', build / 'src/daemon/clrsymd'
    options.plugin_dir = build / 'plugins'
    options.feeder = build / 'tests/soak/feed-churn'
    directory = tempfile.mkdtemp(prefix='clrsym-')
    tap = recorded.Tap()
    try:
        programs = recorded.Programs(options, directory)
        soak(tap, programs, directory, options)
        if options.rounds:
            faults(tap, programs, directory, options)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    tap.finish()


if __name__ == '__main__':
    main()
