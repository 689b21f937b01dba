# SPDX-License-Identifier: MIT
"""The query socket byte by byte: in any pieces, the right replies come in order; memory and time
are bounded, and no client suffers from another."""

import json
import random
import socket
import struct
import threading
import time

from tests.client import bulk_client
from tests.daemon import ingest
from tests.daemon.test_daemon import (CALL_LIMIT, Client, INTERFACE, feed, n_descriptors, rss_mib,
                                      settled_descriptors, wait_for)
from tests.traces import recorded

SEED = 20240608
N_BODIES = 50_000
UPGRADE = (b'{"method":"org.clrsym.Symbolizer.Bulk","parameters":{"version":1},"upgrade":true}\0')
# s; enough on a slow machine, but short enough to detect a blocked daemon.
PATIENCE = 5.0
GROWTH_MIB = 48


def call(method, parameters=None, **members):
    return json.dumps({'method': f'{INTERFACE}.{method}', 'parameters': parameters or {},
                       **members}).encode() + b'\0'


def resolve(*addresses, **query):
    return call('Resolve', {'queries': [{'pid': 100, 'addr': hex(address), **query}
                                        for address in addresses]})


def frame(queries, tag=0, wait_ms=0):
    payload = b''.join(bulk_client.QUERY.pack(address, 0, 0, 100, 0) for address in queries)
    return bulk_client.HEADER.pack(len(payload), bulk_client.QUERIES, 0, tag, wait_ms) + payload


def read_all(client):
    """Reads until the other side disconnects."""
    pieces = []
    try:
        while piece := client.socket.recv(1 << 16):
            pieces.append(piece)
    except ConnectionResetError:  # the daemon disconnected without reading our last bytes
        pass
    return b''.join(pieces)


def conversation(daemon, pieces, pause=0.0):
    """Sends the pieces, closes the sending side, and returns all bytes of the replies."""
    client = Client(daemon.query)
    try:
        for i, piece in enumerate(pieces):
            if i and pause:
                time.sleep(pause)
            client.send(piece)
        client.socket.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError, OSError):
        pass  # the daemon may stop reading early
    data = read_all(client)
    client.close()
    return data


def replies(data):
    assert data.endswith(b'\0'), data[-100:]
    return [json.loads(text) for text in data[:-1].split(b'\0')]


def frames(data):
    """Returns (type, tag, payload) of each frame."""
    found = []
    while data:
        size, kind, reserved, tag, wait_ms = bulk_client.HEADER.unpack_from(data)
        assert len(data) >= 16 + size and not reserved and not wait_ms, (kind, size, len(data))
        found.append((kind, tag, data[16:16 + size]))
        data = data[16 + size:]
    return found


def check_pipelined(tap, daemon):
    """Hundreds of calls in one write."""
    calls = b''.join(call('ParseTime', {'text': str(i)}) if i % 3 else resolve(0x10000 + 16 * i)
                     for i in range(900))
    got = replies(conversation(daemon, [calls]))
    wrong = [(i, reply) for i, reply in enumerate(got) if
             (reply['parameters'].get('time') != f'0.{i:09d}' if i % 3 else
              reply['parameters']['answers'][0]['addr'] != hex(0x10000 + 16 * i))]
    tap.check(len(got) == 900 and not wrong, '900 calls in one write: replies in order', len(got),
              *wrong[:3])
    data = conversation(daemon, [UPGRADE + b''.join(frame([0x10000 + 16 * i] * (i % 3), tag=i)
                                                    for i in range(900))])
    head, _, rest = data.partition(b'\0')
    answers = [(tag, payload) for kind, tag, payload in frames(rest)
               if kind == bulk_client.ANSWERS]
    starts = [[row[19] for row in bulk_client.ANSWER.iter_unpack(payload)]
              for _, payload in answers]
    tap.check('error' not in json.loads(head) and [tag for tag, _ in answers] == list(range(900))
              and starts == [[0x10000 + 16 * i] * (i % 3) for i in range(900)],
              'so many frames along with the call that changes to them')


