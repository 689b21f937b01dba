# SPDX-License-Identifier: MIT
"""CPU time that tracing takes beside a program that compiles all the time: of the relay daemon, LTTng's
consumer and session daemon, the feeder and clrsymd, as parts of the program's own, and of one that keeps a
core busy. With `clrsym feed`, and with babeltrace2 and sink.clrsym.feed in its place, in turn. Asserts no
time."""

import contextlib
import os
import pathlib
import signal
import statistics
import subprocess
import time

from tests.live import alone, live
from tests.traces import recorded

TIMER_US = 100_000
SECONDS = 15
# A program that does little else in its time, and one that compiles as fast as it can.
BODIES_A_SECOND = (1000, 3000)
N_RUNS = 3
TICK = os.sysconf('SC_CLK_TCK')


def cpu(pid):
    """Seconds, of the process and of the children that it has waited for; 0 if it has ended."""
    with contextlib.suppress(OSError):
        return ticks(pid) / TICK
    return 0


def ticks(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()
    return sum(map(int, fields[11:15]))


def pids_of(name):
    found = subprocess.run(['pidof', name], stdout=subprocess.PIPE, check=False).stdout
    return [int(pid) for pid in found.split()]


def feeder_command(programs, relay, name, daemon, which):
    if which == 'clrsym feed':
        return [programs.clrsym, 'feed', relay.url(name), '--socket', daemon.ingest,
                '--relay-output', relay.directory]
    return ['babeltrace2', f'--plugin-path={programs.plugin_dir}', 'run', '--retry-duration=10000',
            '--component=in:source.ctf.lttng-live', '--params',
            f'inputs=["{relay.url(name)}"],session-not-found-action="end"',
            '--component=out:sink.clrsym.feed', '--params', f'socket="{daemon.ingest}"',
            '--connect=in:out']


def measure(tap, programs, assembly, directory, which, run, rate):
    """CPU time of all parts, as parts of the program's and of the time; and of the feeder."""
    name = f'clrsym-cost-{rate}-{run}-{which.split()[0]}'
    place = pathlib.Path(directory) / name
    place.mkdir()
    relay = live.Relay(place / 'relay')
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(recorded.Daemon(programs, place))
        stack.enter_context(relay.running())
        stack.enter_context(relay.session(name, TIMER_US))
        feeder = stack.enter_context(live.child(
            feeder_command(programs, relay, name, daemon, which), signal.SIGINT,
            env=programs.environment, stderr=subprocess.DEVNULL))
        live.wait_for('the feeder', relay.has_viewer, feeder)
        parts = {'relay daemon': pids_of('lttng-relayd'), 'consumer': pids_of('lttng-consumerd'),
                 'session daemon': pids_of('lttng-sessiond'), 'feeder': [feeder.pid],
                 'clrsymd': [daemon.process.pid]}
        before = {part: sum(map(cpu, pids)) for part, pids in parts.items()}
        with open(place / 'output', 'w', encoding='utf-8') as output:
            program = stack.enter_context(live.child(
                ['dotnet', assembly, 'churn', str(SECONDS), str(SECONDS * rate)],
                signal.SIGKILL, stdin=subprocess.PIPE, stdout=output,
                env={**os.environ, **live.ENVIRONMENT, 'TMPDIR': str(place)}))
        live.wait_for('the program', lambda: 'READY' in (place / 'output').read_text(),
                      program, 300)
        own = cpu(program.pid)
        time.sleep(1)
        # A consumer may have been started for the program.
        parts['consumer'] = pids_of('lttng-consumerd') or parts['consumer']
        after = {part: sum(map(cpu, pids)) for part, pids in parts.items()}
        loads = len(programs.ask(daemon.source, 'methods', '--all'))
        cost = {part: after[part] - before[part] for part in parts}
        tap.note(f'{which}, {rate} bodies a second: program {own:.2f} s, ' + ', '.join(
            f'{part} {seconds:.2f} s' for part, seconds in cost.items()) + f'; {loads} bodies')
        whole = sum(cost.values())
        return whole / own, whole / SECONDS, cost['feeder'] / own


def bench(tap, programs, directory, _):
    subprocess.run(['mount', '-o', 'remount,size=1G', '/dev/shm'], check=True)
    assembly = live.build(pathlib.Path(directory) / 'app')
    for rate in BODIES_A_SECOND:
        costs = {'babeltrace2': [], 'clrsym feed': []}
        for run in range(N_RUNS):
            for which, found in costs.items():
                found.append(measure(tap, programs, assembly, directory, which, run, rate))
        for which, found in costs.items():
            own, core, feeder = (100 * statistics.median(one) for one in zip(*found))
            tap.check(True, f'{which}, {rate} bodies a second: {own:.1f} % of the program, of which the '
                      f'feeder has {feeder:.1f}; {core:.1f} % of a core (median of {N_RUNS})')


if __name__ == '__main__':
    alone.enter(lambda: recorded.main(bench), live.missing)
