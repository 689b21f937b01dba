# SPDX-License-Identifier: MIT
"""A .NET program: recorded and then fed, and fed while it runs. The daemon's answers against the program's account
of its code, and the runtime's perf map."""

import collections
import contextlib
import json
import pathlib
import signal
import time

from tests.live import live, runtimes
from tests.traces import recorded

ROUNDS = 20
LIVE_TIMER_US = 100_000


def ns(text):
    seconds, fraction = text.split('.')
    return int(seconds) * 10**9 + int(fraction)


def seconds(time_ns):
    return f'{time_ns // 10**9}.{time_ns % 10**9:09}'


def name_of(answer):
    method = answer['method']
    return live.Name(method['namespace'], method['name'], answer['version']['tier'], answer['size'])


def resolve(programs, daemon, pid, questions):
    """The answers to (address, time in ns) of one process."""
    text = ''.join(f'{address:#x} {seconds(moment)}\n' for address, moment in questions)
    lines = programs.ask(daemon.source, 'resolve', '--pid', str(pid), text=text)
    if len(lines) != len(questions):
        raise RuntimeError(f'{len(lines)} answers to {len(questions)} questions')
    return [json.loads(line) for line in lines]


def wrong_codes(codes, answers):
    """Answers that contradict the program's output."""
    return [f'{code} answered: {json.dumps(answer)}' for code, answer in zip(codes, answers)
            if answer['status'] != 'ok' or int(answer['start'], 16) != code.address or
            (answer['method']['namespace'], answer['method']['name']) != (code.type, code.method)]


def check_codes(tap, programs, daemon, pid, codes, what):
    answers = resolve(programs, daemon, pid, [(code.address, code.time) for code in codes])
    wrong = wrong_codes(codes, answers)
    tap.check(codes and not wrong, f'{what}: {len(codes)} addresses that the program printed are named',
              f'{len(wrong)} wrong', *wrong[:5])
    reused = collections.Counter(code.address for code in codes)
    tap.check(any(n > 1 for n in reused.values()),
              f'{what}: {sum(n > 1 for n in reused.values())} of these addresses had several methods')
    inexact = [answer for answer in answers if answer.get('confidence') != 'exact']
    tap.check(not inexact, f'{what}: all with exact confidence', *inexact[:5])


