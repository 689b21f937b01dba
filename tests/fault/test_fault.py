# SPDX-License-Identifier: MIT
"""One call fails: an allocation, a write, a read, an fsync, an open, an accept, a connect, a fork
or a mmap, in clrsymd, also while it reads its journal, and in clrsym. Answers are right or have
a reason, no acknowledged record is lost, and no program crashes.

`test_fault.py CLRSYM CLRSYMD PLUGINS fault.so --all` tries every n; the test tries some for about
40 s, by a seed that it prints. `--seed N` repeats it."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from tests.daemon import ingest
from tests.traces import recorded

KINDS = ('malloc', 'write', 'read', 'fsync', 'rename', 'open', 'accept', 'connect', 'fork', 'mmap')
SECONDS = {'daemon': 24, 'client': 10, 'restart': 6}
PARTS = ('client', 'daemon', 'restart')
N_BATCHES, N_LOADS = 3, 20
FIRST = 1000
# If memory runs out, GLib ends the program with a trap, after a message.
NO_MEMORY = ('failed to allocate', 'out of memory', 'no memory', 'Cannot allocate memory',
             'Error creating thread')


class Fault:
    def __init__(self, library, kind, n, directory):
        self.report = pathlib.Path(directory) / 'calls'
        self.report.unlink(missing_ok=True)
        self.name = f'{kind} {n}'
        self.environment = {'LD_PRELOAD': os.path.abspath(library), 'FAULT': f'{kind}:{n}',
                            'FAULT_REPORT': str(self.report)}

    def count(self):
        return int(self.report.read_text(encoding='ascii')) if self.report.exists() else 0


def address(moment):
    return 0x10000 + 16 * moment


def name(moment):
    return f'M{moment}'


def is_good_end(code, text):
    """Returns whether the program exited itself, with a reason if it failed; or whether GLib
    ended it because memory ran out."""
    if code in (0, -signal.SIGTERM):
        return True
    if code < 0:
        return -code in (signal.SIGTRAP, signal.SIGABRT) and any(part in text for part in NO_MEMORY)
    return bool(text.strip())


class Daemon:
    def __init__(self, programs, directory, state, environment=None):
        self.programs = programs
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.ingest, self.query = self.directory / 'ingest', self.directory / 'query'
        self.source = ['--socket', str(self.query)]
        with open(self.directory / 'log', 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                [programs.clrsymd, '--ingest', self.ingest, '--query', self.query, '--state', state],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**programs.environment,
                                                           **(environment or {})})
        end = time.monotonic() + 10
        while (self.process.poll() is None and time.monotonic() < end and
               not (self.ingest.exists() and self.query.exists())):
            time.sleep(0.005)

    def stop(self):
        """Returns the exit code; None if the program does not end."""
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def log(self):
        return (self.directory / 'log').read_text(encoding='utf-8', errors='replace')


def feed(daemon):
    """Feeds the loads of some moments. Returns the last acknowledged moment."""
    acked = 0
    with contextlib.suppress(OSError, EOFError):
        feeder = ingest.Feeder(daemon.ingest, timeout=3)
        feeder.send(ingest.hello(), ingest.stream_open())
        feeder.receive_until(ingest.GO)
        for batch in range(N_BATCHES):
            last = FIRST + (batch + 1) * N_LOADS
            feeder.send(*[ingest.load(moment, address(moment), name(moment))
                          for moment in range(last - N_LOADS + 1, last + 1)], ingest.commit())
            while acked < last and (got := feeder.receive()):
                if got[0] == ingest.ACK:
                    acked = int.from_bytes(got[1][4:12], 'little')
        feeder.close()
    return acked


def resolve(programs, source):
    """Returns the available answers for all moments, or the reason for none."""
    last = FIRST + N_BATCHES * N_LOADS
    done = programs.run([programs.clrsym, 'resolve', *source, '-p', '100', '--json',
                         *[hex(address(moment)) for moment in range(FIRST + 1, last + 1)]])
    return {FIRST + 1 + i: json.loads(line) for i, line in enumerate(done.stdout.splitlines())}, done


def find_wrong(answers, needed):
    """Returns the faults of answers; answers up to the moment NEEDED must be there."""
    wrong = []
    for moment, answer in answers.items():
        method = answer.get('method') or {}
        if answer['status'] == 'ok':
            if method.get('name') != name(moment):
                wrong.append(f'{moment}: {answer}')
        elif moment <= needed:
            wrong.append(f'{moment} was acknowledged: {answer}')
    return wrong


def daemon_life(programs, directory, fault):
    """Returns the problems of one life of a daemon with a fault, and of the next one without."""
    state = tempfile.mkdtemp(dir=directory)
    daemon = Daemon(programs, directory, state, fault.environment)
    acked = feed(daemon)
    answers, _ = resolve(programs, daemon.source)
    # The living daemon may lack records, if it gives a reason.
    problems = find_wrong(answers, 0)
    code, log = daemon.stop(), daemon.log()
    if code is None or not is_good_end(code, log):
        problems.append(f'it ends with {code}: {log[-2000:]}')
    # The daemon may lose data, if it reports that.
    if 'the journal in' in log and 'cannot be written' in log:
        acked = 0
    after = Daemon(programs, directory, state)
    answers, done = resolve(programs, after.source)
    if len(answers) != N_BATCHES * N_LOADS:
        problems.append(f'the next one does not answer: {done.stderr} {after.log()[-1000:]}')
    problems += [f'after a restart, {wrong}' for wrong in find_wrong(answers, acked)]
    if (code := after.stop()) != 0:
        problems.append(f'the next one ends with {code}: {after.log()[-1000:]}')
    return problems


def restart_life(programs, directory, fed_state, fault):
    """Returns the problems of a daemon with a fault that finds a journal, and of the next one
    without."""
    state = tempfile.mkdtemp(dir=directory)
    shutil.copytree(fed_state, state, dirs_exist_ok=True)
    daemon = Daemon(programs, directory, state, fault.environment)
    answers, _ = resolve(programs, daemon.source)
    problems = find_wrong(answers, 0)
    code, log = daemon.stop(), daemon.log()
    if code is None or not is_good_end(code, log):
        problems.append(f'it ends with {code}: {log[-2000:]}')
    # An unreadable part of the journal is lost, and reported; no other fault may make the journal
    # count as damaged.
    is_damaged = fault.name.startswith('read ') and 'is damaged: it is kept as' in log
    after = Daemon(programs, directory, state)
    answers, done = resolve(programs, after.source)
    if len(answers) != N_BATCHES * N_LOADS:
        problems.append(f'the next one does not answer: {done.stderr} {after.log()[-1000:]}')
    problems += [f'after a restart, {wrong}: {log[-300:]}' for wrong in
                 find_wrong(answers, 0 if is_damaged else FIRST + N_BATCHES * N_LOADS)]
    if (code := after.stop()) != 0:
        problems.append(f'the next one ends with {code}: {after.log()[-1000:]}')
    return problems


def client_life(programs, command, want, fault):
    """Returns the problems of one clrsym with a fault; WANT is the output without the fault."""
    done = programs.run(command, env={**programs.environment, **fault.environment})
    problems = []
    if not is_good_end(done.returncode, done.stderr):
        problems.append(f'it ends with {done.returncode}: {done.stderr[-1000:]}')
    if done.returncode == 0 and done.stdout != want:
        problems.append(f'another output, without an error: {done.stdout[-500:]!r}')
    lines = done.stdout.splitlines(True)
    if not all(line in want for line in lines):
        problems.append(f'wrong output: {lines[:3]}')
    return problems


class Run:
    def __init__(self, tap, arguments, programs, directory):
        self.tap, self.library, self.is_all = tap, arguments.library, arguments.all
        self.programs, self.directory = programs, directory
        self.chance = random.Random(arguments.seed)

    def fault(self, kind, n):
        return Fault(self.library, kind, n, self.directory)

    def numbers(self, total, share):
        """Returns the numbers of the failing calls, in an order that a time limit may cut off."""
        numbers = list(range(1, total + 1))
        if not self.is_all:
            self.chance.shuffle(numbers)
        return numbers if self.is_all else numbers[:share]

    def try_all(self, what, life, counts):
        """Tries each kind of fault in turn, until all are tried or the time is over."""
        left = {kind: self.numbers(n, 400) for kind, n in counts.items()}
        end = time.monotonic() + SECONDS[what.split()[0]]
        tried = dict.fromkeys(counts, 0)
        problems = []
        while any(left.values()) and (self.is_all or time.monotonic() < end):
            for kind, numbers in left.items():
                if numbers:
                    fault = self.fault(kind, numbers.pop(0))
                    problems += [f'{fault.name}: {problem}' for problem in life(fault)]
                    tried[kind] += 1
        self.tap.check(not problems, f'{what}: right, or with a reason: ' + ', '.join(
            f'{tried[kind]} of {counts[kind]} {kind}' for kind in counts), *problems[:20])

    def daemon(self):
        def life(fault):
            return daemon_life(self.programs, self.directory, fault)
        counts = {}
        for kind in KINDS:
            fault = self.fault(kind, 0)
            problems = life(fault)
            counts[kind] = fault.count()
            self.tap.check(not problems, f'clrsymd without a fault: {counts[kind]} calls: {kind}',
                           *problems)
        self.try_all('daemon', life, counts)

    def restart(self):
        state = tempfile.mkdtemp(dir=self.directory)
        daemon = Daemon(self.programs, self.directory, state)
        feed(daemon)
        daemon.process.kill()
        daemon.process.wait()

        def life(fault):
            return restart_life(self.programs, self.directory, state, fault)
        counts = {}
        for kind in KINDS:
            fault = self.fault(kind, 0)
            problems = life(fault)
            counts[kind] = fault.count()
            self.tap.check(not problems, f'clrsymd with a journal, without a fault: {counts[kind]} '
                           f'calls: {kind}', *problems)
        self.try_all('restart', life, counts)

    def client(self):
        state = tempfile.mkdtemp(dir=self.directory)
        daemon = Daemon(self.programs, self.directory, state)
        feed(daemon)
        output = pathlib.Path(self.directory) / 'perf.map'
        addresses = [hex(address(FIRST + i)) for i in range(1, 30)]
        commands = [[self.programs.clrsym, *words, *daemon.source] for words in (
            ('resolve', '-p', '100', *addresses), ('resolve', '-p', '100', '--json', *addresses),
            ('ps',), ('methods', '--json'), ('methods',), ('history', '-p', '100', addresses[0]),
            ('perfmap', '-p', '100'), ('perfmap', '-p', '100', '-o', output))]
        SECONDS['client'] = SECONDS['client'] / len(commands)
        whole = None
        for command in commands:
            want, counts = self.programs.run(command).stdout, {}
            whole = output.read_text(encoding='ascii') if output.exists() else None

            def life(fault, command=command, want=want):
                problems = client_life(self.programs, command, want, fault)
                if whole is not None and output.read_text(encoding='ascii') != whole:
                    problems.append('the output file is not whole')
                # A program that GLib has ended leaves its temporary file.
                for path in output.parent.glob('.perf.map.*'):
                    path.unlink()
                return problems

            for kind in ('malloc', 'write', 'rename', 'open', 'mmap'):
                fault = self.fault(kind, 0)
                life(fault)
                counts[kind] = fault.count()
            self.try_all(f'client {" ".join(map(str, command[1:3]))}', life, counts)
        daemon.stop()


def main(run, **options):
    """Calls RUN(tap, arguments, programs, directory). OPTIONS: further options, as for
    add_argument()."""
    parser = argparse.ArgumentParser()
    for argument in ('clrsym', 'clrsymd', 'plugin_dir', 'library'):
        parser.add_argument(argument)
    parser.add_argument('--all', action='store_true', help='every n')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 32))
    for name, how in options.items():
        parser.add_argument('--' + name, **how)
    arguments = parser.parse_args()
    tap = recorded.Tap()
    tap.note(f'--seed {arguments.seed}')
    with tempfile.TemporaryDirectory(prefix='clrsym-fault-') as directory:
        run(tap, arguments, recorded.Programs(arguments, directory), directory)
    tap.finish()


def run_parts(tap, arguments, programs, directory):
    run = Run(tap, arguments, programs, directory)
    for part in PARTS:
        if arguments.only in (None, part):
            getattr(run, part)()


if __name__ == '__main__':
    main(run_parts, only={'choices': PARTS})
