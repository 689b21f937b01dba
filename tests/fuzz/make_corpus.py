# SPDX-License-Identifier: MIT
"""Writes the initial inputs of the fuzz targets to tests/fuzz/corpus/TARGET/.

Inputs that a fuzzer found are added there by hand, minimized, under descriptive names.
"""

import json
import lzma
import pathlib
import random
import struct
import tarfile
import zlib

from tests.daemon import ingest
from tests.fuzz import nettrace_corpus
from tests.fuzz.inputs import write

HERE = pathlib.Path(__file__).resolve().parent

NETTRACE = HERE.parent / 'nettrace' / 'data'
UUIDS = (b'0123456789abcdef', b'fedcba9876543210')


def script(*frames):
    """Returns frames in the form of tests/fuzz/frames.h."""
    return b''.join(struct.pack('<BH', frame[4], len(frame) - 8) + frame[8:] for frame in frames)


def life(pid=100):
    return [ingest.stream_open(), ingest.runtime_start(5, pid=pid),
            ingest.load(10, 0x1000, 'One', pid=pid), ingest.load(11, 0x2000, 'Two', pid=pid),
            ingest.frame(ingest.GAP, struct.pack('<IBQQQ', 0, 0, 12, 13, 4)),
            ingest.frame(ingest.PROGRESS, struct.pack('<IQ', 0, 20)),
            ingest.frame(ingest.REPORT, struct.pack('<QQQQ', 5, 4, 3, 2)),
            ingest.frame(ingest.PROCESS_GAP, struct.pack('<QiQQ', 0, pid, 14, 2**64 - 1)),
            ingest.commit(),
            ingest.load(30, 0x1008, 'Over', pid=pid),
            ingest.frame(ingest.PROGRESS, struct.pack('<IQ', 2**32 - 1, 40)),
            ingest.commit(),
            ingest.frame(ingest.STREAM_CLOSE, struct.pack('<I', 0)), ingest.commit(),
            ingest.stream_open(0, 1, UUIDS[1], scheme=2, pid=pid),
            ingest.load(50, 0x3000, 'Next', pid=pid), ingest.commit()]


def many_bodies(n):
    """Returns bodies at one address, with queries: the cost depends on the shown bodies, not on
    all."""
    frames = [ingest.stream_open()]
    for i in range(n):
        frames += [ingest.load(10 + i, 0x1000, 'N')]
    return [*frames, ingest.commit()]


def relay_index(*packets, entry_size=72, magic=0xC1F1DCC1):
    """Returns an index of the relay daemon: a packet is (offset, size, begin, end)."""
    entries = b''.join(struct.pack('>9Q', offset, size * 8, size * 8, begin, end, 0, 0, 1, i)
                       + bytes(max(0, entry_size - 72))
                       for i, (offset, size, begin, end) in enumerate(packets))
    return struct.pack('>IIII', magic, 1, 1, entry_size) + entries


def relay_files_inputs():
    metadata = struct.pack('<I16sIIIBBBBB', 0x75D11D57, UUIDS[0], 0, 40 * 8, 40 * 8, 0, 0, 0, 1, 8)
    metadata += b'txt'
    packet = struct.pack('<I', 0xC1FC1FC1) + bytes(60)
    for name, index, file in (
            ('two', relay_index((0, 64, 1, 5), (64, 64, 6, 9)), packet * 2),
            ('long-entries', relay_index((0, 64, 1, 5), entry_size=96), packet),
            ('out-of-order', relay_index((64, 64, 6, 9), (0, 64, 1, 5)), packet * 2),
            ('beyond-the-file', relay_index((0, 64, 1, 5), (64, 640, 6, 9)), packet * 2),
            ('overlap', relay_index(*[(0, 6400, i, i + 1) for i in range(600)]), packet * 100),
            ('overflow', relay_index((2**64 - 8, 64, 1, 5)), packet),
            ('no-magic', relay_index((0, 64, 1, 5), magic=1), packet),
            ('replaced', relay_index((0, 64, 1, 5)), bytes(64)),
            ('half-an-entry', relay_index((0, 64, 1, 5), entry_size=96)[:-24], packet),
            ('no-entry', relay_index(), packet)):
        write('relay-files', name, struct.pack('<H', len(index)) + index
              + struct.pack('<H', len(metadata)) + metadata + file)


def state_file_inputs():
    settings = {'name': 'clrsym', 'live': True, 'buffer_size': 0, 'disk': 2 << 30,
                'control_port': 5342, 'data_port': 5343, 'live_port': 5344, 'track': [1, 2],
                'relay_output': '/var/lib/clrsym-relay', 'relay_user': 'clrsym-ingest',
                'relay': {'pid': 1, 'start': 1}, 'keep': True}
    relay = {'pid': 1, 'start': 1, 'control_port': 5342, 'data_port': 5343, 'live_port': 5344,
             'output': '/tmp'}
    feeder = {'pid': 1, 'start': 1, 'session': 'x', 'state': 'live', 'since': 1, 'reason': None,
              'reader': 2, 'restarts': 3, 'last_error': 'x', 'last_error_at': 4,
              'caught_up_packets': 5}
    for which, (name, value) in enumerate((('settings', settings), ('relay', relay),
                                           ('feeder', feeder))):
        write('state-file', name, bytes([which]) + json.dumps(value).encode())
    write('state-file', 'deep', b'\0' + b'{"a":' * 3000)
    write('state-file', 'not-an-object', b'\2[1]')


def crowd():
    """Ends of rundowns: too many of one time for one piece, and single ones."""
    ends = [ingest.record(time, 146, b'', provider=1, stream=stream)
            for stream in (0, 1) for time in [40] * 12 + list(range(41, 50))]
    return [*life()[:9], ingest.stream_open(1, 1), *ends, ingest.load(60, 0x3000), ingest.commit()]


def ingest_inputs():
    for name, flags, piece, frames in (
            ('life', 0, 255, life()), ('life-in-pieces', 0, 0, life()),
            ('held', 2, 255, life()), ('small-budget', 1, 255, many_bodies(400)),
            ('in-turns', 8, 255, life()), ('crowd', 8, 255, crowd()),
            ('no-greeting', 4, 255, life()), ('one-address', 0, 255, many_bodies(600))):
        write('ingest', name, bytes((flags, piece)) + script(*frames))
    write('ingest', 'raw', bytes((0, 255, 255)) + struct.pack('<H', 8) + b'\xff\xff\xff\xff\3\0\0\0')


