# SPDX-License-Identifier: MIT
"""`clrsym feed` as a viewer of a stand-in for lttng-relayd, which sends recorded traces: whole, in
pieces, damaged, and with wrong values. Damage costs no more than its packet.

test_viewer.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import collections
import contextlib
import json
import lzma
import os
import pathlib
import re
import socket
import struct
import subprocess
import tarfile
import time

from tests.daemon import relayd
from tests.live import live
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
MANY = 'pidns'  # a trace with several streams
CTF_DATA = HERE.parent / 'ctf' / 'data'
# KiB. Room for the packets of all streams and some more, but not for a forged length. A sanitizer
# needs more.
MAX_RSS = (256 if 'LD_PRELOAD' in os.environ else 64) << 10


# Size of a packet's header and context, whose last member is the processor.
EMPTY_PACKET = 84


class Feed:
    """A daemon, and a feeder that reads the session of RELAY."""

    def __init__(self, programs, directory, relay):
        self.programs, self.relay = programs, relay
        self.daemon = recorded.Daemon(programs, directory)
        self.log = self.daemon.directory / 'feed.log'
        self.output = self.daemon.directory / 'none'

    def __enter__(self):
        self.daemon.__enter__()
        with open(self.log, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                [self.programs.clrsym, 'feed', self.relay.url, '--socket', self.daemon.ingest,
                 '--relay-output', self.output], stderr=log, env=self.environment())
        return self

    def environment(self):
        return {**self.programs.environment, 'CLRSYM_SESSIONS': str(self.daemon.directory)}

    def __exit__(self, *_):
        self.process.terminate()
        self.code = self.process.wait(live.TIMEOUT)
        self.daemon.__exit__()

    def said(self):
        return self.log.read_text(encoding='utf-8')

    def bodies(self):
        return self.programs.ask(self.daemon.source, 'methods', '--all')

    def status(self):
        return json.loads(self.programs.ask(self.daemon.source, 'status')[0])

    def rss(self):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text(encoding='utf-8')
        return int(re.search(r'VmHWM:\s+(\d+)', text)[1])

    def read_all(self):
        """Waits until the session is over, and the daemon has all records."""
        live.wait_for('the end of the session', lambda: 'has no session' in self.said(),
                      self.process)
        live.wait_for('the daemon', lambda: self.status()['streams'] == 0
                      if 'streams' in self.status() else True, self.process)
        time.sleep(0.2)
        return self.bodies()


def check_whole(tap, programs, directory, name, trace, **options):
    """All records are the same as from the files."""
    wanted = programs.ask(['--trace', str(trace)], 'methods', '--all')
    with relayd.Relayd(recorded.ctf_directories(trace), **options) as relay, \
         Feed(programs, directory, relay) as feed:
        got = feed.read_all()
    tap.same_rows(got, wanted, f'{name}: what the files have')
    tap.equal(feed.code, 0, f'{name}: the feeder ends in order')


class Growing(relayd.Relayd):
    """Metadata in three pieces: the feeder asks for each when a packet needs it. One stream
    comes later, and one begins with beacons."""

    def __init__(self, traces, **options):
        super().__init__(traces, **options)
        first, second, *_ = self.streams.values()
        first.beacons, second.announced = 3, False
        self.n_refused = 0

    def begin(self):
        super().begin()
        self.allowed = {number: 0.3 for number in self.metadata}

    def whole(self, number):
        """Returns the permitted part of the stream, cut after a packet."""
        data, at = self.metadata[number], 0
        while at < len(data) * min(self.allowed[number], 1):
            at += struct.unpack_from('<I', data, at + 28)[0] // 8
        return at

    def metadata_piece(self, number):
        return self.whole(number) - self.sent[number]

    def packet(self, payload):
        number, _, _ = struct.unpack('>QQI', payload)
        trace = 1000 + self.streams[number].trace
        if self.sent[trace] < len(self.metadata[trace]):
            self.allowed[trace] += 0.4
            self.n_refused += 1
            return struct.pack('>III', 3, 0, relayd.NEW_METADATA)
        return super().packet(payload)


def test_growing(tap, programs, directory, trace):
    wanted = programs.ask(['--trace', str(trace)], 'methods', '--all')
    with Growing(recorded.ctf_directories(trace)) as relay, \
         Feed(programs, directory, relay) as feed:
        got = feed.read_all()
    tap.check(relay.n_refused > 0, 'growing: packets were refused before their metadata',
              relay.n_refused)
    tap.same_rows(got, wanted, 'growing: what the files have')


def bodies_of(rows):
    return collections.Counter((body['pid'], body['start'], body['loaded'])
                               for body in map(json.loads, rows))


def without(programs, directory, trace, file, at):
    """Returns the contents of the files without one packet."""
    copy = pathlib.Path(directory) / 'without'
    subprocess.run(['rm', '-rf', copy], check=True)
    subprocess.run(['cp', '-r', trace, copy], check=True)
    path = copy / file.relative_to(trace)
    kept = [packet.data for i, packet in enumerate(relayd.packets_of(path)) if i != at]
    path.write_bytes(b''.join(kept))
    return bodies_of(programs.ask(['--trace', str(copy)], 'methods', '--all'))


DAMAGES = {
    'no magic number': lambda data: b'\0' * 4 + data[4:],
    'the head of another trace': lambda data: data[:4] + bytes(16) + data[20:],
    'a content that is longer than it': lambda data: data[:48] + struct.pack('<Q', 1 << 62) + data[56:],
    'a size of nothing': lambda data: data[:56] + struct.pack('<Q', 0) + data[64:],
    'events of no class': lambda data: data[:84] + b'\xfe' * 96 + data[180:],
    'lengths beyond everything': lambda data: data[:300] + b'\xff' * 600 + data[900:],
    'half of it': lambda data: data[:len(data) // 2],
    'nothing': lambda data: b'',
}


def test_many_processors(tap, programs, directory, trace):
    """A machine with many processors: each has a stream, most of which are empty."""
    n = 200
    copy = pathlib.Path(directory) / 'many'
    subprocess.run(['cp', '-r', trace, copy], check=True)
    one, = recorded.ctf_directories(copy)
    file = max(path for path in one.iterdir() if path.is_file() and path.name != 'metadata')
    packet = next(relayd.packets_of(file))
    for number in range(2, n):
        head = bytearray(packet.data[:EMPTY_PACKET])
        struct.pack_into('<Q', head, relayd.AT_INSTANCE, number)
        struct.pack_into('<2Q', head, relayd.AT_SIZE - 8, 8 * EMPTY_PACKET, 8 * 4096)
        struct.pack_into('<I', head, EMPTY_PACKET - 4, number)
        (one / f'ch_{number}').write_bytes(head.ljust(4096, b'\0'))
    wanted = programs.ask(['--trace', str(trace)], 'methods', '--all')
    tap.same_rows(programs.ask(['--trace', str(copy)], 'methods', '--all'), wanted,
                  f'{n} processors, from files')
    with relayd.Relayd([one]) as relay, Feed(programs, directory, relay) as feed:
        got, gaps = feed.read_all(), feed.status()['gaps']
    tap.same_rows(got, wanted, f'{n} processors, live')
    tap.equal((len(relay.streams), gaps), (n, 0), f'{n} streams, without a gap')


def test_damaged(tap, programs, directory, trace):
    """One packet of one stream is damaged: the feeder reads all others."""
    directories = recorded.ctf_directories(trace)
    file = max((path for one in directories for path in one.iterdir()
                if path.is_file() and path.name != 'metadata'),
               key=lambda path: (len(list(relayd.packets_of(path))), path.stat().st_size))
    n_packets = len(list(relayd.packets_of(file)))
    at = n_packets // 2
    whole = bodies_of(programs.ask(['--trace', str(trace)], 'methods', '--all'))
    least = without(programs, directory, trace, file, at)
    for name, damage in DAMAGES.items():
        with relayd.Relayd(directories) as relay:
            stream = next(one for one in relay.streams.values()
                          if [packet.data for packet in one.packets] ==
                          [packet.data for packet in relayd.packets_of(file)])
            packet = stream.packets[at]
            packet.data = damage(packet.data)
            with Feed(programs, directory, relay) as feed:
                got = bodies_of(feed.read_all())
                rss, status, said = feed.rss(), feed.status(), feed.said()
        missing = {body for body in least - got if body in whole}
        tap.check(not missing, f'{name}: all other packets are read ({sum(got.values())} of '
                  f'{sum(whole.values())} bodies)', len(missing), *list(missing)[:5], said)
        tap.check(status['gaps'] > 0, f'{name}: it is a gap', status)
        tap.check(said.count('the events of one packet of stream') == 1, f'{name}: the reason is printed, once', said)
        tap.check(rss < MAX_RSS, f'{name}: {rss >> 10} MiB of memory', said)


def relay_index(packets):
    """Returns the index that lttng-relayd writes beside a stream file: src/feed/relay-files.c."""
    index, at = struct.pack('>IIII', 0xC1F1DCC1, 1, 1, 72), 0
    for number, packet in enumerate(packets):
        index += struct.pack('>9Q', at, packet.size, packet.content, packet.begin, packet.end, 0,
                             packet.class_id, packet.instance_id, number)
        at += len(packet.data)
    return index


def relay_files(output, users):
    """Writes the files of a session as lttng-relayd does: UID -> directory of a trace. The
    session is over, because there is a newer one. Returns the largest stream file of the
    first user."""
    host = output / socket.gethostname()
    (host / 'session-20261122-110000' / 'ust').mkdir(parents=True)
    largest = None
    for uid, trace in users.items():
        place = host / 'session-20261122-100000' / 'ust' / 'uid' / str(uid) / '64-bit'
        (place / 'index').mkdir(parents=True)
        for file in (path for path in trace.iterdir() if path.is_file()):
            copy = place / file.name
            copy.write_bytes(file.read_bytes())
            if file.name != 'metadata':
                (place / 'index' / (file.name + '.idx')).write_bytes(
                    relay_index(relayd.packets_of(file)))
                if uid == min(users) and (not largest or copy.stat().st_size > largest.stat().st_size):
                    largest = copy
    return largest


def test_damaged_files(tap, programs, directory, traces):
    """A packet of one user is damaged in the files of lttng-relayd: other users lose nothing,
    and this user only the packet."""
    users = {1000: max(recorded.ctf_directories(traces[MANY]),
                       key=lambda one: sum(file.stat().st_size for file in one.iterdir())),
             # The trace of other buffers, because between two sessions of the same buffers there is
             # a gap.
             1001: recorded.ctf_directories(traces['perpid'])[0]}
    whole = [bodies_of(programs.ask(['--trace', str(trace)], 'methods', '--all'))
             for trace in users.values()]
    for name in 'no magic number', 'events of no class', 'lengths beyond everything', 'no damage':
        with relayd.Relayd([]) as relay, Feed(programs, directory, relay) as feed:
            relay.attach = lambda _: struct.pack('>II', relayd.ALREADY, 0)
            least = whole[0]
            output = pathlib.Path(directory) / f'files-{name.replace(" ", "-")}'
            file = relay_files(output, users)
            if name != 'no damage':
                packets = list(relayd.packets_of(file))
                at = len(packets) // 2
                least = without(programs, directory, users[1000], users[1000] / file.name, at)
                packets[at].data = DAMAGES[name](packets[at].data)
                file.write_bytes(b''.join(packet.data for packet in packets))
            output.rename(feed.output)
            live.wait_for('the files', lambda: 'caught up' in feed.said(), feed.process)
            # Each round reads the packets of some time; the last round closes the streams.
            live.wait_for('the daemon', lambda: not whole[1] - bodies_of(feed.bodies()), feed.process)
            live.wait_for('the rest', lambda: not least - bodies_of(feed.bodies()), feed.process)
            status, rss, said = feed.status(), feed.rss(), feed.said()
        is_damaged = name != 'no damage'
        tap.check((status['gaps'] > 0) == is_damaged,
                  f'files, {name}: all {"else " if is_damaged else ""}is read, '
                  f'with {"a" if is_damaged else "no"} gap', status, said)
        tap.check(rss < MAX_RSS, f'files, {name}: {rss >> 10} MiB of memory')


class Wrong(relayd.Relayd):
    """Makes one mistake for the first viewers, and then none."""

    def __init__(self, traces, name, reply, times=1):
        super().__init__(traces)
        self.name, self.wrong, self.times = name, reply, times

    def reply(self, name, payload):
        if name == self.name and self.times > 0:
            self.times -= 1
            return self.wrong
        return super().reply(name, payload)


LIES = {
    'another version': ('connect', struct.pack('>QIII', 1, 3, 0, 1)),
    'an older version': ('connect', struct.pack('>QIII', 1, 2, 3, 1)),
    'no protocol at all': ('connect', b'HTTP/1.1 400 Bad Request\r\n\r\n'),
    'no viewer session': ('create', struct.pack('>I', 2)),
    'too many sessions': ('list', struct.pack('>I', 0xFFFFFFFF)),
    'too many streams': ('attach', struct.pack('>II', 1, 0xFFFFFFFF)),
    'another viewer': ('attach', struct.pack('>II', relayd.ALREADY, 0)),
    'an unknown status of attaching': ('attach', struct.pack('>II', 99, 0)),
    'an unknown status of an index': ('index', struct.pack('>7QII', *[0] * 7, 99, 0)),
    'too much metadata': ('metadata', struct.pack('>QI', 1 << 62, 1)),
    'a packet that is too large': ('packet', struct.pack('>III', 1, 0xFFFFFFFF, 0)),
    'it hangs up': ('packet', None),
    'half a packet, and it hangs up': ('metadata', None),
}


def test_lies(tap, programs, directory, trace):
    wanted = programs.ask(['--trace', str(trace)], 'methods', '--all')
    for name, (command, reply) in LIES.items():
        with Wrong(recorded.ctf_directories(trace), command, reply) as relay, \
             Feed(programs, directory, relay) as feed:
            got = feed.read_all()
            rss = feed.rss()
        tap.check(collections.Counter(got) == collections.Counter(wanted) and feed.code == 0 and
                  rss < MAX_RSS, f'{name}: the feeder goes on, and has everything in the end',
                  len(got), len(wanted), rss, feed.said())


class Cut(relayd.Relayd):
    """Disconnects the first viewer after N bytes of replies."""

    def __init__(self, traces, n):
        super().__init__(traces)
        self.left = n

    def serve(self, connection):
        if self.left <= 0:
            super().serve(connection)
            return
        while True:
            size, command, _ = struct.unpack('>QII', self.receive(connection, 16))
            reply = self.reply(relayd.COMMANDS[command], self.receive(connection, size))
            if len(reply) >= self.left:
                connection.sendall(reply[:self.left])
                self.left = 0
                return
            self.left -= len(reply)
            connection.sendall(reply)


def test_cut(tap, programs, directory, trace):
    wanted = programs.ask(['--trace', str(trace)], 'methods', '--all')
    for n in (1, 19, 21, 25, 40, 360, 390, 5000, 9500, 14_000, 100_000, 300_000):
        with Cut(recorded.ctf_directories(trace), n) as relay, \
             Feed(programs, directory, relay) as feed:
            got = feed.read_all()
        tap.check(collections.Counter(got) == collections.Counter(wanted),
                  f'cut after {n} bytes: everything arrives in the end', len(got), len(wanted),
                  feed.said())


class Late(relayd.Relayd):
    """First has packets but only the begin of the metadata, without any stream's declaration."""

    N_ROUNDS, N_DECLARATIONS = 3, 3

    def __init__(self, traces):
        super().__init__(traces)
        self.n_left = dict.fromkeys(self.metadata, self.N_ROUNDS)

    def metadata_piece(self, number):
        if self.n_left[number] == 0:
            return super().metadata_piece(number)
        first = b'\x1e'.join(self.metadata[number].split(b'\x1e')[:self.N_DECLARATIONS + 1])
        return len(first) - self.sent[number]

    def get_metadata(self, number):
        if self.metadata_piece(number) == 0:
            self.n_left[number] = max(self.n_left[number] - 1, 0)
            return struct.pack('>QI', 0, relayd.NO_NEW)
        return super().get_metadata(number)


