# SPDX-License-Identifier: MIT
"""Rounds of faults over a whole system: clrsymd with a journal, `clrsym feed`, and a stand-in for
lttng-relayd. The seed, which the test prints, decides when they are killed, stopped,
disconnected, or get a full disk. At the end the daemon has all records, or gaps where records
are missing; also after one more restart.

`test_killed_feed.py CLRSYM CLRSYMD PLUGINS [--rounds N] [--seed N]`; the test has a few rounds."""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import resource
import signal
import socket
import tempfile
import time

from tests.fault.test_fault_feeder import Life, Relay, TIMEOUT, TRACE, find_wrong, status
from tests.traces import recorded

N_FAULTS = 4
N_AT_ONCE = 3
# s; maximum time between two faults.
PAUSE = 0.4
KIB = 1 << 10


class System:
    """A daemon, its feeder, and their relay daemon; each can be restarted."""

    def __init__(self, programs, directory, trace, draw):
        self.programs, self.draw = programs, draw
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.state = self.directory / 'state'
        self.relay = Relay(trace, self.directory / 'output')
        self.logs = []

    def start_daemon(self):
        self.daemon = recorded.Daemon(self.programs, self.directory, '--state', self.state)
        # The sockets keep their paths.
        for name in ('ingest', 'query'):
            path = self.directory / name
            path.unlink(missing_ok=True)
            setattr(self.daemon, name, path)
        self.daemon.source = ['--socket', str(self.daemon.query)]
        self.daemon.__enter__()

    def start_feeder(self):
        self.life = Life(self.programs, self.relay, self.daemon)

    def end(self, process):
        self.logs += [self.life.log() if process is self.life.process else self.daemon.log()]
        process.kill()
        process.wait()

    def kill_daemon(self):
        self.end(self.daemon.process)
        time.sleep(self.draw.random() * PAUSE)
        self.start_daemon()

    def kill_feeder(self):
        self.end(self.life.process)
        self.start_feeder()

    def kill_both(self):
        self.end(self.daemon.process)
        self.end(self.life.process)
        self.start_daemon()
        self.start_feeder()

    def stop(self, process):
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(self.draw.random())
        os.kill(process.pid, signal.SIGCONT)

    def stop_daemon(self):
        self.stop(self.daemon.process)

    def stop_feeder(self):
        self.stop(self.life.process)

    def cut(self):
        """The relay daemon disconnects."""
        if self.relay.connection:
            with contextlib.suppress(OSError):
                self.relay.connection.shutdown(socket.SHUT_RDWR)

    def fill(self):
        """Writes to the journal fail for some time, as on a full disk."""
        pid = self.daemon.process.pid
        limit = self.draw.randrange(600 * KIB)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            time.sleep(self.draw.random())
            resource.prlimit(pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


FAULTS = (System.kill_daemon, System.kill_feeder, System.kill_both, System.stop_daemon,
          System.stop_feeder, System.cut, System.fill)


def wait_for_journal(system):
    """Waits until the journal has been written."""
    end = time.monotonic() + TIMEOUT
    while ('cannot be written' in (log := system.daemon.log()) and
           log.rindex('cannot be written') > log.rfind('can be written again') and
           time.monotonic() < end):
        time.sleep(0.1)


def find_problems(system, wanted, bodies, when):
    if bodies == wanted:
        return []
    problems = [f'{when}: {wrong}' for wrong in
                find_wrong(system.programs, system.daemon, wanted)[:3]]
    reported = status(system.programs, system.daemon)
    if not reported['gaps'] and 'there is a gap' not in system.daemon.log():
        problems.append(f'{when}: {len(wanted - bodies)} bodies are missing, {len(bodies - wanted)} '
                        f'too much, and there is no gap: {reported}')
    return problems


def run_round(programs, directory, trace, wanted, seed):
    """Returns the faults and the problems of a round."""
    draw = random.Random(seed)
    system = System(programs, directory, trace, draw)
    drawn = [draw.choice(FAULTS) for _ in range(draw.randint(1, N_FAULTS))]
    problems = []
    with system.relay:
        system.start_daemon()
        system.start_feeder()
        for fault in drawn:
            time.sleep(draw.random() * PAUSE)
            fault(system)
        problems += find_problems(system, wanted, system.life.wait(wanted), 'in the end')
        if (code := system.life.stop()) != 0:
            problems.append(f'the feeder ends with {code}')
        wait_for_journal(system)
        system.logs += [system.life.log(), system.daemon.log()]
        system.end(system.daemon.process)
        system.start_daemon()
        bodies = set(programs.ask(system.daemon.source, 'methods', '--all'))
        problems += find_problems(system, wanted, bodies, 'after a restart')
        system.daemon.__exit__()
    if system.daemon.status != 0:
        problems.append(f'the daemon ends with {system.daemon.status}')
    names = [fault.__name__ for fault in drawn]
    return names, problems and [f'round {seed}: {" ".join(names)}', *problems, *system.logs]


def main():
    parser = argparse.ArgumentParser()
    for argument in ('clrsym', 'clrsymd', 'plugin_dir'):
        parser.add_argument(argument)
    parser.add_argument('--rounds', type=int, default=6)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    tap = recorded.Tap()
    tap.note(f'--seed {arguments.seed}')
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix='clrsym-killed-') as directory:
        programs = recorded.Programs(arguments, directory)
        trace, = recorded.ctf_directories(recorded.unpack(directory, [TRACE])[TRACE])
        wanted = set(programs.ask(['--trace', str(trace)], 'methods', '--all'))
        with concurrent.futures.ThreadPoolExecutor(N_AT_ONCE) as pool:
            for names, problems in pool.map(
                    lambda number: run_round(programs, directory, trace, wanted,
                                             f'{arguments.seed}-{number}'), range(arguments.rounds)):
                counts.update(names)
                if problems:
                    wrong.append(problems)
                    tap.note('\n# '.join(line[:1500] for text in problems
                                         for line in text.splitlines()))
    tap.note(json.dumps(counts))
    tap.check(not wrong, f'{arguments.rounds} rounds: everything is known, or where something is missing',
              f'{len(wrong)} rounds with wrong answers')
    tap.finish()


if __name__ == '__main__':
    main()
