# SPDX-License-Identifier: MIT
"""Floods of one user, beside a small program of another user: the daemon's memory is bounded,
and the data of the small program stays complete."""

import itertools
import json
import pathlib
import socket
import time

from tests.daemon import ingest
from tests.daemon.test_daemon import Client, INTERFACE
from tests.traces import recorded

MIB = 1 << 20
MEMORY_MAX = 16 * MIB
RSS_MAX = MEMORY_MAX * 5 // 4 + 48 * MIB
FLOODER, VICTIM = 65534, 1000
VICTIM_PID, FIRST_PID = 100, 10_000_000
BATCH = 200
LONG = 'N' * 4000
TIMEOUT = 120
N_TRACES = 3000


def peak(pid):
    """Returns the peak resident size in bytes."""
    text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    return int(text.split('VmHWM:')[1].split()[0]) * 1024


class Feed:
    """A feeder with a stream for each of the two users, and streams for many processes."""

    def __init__(self, daemon):
        self.feeder = ingest.Feeder(daemon.ingest, timeout=TIMEOUT)
        self.feeder.send(ingest.hello(),
                         ingest.stream_open(0, uuid=b'v' * 16, uid=VICTIM),
                         ingest.stream_open(1, uuid=b'f' * 16, uid=FLOODER))
        self.time = 1000

    def send(self, frames):
        self.feeder.send(*frames, ingest.commit())
        self.feeder.receive_until(ingest.COMMITTED)

    def flood(self, make, n_batches):
        """MAKE(number, time) returns the frames of one step."""
        numbers = itertools.count()
        for _ in range(n_batches):
            frames = []
            for _ in range(BATCH):
                self.time += 10
                frames += make(next(numbers), self.time)
            self.send(frames)


def methods(number, moment):
    return [ingest.load(moment, 0x10000 + number * 64, f'{number}{LONG}', pid=FIRST_PID, stream=1)]


def processes(number, moment):
    return [ingest.load(moment, 0x10000, f'{number}', pid=FIRST_PID + number, stream=1)]


def starts(number, moment):
    return [ingest.runtime_start(moment, pid=FIRST_PID + number, stream=1)]


def finished(number, moment):
    pid = FIRST_PID + number
    return [ingest.load(moment, 0x10000, f'{number}{LONG}', pid=pid, stream=1),
            ingest.domain_unload(moment + 1, pid=pid, stream=1)]


def jittings(number, moment):
    return [ingest.jitting(moment, number + 1, f'{number}{LONG}', pid=FIRST_PID, stream=1)]


def modules(number, moment):
    return [ingest.module_load(moment, number + 1, f'/{number}{LONG}', pid=FIRST_PID, stream=1)]


def traces(number, moment):
    """Returns a trace with a process of its own, as with per-process buffers."""
    return [ingest.stream_open(2, stream_id=1, uuid=number.to_bytes(16, 'big'), scheme=2,
                               pid=FIRST_PID + number),
            ingest.load(moment, 0x10000, f'{number}{LONG}', pid=FIRST_PID + number, stream=2),
            ingest.domain_unload(moment + 1, pid=FIRST_PID + number, stream=2),
            ingest.frame(ingest.STREAM_CLOSE, (2).to_bytes(4, 'little'))]


FLOODS = ((methods, 60), (processes, 60), (starts, 120), (finished, 60), (jittings, 40),
          (modules, 40))


def known(daemon, address):
    client = Client(daemon.query, timeout=TIMEOUT)
    client.ask('Resolve', queries=[{'pid': VICTIM_PID, 'addr': address}])
    answer = client.reply()['parameters']['answers'][0]
    client.close()
    return answer['status'], answer['confidence'], answer.get('symbol')


def check_peak(tap, daemon, what):
    """Checks the peak since the last check."""
    most = peak(daemon.process.pid)
    pathlib.Path(f'/proc/{daemon.process.pid}/clear_refs').write_text('5', encoding='ascii')
    tap.check(most <= RSS_MAX, f'{what}: at most {most / MIB:.1f} MiB resident of '
              f'{RSS_MAX / MIB:.0f}', most)


def check_floods(tap, daemon):
    feed = Feed(daemon)
    feed.send([ingest.runtime_start(100), ingest.load(110, 0x1000, 'First')])
    feed.send([ingest.progress(120)])
    for i, (make, n_batches) in enumerate(FLOODS):
        feed.flood(make, n_batches)
        feed.time += 10
        feed.send([ingest.load(feed.time, 0x2000 + 64 * i, f'Later{i}'),
                   ingest.progress(feed.time + 5)])
        tap.equal([known(daemon, '0x1000')[:2], known(daemon, hex(0x2000 + 64 * i))[:2]],
                  [('ok', 'exact')] * 2, f'a flood of {make.__name__} takes nothing of another user')
        check_peak(tap, daemon, f'a flood of {make.__name__}')
    for number in range(N_TRACES):
        feed.time += 10
        feed.send(traces(number, feed.time))
    check_peak(tap, daemon, 'a flood of traces')
    tap.equal(known(daemon, '0x1000')[:2], ('ok', 'exact'), 'a flood of traces takes nothing')
    client = Client(daemon.query)
    client.ask('Status')
    status = client.reply()['parameters']
    tap.check(status['bytes'] <= MEMORY_MAX and status['refused'] + status['evicted_bodies'] > 1000,
              'the floods are more than fits', json.dumps(status))
    client.close()
    return feed


def unread(daemon, call, n_clients):
    """Starts N_CLIENTS clients that send up to four calls each and do not read."""
    clients = []
    for _ in range(n_clients):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(daemon.query))
        client.setblocking(False)
        for _ in range(4):
            try:
                client.send(call)
            except OSError:
                break
        clients.append(client)
    return clients


def as_call(method, **parameters):
    return json.dumps({'method': f'{INTERFACE}.{method}', 'parameters': parameters}).encode() + b'\0'


def question(number, **more):
    return {'pid': FIRST_PID, 'pid_ns': 0, 'addr': hex(0x10000 + 64 * number), **more}


CALLS = {
    'long lists': as_call('ListMethods', all=True),
    'long answers': as_call('Resolve', queries=[question(i) for i in range(4096)]),
    'calls with many values': b'{"method":"a.B","parameters":{"x":[' + b'{},' * 340_000 + b'{}]}}\0',
    'calls that do not end': b'{"method":"' + b'x' * (1 << 20),
    'calls that wait': as_call('Resolve', wait_ms=10**6,
                               queries=[question(1, time=1 << 60)] * 4096),
}


def check_unread(tap, daemon):
    for what, call in CALLS.items():
        clients = unread(daemon, call, 48)
        time.sleep(1)
        tap.equal(known(daemon, '0x1000')[:2], ('ok', 'exact'), f'{what}, unread: others are answered')
        check_peak(tap, daemon, f'{what}, unread')
        for client in clients:
            client.close()


def test(tap, programs, directory, rest):
    with recorded.Daemon(programs, directory, '--memory-max', str(MEMORY_MAX)) as daemon:
        feed = check_floods(tap, daemon)
        feed.flood(methods, 20)
        check_unread(tap, daemon)
        feed.feeder.close()
    tap.equal(daemon.status, 0, 'the daemon ends in good order')


if __name__ == '__main__':
    recorded.main(test)