def check_perf_map(tap, programs, daemon, program, what):
    """Asks for each jitted line of the perf map during that body's life."""
    expected, odd = program.perf_map()
    n_lines = sum(map(len, expected.values()))
    tap.check(n_lines > 2000 and not odd, f'{what}: perf map of {n_lines} jitted methods', *odd[:5])

    lines = programs.ask(daemon.source, 'methods', '--all', '--pid', str(program.pid))
    loads = [body for body in map(json.loads, lines) if body['source'] == 'load']
    found = collections.defaultdict(list)
    for body in sorted(loads, key=lambda body: ns(body['loaded'])):
        found[int(body['start'], 16)].append(body)

    # The perf map has no times, but an order.
    differing = [f'{start:#x}: perf map {expected.get(start)}, daemon '
                 f'{[name_of(body) for body in found[start]]}'
                 for start in expected.keys() | found.keys()
                 if expected.get(start) != [name_of(body) for body in found[start]]]
    tap.check(not differing, f'{what}: {len(loads)} loads, in their order those of the perf map',
              f'{len(differing)} addresses differ', *differing[:5])

    questions, wanted = [], []
    for start, names in expected.items():
        for name, body in zip(names, found[start]):
            begin = ns(body['loaded'])
            end = ns(body['unloaded']) - 1 if body['unloaded'] else begin + 10**6
            for address, moment in ((start, begin), (start + name.size // 2, (begin + end) // 2),
                                    (start + name.size - 1, end)):
                questions.append((address, moment))
                wanted.append((name, start))
    answers = resolve(programs, daemon, program.pid, questions)
    wrong = [f'{want} answered: {json.dumps(answer)}' for want, answer in zip(wanted, answers)
             if answer['status'] != 'ok' or (name_of(answer), int(answer['start'], 16)) != want]
    tap.check(len(answers) >= 3 * n_lines and not wrong,
              f'{what}: {len(answers)} questions over the lives of {n_lines} bodies',
              f'{len(wrong)} wrong', *wrong[:5])
    tiers = collections.Counter(name.tier for names in expected.values() for name in names)
    tap.note(f'{what}: {len(expected)} addresses; '
             + ', '.join(f'{n} {tier}' for tier, n in sorted(tiers.items())))
    tap.check({'QuickJitted', 'InstrumentedTier', 'OptimizedTier1', 'OptimizedTier1OSR', 'Optimized',
               'MinOptJitted'} <= tiers.keys(), f'{what}: all tiers were there', dict(tiers))
    return loads


def check_unloads(tap, loads, what):
    """The collectible copies and the dynamic methods were indeed loaded and unloaded."""
    for holder in ('Live.Passing', 'dynamicClass'):
        bodies = [body for body in loads if body['method']['namespace'] == holder]
        gone = sum(body['unloaded'] is not None for body in bodies)
        tap.check(len(bodies) >= ROUNDS and gone == len(bodies),
                  f'{what}: {gone} of {len(bodies)} bodies of {holder} were unloaded')


def run_recorded(tap, programs, command, directory, what):
    directory.mkdir()
    program = live.Program(command, directory, ROUNDS)
    with live.session('clrsym-recorded', f'--output={directory / "trace"}'), program.ready():
        pass
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.feed(directory / 'trace', daemon.ingest)
        tap.check(done.returncode == 0, f'{what}: feed succeeds', done.stderr, daemon.log())
        passing, lasting = program.codes()
        check_codes(tap, programs, daemon, program.pid, passing + lasting, what)
        check_unloads(tap, check_perf_map(tap, programs, daemon, program, what), what)


def ask_while_running(tap, programs, daemon, program, what):
    """The program waits: answers about its last output must be right, and known soon."""
    passing, lasting = program.codes()
    codes = passing + lasting
    questions = [(code.address, code.time) for code in codes]
    begin = time.monotonic()

    def settled():
        try:
            answers = resolve(programs, daemon, program.pid, questions)
        except RuntimeError:
            return None  # no event of the program has arrived yet
        early = [answer for answer in answers if answer.get('confidence') == 'provisional'
                 or answer['status'] in ('pending', 'no-process')]
        # An early answer may be incomplete, but must not be wrong.
        wrong.extend(line for line in wrong_codes(codes, answers) if '"ok"' in line)
        return None if early else answers

    wrong = []
    live.wait_for('answers beyond the horizon', settled, program.process)
    tap.note(f'{what}: settled {(time.monotonic() - begin) * 1000:.0f} ms after the program was ready')
    tap.check(not wrong, f'{what}: no wrong name, however early asked', *wrong[:5])
    check_codes(tap, programs, daemon, program.pid, codes, f'{what}, while it runs')

    text = ''.join(f'{code.address:#x}\n' for code in lasting)
    answers = [json.loads(line) for line in
               programs.ask(daemon.source, 'resolve', '--pid', str(program.pid), text=text)]
    wrong = wrong_codes(lasting, answers)
    tap.check(lasting and not wrong,
              f'{what}, while it runs: {len(lasting)} addresses are named without a time', *wrong[:5])


def run_live(tap, programs, command, directory, what):
    directory.mkdir()
    name = 'clrsym-live'
    program = live.Program(command, directory, ROUNDS)
    relay = live.Relay(directory / 'relay')
    errors = directory / 'feeder'
    with recorded.Daemon(programs, directory) as daemon, relay.running(), \
         open(errors, 'w', encoding='utf-8') as log:
        command = ['babeltrace2', f'--plugin-path={programs.plugin_dir}',
                   '-i', 'lttng-live', relay.url(name),
                   '--params', 'session-not-found-action="end"',
                   '-c', 'sink.clrsym.feed', '--params', f'socket="{daemon.ingest}"']
        with contextlib.ExitStack() as stack, contextlib.ExitStack() as tracing:
            tracing.enter_context(relay.session(name, LIVE_TIMER_US))
            feeder = stack.enter_context(
                live.child(command, signal.SIGINT, env=programs.environment, stderr=log))
            live.wait_for('the feeder', relay.has_viewer, feeder)
            with program.ready():
                ask_while_running(tap, programs, daemon, program, what)
            tracing.close()
            tap.check(feeder.wait(live.TIMEOUT) == 0, f'{what}: the feeder ends with the session',
                      errors.read_text(encoding='utf-8'), daemon.log())
        passing, lasting = program.codes()
        check_codes(tap, programs, daemon, program.pid, passing + lasting, f'{what}, afterwards')
        check_unloads(tap, check_perf_map(tap, programs, daemon, program, what), what)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for runtime, command in runtimes.commands(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        run_recorded(tap, programs, command, directory / f'recorded-{runtime}', f'.NET {runtime}, recorded')
        run_live(tap, programs, command, directory / f'live-{runtime}', f'.NET {runtime}, live')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
