# SPDX-License-Identifier: MIT
"""A daemon with a million bodies is killed: how long until the next one is ready, and answers. And
what the journal costs: the same feed with and without it, one after the other. Asserts no time."""

import os
import pathlib
import shutil
import socket
import statistics
import time

from tests.soak import test_budget_run as budget
from tests.traces import recorded

N_BODIES, N_RUNS, N_RESTARTS = 10**6, 5, 7
PID = 1000
MIB = 1 << 20


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='ascii').rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def median(values):
    return f'{statistics.median(values):.2f} [{min(values):.2f} .. {max(values):.2f}]'


def run_feed(programs, directory, program, *options):
    """CPU seconds of the daemon, and records a second, for all bodies."""
    with recorded.Daemon(programs, directory, '--memory-max', '0', *options) as daemon:
        fed = budget.feed(program, daemon, bodies=N_BODIES, alive=N_BODIES, seed=1, pid=PID)
        cpu = cpu_seconds(daemon.process.pid)
        daemon.process.kill()
        daemon.process.wait()
    return cpu, fed.records * 1e9 / fed.ns, fed


def run_restart(programs, directory, state, body):
    """s to READY=1, to the first answer, and of CPU; the daemon is killed afterwards."""
    notify = pathlib.Path(directory) / 'notify'
    notify.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(str(notify))
        ready.settimeout(recorded.TIMEOUT)
        programs.environment['NOTIFY_SOCKET'] = str(notify)
        begin = time.monotonic()
        with recorded.Daemon(programs, directory, '--memory-max', '0', '--state', state) as daemon:
            while b'READY=1' not in ready.recv(4096):
                pass
            to_ready = time.monotonic() - begin
            answer, = budget.resolve(programs, daemon, PID, [(body.start, body.loaded)])
            to_answer = time.monotonic() - begin
            n_bodies = budget.status(daemon)['bodies']
            cpu = cpu_seconds(daemon.process.pid)
            daemon.process.kill()
            daemon.process.wait()
        del programs.environment['NOTIFY_SOCKET']
    return to_ready, to_answer, cpu, n_bodies, budget.says(answer, body)


def run(tap, programs, directory, rest):
    program, = rest
    state = pathlib.Path(directory) / 'state'
    plain, kept = [], []
    for _ in range(N_RUNS):
        shutil.rmtree(state, ignore_errors=True)
        plain.append(run_feed(programs, directory, program))
        kept.append(run_feed(programs, directory, program, '--state', state))
    fed = kept[-1][2]
    ratios = [with_it[1] / without[1] for with_it, without in zip(kept, plain)]
    cpu = [with_it[0] / without[0] for with_it, without in zip(kept, plain)]
    tap.check(True, f'{N_BODIES} bodies with a journal: {median(ratios)} x the records a second, '
                    f'{median(cpu)} x the CPU time of the daemon')
    size = sum(path.stat().st_size for path in state.glob('journal.*'))
    restarts = [run_restart(programs, directory, state, fed.living[i])
                for i in range(N_RESTARTS)]
    tap.check(all(n_bodies == N_BODIES and is_right for *_, n_bodies, is_right in restarts),
              f'restart: all {N_BODIES} bodies are back, from {size / MIB:.0f} MiB', restarts)
    to_ready, to_answer, spent, *_ = zip(*restarts)
    tap.note(f'ready after {median(to_ready)} s, first answer after {median(to_answer)} s; '
             f'{median(spent)} s CPU')
    tap.note(f'to the first answer: {statistics.median(to_answer) / 2:.2f} x of 2 s')


if __name__ == '__main__':
    recorded.main(run)