def packed_inputs():
    """For each row zeros, ones, and texts; the first two bytes select the row."""
    texts = 'Ab\0'.encode('utf-16-le') * 12
    for name, blob in (('zeros', bytes(200)), ('ones', b'\xff' * 200), ('texts', texts),
                       ('numbers-and-texts', struct.pack('<QQQIII', 1, 2, 3, 4, 5, 6) + texts),
                       ('half-pairs', b'\x00\xd8\x00\xdc' * 40 + bytes(2))):
        for row in (0, 3, 7, 20, 40, 60, 80):
            write('packed', f'{name}-{row}', struct.pack('<H', row) + blob)


def inline_tree_inputs():
    def block(nodes, mappings, n_nodes=None):
        return (struct.pack('<II', len(nodes) if n_nodes is None else n_nodes, len(mappings))
                + b''.join(struct.pack('<QIII', *node) for node in nodes)
                + b''.join(struct.pack('<IIIB', *mapping, 2) for mapping in mappings))

    root = (1, 0xffffffff, 1, 0)
    for name, nodes, mappings in (
            ('alone', [(1, 0xffffffff, 0, 0)], [(0, 0, 0)]),
            ('chain', [root, (2, 3, 2, 0), (3, 4, 0, 0)], [(0, 0, 0), (5, 2, 10), (7, 1, 20)]),
            ('siblings', [root, (2, 3, 0, 2), (3, 4, 0, 0)], [(0, 1, 8), (0, 2, 8)]),
            ('cycle', [root, (2, 3, 0, 1)], []),
            ('no-parent', [(1, 0, 0, 0), (2, 3, 0, 0)], []),
            ('backwards', [root, (2, 3, 0, 0)], [(0, 0, 9), (0, 1, 8)])):
        write('inline-tree', name, block(nodes, mappings))
    write('inline-tree', 'no-node', block([], []))
    write('inline-tree', 'too-many', block([root], [], n_nodes=2**32 - 1))


def client_inputs():
    def receive(*frames):
        return b''.join(b'\5' + script(frame) for frame in frames)

    ack = ingest.frame(ingest.ACK, struct.pack('<IQ', 0, 7))
    hello, go = ingest.hello(), ingest.frame(ingest.GO)
    committed = ingest.frame(ingest.COMMITTED)
    good = (receive(hello, go) + b'\0' + receive(ack) + b'\2\0' + struct.pack('<Q', 20) + b'\3'
            + receive(ack, committed) + b'\1\0\3' + receive(committed))
    for keeps in (0, 1):
        write('client', f'good-{keeps}', bytes((keeps,)) + good)
        write('client', f'reconnect-{keeps}', bytes((keeps,)) + good + b'\0\0\1\0\3\4' + good)
    write('client', 'refused', b'\0' + receive(hello, ingest.frame(
        ingest.ERROR, ingest.string('no \x1b[31m'))))


def viewer_inputs():
    """Replies of lttng-relayd: src/feed/viewer-wire.h."""
    session = struct.pack('>QIII64s255s', 1, 100000, 0, 2, b'host', b'name')
    stream = struct.pack('>QQI4096s255s', 1, 2, 1, b'path', b'channel')
    index = struct.pack('>7QII', 0, 8 * 4096, 8 * 4000, 10, 20, 0, 0, 1, 3)
    for command, name, reply in (
            (1, 'connect', struct.pack('>QIII', 7, 2, 13, 1)),
            (2, 'list', struct.pack('>I', 2) + session * 2),
            (2, 'list-too-many', struct.pack('>I', 1 << 31)),
            (3, 'attach', struct.pack('>II', 1, 2) + stream * 2),
            (3, 'attach-busy', struct.pack('>II', 2, 5)),
            (4, 'index', index * 3),
            (5, 'packet', struct.pack('>III', 1, 100, 0) + bytes(100)),
            (5, 'packet-too-large', struct.pack('>III', 1, 0xffffffff, 0)),
            (6, 'metadata', struct.pack('>QI', 3, 1) + b'abc' + struct.pack('>QI', 0, 2)),
            (6, 'metadata-too-much', struct.pack('>QI', 1 << 63, 1)),
            (7, 'streams', struct.pack('>II', 1, 1) + stream + struct.pack('>II', 4, 0)),
            (8, 'created', struct.pack('>I', 1)),
            # The same bytes as metadata.
            (1, 'text', b'/* CTF 1.8 */\ntrace {\n\tmajor = 1;\n};\n\nenv {\n};\n\nclo'),
            (1, 'json', b'\x1e{"type":"preamble","a":"}\\""}\x1e{"type":{"b":[1]}}\x1e{"t'),
            (1, 'packets', (struct.pack('<I', 0x75D11D57) + bytes(20) + struct.pack('<II', 8 * 64, 8 * 64)
                            + bytes(32)) * 3)):
        write('viewer', name, bytes((command - 1, 4)) + reply)


def live_session(metadata, *replies):
    """Returns a session up to the stream of the replies; another stream is announced later.
    Commands as in viewer_inputs()."""
    def row(number, is_metadata):
        return struct.pack('>QQI4096s255s', number, 7, is_metadata, b'path', b'channel')

    half = len(metadata) // 2
    session = struct.pack('>QIII64s255s', 1, 20000, 0, 2, b'host', b'name')
    begin = [(1, struct.pack('>QIII', 7, 2, 13, 1)), (8, struct.pack('>I', 1)),
             (2, struct.pack('>I', 1) + session),
             (3, struct.pack('>II', 1, 2) + row(1, 1) + row(2, 0)),
             *[(6, struct.pack('>QI', len(part), 1) + part) for part in (metadata[:half], metadata[half:])],
             *[(6, struct.pack('>QI', 0, 2))] * 6,
             (7, struct.pack('>II', 1, 1) + row(3, 0)), *[(7, struct.pack('>II', 2, 0))] * 3]
    return b''.join(struct.pack('<BH', command, len(reply)) + reply
                    for command, reply in [*begin, *replies])


