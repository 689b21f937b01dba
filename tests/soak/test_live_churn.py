# SPDX-License-Identifier: MIT
"""A minute of a program whose dynamic methods come and go, fed live. During the run, only
provisional answers may have a wrong name; at the end the daemon has the same bodies as the
trace read from disk."""

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import time

from tests.live import live, runtimes, test_live
from tests.traces import recorded

SECONDS, N_BODIES = 60, 100_000
# s, on any machine.
MAX_SECONDS = 400
LIVE_TIMER_US = 100_000
QUESTIONS_AT_ONCE = 200
PAUSE_S = 0.25


class Program(live.Program):
    """The churning live program; queries about it are possible before it is ready."""

    def __init__(self, command, directory):
        super().__init__(command, directory, 0)
        self.command = [*command, 'churn', str(SECONDS), str(N_BODIES)]
        self.told = []
        self.n_read = 0
        self.rest = ''

    @contextlib.contextmanager
    def running(self):
        environment = {**os.environ, **live.ENVIRONMENT, 'TMPDIR': str(self.directory)}
        with open(self.output, 'w', encoding='utf-8') as output, \
             live.child(self.command, stdin=subprocess.PIPE, stdout=output,
                        env=environment) as process:
            self.process = process
            yield self
            self.finish()

    def read(self):
        """Reads the program's new output. Returns True once it is ready."""
        with open(self.output, encoding='utf-8') as output:
            output.seek(self.n_read)
            text = self.rest + output.read()
            self.n_read = output.tell()
        *lines, self.rest = text.split('\n')
        for line in lines:
            if line.startswith('CODE '):
                moment, address, holder, method = line.split(' ')[1:]
                self.told.append(live.Code(int(moment), int(address, 16), holder, method))
        return 'READY' in lines


class Questions:
    """Queries during the run, and their wrong answers."""

    def __init__(self, programs, daemon, program):
        self.programs, self.daemon, self.program = programs, daemon, program
        self.random = random.Random(1)
        self.statuses = collections.Counter()
        self.lags = []
        self.wrong = []

    def ask(self):
        """Asks about random past moments, and about the newest."""
        told = self.program.told
        if not told:
            return
        codes = [told[-1], *self.random.choices(told, k=QUESTIONS_AT_ONCE)]
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        answers = test_live.resolve(self.programs, self.daemon, self.program.pid,
                                    [(code.address, code.time) for code in codes])
        if answers[0]['horizon']:
            self.lags.append(now - test_live.ns(answers[0]['horizon']))
        for code, answer in zip(codes, answers):
            self.judge(code, answer)

    def judge(self, code, answer):
        status = answer['status']
        if status == 'no-process' and not self.statuses['ok']:
            return  # the daemon has no events of the program yet
        is_late = answer['horizon'] is None or code.time > test_live.ns(answer['horizon'])
        self.statuses[status + (', provisional' if is_late and status == 'ok' else '')] += 1
        if is_late and status == 'pending':
            return
        if is_late and status == 'ok':
            # The unload, and the load of the next body, may not have arrived: then the answer must
            # be provisional.
            unloaded = answer['unloaded'] and test_live.ns(answer['unloaded'])
            is_right = test_live.ns(answer['loaded']) <= code.time and \
                       (unloaded is None or unloaded > code.time) and \
                       answer['confidence'] == 'provisional'
        else:
            is_right = not test_live.wrong_codes([code], [answer]) and \
                       answer['confidence'] == 'exact'
        if not is_right:
            self.wrong.append(f'{code} answered: {json.dumps(answer)}')


def ask_while_running(tap, questions, program):
    deadline = time.monotonic() + MAX_SECONDS
    begin = time.monotonic()
    is_ready = False
    while not is_ready:
        if program.process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f'the program: {program.process.returncode}, not ready in time')
        time.sleep(PAUSE_S)
        is_ready = program.read()
        questions.ask()
    tap.note(f'the program ran for {time.monotonic() - begin:.0f} s')


