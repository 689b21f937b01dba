# SPDX-License-Identifier: MIT
"""How late the answers are for a program that compiles and unloads without a pause, against the live
timer of an LTTng session, and by EventPipe: at random moments the code that is there now is asked for, and the daemon
answers once everything up to that moment is in (wait_ms). Asserts no time."""

import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import time

from tests.daemon.test_daemon import Client
from tests.live import live, test_eventpipe
from tests.traces import recorded

TIMERS_US = (10_000, 100_000, 1_000_000)
EVENTPIPE_US = 100_000
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


@contextlib.contextmanager
def churning(assembly, directory, **variables):
    """The program, from its first instruction on."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('DOTNET_', 'LTTNG_'))}
    with live.child(['dotnet', assembly, 'churn', str(SECONDS), str(SECONDS * BODIES_A_SECOND)],
                    signal.SIGKILL, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                    env={**environment, **variables, 'TMPDIR': str(directory)}) as program:
        yield program


def note(tap, what, found, unit_us):
    p50, p95 = statistics.median(found), found[len(found) * 95 // 100]
    tap.note(f'{what}: p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, {len(found)} questions; '
             f'p95 is {p95 / (unit_us / 1e6 + 0.02):.2f} x ({unit_us / 1000:.0f} ms + 20 ms)')


def measure_lttng(tap, programs, assembly, directory, timer_us):
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
        program = stack.enter_context(churning(assembly, place, **live.ENVIRONMENT))
        live.wait_for('its code', lambda: programs.ask(daemon.source, 'ps'), program)
        note(tap, f'LTTng, live timer {timer_us / 1000:.0f} ms',
             latencies(daemon, program.pid, timer_us), timer_us)


def measure_eventpipe(tap, programs, assembly, directory):
    """The runtime sends what a thread has written every 100 ms, or when a buffer is full."""
    place = pathlib.Path(directory) / 'clrsym-freshness-eventpipe'
    place.mkdir()
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(place / 'holder')
    feed = test_eventpipe.DirectFeed(programs, place)
    with feed.running(), churning(assembly, place, DOTNET_LTTng='0') as program:
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        live.wait_for('its port', lambda: list(place.glob('dotnet-diagnostic-*')), program)
        feed.rows('attach', test_eventpipe.VIA, program.pid)
        note(tap, 'EventPipe', latencies(feed.daemon, program.pid, EVENTPIPE_US), EVENTPIPE_US)


def bench(tap, programs, directory, _):
    assembly = live.build(pathlib.Path(directory) / 'app')
    for timer_us in TIMERS_US:
        measure_lttng(tap, programs, assembly, directory, timer_us)
    measure_eventpipe(tap, programs, assembly, directory)
    tap.check(True, 'measured')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(bench))
