# SPDX-License-Identifier: MIT
"""How late the answers are for a program that compiles and unloads without a pause, against the
session's live timer: at random moments the code that is there now is asked for, and the daemon
answers once everything up to that moment is in (wait_ms). Asserts no time."""

import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for sibling in ('traces', 'live', 'daemon'):
    sys.path.insert(0, str(HERE.parent / sibling))

import live  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
from test_daemon import Client  # pylint: disable=wrong-import-position

TIMERS_US = (10_000, 100_000, 1_000_000)
N_QUESTIONS = 200
SECONDS, BODIES_A_SECOND = 15, 1000
WAIT_MS = 20_000


def latencies(daemon, pid, timer_us):
    """Seconds from a moment until the answer about it."""
    client, found = Client(daemon.query, WAIT_MS / 1000), []
    for _ in range(N_QUESTIONS * 100_000 // max(timer_us, 100_000)):
        time.sleep(random.uniform(0, timer_us / 5e6))
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        client.ask('Resolve', queries=[{'pid': pid, 'addr': '0x1000', 'time': now}],
                   wait_ms=WAIT_MS)
        answer, = client.reply()['parameters']['answers']
        if answer['confidence'] == 'provisional' or answer['status'] == 'pending':
            raise RuntimeError(f'not within {WAIT_MS} ms: {json.dumps(answer)}')
        found.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC) - now) / 1e9)
    client.close()
    return sorted(found)


def measure(tap, programs, assembly, directory, timer_us):
    name = f'clrsym-freshness-{timer_us}'
    place = pathlib.Path(directory) / name
    place.mkdir()
    relay = live.Relay(place / 'relay')
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(recorded.Daemon(programs, place))
        stack.enter_context(relay.running())
        stack.enter_context(relay.session(name, timer_us))
        feeder = stack.enter_context(live.child(
            [programs.clrsym, 'feed', relay.url(name), '--socket', daemon.ingest, '--relay-output',
             relay.directory],
            signal.SIGINT, env=programs.environment))
        live.wait_for('the feeder', relay.has_viewer, feeder)
        program = stack.enter_context(live.child(
            ['dotnet', assembly, 'churn', str(SECONDS), str(SECONDS * BODIES_A_SECOND)],
            signal.SIGKILL, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            env={**os.environ, **live.ENVIRONMENT, 'TMPDIR': str(place)}))
        live.wait_for('its code', lambda: programs.ask(daemon.source, 'ps'), program)
        found = latencies(daemon, program.pid, timer_us)
        p50, p95 = statistics.median(found), found[len(found) * 95 // 100]
        tap.note(f'live timer {timer_us / 1000:.0f} ms: p50 {p50 * 1000:.0f} ms, '
                 f'p95 {p95 * 1000:.0f} ms, {len(found)} questions; p95 is '
                 f'{p95 / (timer_us / 1e6 + 0.02):.2f} x (timer + 20 ms)')


def bench(tap, programs, directory, _):
    assembly = live.build(pathlib.Path(directory) / 'app')
    for timer_us in TIMERS_US:
        measure(tap, programs, assembly, directory, timer_us)
    tap.check(True, 'measured')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(bench))
