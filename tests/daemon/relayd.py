# SPDX-License-Identifier: MIT
"""A stand-in for lttng-relayd, which sends recorded traces to viewers as if they were a live
session: in pieces, with mistakes, or damaged. Layouts: src/feed/viewer-wire.h."""

import contextlib
import dataclasses
import pathlib
import random
import socket
import struct
import threading

COMMANDS = {1: 'connect', 2: 'list', 3: 'attach', 4: 'index', 5: 'packet', 6: 'metadata', 7: 'streams',
            8: 'create', 9: 'detach'}
OK, RETRY, HUP, INACTIVE, NO_NEW, ALREADY = 1, 2, 3, 5, 2, 2
STREAMS_HUP = 4
NEW_METADATA, NEW_STREAM = 1, 2
# The header of a packet of lttng-ust, little-endian.
MAGIC, AT_CLASS, AT_INSTANCE, AT_BEGIN, AT_SIZE = 0xC1FC1FC1, 20, 24, 32, 56
HOST, SESSION = 'machine', 'session'
TIMER_US = 20_000


@dataclasses.dataclass
class Packet:
    data: bytes
    begin: int
    end: int
    content: int  # bits
    class_id: int
    instance_id: int
    size: int = 0  # bits, from the index

    def __post_init__(self):
        self.size = self.size or 8 * len(self.data)


@dataclasses.dataclass
class Stream:
    number: int
    trace: int
    packets: list
    at: int = 0
    beacons: int = 0  # beacons before the first packet
    announced: bool = True


def packets_of(path):
    """Returns the packets of a stream file."""
    data, offset = path.read_bytes(), 0
    while offset < len(data):
        magic, = struct.unpack_from('<I', data, offset)
        class_id, = struct.unpack_from('<I', data, offset + AT_CLASS)
        instance_id, = struct.unpack_from('<Q', data, offset + AT_INSTANCE)
        begin, end, content, size = struct.unpack_from('<4Q', data, offset + AT_BEGIN)
        if magic != MAGIC:
            raise ValueError(f'{path}: not a packet at {offset}')
        yield Packet(data[offset:offset + size // 8], begin, end, content, class_id, instance_id)
        offset += size // 8


class Relayd:
    """Listens from __enter__ to __exit__. Subclasses change the answers."""

    def __init__(self, traces, seed=1, pieces=None):
        """TRACES: directories with a metadata file. PIECES: maximum size of the pieces of a
        reply."""
        self.random = random.Random(seed)
        self.pieces = pieces
        self.metadata, self.streams = {}, {}
        self.has_ended = threading.Event()
        self.connection = None  # connection of the viewer
        self.log = []
        for trace, path in enumerate(traces):
            path = pathlib.Path(path)
            self.metadata[1000 + trace] = (path / 'metadata').read_bytes()
            for file in sorted(path.iterdir()):
                if file.is_file() and file.name != 'metadata' and file.stat().st_size:
                    number = len(self.streams) + 1
                    self.streams[number] = Stream(number, trace, list(packets_of(file)))
        self.sent = {number: 0 for number in self.metadata}

    def __enter__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.url = f'net://127.0.0.1:{self.port}/host/{HOST}/{SESSION}'
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.has_ended.set()
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while not self.has_ended.is_set():
                connection, _ = self.listener.accept()
                self.connection = connection
                with connection, contextlib.suppress(OSError, EOFError):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.begin()
                    self.serve(connection)

    def begin(self):
        """Moves all streams to their begin for a new viewer."""
        for stream in self.streams.values():
            stream.at = 0
        self.sent = {number: 0 for number in self.metadata}

    @staticmethod
    def receive(connection, size):
        data = b''
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def serve(self, connection):
        while True:
            size, command, _ = struct.unpack('>QII', self.receive(connection, 16))
            payload = self.receive(connection, size)
            name = COMMANDS[command]
            reply = self.reply(name, payload)
            if reply is None:
                return
            while reply:
                n = self.random.randint(1, self.pieces) if self.pieces else len(reply)
                connection.sendall(reply[:n])
                reply = reply[n:]

    def reply(self, name, payload):
        """Returns the reply; None: disconnect."""
        if name == 'metadata':
            return self.get_metadata(struct.unpack('>Q', payload)[0])
        return self.streams_reply(payload) if name == 'streams' else getattr(self, name)(payload)

    def connect(self, payload):
        return struct.pack('>QIII', 7, 2, 13, 1)

    def list(self, payload):
        return struct.pack('>I', 1) + struct.pack('>QIII64s255s', 5, TIMER_US, 0, 2, HOST.encode(),
                                                  SESSION.encode())

    def create(self, payload):
        return struct.pack('>I', OK)

    def detach(self, payload):
        return struct.pack('>I', OK)

    @staticmethod
    def row(number, trace, is_metadata):
        return struct.pack('>QQI4096s255s', number, trace, is_metadata, b'path', b'channel')

    def attach(self, payload):
        rows = [self.row(number, number - 1000, 1) for number in self.metadata]
        rows += [self.row(stream.number, stream.trace, 0) for stream in self.streams.values()
                 if stream.announced]
        return struct.pack('>II', OK, len(rows)) + b''.join(rows)

    def flags(self):
        return 0 if all(stream.announced for stream in self.streams.values()) else NEW_STREAM

    def index_reply(self, status, packet=None, offset=0, beacon=0, flags=None):
        numbers = (offset, packet.size, packet.content, packet.begin, packet.end, 0,
                   packet.class_id) if packet else (0, 0, 0, 0, beacon, 0, 0)
        return struct.pack('>7QII', *numbers, status, self.flags() if flags is None else flags)

    def index(self, payload):
        stream = self.streams[struct.unpack('>Q', payload)[0]]
        if stream.beacons > 0:
            stream.beacons -= 1
            return self.index_reply(INACTIVE, beacon=stream.packets[0].begin - 1000 * stream.beacons
                                    if stream.packets else 1)
        if stream.at == len(stream.packets):
            return self.index_reply(HUP)
        packet = stream.packets[stream.at]
        stream.at += 1
        return self.index_reply(OK, packet, offset=stream.at - 1)

    def packet(self, payload):
        number, at, _ = struct.unpack('>QQI', payload)
        data = self.streams[number].packets[at].data
        return struct.pack('>III', OK, len(data), 0) + data

    def metadata_piece(self, number):
        """Returns the size of the next piece of metadata."""
        return len(self.metadata[number]) - self.sent[number]

    def get_metadata(self, number):
        n = self.metadata_piece(number)
        if n == 0:
            return struct.pack('>QI', 0, NO_NEW)
        begin = self.sent[number]
        self.sent[number] += n
        return struct.pack('>QI', n, OK) + self.metadata[number][begin:begin + n]

    def streams_reply(self, payload):
        new = [stream for stream in self.streams.values() if not stream.announced]
        for stream in new:
            stream.announced = True
        if new:
            rows = b''.join(self.row(stream.number, stream.trace, 0) for stream in new)
            return struct.pack('>II', OK, len(new)) + rows
        over = all(stream.at == len(stream.packets) for stream in self.streams.values())
        return struct.pack('>II', STREAMS_HUP if over else NO_NEW, 0)
