# SPDX-License-Identifier: MIT
"""How long one client keeps another from its answer: one asks one question after the other, while
the other makes calls that take long. For each kind of call, the longest wait that one such call
causes (the median of all calls) against the 20 ms that the daemon promises, and the usual wait
against that on a quiet daemon. Asserts no time."""

import json
import os
import statistics
import struct
import time

from tests.daemon import ingest
from tests.daemon.test_daemon import Client, INTERFACE
from tests.traces import recorded

PROMISE = 0.02
SECONDS = 3
N_LONG, LONG = 64, 60_000
N_AT_ONE, PLACE = 30_000, 0x40000000
CALL_BYTES = 1 << 20


def as_call(method, **parameters):
    return json.dumps({'method': f'{INTERFACE}.{method}', 'parameters': parameters}).encode() + b'\0'


def repeated(head, value, tail):
    n = (CALL_BYTES - len(head) - len(tail)) // len(value)
    return head + value * n + tail + b'\0'


def question(address, **more):
    return {'pid': 100, 'addr': hex(address), **more}


def long_name(i):
    return 0x20000000 + 64 * (i % N_LONG)


def binary(questions):
    """A frame of QUERIES."""
    rows = b''.join(struct.pack('<QQQiI', address, at or 0, 0, 100, 2 if at else 0)
                    for address, at in questions)
    return struct.pack('<IHHII', len(rows), 1, 0, 0, 0) + rows


CALLS = {
    '4096 questions': as_call('Resolve', queries=[question(0x1000 + i) for i in range(4096)]),
    '4096 questions with times': as_call('Resolve', queries=[
        question(0x1000 + 16 * i, pid_ns=0, time=f'1.{i:09}') for i in range(4096)]),
    'questions of 1 MiB': repeated(b'{"method":"' + INTERFACE.encode() +
                                   b'.Resolve","parameters":{"queries":[{}', b',[1e300,"a",{"a":1}]',
                                   b']}}'),
    'a call of numbers': repeated(b'{"method":"a.B","parameters":{"x":[1', b',1e300', b']}}'),
    'a call of objects': repeated(b'{"method":"a.B","parameters":{"x":[1', b',{"a":1}', b']}}'),
    'a call of text': repeated(b'{"method":"', '\u00e4'.encode(), b'"}'),
    '256 long names': as_call('Resolve', queries=[question(long_name(i), time=f'2.{i:09}')
                                                  for i in range(256)]),
    '4096 ambiguous': as_call('Resolve', queries=[question(PLACE + i % 60000) for i in range(4096)]),
    '4096 equal': as_call('Resolve', queries=[question(PLACE)] * 4096),
    'a history': as_call('History', addr=hex(PLACE)),
    'binary, 4096 with times': binary([(0x1000 + 16 * i, 10**9) for i in range(4096)]),
    'binary, 4096 long names': binary([(long_name(i), 0) for i in range(4096)]),
    'binary, 4096 ambiguous': binary([(PLACE + i % 60000, 0) for i in range(4096)]),
    'binary, 4096 equal': binary([(PLACE, 0)] * 4096),
    'binary, 4096 old': binary([(PLACE + i, 2 * 10**9) for i in range(4096)]),
}


def fill(daemon):
    """Bodies, bodies with long names, and a place where many were."""
    frames = [ingest.runtime_start(1)]
    frames += [ingest.load(1000 + i, 0x1000 + 16 * i, f'M{i}') for i in range(4096)]
    frames += [ingest.body(10000 + i, long_name(i), 'N' * LONG) for i in range(N_LONG)]
    for i in range(N_AT_ONE):
        event_time = 10**9 + 10**5 * i
        frames += [ingest.body(event_time, PLACE, f'P{i}', size=60000, method=i + 1),
                   ingest.unload(event_time + 5 * 10**4, PLACE, f'P{i}', size=60000, method=i + 1)]
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(uid=os.getuid()), *frames,
                ingest.progress(10**13), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


def read_frames(client):
    """Up to the ANSWERS of one frame of queries."""
    kind = None
    while kind != 19:
        while len(client.input) < 16 or \
                len(client.input) < 16 + struct.unpack('<I', client.input[:4])[0]:
            client.input += client.socket.recv(1 << 20)
        size, kind = struct.unpack('<IH', client.input[:6])
        client.input = client.input[16 + size:]


def make_calls(daemon, call, report):
    """In a process of its own: calls until it is killed; reports when each begins and has ended."""
    client = Client(daemon.query)
    is_binary = not call.endswith(b'\0') or not call.startswith(b'{')
    if is_binary:
        client.send(b'{"method":"' + INTERFACE.encode() +
                    b'.Bulk","parameters":{"version":1},"upgrade":true}\0')
        client.reply()
    while True:
        os.write(report, struct.pack('<d', time.monotonic()))
        client.send(call)
        if is_binary:
            read_frames(client)
        else:
            while not (data := client.socket.recv(1 << 20)).endswith(b'\0'):
                assert data, 'hung up'
        os.write(report, struct.pack('<d', time.monotonic()))
        time.sleep(0.01)


def ask(daemon):
    """(when, how long) of one question after the other."""
    client, rows = Client(daemon.query), []
    end = time.monotonic() + SECONDS
    while (begin := time.monotonic()) < end:
        client.resolve('0x1000')
        rows.append((begin, time.monotonic() - begin))
        time.sleep(0.0005)
    client.close()
    return rows


def waits(daemon, call):
    """The longest wait during each call, and the rows of ask()."""
    into, report = os.pipe()
    attacker = os.fork()
    if not attacker:
        try:
            make_calls(daemon, call, report)
        finally:
            os._exit(1)
    os.close(report)
    rows = ask(daemon)
    os.kill(attacker, 9)
    os.waitpid(attacker, 0)
    with open(into, 'rb') as file:
        times = [at for at, in struct.iter_unpack('<d', file.read())]
    if len(times) % 2:
        times.append(time.monotonic())
    spans = list(zip(times[::2], times[1::2]))
    return [max((wait for begin, wait in rows if begin < end and begin + wait > start), default=0)
            for start, end in spans], rows


def run(tap, programs, directory, _):
    with recorded.Daemon(programs, directory) as daemon:
        fill(daemon)
        quiet = statistics.median(wait for _, wait in ask(daemon))
        for name, call in CALLS.items():
            longest, rows = waits(daemon, call)
            # The last one was not answered completely.
            worst = statistics.median(longest[:-1] or longest)
            usual = statistics.median(wait for _, wait in rows)
            tap.check(longest, f'{name}: others wait {worst * 1000:.1f} ms, {worst / PROMISE:.2f} x '
                      f'what is promised; in {len(longest)} calls; usually {usual / quiet:.1f} x '
                      f'the quiet {quiet * 1e6:.0f} us')


if __name__ == '__main__':
    recorded.main(run)
