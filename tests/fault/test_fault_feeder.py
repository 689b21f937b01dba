# SPDX-License-Identifier: MIT
"""One call of `clrsym feed` fails: an allocation, a write, a read, an fsync, an open, a connect, a
fork or a mmap. The feeder continues, or it exits with a reason and the next one continues; at
the end the daemon has all bodies, or gaps where bodies are missing.

A stand-in for lttng-relayd has the first half of each stream on disk, and sends the second half,
which is on disk, too, after the viewer has disconnected.

`test_fault_feeder.py CLRSYM CLRSYMD PLUGINS fault.so --all` tries every n, which takes hours:
`--begin` and `--end` divide the work. The test tries all calls of kinds with few calls, and some of
the others, by a seed that it prints. `--seed N` repeats it."""

import concurrent.futures
import contextlib
import json
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

from tests.daemon import relayd, test_viewer
from tests.fault.test_fault import Fault, KINDS, is_good_end, main
from tests.traces import recorded

TRACE = 'pidns'
# s; time limit of a feeder, on any machine.
TIMEOUT = 120
# Tries of kinds with more calls than FEW; parallel tries, because they mostly wait.
N_LIVES, N_AT_ONCE = 3, 4
FEW = 30
# s; longer than the feeder's interval between scans of the files.
SETTLED = 2.5


class Relay(relayd.Relayd):
    """One session that began before the first viewer connects. The relay daemon sends each
    packet once."""

    def __init__(self, trace, output):
        super().__init__([trace])
        self.trace, self.output = trace, output
        self.host = output / socket.gethostname()
        self.place = self.host / 'session-20261122-100000' / 'ust' / 'uid' / '0' / '64-bit'
        (self.place / 'index').mkdir(parents=True)
        (self.place / 'metadata').write_bytes((trace / 'metadata').read_bytes())
        for stream in self.streams.values():
            stream.at = len(stream.packets) // 2
        self.write_files(lambda packets: packets[:len(packets) // 2])

    def write_files(self, part):
        for number, stream in self.streams.items():
            packets = part(stream.packets)
            (self.place / f'ch_{number}').write_bytes(b''.join(packet.data for packet in packets))
            (self.place / 'index' / f'ch_{number}.idx').write_bytes(
                test_viewer.relay_index(packets))

    def begin(self):
        self.sent = {number: 0 for number in self.metadata}

    def serve(self, connection):
        try:
            super().serve(connection)
        finally:
            newer = self.host / 'session-20261122-110000' / 'ust'
            if not newer.exists():
                self.write_files(lambda packets: packets)
                newer.mkdir(parents=True)


class Life:
    """One feeder."""

    def __init__(self, programs, relay, daemon, environment=None):
        self.programs, self.daemon = programs, daemon
        self.path = pathlib.Path(tempfile.mkdtemp(dir=daemon.directory)) / 'log'
        with open(self.path, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                [programs.clrsym, 'feed', relay.url, '--socket', daemon.ingest, '--relay-output',
                 relay.output], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**programs.environment, 'CLRSYM_SESSIONS': str(daemon.directory / 'sessions'),
                     **(environment or {})})

    def log(self):
        return self.path.read_text(encoding='utf-8', errors='replace')

    def wait(self, wanted):
        """Waits until the daemon has everything, the feeder has exited, or the daemon has gaps
        for the missing records. Returns the bodies."""
        end, settled, last = time.monotonic() + TIMEOUT, None, None
        while time.monotonic() < end:
            has_ended = self.process.poll() is not None
            if has_ended or 'has no session' in self.log():
                bodies = set(self.programs.ask(self.daemon.source, 'methods', '--all'))
                if has_ended or bodies == wanted:
                    return bodies
                if bodies != last or not status(self.programs, self.daemon)['gaps']:
                    settled, last = time.monotonic() + SETTLED, bodies
                elif time.monotonic() > settled:
                    return bodies
            time.sleep(0.2)
        return last or set()

    def stop(self):
        """Returns the exit code; None if the feeder does not end."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


def status(programs, daemon):
    return json.loads(programs.ask(daemon.source, 'status')[0])


def find_wrong(programs, daemon, wanted):
    """Returns bodies for which a daemon with gaps has a wrong answer."""
    rows = [row for row in map(json.loads, wanted) if row['loaded']]
    text = ''.join(f'{row["pid_ns"]}:{row["pid"]} {row["start"]} {row["loaded"]}\n' for row in rows)
    answers = [json.loads(line) for line in programs.ask(daemon.source, 'resolve', text=text)]
    return [f'{row}: {answer}' for row, answer in zip(rows, answers)
            if not (answer['method'] == row['method'] if answer['status'] == 'ok' else
                    answer['confidence'] == 'gap')]


def feeder_life(programs, directory, trace, wanted, fault):
    """Returns the problems of one life of a feeder with a fault, and of the next one without, if
    the first one exited."""
    directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
    problems = []
    with recorded.Daemon(programs, directory) as daemon, \
         Relay(trace, directory / 'output') as relay:
        life = Life(programs, relay, daemon, fault.environment)
        bodies = life.wait(wanted)
        had_ended = life.process.poll() is not None
        code, log = life.stop(), life.log()
        if code is None or not is_good_end(code, log) or (had_ended and code == 0):
            problems.append(f'it ends with {code}: {log[-1000:]}')
        if bodies != wanted and had_ended:
            life = Life(programs, relay, daemon)
            bodies = life.wait(wanted)
            if (code := life.stop()) != 0:
                problems.append(f'the next one ends with {code}: {life.log()[-1000:]}')
            log += life.log()
        if bodies != wanted:
            reported = status(programs, daemon)
            if not reported['gaps']:
                problems.append(f'{len(wanted - bodies)} bodies are missing, {len(bodies - wanted)} '
                                f'too much, and there is no gap: {log[-1000:]} {reported}')
            problems += find_wrong(programs, daemon, wanted)[:3]
    if not daemon.status == 0:
        problems.append(f'the daemon ends with {daemon.status}: {daemon.log()[-500:]}')
    return problems


def run(tap, arguments, programs, directory):
    trace, = recorded.ctf_directories(recorded.unpack(directory, [TRACE])[TRACE])
    wanted = set(programs.ask(['--trace', str(trace)], 'methods', '--all'))
    chance = random.Random(arguments.seed)

    def life(fault):
        return [f'{fault.name}: {problem}' for problem in
                feeder_life(programs, directory, trace, wanted, fault)]

    for kind in arguments.kinds or KINDS:
        fault = Fault(arguments.library, kind, 0, directory)
        problems, total = life(fault), fault.count()
        tap.check(not problems, f'clrsym feed without a fault: {total} calls: {kind}', *problems)
        numbers = list(range(arguments.begin, min(total + 1, arguments.end)))
        if not arguments.all and total > FEW:
            chance.shuffle(numbers)
            numbers = numbers[:arguments.lives]
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            wrong = [problem for found in pool.map(life, [
                Fault(arguments.library, kind, n, directory) for n in numbers]) for problem in found]
        tap.check(not wrong, f'clrsym feed: {len(numbers)} of {total} {kind}', *wrong[:20])


if __name__ == '__main__':
    main(run, lives={'type': int, 'default': N_LIVES, 'help': 'of kinds with many calls'},
         kinds={'nargs': '*', 'choices': KINDS},
         begin={'type': int, 'default': 1, 'help': 'the first n'},
         end={'type': int, 'default': sys.maxsize, 'help': 'before this n'},
         at_once={'type': int, 'default': N_AT_ONCE, 'help': 'lives at a time'})
