# SPDX-License-Identifier: MIT
"""How long a feeder keeps a client from its answer: one asks one question after the other, while a
feeder sends batches as large as the protocol permits, in the ways that are worst for the daemon. For
each way the longest wait of all, and the most of the daemon's CPU time in one wait, which other programs
have no part in, against the 20 ms that the daemon promises. Asserts no time."""

import os
import statistics
import struct
import tempfile
import time

from tests.bench.bench_fair import PROMISE
from tests.daemon import ingest
from tests.daemon.test_daemon import Client
from tests.traces import recorded

SECONDS = 4
BATCH = 63 << 20
N_STREAMS = 4096
N_BODIES = 200_000
ALL_STREAMS = 0xffffffff
# s. Loads as of this time are ordinary; what is worst begins at LATER.
LATER = 10**12


def body(i, time_=LATER, stream=0):
    return ingest.load(time_, 0x100000 + 16 * (i % 1_000_000), f'M{i % 1000}', stream=stream)


def filled(frame_of, last=b''):
    """A batch of the frames that FRAME_OF makes of 0, 1 and so on."""
    parts, n, i = [], len(last), 0
    while n < BATCH:
        parts.append(frame_of(i))
        n += len(parts[-1])
        i += 1
    return b''.join(parts) + last + ingest.commit()


def pair(i):
    """A rundown that begins and ends, of a process with many bodies."""
    at = LATER + 2 * i
    return (ingest.record(at, 148, b'', provider=1) +
            ingest.record(at + 1, 146, b'', provider=1))


HANGS_UP = 'a feeder that hangs up'
BATCHES = {
    'ordinary': lambda: filled(lambda i: body(i, LATER + i)),
    'one time, one stream': lambda: filled(body),
    'one time, 4096 streams': lambda: filled(lambda i: body(i, stream=i % N_STREAMS)),
    'one early record at the end': lambda: filled(lambda i: body(i, LATER + i), body(0, 1, 1)),
    'a stream that is closed first': lambda: ingest.frame(6, struct.pack('<I', 1)) + filled(
        lambda i: body(i, LATER + i)),
    'progress of all streams first': lambda: ingest.progress(1, ALL_STREAMS) + filled(
        lambda i: body(i, LATER + i)),
    HANGS_UP: lambda: filled(lambda i: body(i, LATER + i)),
    'gaps': lambda: filled(lambda i: ingest.gap(LATER + 2 * i, LATER + 2 * i, i % N_STREAMS)),
    'unknown events': lambda: filled(lambda i: ingest.record(LATER + i, 9999, b'')),
    'process gaps': lambda: filled(lambda i: ingest.process_gap(LATER + 2 * i, LATER + 2 * i + 1)),
    'progress': lambda: filled(lambda i: ingest.progress(LATER + i, i % N_STREAMS)),
    'all streams are closed': lambda: b''.join(
        ingest.frame(6, struct.pack('<I', i)) for i in range(N_STREAMS)) + ingest.commit(),
    'empty batches': lambda: ingest.commit() * (1 << 20),
    'empty batches with progress': lambda: (ingest.progress(10**18, ALL_STREAMS) +
                                            ingest.commit()) * (1 << 18),
    'rundowns': lambda: filled(pair),
    'processes': lambda: filled(lambda i: ingest.load(LATER + i, 0x1000, pid=1000 + i)),
    'long names': lambda: filled(lambda i: ingest.load(LATER + i, 0x1000 + 16 * i, 'N' * 900_000)),
}


def feed(daemon, batch, hangs_up):
    """In a process of its own: the same batch of one trace after the other, until it is killed."""
    n = batch.count(ingest.commit())
    while True:
        uuid = os.urandom(16)
        feeder = ingest.Feeder(daemon.ingest, timeout=600)
        feeder.send(ingest.hello(), *[ingest.stream_open(i, i, uuid=uuid, uid=os.getuid())
                                      for i in range(N_STREAMS)])
        sender = os.fork()
        if not sender:
            feeder.send(batch)
            os._exit(0)
        for _ in range(0 if hangs_up else n):
            feeder.receive_until(ingest.COMMITTED)
        os.waitpid(sender, 0)
        feeder.close()


def fill(daemon):
    feeder = ingest.Feeder(daemon.ingest, timeout=600)
    feeder.send(ingest.hello(), ingest.stream_open(uid=os.getuid()), ingest.runtime_start(1),
                *[ingest.load(1000 + i, 0x1000 + 16 * i, f'M{i}') for i in range(N_BODIES)],
                ingest.progress(10**9), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


def ask(daemon):
    """(s, s of the daemon's CPU time) of one question after the other."""
    client, rows = Client(daemon.query), []
    clock = ~daemon.process.pid << 3 | 2  # as clock_getcpuclockid() has it
    end = time.monotonic() + SECONDS
    while (begin := time.monotonic()) < end:
        used = time.clock_gettime(clock)
        client.resolve('0x1000')
        rows.append((time.monotonic() - begin, time.clock_gettime(clock) - used))
        time.sleep(0.0005)
    client.close()
    return rows


def waits(daemon, batch, hangs_up):
    attacker = os.fork()
    if not attacker:
        try:
            feed(daemon, batch, hangs_up)
        finally:
            os._exit(1)
    rows = ask(daemon)
    ended = os.waitpid(attacker, os.WNOHANG)[0]
    if not ended:
        os.kill(attacker, 9)
        os.waitpid(attacker, 0)
    return rows, bool(ended)


def run(tap, programs, directory, wanted):
    """WANTED: some of BATCHES; any other argument stands for all."""
    for name in [name for name in BATCHES if name in wanted] or BATCHES:
        batch = BATCHES[name]()
        with tempfile.TemporaryDirectory(dir=directory) as state, \
             recorded.Daemon(programs, directory, '--state', state) as daemon:
            fill(daemon)
            rows, is_refused = waits(daemon, batch, name == HANGS_UP)
            longest, most = max(wait for wait, _ in rows), max(used for _, used in rows)
            tap.check(rows, f'{name}: a client waits {longest * 1000:.1f} ms, in which the daemon runs '
                      f'{most * 1000:.1f} ms: {most / PROMISE:.2f} x what is promised; usually '
                      f'{statistics.median(wait for wait, _ in rows) * 1e6:.0f} us' +
                      (', the feeder is refused' if is_refused else ''))


if __name__ == '__main__':
    recorded.main(run)