SCRIPT = (resolve(0x10000) + b'no call\0' + call('ParseTime', {'text': '1.5'}) + b'\0'
          + call('Nothing') + resolve(0x9, time='1.5') + call('Status', oneway=True)
          + call('ListProcesses', more=True))
SCRIPT_OF_FRAMES = (UPGRADE + frame([0x10000, 0x10018, 0x9], tag=1) + frame([], tag=2)
                    + frame([0x10000], tag=3))


def check_splits(tap, daemon):
    """Two writes, split at every byte; and one write for each byte."""
    for name, script in (('calls', SCRIPT), ('frames', SCRIPT_OF_FRAMES)):
        whole = conversation(daemon, [script])
        differ = [cut for cut in range(1, len(script))
                  if conversation(daemon, [script[:cut], script[cut:]], 0.0005) != whole]
        tap.check(not differ, f'{name}: {len(script)} bytes, cut anywhere, have the same replies',
                  differ[:10], whole)
        bytewise = conversation(daemon, [bytes([byte]) for byte in script])
        tap.equal(bytewise, whole, f'{name}: so have single bytes')
    names = [reply.get('error', 'fine').rpartition('.')[2]
             for reply in replies(conversation(daemon, [SCRIPT]))]
    tap.equal(names, ['fine', 'InvalidCall', 'fine', 'InvalidCall', 'MethodNotFound', 'fine',
                      'fine'], 'and they are these')


def check_small_reads(tap, daemon):
    whole = conversation(daemon, [SCRIPT])
    client = Client(daemon.query)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.send(SCRIPT)
    client.socket.shutdown(socket.SHUT_WR)
    data = b''
    while byte := client.socket.recv(1):
        data += byte
    tap.equal(data, whole, 'a client that reads single bytes')
    client.close()


def nested(depth):
    return b'{"method":"%s.Status","x":%s}\0' % (INTERFACE.encode(), b'[' * depth + b']' * depth)


HOSTILE_CALLS = (
    ('a NUL', b'\0', 'InvalidCall'),
    ('an array', b'[]\0', 'InvalidCall'),
    ('a string', b'"x"\0', 'InvalidCall'),
    ('two objects', b'{}{}\0', 'InvalidCall'),
    ('half an object', b'{"method":\0', 'InvalidCall'),
    ('invalid UTF-8', b'{"method":"\xff\xfe"}\0', 'InvalidCall'),
    ('a cut UTF-8 character', b'{"method":"\xe2\x82"}\0', 'InvalidCall'),
    ('a surrogate', b'{"method":"\xed\xa0\x80"}\0', 'InvalidCall'),
    ('an escaped surrogate', b'{"method":"\\ud800"}\0', 'InvalidCall'),
    ('an escaped NUL', b'{"method":"\\u0000"}\0', 'InvalidCall'),
    ('a control character', b'{"method":"\x01"}\0', 'InvalidCall'),
    ('a number without end', b'1' * 10000 + b'\0', 'InvalidCall'),
    ('an integer of 65 bits', b'{"method":"x","y":18446744073709551616}\0', 'InvalidCall'),
    ('nesting of 3000', nested(3000), 'InvalidCall'),
    ('nesting of 400000', nested(400000), 'InvalidCall'),
    ('nesting of 1000', nested(1000), None),
    ('a million blanks', b' ' * (CALL_LIMIT - 2) + b'{}\0', 'MethodNotFound'),
    ('a method that is a number', b'{"method":1}\0', 'MethodNotFound'),
    ('parameters that are a list', b'{"method":"org.clrsym.Symbolizer.Resolve","parameters":[]}\0',
     'InvalidParameter'),
    ('queries that are an object', call('Resolve', {'queries': {}}), 'InvalidParameter'),
    ('4097 queries', resolve(*range(4097)), 'InvalidParameter'),
    ('4096 queries', resolve(*range(4096)), None),
    ('a wait that is a word', call('Resolve', {'queries': [], 'wait_ms': 'x'}),
     'InvalidParameter'),
    ('a pid that is not one', call('ListMethods', {'pid': -1}), 'InvalidParameter'),
    ('a pid of 40 bits', call('ListMethods', {'pid': 1 << 40}), 'InvalidParameter'),
    ('a pid with a fraction', call('ListMethods', {'pid': 1.5}), 'InvalidParameter'),
    ('a namespace that is a word', call('Watch', {'pid_ns': 'x'}, more=True), 'InvalidParameter'),
)