def live_inputs():
    """Sessions with the packets of small traces."""
    beacon, hup, retry = ((4, struct.pack('>7QII', 0, 0, 0, 0, time, 0, 0, status, 0))
                          for time, status in ((50, 5), (0, 3), (0, 2)))

    def packets(*contents, flags=0):
        for data in contents:
            yield 4, struct.pack('>7QII', 0, 8 * len(data), 8 * len(data), 10, 2**40, 0, 0, 1, flags)
            yield 5, struct.pack('>III', 1, len(data), 0) + data

    for name, where in (('le-natural-compact', 'trace'), ('be-packed-large', 'trace'), ('empty-packets', 'trace'),
                        ('lttng216-rot18', '-2/ust/uid/0/64-bit')):
        contents = {}
        with tarfile.open(HERE.parent / 'ctf/data' / name / 'trace.tar.xz') as archive:
            for member in archive:
                path = pathlib.Path(member.name)
                if member.isfile() and str(path.parent).endswith(where):
                    contents[path.name] = archive.extractfile(member).read()
        # lttng-relayd sends metadata in which a declaration ends with a line of its own.
        metadata = contents.pop('metadata').replace(b' };\n', b'\n};\n')
        files = [data[at:at + 4096] for data in contents.values() for at in range(0, len(data), 4096)]
        write('live', name, live_session(metadata, *packets(*files), hup, hup))
        if len(metadata) < 4096:
            write('live', name + '-again', live_session(metadata, *packets(*files * 3)))
            write('live', name + '-beacons', live_session(
                metadata, retry, beacon, *packets(files[0], flags=3), beacon, retry))


def checkpoint_inputs(rand):
    for which in (*range(4), *range(160, 164)):
        write('checkpoint', f'whole-{which}', struct.pack('<BH', which, 1000))
        changes = b''.join(struct.pack('<B3sI', rand.randrange(6), rand.randbytes(3),
                                       rand.choice((1, 2, 255, 65536, 2**31, 2**32 - 1)))
                           for _ in range(3))
        write('checkpoint', f'changed-{which}', struct.pack('<BH', which, 65535) + changes)


def journal_inputs():
    opened, frames, first, second = 1, life(), [], []

    def entry(kind, connection, data=b''):
        return struct.pack('<BBH', kind, connection, len(data)) + data

    for frame in frames[1:8]:
        first.append(frame)
    for frame in frames[9:11]:
        second.append(frame)
    good = (entry(opened, 1, script(frames[0])) + entry(2, 1, script(*first))
            + entry(3, 0, struct.pack('<IiQQ', 1, 100, 0, 1000)) + entry(2, 1, script(*second))
            + entry(4, 1))
    write('journal', 'good', b'\0' + good)
    write('journal', 'torn', b'\0' + good + entry(255, 0, b'\5\0\0'))
    write('journal', 'forget', b'\0' + good + entry(5, 0, bytes(8)))
    write('journal', 'checkpoint', b'\1' + entry(6, 0, bytes(64)) + entry(7, 1, bytes(8))
          + entry(8, 1) + good)


def snapshot_inputs():
    write('snapshot', 'good', b'\0' + script(*life()))
    write('snapshot', 'cut', b'\x08' + script(*life()))
    write('snapshot', 'no-line', b'\5' + b'clrsym-snapshot 2 0 jit=no\n')
    write('snapshot', 'raw', b'\1\x1f\x8b\x08\0\0\0\0\0\0\3' + bytes(100))
    # A batch without an end, packed to a thousandth of its size.
    write('snapshot', 'bomb', b'\0' + script(
        ingest.stream_open(), *[ingest.frame(ingest.RECORD, bytes(65000))]))


def hold_request_inputs():
    for name, text in (('attach', '{"verb":"attach","pid":123}'), ('list', '{"verb":"list"}'),
                       ('again', '{"verb":"again","pid":123,"held":true}'),
                       ('reply', '{"pid":7,"state":"attached"}'),
                       ('error', '{"error":{"kind":"ended","message":"it \\u0000 is over"}}'),
                       ('deep', '[' * 3000)):
        write('hold-request', name, text.encode())


def call_text_inputs():
    head = '{"method":"org.clrsym.Symbolizer.Resolve","parameters":{'
    for name, text in (
            ('queries', head + '"wait_ms":5,"queries":[{"pid":1,"addr":"0x1"}, 2,"a,]\\"[",[[]]]},"x":1}'),
            ('none', head + '"queries":[ ]}}'), ('comma', head + '"queries":[1,]}}'),
            ('twice', head + '"queries":[1],"queries":[]}}'),
            ('brackets', head + '"queries":[{]},1]}}'), ('elsewhere', '{"queries":[1],"parameters":[]}'),
            ('escaped', head + '"\\u0071ueries":[1]}}'), ('deep', head + '"queries":[' + '[' * 3000)):
        write('call-text', name, text.encode())


def reply(payload, code=0xff00):
    """Returns a reply of a runtime's diagnostic port."""
    return (b'DOTNET_IPC_V1\0' + struct.pack('<H', 20 + len(payload)) + struct.pack('>H', code)
            + bytes(2) + payload)


def attach_inputs():
    def text(word):
        return struct.pack('<I', len(word) + 1) + (word + '\0').encode('utf-16-le')

    def parts(*replies):
        return b''.join(struct.pack('<H', len(one)) + one for one in replies)

    info = reply(struct.pack('<Q', 77) + bytes(16) + b''.join(
        map(text, ('dotnet x.dll', 'Linux', 'x64', 'x', '10.0.12'))))
    session = reply(struct.pack('<Q', 1))
    unknown, encoding = (reply(struct.pack('<I', code), 0xffff)
                         for code in (0x80131385, 0x80131384))
    write('attach-ipc', 'session', b'\xff' + session)
    write('attach-ipc', 'info', b'\x07' + info)
    write('attach-ipc', 'error', b'\x03' + unknown)
    write('attach-session', 'newest', parts(info, session, session + bytes(200), session, session))
    write('attach-session', 'oldest', parts(info, unknown, encoding, session + b'Nettrace' * 20,
                                            session + bytes(2000), session, session))
    write('attach-session', 'refused', parts(unknown, unknown, unknown, unknown))


def feed_inputs():
    """A session beside its listing: recorded streams, truncated, in several orders."""
    def step(kind, data=None):
        return bytes([kind]) + (b'' if data is None else struct.pack('<H', len(data)) + data)

    begin, end, broken, run = (step(kind) for kind in (1, 3, 4, 5))
    recorded = [lzma.open(NETTRACE / name / f'{kind}.nettrace.xz').read()[:20000]
                for name, kind in (('attached', 'trace'), ('attached', 'rundown'))]
    session, listing = recorded
    write('attach-feed', 'beside', begin + b''.join(
        step(0, session[at:at + 3000]) + step(2, listing[at:at + 3000])
        for at in range(0, 20000, 3000)) + end + run)
    write('attach-feed', 'after', begin + step(2, listing) + broken + step(0, session) + run)
    write('attach-feed', 'alone', step(0, session) + begin + end + run)