def check_questions(tap, questions, codes):
    n = sum(questions.statuses.values())
    tap.check(n > 10_000 and not questions.wrong,
              f'{n} questions while it ran, no wrong answer', f'{len(questions.wrong)} wrong',
              *questions.wrong[:5])
    lags = sorted(questions.lags)
    tap.note(', '.join(f'{count} {status}' for status, count in questions.statuses.items()))
    tap.note(f'horizon later than the clock by {lags[len(lags) // 2] / 1e6:.0f} ms (median), '
             f'{lags[-1] / 1e6:.0f} ms (most)')
    tap.check(questions.statuses['ok'] > n / 2, 'most of them before the horizon')
    names = collections.defaultdict(set)
    for code in codes:
        names[code.address].add(code.method)
    reused = sum(len(methods) > 1 for methods in names.values())
    tap.check(reused > 100, f'{reused} of {len(names)} printed addresses had several methods')


def check_bodies(tap, programs, daemon, trace, pid):
    """Compares the daemon's bodies with those from the relay's copy."""
    status = json.loads(programs.ask(daemon.source, 'status')[0])
    lost = {name: status[name] for name in ('gaps', 'discarded_events', 'discarded_packets',
                                            'refused', 'evicted_bodies')}
    tap.check(not any(lost.values()), 'nothing was lost, and nothing had to go', lost)

    begin = time.monotonic()
    fed = programs.ask(daemon.source, 'methods', '--all', '--pid', str(pid))
    read = programs.ask(['--trace', str(trace)], 'methods', '--all', '--pid', str(pid))
    tap.note(f'listed twice in {time.monotonic() - begin:.1f} s')
    tap.same_rows(fed, read, 'the daemon has the bodies that are read from disk')

    churned = [body for body in map(json.loads, fed)
               if body['method']['namespace'] == 'dynamicClass'
               and body['method']['name'].startswith('Churn_')]
    gone = sum(body['unloaded'] is not None for body in churned)
    starts = collections.Counter(body['start'] for body in churned)
    tap.equal(len({body['method']['name'] for body in churned}), N_BODIES,
              f'each dynamic method is there: {len(churned)} bodies')
    tap.check(gone > 0.9 * N_BODIES, f'{gone} of them were unloaded')
    tap.note(f'at {len(starts)} addresses, at one of them {max(starts.values())}')


def test_runtime(tap, programs, command, directory):
    program = Program(command, directory)
    relay = live.Relay(directory / 'relay')
    name = 'clrsym-churn'
    errors = directory / 'feeder'
    begin = time.monotonic()
    with recorded.Daemon(programs, directory) as daemon, relay.running(), \
         open(errors, 'w', encoding='utf-8') as log:
        command = ['babeltrace2', f'--plugin-path={programs.plugin_dir}',
                   '-i', 'lttng-live', relay.url(name),
                   '--params', 'session-not-found-action="end"',
                   '-c', 'sink.clrsym.feed', '--params', f'socket="{daemon.ingest}"']
        questions = Questions(programs, daemon, program)
        with contextlib.ExitStack() as stack, contextlib.ExitStack() as tracing:
            tracing.enter_context(relay.session(name, LIVE_TIMER_US))
            feeder = stack.enter_context(
                live.child(command, signal.SIGINT, env=programs.environment, stderr=log))
            # The feeder must start before the program, because a viewer gets only packets from its
            # start on.
            live.wait_for('the feeder', relay.has_viewer, feeder)
            with program.running():
                ask_while_running(tap, questions, program)
            tracing.close()
            tap.check(feeder.wait(live.TIMEOUT) == 0, 'the feeder ends with the session',
                      errors.read_text(encoding='utf-8'), daemon.log())
        check_questions(tap, questions, program.told)
        answers = test_live.resolve(programs, daemon, program.pid,
                                    [(code.address, code.time) for code in program.told])
        wrong = test_live.wrong_codes(program.told, answers)
        tap.check(len(answers) > N_BODIES / 10 and not wrong,
                  f'afterwards all {len(answers)} that were printed are named', *wrong[:5])
        check_bodies(tap, programs, daemon, relay.directory, program.pid)
    tap.note(f'{time.monotonic() - begin:.0f} s in all')


def test(tap, programs, directory, _):
    for _, command, place in runtimes.runs(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        test_runtime(tap, programs, command, place)


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