def check_hostile_calls(tap, daemon):
    """The daemon answers each call, and the connection continues."""
    for name, data, want in HOSTILE_CALLS:
        client = Client(daemon.query)
        client.send(data + call('ParseTime', {'text': '7'}))
        reply, then = client.reply(), client.reply()
        got = (reply or {}).get('error')
        tap.check((got is None) == (want is None) and (got or '').rpartition('.')[2] == (want or '')
                  and then == {'parameters': {'time': '0.000000007'}}, f'{name}: {want}', reply,
                  then)
        client.close()
    odd = [{'pid': 'x', 'addr': '1'}, {'pid': 1, 'addr': 1}, {'pid': 1}, None, [], 'x',
           {'pid': 1, 'addr': '0x' + '1' * 17}, {'pid': 1, 'addr': '-1'}, {'pid': 1, 'addr': ''},
           {'pid': 1, 'addr': '1', 'time': -1}, {'pid': 1, 'addr': '1', 'time': []},
           {'pid': 1, 'addr': '1', 'pid_ns': 0.5}, {'pid': 1 << 33, 'addr': '1'}]
    good = {'pid': 100, 'addr': '0x10000'}
    client = Client(daemon.query)
    client.ask('Resolve', queries=[query for one in odd for query in (one, good)])
    answers = client.reply()['parameters']['answers']
    tap.check([answer['status'] for answer in answers] == ['invalid', 'ok'] * len(odd) and
              all(answer['reason'] for answer in answers[::2]),
              f'{len(odd)} odd queries are invalid, the others are answered', answers[::2])
    client.close()


def header(size, kind=1, reserved=0):
    return struct.pack('<IHHII', size, kind, reserved, 0, 0)


HOSTILE_FRAMES = (
    ('another type', header(0, kind=2)),
    ('a daemon\'s type', header(0, kind=16)),
    ('a reserved field', header(0, reserved=1)),
    ('half a query', header(48) + bytes(48)),
    ('4097 queries', header(4097 * 32)),
    ('a length of 4 GiB', header(0xffffffff)),
    ('a length of almost 4 GiB', header(0xffffffe0)),
    ('JSON', call('Status')),
)


def check_hostile_frames(tap, daemon):
    """Each bad frame has an error as the last frame; frames before it are answered."""
    for name, data in HOSTILE_FRAMES:
        answer = conversation(daemon, [UPGRADE + frame([0x10000], tag=5) + data + bytes(100000)])
        kinds = [kind for kind, _, _ in frames(answer.partition(b'\0')[2])]
        tap.equal(kinds, [16, 18, 19, 20], f'{name} is an error, and the last')
    for name, data in (('half a header', header(0)[:9]),
                       ('a length that lies', header(64) + bytes(63))):
        answer = conversation(daemon, [UPGRADE + data])
        tap.equal(frames(answer.partition(b'\0')[2]), [], f'{name}, then the end: no word more')
    rng = random.Random(SEED)
    for _ in range(100):
        answer = conversation(daemon, [UPGRADE + rng.randbytes(rng.randrange(1, 4000))])
        kinds = {kind for kind, _, _ in frames(answer.partition(b'\0')[2])}
        if not kinds <= {16, 17, 18, 19, 20}:
            tap.check(False, 'random frames', kinds)
    # Well-formed frames with random contents.
    data = b''.join(header(320) + rng.randbytes(320) for _ in range(200))
    answers = [payload for kind, _, payload in
               frames(conversation(daemon, [UPGRADE + data]).partition(b'\0')[2]) if kind == 19]
    tap.check(len(answers) == 200 and all(len(payload) == 1120 for payload in answers),
              '2000 queries of random bits are answered')
    for pid in (-1, -2**31, 0, 2**31 - 1):
        query = bulk_client.QUERY.pack(0x10000, 0, 0, pid, 0)
        client = bulk_client.Client(str(daemon.query))
        row, = client.resolve([query])
        tap.equal(row[0], 'no-process', f'pid {pid}')
        client.socket.close()


