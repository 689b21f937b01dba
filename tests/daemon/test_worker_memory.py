# SPDX-License-Identifier: MIT
"""A target that sends without end uses a bounded part of its worker's memory, and the worker gives
it up with a reason.

test_worker_memory.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from tests.daemon.test_holder import Holder, workers_of
from tests.live import live
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534
# MiB; at most 192 of them are queued data.
MOST = 480
# s; without a limit a worker used gigabytes in this time.
SECONDS = 12
# Bytes of a log of compilations, as in src/attach/jit-log.h.
MOST_LOGGED = 16 << 20


@contextlib.contextmanager
def flood(holder, mode):
    directory = holder.directory / f'tmp-{mode}'
    directory.mkdir()
    os.chown(directory, NOBODY, NOBODY)
    with live.child([sys.executable, '-B', str(HERE / 'fake_flood.py'), str(directory), mode],
                    stdout=subprocess.PIPE, user=NOBODY, group=NOBODY, extra_groups=[],
                    start_new_session=True,
                    env={**os.environ, 'TMPDIR': str(directory)}) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def peak(pid):
    """Returns the peak resident size of the process in MiB."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
        return int(re.search(r'^VmHWM:\s+(\d+)', text, re.M).group(1)) >> 10
    return 0


def watch(process, until, seconds=SECONDS):
    """Returns the largest peak of a worker in MiB, until a condition is true."""
    most, deadline = 0, time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        most = max([most, *map(peak, workers_of(process))])
        time.sleep(0.1)
    return most


def test_listing(tap, holder, process, mode):
    with flood(holder, mode) as pid:
        waiting = holder.send('attach', pid, via='eventpipe')
        most = watch(process, lambda: False)
        tap.note(f'{mode}: {most} MiB')
        tap.check(0 < most < MOST, f'{mode}: the memory of its worker is bounded', most)
        holder.ask('detach', pid)
        waiting.close()
    live.wait_for('the end of the attachment', lambda: not holder.ask('list')['attachments'], process)


def test_session(tap, holder, process, mode):
    with flood(holder, mode) as pid:
        holder.send('attach', pid, via='eventpipe').close()
        most = watch(process, lambda: False)
        tap.note(f'{mode}: {most} MiB')
        tap.check(0 < most < MOST / 2, f'{mode}: the memory of its worker is bounded', most)
        logged = sum(path.stat().st_size for path in (holder.directory / 'jit').iterdir())
        tap.check(logged <= MOST_LOGGED, f'{mode}: and so is the log of compilations', logged)
    live.wait_for('the end of the attachment', lambda: not holder.ask('list')['attachments'], process,
                  seconds=60)


def test_samples(tap, programs, holder):
    """The runtime's own samples, used when perf is not permitted, do not end."""
    with flood(holder, 'samples') as pid:
        place = holder.directory / 'record'
        place.mkdir()
        record = subprocess.Popen(
            [sys.executable, '-B', HERE.parent / 'live' / 'refuse_perf.py', programs.clrsym, 'record', '-p',
             str(pid), '-d', '20', '-o', place / 'out.folded'], stderr=subprocess.PIPE, text=True,
            env={**programs.environment, 'TMPDIR': str(place), 'CLRSYM_SAMPLES_LIMIT': '20M'})
        most = 0
        while record.poll() is None and most < MOST << 20:
            with contextlib.suppress(OSError):  # removed in the meantime
                most = max(most, sum(path.stat().st_size for path in place.rglob('*.nettrace')))
            time.sleep(0.05)
        tap.check(most <= 20 << 20, 'what the runtime sends as samples does not fill the disk', most)
        errors = record.communicate(timeout=120)[1]
        tap.check(f'process {pid} is not sampled any more: its runtime has written 20 MiB of samples'
                  in errors and 'CLRSYM_SAMPLES_LIMIT=' in errors,
                  'and the process and the limit are printed', errors)


def test(tap, programs, directory, _):
    os.chmod(directory, 0o755)
    holder = Holder(programs, directory)
    test_samples(tap, programs, holder)
    (holder.directory / 'jit').mkdir()
    with holder.running() as process:
        for mode in ('session', 'listing'):
            test_listing(tap, holder, process, mode)
        for mode in ('names', 'threads'):
            test_session(tap, holder, process, mode)


if __name__ == '__main__':
    if os.geteuid() != 0:
        print('1..0 # SKIP it takes root to be others')
    else:
        recorded.main(test)