def check_ctf2(tap, programs, directory, name):
    """A trace of LTTng 2.16, with JSON metadata, is compared with the loads in the output of
    sink.clrsym.dump."""
    target = pathlib.Path(directory) / name
    with tarfile.open(CTF_DATA / name / 'trace.tar.xz') as archive:
        archive.extractall(target)
    dump = map(json.loads, lzma.open(CTF_DATA / name / 'dump.xz', 'rt'))
    # The stored dump lacks the later version of an event; add its loads.
    n_loads = sum(row['event'].startswith('MethodLoad') for row in dump) + 1
    for what, kind in {'': relayd.Relayd, ', late metadata': Late}.items():
        with kind(recorded.ctf_directories(target)) as relay, \
             Feed(programs, directory, relay) as feed:
            feed.read_all()
            status = feed.status()
        tap.check(0 < n_loads == status['method_loads'], f'CTF 2, {name}{what}: {n_loads} loads',
                  status, feed.said())


def test(tap, programs, directory, names):
    traces = recorded.unpack(directory, ['hello', 'perpid', MANY, 'emit'])
    with contextlib.suppress(KeyError):
        tap.note(f'{MANY}: {len(list(traces[MANY].rglob("*")))} files')
    for name in ('hello', 'perpid', MANY):
        check_whole(tap, programs, directory, name, traces[name])
    check_whole(tap, programs, directory, 'in pieces', traces['emit'], pieces=999)
    for name in ('lttng216-n2', 'lttng216-p2'):
        check_ctf2(tap, programs, directory, name)
    test_growing(tap, programs, directory, traces[MANY])
    test_many_processors(tap, programs, directory, traces['emit'])
    test_damaged(tap, programs, directory, traces[MANY])
    test_damaged_files(tap, programs, directory, traces)
    test_lies(tap, programs, directory, traces['emit'])
    test_cut(tap, programs, directory, traces['emit'])


if __name__ == '__main__':
    live.end_orderly()
    recorded.main(test)