def check_oneway(tap, daemon):
    """A oneway call has no reply, not even if it is invalid, and starts nothing."""
    data = b''.join(call(method, parameters, oneway=True, more=True, upgrade=True)
                    for method, parameters in (('Status', {}), ('Resolve', {}), ('Nothing', {}),
                                               ('Watch', {}), ('ListMethods', {}),
                                               ('Bulk', {'version': 1})))
    got = replies(conversation(daemon, [data + call('ParseTime', {'text': '7'})]))
    tap.equal(got, [{'parameters': {'time': '0.000000007'}}], 'oneway: six calls without a reply')


def check_half_closed(tap, daemon):
    """Watch, and a waiting call, from a client that has closed its sending side."""
    data = conversation(daemon, [call('Watch', more=True)])
    tap.check(replies(data)[0]['parameters']['events'][0]['event'] == 'epoch',
              'Watch, half closed: the first reply, then the end', data)
    start = time.monotonic()
    data = conversation(daemon, [call('Resolve', {'queries': [
        {'pid': 100, 'addr': '0x10000', 'time': '99999.0'}], 'wait_ms': 300})])
    tap.check(replies(data)[0]['parameters']['answers'][0]['confidence'] == 'provisional' and
              time.monotonic() - start > 0.25, 'a wait, half closed, is waited for', data)


class Others:
    """A client with small calls, while other clients send the most expensive ones."""

    def __init__(self, daemon):
        self.daemon, self.slowest, self.n, self.errors = daemon, 0.0, 0, []
        self.is_over = False
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        client = Client(self.daemon.query)
        while not self.is_over:
            start = time.monotonic()
            try:
                answer = client.resolve('0x10000')
                if answer['status'] != 'ok':
                    self.errors.append(answer)
            except (OSError, TypeError) as error:
                self.errors.append(error)
                break
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.n += 1
            time.sleep(0.005)
        client.close()

    def __enter__(self):
        self.before = rss_mib(self.daemon.process.pid)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()

    def check(self, tap, name):
        growth = rss_mib(self.daemon.process.pid) - self.before
        tap.check(self.n > 10 and not self.errors and self.slowest < PATIENCE,
                  f'{name}: another is answered {self.n} times, within '
                  f'{self.slowest * 1000:.0f} ms', *self.errors[:3])
        tap.check(growth < GROWTH_MIB, f'{name}: the daemon grows by {growth:.0f} MiB')


def check_heavy_calls(tap, daemon):
    """Several clients send thousands of calls that each walk through all bodies."""
    data = call('Versions', {'method': '0x1'}) * 3000
    with Others(daemon) as others:
        clients = [Client(daemon.query) for _ in range(3)]
        for client in clients:
            client.send(data)
        time.sleep(2)
        for client in clients:
            client.close()
    others.check(tap, 'heavy calls')


