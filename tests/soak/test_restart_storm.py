# SPDX-License-Identifier: MIT
"""A storm of restarts: clrsymd is killed or stopped repeatedly, at any moment of its start,
mostly while it reads its journal. The last daemon has all acknowledged data, or a gap, and
its epochs are not lower."""

import contextlib
import json
import pathlib
import random
import signal
import subprocess
import time

from tests.daemon import ingest
from tests.daemon.test_journal import Daemon, check_same, knowledge
from tests.traces import calls, recorded

N_BODIES, N_KILLS = 60_000, 25
# Besides the large process: a process with one load for each daemon that lives long enough to take
# it.
PID = 100


def epochs(daemon):
    with calls.connect(daemon.query) as connection:
        return {row['pid']: row['epoch'] for row in map(json.loads, connection.rows('ListProcesses', 'processes'))}


def load_one(daemon, moment):
    """Returns the time of an acknowledged load; None if the daemon died before."""
    with contextlib.suppress(ConnectionError, OSError, TimeoutError):
        feeder = ingest.Feeder(daemon.ingest, timeout=0.2)
        feeder.send(ingest.hello(), ingest.stream_open(stream_id=moment))
        feeder.receive_until(ingest.GO)
        feeder.send(ingest.load(moment, 0x10000 + 32 * moment, pid=PID),
                    ingest.frame(ingest.STREAM_CLOSE, bytes(4)), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        return moment
    return None


def start_and_end(programs, directory, state, seconds, moment, how):
    """Returns whether the daemon was reading its journal, and the time of the load that it
    acknowledged."""
    daemon = recorded.Daemon(programs, directory, '--state', state)
    begin = time.monotonic()
    with contextlib.suppress(RuntimeError):
        daemon.__enter__()
        acknowledged = load_one(daemon, moment) if seconds > 1 else None
        time.sleep(max(0, begin + seconds - time.monotonic()))
        is_reading = (state / 'replaying').exists()
        daemon.process.send_signal(how)
        daemon.process.wait(60)
        for path in (daemon.ingest, daemon.query):
            path.unlink(missing_ok=True)
        return is_reading, acknowledged
    raise RuntimeError(f'clrsymd does not start: {daemon.log()}')


def test(tap, programs, directory, rest):
    churn, = rest
    directory = pathlib.Path(directory)
    state = directory / 'state'
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    tap.note(f'seed {seed}')
    with Daemon(programs, directory, state) as daemon:
        subprocess.run([churn, '--bodies', str(N_BODIES), '--alive', str(N_BODIES), '--socket', daemon.ingest],
                       check=True, stdout=subprocess.DEVNULL)
        want, before = knowledge(daemon), epochs(daemon)
        daemon.kill()
    begin = time.monotonic()
    with Daemon(programs, directory, state) as daemon:
        needed = time.monotonic() - begin
        daemon.kill()
    n_reading, acknowledged = 0, []
    for i in range(N_KILLS):
        seconds = 1.5 if i % 10 == 9 else chance.uniform(0, needed)
        is_reading, moment = start_and_end(programs, directory, state, seconds, 1000 + i,
                                           chance.choice((signal.SIGKILL, signal.SIGTERM)))
        n_reading += is_reading
        acknowledged += [f'{moment // 10**9}.{moment % 10**9:09}'] if moment else []
    with Daemon(programs, directory, state) as daemon:
        got, after = knowledge(daemon), epochs(daemon)
        times = {row['loaded'] for row in map(json.loads, got['methods']) if row['pid'] == PID}
        is_set_aside = bool(list(state.glob('*.damaged')))
        gaps = json.loads(got['status'][0])['gaps']
        tap.check(all(after[pid] > epoch for pid, epoch in before.items() if pid in after), 'epochs go on',
                  before, after)
        # Two kills within the same entry look like an entry that crashes the daemon: see
        # clrsym-journal(5).
        tap.equal(gaps > 0, is_set_aside, f'{N_KILLS} ends, {n_reading} of them while the journal was read, '
                  f'in {needed:.2f} s: a gap only if a part was set aside')
        if is_set_aside:
            return
        tap.check(set(acknowledged) <= times, f'{len(acknowledged)} loads acknowledged in between are known',
                  sorted(set(acknowledged) - times))
        got['methods'] = [row for row in got['methods'] if json.loads(row)['pid'] != PID]
        check_same(tap, got, want, 'after the storm', 'ps', 'status', 'resolve', 'jit')


if __name__ == '__main__':
    recorded.main(test)