def jit_log_inputs():
    def record(kind, thread, method, when):
        return bytes([kind]) + thread.to_bytes(3, 'little') + bytes([method]) + when.to_bytes(3, 'little')

    write('jit-log', 'nested', record(0, 1, 1, 1000) + record(0, 1, 2, 1100) + record(1, 1, 2, 1200)
          + record(1, 1, 1, 1300) + record(1, 2, 1, 1300) + record(2, 1, 1, 2000))
    write('jit-log', 'threads', b''.join(record(0, i, 1, i) for i in range(1, 3000)))


def collection_log_inputs():
    stream = lzma.open(NETTRACE / 'collections' / 'trace.nettrace.xz').read()
    write('collection-log', 'recorded', stream)
    write('collection-log', 'cut', stream[:len(stream) // 2])


def elf(symbol):
    """Returns a 64-bit library that exports SYMBOL: sections 0, .dynsym and .dynstr."""
    strings = b'\0' + symbol + b'\0'
    symbols = bytes(24) + struct.pack('<IBBHQQ', 1, 0x11, 0, 1, 0x1000, 4)
    offset = 64 + len(symbols) + len(strings)
    sections = bytes(64) + struct.pack(
        '<IIQQQQIIQQ', 0, 11, 2, 0, 64, len(symbols), 2, 1, 8, 24) + struct.pack(
            '<IIQQQQIIQQ', 0, 3, 2, 0, 64 + len(symbols), len(strings), 0, 0, 1, 0)
    return (b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 0, offset, 0, 64,
                                                    56, 0, 64, 3, 0) + symbols + strings + sections)


def doctor_inputs():
    names = b'liblttng-ust.so.0\0/usr/lib/liblttng-ust.so.0\0'
    entry = struct.pack('<iIIIQ', 1, 96, 114, 0, 0)
    write('doctor-files', 'cache', b'glibc-ld.so.cache1.1' + struct.pack('<II', 2, len(names))
          + bytes(20) + 2 * entry + names)
    write('doctor-files', 'elf', elf(b'DotNetRuntimeInfo'))
    write('doctor-files', 'elf-other', elf(b'main'))


def proc_inputs():
    line = '7f0000000000-7f0000001000 r--p 00000000 fe:01 1234567        '
    for name, text in (
            ('maps', f'{line}/usr/share/dotnet/libcoreclr.so\n'
                     f'{line}/x/libcoreclrtraceptprovider.so (deleted)\n'
                     '7f-8 r 0 0:0 0 /lib/ld-musl-x86_64.so.1\n'),
            ('environ', 'HOME=/root\0DOTNET_LTTng=0\0DOTNET_EnableEventLog=1\0TMPDIR=/run\0'
                        'COMPlus_EnableDiagnostics=0\0'),
            ('status', 'Name:\tx\nTgid:\t7\nUid:\t0\t0\t0\t0\nNSpid:\t7\t1\nGroups:\t4 20 24 \n'),
            ('stat', '7 (a) b) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 1\n'),
            ('attachment', '[attachment]\nsession=5\npersistent=1\nheld_since=7\nheld_until=8\n'
                           'worker=9\nworker_start=10\nvpid=11\npid_ns=12\n'),
            ('attachment-old', '5 1 7 8 9 10 11 12\n')):
        write('proc-files', name, text.encode())


def tally_inputs():
    """perf's file: its header, samples, and 5 lost ones."""
    def record(kind, content=b'', size=None):
        return struct.pack('<IHH', kind, 0, size or 8 + len(content)) + content

    head = struct.pack('<8s6Q', b'PERFILE2', 104, 144, 104, 0, 104, 0).ljust(104, b'\0')
    sample = record(9, b'x' * 40)
    whole = (head + 3 * sample + record(2, struct.pack('<QQ', 1, 5)) + record(10, b'm' * 60) +
             record(9, b'y' * 8))
    write('tally', 'grows', b'\xa0' + whole)
    write('tally', 'damaged', b'\x40' + head + sample + record(9, size=3) + sample)
    write('tally', 'other', b'\xff' + b'2ELIFREP' + whole[8:])


def perf_inputs():
    write('perf', 'maps', b'\1' + b'\n'.join((
        b'7f10c7680000-7f10c81cc000 r-xp 00000000 fe:00 350922          /a.dll',
        b'7f10c7680000-7f10c81cc000 rw-p 00000000 00:00 0 ',
        b'ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0       [vsyscall]')))
    write('perf', 'lines', b'\2' + b'7 7f10c7680000 7f10c81cc000 0 1 2 fe 0 350922 1 3 /a b.dll\n')
    records = struct.pack('<II', 2, 3) + b'app' + struct.pack('<II', 2, 9) + b'cpu-clock'
    records += struct.pack('<II', 1, 12 + 3 + 5) + struct.pack('<IIBBBB', 3, 5, 0, 3, 0, 0) + \
        b'M()a.dll'
    records += struct.pack('<II', 3, 36) + struct.pack('<QQIIIII', 10**9, 1, 7, 7, 0, 1, 0)[:36]
    records += struct.pack('<II', 4, 0)
    for piece in (0, 255):
        write('perf', f'stream-{piece}', bytes((3, piece)) + b'clrsym perf 1\n' + records)
    write('saved-profile', 'whole', b'clrsym samples 1\n' +
          struct.pack('<IIIq', 0x01020304, 3, 9, 10**18) + b'app' + b'cpu-clock' +
          b'clrsym perf 1\n' + records)
    write('saved-profile', 'processes', b'clrsym samples 2\n' + struct.pack('<IIIq', 0x01020304, 0, 0, 0) +
          b'clrsym perf 1\n' + struct.pack('<IIi', 7, 12, 7) + b'dotnet a' + records)
    # A collection, and the thread's own stack of a sample.
    marker = struct.pack('<QQiiII', 5, 9, 7, 8, 0, 0) + b'generation 0'
    physical = struct.pack('<IIII', 9, 8, 0, 0)
    at = len(records) - 8 - 44
    write('saved-profile', 'markers', b'clrsym samples 3\n' + struct.pack('<IIIq', 0x01020304, 0, 0, 0) +
          b'clrsym perf 1\n' + struct.pack('<II', 8, len(marker)) + marker + records[:at] + physical + records[at:])


def stack_recording(n_stack=64, n_identity=0, features=0, is_arm64=False):
    """Returns a perf.data file with a mapping, a fork, an exec and a sample with a copy of its
    stack."""
    def event(kind, misc, body, time):
        body += struct.pack('<IIQ', 7, 7, time) if kind != 9 else b''
        return struct.pack('<IHH', kind, misc, 8 + len(body)) + body

    def mapping(pid, address, path, **times):
        return event(10, 2, struct.pack('<IIQQQIIQQII', pid, pid, address, 0x10000, 0, 8, 1, 5, 6, 5, 2) +
                     path.ljust(8 * (len(path) // 8 + 1), b'\0'), **times)

    # IP, TID, TIME, CALLCHAIN, REGS_USER and STACK_USER; ax to ip, and r8 to r15.
    kinds = 1 | 2 | 4 | 32 | 4096 | 8192 | (65536 if n_identity else 0)
    regs = [0, 0, 0, 0, 0, 0, 0x7000, 0x7000, 0x1004] + [0] * 8
    mask = 0xff01ff
    if is_arm64:  # x0 to x30, sp, pc
        regs, mask = [*range(29), 0x7000, 0x2004, 0x7000, 0x1004], (1 << 33) - 1
    stack = struct.pack('<QQ', 0x7010, 0x2008) + struct.pack('<QQ', 0, 0x1010) + bytes(n_stack)
    sample = struct.pack('<Q', 1) * bool(n_identity) + struct.pack('<QIIQ', 0x1004, 7, 7, 30)
    sample += struct.pack('<QQQ', 2, 2**64 - 128, 0xffffffff81000010)
    sample += struct.pack(f'<Q{len(regs)}Q', 2, *regs) + struct.pack('<Q', len(stack)) + stack + struct.pack('<Q', len(stack))
    records = (mapping(6, 0x1000, b'/bin/true', time=0) + mapping(7, 0x2000, b'//anon', time=12) +
               event(7, 0, struct.pack('<IIII', 7, 6, 7, 6), 10) + event(3, 0x2000, struct.pack('<II8s', 8, 8, b'app'), 20) +
               event(9, 2, sample, 0))
    attr = struct.pack('<IIQQQQQ', 1, 128, 0, 1000, kinds, 0, 1 << 18).ljust(80, b'\0')
    attr += struct.pack('<QI', mask, len(stack)) .ljust(48, b'\0')
    attrs = (attr + struct.pack('<QQ', 104, 8 * n_identity)) * max(n_identity, 1)
    begin = 104 + len(attrs)
    header = b'PERFILE2' + struct.pack('<8Q', 104, 144, 104, len(attrs), begin, len(records), 0, 0) + struct.pack('<4Q', features, 0, 0, 0)
    feature = struct.pack('<I', 8) + b'aarch64\0' if is_arm64 else b'6.1.0\0\0\0'
    places = struct.pack('<QQ', begin + len(records) + 16, len(feature)) + feature if features else b''
    return header + attrs + records + places


def pair_recording():
    """Samples of two events at one time: one has a chain, and the other a truncated copy of the
    stack."""
    kinds = 1 | 2 | 4 | 32 | 65536
    regs = [0, 0, 0, 0, 0, 0, 0x7010, 0x7000, 0x2004] + [0] * 8
    stack = struct.pack('<4Q', 0, 0x2010, 0x7800, 0x2020)

    def sample(number, time, chain, rest=b''):
        body = struct.pack(f'<QQIIQQ{len(chain)}Q', number, 0x2004, 7, 7, time, len(chain), *chain) + rest
        return struct.pack('<IHH', 9, 2, 8 + len(body)) + body

    def attr(extra, ids):
        fields = struct.pack('<IIQQQQQ', 1, 128, 0, 499, kinds | extra, 0, 1 << 18 | 1 << 10).ljust(80, b'\0')
        return fields + struct.pack('<QI', 0xff01ff, len(stack)).ljust(48, b'\0') + struct.pack('<QQ', ids, 8)

    path = b'//anon\0\0'
    mapping = struct.pack('<IIQQQIIQQII', 7, 7, 0x2000, 0x10000, 0, 8, 1, 5, 6, 5, 2) + path
    mapping += struct.pack('<IIQQ', 7, 7, 12, 1)
    user, copy = 2**64 - 512, struct.pack('<Q17Q', 2, *regs) + struct.pack('<Q', len(stack)) + stack + struct.pack('<Q', len(stack))
    records = (struct.pack('<IHH', 10, 2, 8 + len(mapping)) + mapping +
               sample(1, 1000, [user, 0x2004, 0x2020, 0x2030, 0x2040]) + sample(2, 1007, [2**64 - 128, 1], copy) +
               sample(1, 9000000, [user, 0x2004, 0x2020]) + sample(2, 5000, [], copy))
    begin = 104 + 2 * 144 + 16
    header = b'PERFILE2' + struct.pack('<12Q', 104, 144, 104, 2 * 144, begin, len(records), 0, 0, 0, 0, 0, 0)
    return header + attr(0, 104 + 288) + attr(4096 | 8192, 104 + 296) + struct.pack('<QQ', 1, 2) + records


def raw_zstd(data):
    """Returns a zstd frame with one uncompressed block (RFC 8878)."""
    return struct.pack('<IBBI', 0xfd2fb528, 0x00, 0x58, len(data) << 3 | 1)[:9] + data


def other_recordings():
    """Recordings of perf record to a pipe, and compressed ones; with features."""
    whole = stack_recording()
    attr, records = whole[104:104 + 128], whole[104 + 144:]
    event = struct.pack('<IHH', 64, 0, 8 + 128 + 8) + attr + struct.pack('<Q', 1)
    clock = struct.pack('<IHHQIIQQ', 80, 0, 16 + 24, 29, 1, 1, 10**18, 10**9)
    named = struct.pack('<III', 1, 128, 0) + struct.pack('<II', 1, 128) + attr + struct.pack('<II', 1, 12) + b'cpu-clock\0\0\0' + bytes(8)
    names = struct.pack('<IHHQ', 80, 0, 16 + len(named[12:]), 12) + named[12:]
    build_id = struct.pack('<IHHI', 67, 0x8000, 8 + 28 + 16, 7) + bytes(range(20)) + bytes((20, 0, 0, 0)) + b'/bin/true\0\0\0\0\0\0\0'
    odd = struct.pack('<IHHQ', 80, 0, 20, 3) + b'host'
    pipe = b'PERFILE2' + struct.pack('<Q', 16) + odd + event + clock + names + build_id + records
    packed = raw_zstd(records)
    one = struct.pack('<IHHQ', 83, 0, 16 + -(-len(packed) // 8) * 8, len(packed)) + packed.ljust(-(-len(packed) // 8) * 8, b'\0')
    two = b''.join(struct.pack('<IHH', 81, 0, 8 + len(part)) + part for part in (packed[:100], packed[100:]))
    return [('pipe', pipe)] + [(name, whole[:48] + struct.pack('<Q', len(data)) + whole[56:104 + 144] + data)
                               for name, data in (('compressed', one), ('compressed-pieces', two))]


def symbol_inputs():
    write('symbols', 'elf', b'\0' + elf(b'_ZN10MethodDesc9DoPrestubEv'))
    write('symbols', 'map', b'\1' + b'1000 20 a method with blanks\n1100\n1200 x\n2000 10 other\n')
    write('symbols', 'kallsyms', b'\2' + b'ffffffff81000000 T _text\nffffffff81000010 t f\nffffffffc0000000 t g\t[ext4]\n'
          b'0 A fixed\nzzz\n')


def stack_inputs():
    write('perf-stacks', 'pairs', pair_recording())
    for name, data in other_recordings():
        write('perf-stacks', name, data)
    whole = stack_recording(features=1 << 4)
    for name, data in (('whole', whole), ('events', stack_recording(n_identity=2)), ('empty', stack_recording(n_stack=0)),
                       ('cut', whole[:-60]), ('killed', whole[:48] + bytes(8) + whole[56:]),
                       ('arm64', stack_recording(features=1 << 6, is_arm64=True)),
                       ('records-first', whole[:40] + bytes(8) + whole[48:]), ('header', whole[:104])):
        write('perf-stacks', name, data)


def frame_section(is_debug, instructions, is_arm64=False):
    """Returns call frame information: a CIE, and a function at 0x1000."""
    cfa = b'\x0c\x07\x08\x90\x01'  # rsp + 8, and the return address below it
    if is_arm64:
        cfa = b'\x0c\x1f\x00'  # sp
    if is_debug:
        common = struct.pack('<IB', 0xffffffff, 4) + b'\0\x08\0\x01\x78\x10' + cfa
        function = struct.pack('<IQQ', 0, 0x1000, 0x100)
    else:
        common = struct.pack('<IB', 0, 1) + b'zPLRS\0\x01\x78\x10\x0b\x9b\0\0\0\0\x1b\x1b' + bytes(4) + cfa
        function = None
    if is_arm64:
        common = common.replace(b'\x78\x10', b'\x78\x1e')
    section = struct.pack('<I', len(common)) + common
    if not is_debug:
        function = struct.pack('<IiI', len(section) + 4, 0x1000 - (0x200 + len(section) + 8), 0x100) + b'\x04' + bytes(4)
    function += instructions
    return section + struct.pack('<I', len(function)) + function + bytes(4)


def frame_inputs():
    everything = (b'\x41\x02\x10\x03\x10\0\x04\x01\0\0\0\x86\x02\xc6\x05\x03\x04\x06\x03\x07\x0c\x08\x0d\x09\x0e\x0f\x0a\x0e\x20'
                  b'\x0d\x06\x0b\x0c\x07\x10\x10\x03\x02\x77\x08\x11\x0c\x7e\x12\x07\x7c\x13\x7d\x14\x0d\x02\x15\x0e\x7e\x16\x0f\x03'
                  b'\x08\x05\x22\x2e\x10\x2f\x03\x01\x0f\x05\x77\x08\x06\x23\x10')
    names = b'\0.eh_frame\0.debug_frame\0.shstrtab\0'
    arm64 = b'\x41\x2d\x41\x0e\x20\x9d\x04\x9e\x03\x41\x0c\x1d\x20\x2c\x93\x02\xdd\xde\x0c\x1f\x00'
    for name, is_debug, has_sections in (('eh', False, True), ('debug', True, True), ('without-sections', False, False),
                                         ('arm64', False, True)):
        is_arm64 = name == 'arm64'
        frames = frame_section(is_debug, arm64 if is_arm64 else everything, is_arm64)
        at = 0x200 + len(frames)
        header = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, at + len(names), 0, 64, 56, 2,
                                                                   64 * has_sections, 3 * has_sections, 2 * has_sections)
        segments = struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, at, at, 4096)
        segments += struct.pack('<IIQQQQQQ', 0x6474e550, 4, 0x1f0, 0x1f0, 0x1f0, 12, 12, 4)
        section = struct.pack('<IIQQQQIIQQ', 11 if is_debug else 1, 1, 2, 0x200, 0x200, len(frames), 0, 0, 8, 0)
        strings = struct.pack('<IIQQQQIIQQ', 24, 3, 0, 0, at, len(names), 0, 0, 1, 0)
        table = struct.pack('<BBBBi', 1, 0x1b, 0xff, 0xff, 0x200 - 0x1f4) + bytes(8)
        write('call-frames', name, (header + segments).ljust(0x1f0, b'\0') + table + frames + names + bytes(64) + section + strings)


def frame_code_inputs():
    for name, code in (('pointer', '55 4157 53 4883ec10 c5f877 488d6c2420 90 4883c410 5b 415f 5d c3'),
                       ('none', '53 4881ec00020000 e800000000 4881c400020000 5b c3'),
                       ('jumps', '50 e900000000 58 e900100000 ff2500000000 48ffe0'),
                       ('probe', '55 4c8d9c240000ffff 488b ec 488d65f0 5d c3'),
                       ('pushes', '50' * 300 + '58' * 300 + 'c3')):
        write('frame-code', name, bytes.fromhex(code))
    for name, words in (('arm64', (0xd503233f, 0xd100c3ff, 0xa90153f3, 0xa9007bfd, 0x910003fd, 0x94000010, 0xa9407bfd, 0xa94153f3,
                                   0x9100c3ff, 0xd50323bf, 0xd65f03c0)),
                        ('arm64-large', (0xa9be7bfd, 0xd2840009, 0xb8696bff, 0xcb2963ff, 0x910003fd, 0xd2840009, 0x8b2963ff,
                                         0xa8c27bfd, 0xd61f0020)),
                        ('arm64-stub', (0x58008009, 0x7940012a, 0x7100054a, 0x7900012a, 0x54000060, 0x58007fa9, 0xd61f0120))):
        write('frame-code', name, struct.pack(f'<{len(words)}I', *words))


def label_inputs():
    for name, text in (('method', 'Ns.Type`1.Method[T](System.Int32[], Ns.X<int, A.B<C>>)'),
                       ('constructor', 'Ns.Type..ctor(int)'), ('dots', '.' * 100),
                       ('closed', 'A.' + ')' * 30000), ('open', '(<[' * 10000 + '.M()'),
                       ('wide', 'Ns.\u6587\u5b57.\U0001f600()')):
        write('label', name, b'\0\x40' + text.encode())


def bundle_inputs():
    mark = bytes.fromhex('8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae')
    text = b'MZ' + bytes(300)
    deflate = zlib.compressobj(wbits=-15)
    packed = deflate.compress(text) + deflate.flush()
    for version in 1, 2, 6:
        files = b''.join(struct.pack('<QQ', 40 + i * len(packed), len(text))
                         + (struct.pack('<Q', i * len(packed)) if version >= 6 else b'')
                         + b'\1' + bytes([len(name)]) + name
                         for i, name in enumerate((b'App.dll', b'de/App.dll')))
        header = struct.pack('<IIi', version, 0, 2) + b'\4name' + bytes(40 if version >= 2 else 0)
        body = mark + packed + packed
        write('bundle', f'version-{version}', struct.pack('<Q', 8 + len(body)) + body + header + files)


def query_inputs():
    """Steps: a call, bytes, rows as JSON, rows as a frame, the upgrade, an event, passed time,
    reading."""
    def call(method, parameters='{}', more=''):
        text = f'{{"method":"{method}","parameters":{parameters}{more}}}'.encode()
        return b'\0' + struct.pack('<H', len(text)) + text

    def own(method, *words):
        return call('org.clrsym.Symbolizer.' + method, *words)

    def rows(step, wait, n, *given):
        """Returns a few rows, or a multiple of 16."""
        code = n - 1 if n <= 80 else 0xa500 + n // 16 - 1
        return (bytes((step,)) + struct.pack('<HHB', wait, code, len(given) - 1)
                + b''.join(struct.pack('<BBHH', *row) for row in given))

    later, read = b'\6\0\0', b'\7'
    some = ((2, 0, 0x1000, 0), (2, 2, 0x1000, 21), (2, 2, 0x1000, 200), (3, 3, 0x1008, 24),
            (4, 5, 0x2000, 28), (0, 0, 9, 9))
    lists = b''.join(own(method, parameters) for method, parameters in (
        ('ListProcesses', '{}'), ('ListMethods', '{"all":true}'), ('ListModules', '{}'),
        ('ListMethods', '{"pid":100,"time":"0.000000025"}'), ('ParseTime', '{"text":"12:00"}'),
        ('History', '{"pid":100,"addr":"0x1000"}'), ('Versions', '{"method":"N.B"}'),
        ('JitStatistics', '{}'), ('Status', '{}'), ('Metrics', '{}')))
    info = (call('org.varlink.service.GetInfo') + call('org.varlink.service.None')
            + call('org.varlink.service.GetInterfaceDescription',
                   '{"interface":"org.clrsym.Symbolizer"}')
            + b'\1\2\0{}' + b'\0\2\0[]' + b'\0\0\0')
    many = own('ListMethods', '{"all":true}', ',"more":true') * 3
    for flags in (1, 6):
        write('query', f'resolve-{flags}', bytes((flags,)) + rows(2, 0, 6, *some) + later + read)
        write('query', f'waits-{flags}', bytes((flags,)) + rows(2, 100, 6, *some) + later
              + b'\5\0\0' * 3 + b'\6\x64\0' + read)
        for version in (1, 3):
            write('query', f'bulk-{version}-{flags}', bytes((flags, 4, version)) + later + read
                  + rows(3, 50, 6, *some) + later + b'\5\0\0' + rows(3, 0, 6, *some) + later + read)
        write('query', f'lists-{flags}', bytes((flags,)) + lists + later + read + info + later + read)
        write('query', f'watch-{flags}', bytes((flags,)) + own('Watch', '{"pid":100}', ',"more":true')
              + later + b'\5\0\0' * 3 + later + read + b'\5\1\1' + later + read)
    # A tracker with thousands of bodies at the address: the largest query, again and again.
    write('query', 'storm', b'\xfb' + rows(2, 0, 512, some[0], some[1]) + many + later + read)
    write('query', 'storm-waits', b'\xf9' + rows(2, 65535, 4096, (2, 2, 0x1000, 65535)) + later
          + rows(2, 0, 4096, (200, 0, 0x1000, 0)) + later)
    write('query', 'storm-bulk', b'\xf9\4\3' + later + rows(3, 0, 4096, some[0], some[1]) + later
          + rows(3, 9, 4096, some[2]) + later + read)
    write('query', 'large', b'\x0b' + rows(2, 0, 80, some[0], some[1]) + many + later + read)
    write('query', 'bad-frame', b'\1\4\3' + later + b'\1\x10\0' + b'\xff' * 16 + later + read)


def names_inputs():
    for name, texts in (
            ('plain', ('Ns.Type', 'Main', 'void  (string[])')),
            ('generic', ('System.Collections.Generic.List`1[System.__Canon]', 'Add', 'instance void  (!0)')),
            ('lambda', ('A+<>c__DisplayClass1_0', '<Main>b__0', 'instance void  (class Ns.X`1<int32>)')),
            ('async', ('A+<Load>d__5', 'MoveNext', 'instance void  ()')),
            ('stub', ('dynamicClass', 'IL_STUB_PInvoke', 'int32 (int32)', 'N.T', 'Call', 'int32 (int32)')),
            ('accessor', ('I', 'Ns.I<System.Int32>.get_Item', 'instance int32&  (int32,!!0[,])')),
            ('hidden', ('\u202e\U0001f600', '\x1b[31m', 'fnptr void(pMT: 0x7f12)'))):
        write('names', name, '\0'.join(texts).encode())
    write('names', 'deep', b'A`1[' * 8000 + b'\0' + b'<' * 8000 + b'\0fnptr ' * 2000)


def libclrsym_inputs():
    """Function 0 asks in binary frames, the others with calls; steps are bytes, replies, frames."""
    def reply(value):
        text = json.dumps(value).encode()
        return b'\1' + struct.pack('<H', len(text)) + text

    def frame(kind, payload=b'', tag=0):
        return struct.pack('<BBBH', 2, kind, tag, len(payload)) + payload

    body = {'pid': 100, 'pid_ns': 5, 'generation': 2, 'symbol': 'N.T.M()', 'method': {
        'id': '0x7ff0', 'namespace': 'N.T', 'name': 'M', 'signature': None, 'token': '0x06000001',
        'stub_for': {'namespace': 'N.S', 'name': 'Call', 'signature': None}}, 'start': '0x1000',
        'size': 16, 'flags': 392, 'version': {'rejit_id': 3, 'il_version': 4, 'tier': 'QuickJitted'},
        'module': {'id': '0xab', 'path': '/x.dll'}, 'jit_ms': 1.234, 'loaded': '20.000000001',
        'unloaded': None, 'source': 'load'}
    process = {'pid': 100, 'pid_ns': 5, 'generation': 2, 'state': 'running', 'runtime': '10.0.12',
               'runtime_path': '/lib/x.so', 'command': None, 'bodies': 7, 'live': 6, 'modules': 5,
               'since': '9.000000000', 'from_start': True, 'last': '23.000000000', 'exited': None,
               'horizon': '30.000000000', 'epoch': 77}
    events = [{**body, 'event': 'load', 'epoch': 7}, {'event': 'epoch', 'pid': 1, 'pid_ns': 2,
                                                      'generation': 1, 'epoch': 9},
              {'event': 'resync'}]
    answer = struct.pack('<6BHIIiIIIIIIIIIQQQQQQqII', 0, 3, 1, 1, 1, 3, 0, 0, 16, 12, 392, 1, 3, 4, 7, 7,
                         0, 7, 1, 0x1000, 0xabc, 0xdef, 20, 2**64 - 1, 4, 99, 7, 0)
    assert len(answer) == 120
    known = (frame(16, struct.pack('<II', 7, 3) + b'N.T') + frame(18, struct.pack('<QQQiI', 5, 1, 30,
                                                                                  100, 2))
             + frame(21, struct.pack('<IIII', 7, 7, 0, 0)))
    good = known + frame(19, 2 * answer, 1) + frame(17) + known + frame(19, answer, 2)
    write('libclrsym', 'resolve', b'\0\3\3' + good)
    write('libclrsym', 'resolve-no-names', b'\0\3\3' + frame(19, 2 * answer, 1))
    write('libclrsym', 'resolve-error', b'\0\3\3' + frame(20, b'no \x1b[31m'))
    write('libclrsym', 'resolve-old', b'\0' + reply(
        {'error': 'org.varlink.service.InvalidParameter', 'parameters': {'parameter': 'version'}}))
    for function, key, rows in ((1, 'processes', [process]), (2, 'methods', [body]),
                                (3, 'bodies', [body]), (4, 'bodies', [body]), (5, 'modules', [{}])):
        write('libclrsym', f'list-{function}', bytes((function,)) + reply(
            {'parameters': {key: rows}, 'continues': True}) + reply({'parameters': {key: rows}}) * 2)
    found = {**body, 'status': 'ok', 'confidence': 'exact', 'horizon': '30.000000000', 'epoch': 7, 'offset': 3,
             'il_offset': None, 'il_kind': None, 'line_il_offset': None,
             'inlined': [{'method': 'N.T.I', 'il_offset': 4}]}
    missing = {'pid': 100, 'pid_ns': 5, 'status': 'unloaded', 'nearest': {**body, 'distance': -0.25}, 'n_candidates': 2,
               'confidence': 'gap', 'horizon': '30.000000000', 'epoch': 7}
    write('libclrsym', 'rows', b'\10' + reply({'parameters': {'answers': [found, missing, process]}}) * 2)
    write('libclrsym', 'time', b'\6' + reply({'parameters': {'time': '12.000000001'}}))
    write('libclrsym', 'watch', b'\7' + reply({'parameters': {'events': events}, 'continues': True}))
    write('libclrsym', 'deep', b'\5\1' + struct.pack('<H', 60000) + b'{"a":' * 12000)


def ctf_packets_inputs():
    """The smallest traces of tests/ctf."""
    def files(*contents):
        return b''.join(struct.pack('<H', len(content)) + content for content in contents)

    for name in ('be-packed-large', 'clock-1khz', 'empty-packets', 'extended-id', 'id64', 'length64',
                 'le-natural-compact', 'no-context', 'wrap27'):
        contents = {}
        with tarfile.open(HERE.parent / 'ctf/data' / name / 'trace.tar.xz') as archive:
            for member in archive:
                if member.isfile():
                    contents[pathlib.Path(member.name).name] = archive.extractfile(member).read()
        metadata = contents.pop('metadata')
        write('ctf-packets', name, files(metadata, *(contents[name] for name in sorted(contents))))
    write('ctf-packets', 'no-streams', files(b'/* CTF 1.8 */', b'x'))


def model_inputs(rand):
    for mix in range(4):
        write('model', f'drawn-{mix}', bytes((mix,)) + rand.randbytes(3000))


def main():
    ingest_inputs()
    packed_inputs()
    inline_tree_inputs()
    nettrace_corpus.make()
    client_inputs()
    live_inputs()
    viewer_inputs()
    checkpoint_inputs(random.Random(1))
    journal_inputs()
    snapshot_inputs()
    hold_request_inputs()
    call_text_inputs()
    attach_inputs()
    feed_inputs()
    jit_log_inputs()
    collection_log_inputs()
    doctor_inputs()
    proc_inputs()
    relay_files_inputs()
    state_file_inputs()
    perf_inputs()
    tally_inputs()
    stack_inputs()
    symbol_inputs()
    frame_inputs()
    frame_code_inputs()
    label_inputs()
    bundle_inputs()
    query_inputs()
    names_inputs()
    libclrsym_inputs()
    ctf_packets_inputs()
    model_inputs(random.Random(2))
    # r2r-image/whole is the output of image_build() in tests/support/r2r-file.c.


if __name__ == '__main__':
    main()