def check_slow_reader(tap, daemon):
    """A client reads long lists slowly; in the end it has everything."""
    client = Client(daemon.query)
    with Others(daemon) as others:
        client.send(call('ListMethods', more=True) * 3)
        data = b''
        for _ in range(20):
            data += client.socket.recv(20000)
            time.sleep(0.1)
    others.check(tap, 'a slow reader of lists')
    client.socket.shutdown(socket.SHUT_WR)
    got = replies(data + read_all(client))
    rows = [row['start'] for reply in got for row in reply['parameters']['methods']]
    tap.check(len(rows) == 3 * N_BODIES and len(set(rows)) == N_BODIES,
              f'all {len(rows)} rows come')
    tap.equal(sum('continues' not in reply for reply in got), 3, 'in three lists')
    client.close()

    client = Client(daemon.query)
    client.socket.settimeout(0.2)
    queries = range(0x10000, 0x10000 + 16 * 4096, 16)
    n_sent, data = 0, UPGRADE + frame(queries) * 40
    with Others(daemon) as others:
        deadline = time.monotonic() + 2
        while n_sent < len(data) and time.monotonic() < deadline:
            try:
                n_sent += client.socket.send(data[n_sent:n_sent + 65536])
            except socket.timeout:
                client.socket.recv(20000)
    others.check(tap, 'a slow reader of frames')
    tap.check(n_sent < len(data), f'{n_sent} of {len(data)} bytes are taken from one who does not '
              'read')
    client.close()


def check_vanished(tap, daemon):
    """Clients disconnect within their calls: the daemon frees everything."""
    before = settled_descriptors(daemon.process.pid)
    for size in (0, 1, 70_000, 300_000):
        for data in (call('ListMethods', more=True) * 50,
                     UPGRADE + frame(range(0x10000, 0x10000 + 16 * 4096, 16)) * 7):
            client = Client(daemon.query)
            client.send(data)
            while size > 0:
                size -= len(client.socket.recv(min(size, 65536)))
            client.close()
    tap.check(wait_for(lambda: n_descriptors(daemon.process.pid) == before),
              'clients that vanish in the middle of a reply', before,
              n_descriptors(daemon.process.pid))


def check_changing_list(tap, daemon):
    """A list in parts, while its rows change."""
    slots = range(0x8000000, 0x8000000 + 32 * 3000, 32)
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open(stream_id=1, uuid=b'fedcba9876543210'),
                *(ingest.load(10**9 + i, slot, pid=300) for i, slot in enumerate(slots)),
                ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    rng = random.Random(SEED)
    client = Client(daemon.query)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    n_parts, moment, changed = 0, 2 * 10**9, set()
    rows, is_over = [], False
    client.send(call('ListMethods', {'pid': 300, 'all': True}, more=True))
    while not is_over:
        reply = client.reply()
        rows += [(row['start'], row['method']['id'], row['loaded'])
                 for row in reply['parameters']['methods']]
        n_parts += 1
        is_over = 'continues' not in reply
        chosen = rng.sample(slots, 500)
        changed.update(chosen)
        # Each load is over a living body, which it ends, or beside it.
        feeder.send(*(ingest.load(moment + i, slot + 16 * (i % 2), pid=300)
                      for i, slot in enumerate(chosen)), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        moment += 10**6
    there = {hex(slot) for slot in slots}
    first = {start for start, _, loaded in rows if loaded.startswith('1.')}
    tap.check(n_parts >= 3, f'a list in {n_parts} parts while {len(changed)} rows change')
    tap.check(len(rows) == len(set(rows)), 'no row comes twice')
    tap.check(there <= first, 'none of those that were there is missing',
              len(there - first))
    feeder.close()
    client.close()


def run(tap, programs, directory, names):
    with recorded.Daemon(programs, directory) as daemon:
        feed(daemon, *(ingest.load(1000 + i, 0x10000 + 16 * i) for i in range(N_BODIES)))
        check_pipelined(tap, daemon)
        check_splits(tap, daemon)
        check_small_reads(tap, daemon)
        check_hostile_calls(tap, daemon)
        check_hostile_frames(tap, daemon)
        check_oneway(tap, daemon)
        check_half_closed(tap, daemon)
        check_heavy_calls(tap, daemon)
        check_slow_reader(tap, daemon)
        check_vanished(tap, daemon)
        check_changing_list(tap, daemon)
        tap.equal(daemon.process.poll(), None, 'the daemon has lived through it all')
        tap.check(daemon.log().count('\n') < 50, 'and was not talkative', daemon.log())
    tap.equal(daemon.status, 0, 'and ends with exit 0')


if __name__ == '__main__':
    recorded.main(run)
