# SPDX-License-Identifier: MIT
"""The same client as json_client.py over the binary form of clrsym-protocol(7), which is its only
source.

    bulk_client.py SOCKET < LINES
"""

import json
import socket
import struct
import sys

HEADER = struct.Struct('<IHHII')
QUERY = struct.Struct('<QQQiI')
NAME = struct.Struct('<II')
ANSWER = struct.Struct('<6BHIIi9I6Qq')
STUB = struct.Struct('<III4x')
QUERIES, NAMES, FORGET, ANSWERS, ERROR, STUBS = 1, 16, 17, 19, 20, 21
HAS_PID_NS, HAS_TIME = 1, 2  # flags of queries
HAS_BODY, HAS_IL_VERSION, HAS_DISTANCE = 1, 2, 4  # flags of answers
NO_PROCESS, ALIVE = (1 << 32) - 1, (1 << 64) - 1
STATUS = 'ok no-process no-method unloaded not-yet ambiguous pending evicted invalid'.split()
CONFIDENCE = 'exact assumed provisional gap'.split()
TIER = ('Unknown MinOptJitted Optimized QuickJitted OptimizedTier1 OptimizedTier1OSR '
        'InstrumentedTier InstrumentedTierOptimized ReadyToRun').split()
IL_KIND = [None, 'exact', 'prolog', 'epilog', 'no-mapping']


def query_from_line(line):
    who, address, *times = line.split()
    namespace, _, pid = who.rpartition(':')
    flags = (HAS_PID_NS if namespace else 0) | (HAS_TIME if times else 0)
    seconds, point, fraction = (times or ['0'])[0].partition('.')
    time = int(seconds) * 10**9 + int(fraction.ljust(9, '0')[:9]) if point else int(seconds)
    return QUERY.pack(int(address, 16), time, int(namespace or 0), int(pid), flags)


class Client:
    """A connection to a daemon in binary form; keeps the names that the daemon has sent."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.input = self.socket.makefile('rb')
        self.names = {}
        self.stubs = []
        self.socket.sendall(b'{"method":"org.clrsym.Symbolizer.Bulk",'
                            b'"parameters":{"version":2},"upgrade":true}\0')
        reply = json.loads(b''.join(iter(lambda: self.read(1), b'\0')))
        self.batch = reply['parameters'].get('max_queries') or sys.exit(reply['error'])

    def read(self, n):
        return self.input.read(n) or sys.exit('the daemon has hung up')

    def row_of(self, row):
        (status, confidence, _, tier, il_kind, flags, _, process, size, il_offset, _, _,
         rejit_id, _, namespace, name, signature, module, stub, start, method, _, loaded, unloaded,
         il_version, distance) = row
        head = STATUS[status], None if process == NO_PROCESS else CONFIDENCE[confidence]
        if not flags & HAS_BODY:
            return *head, *[None] * 16
        return (*head, *(self.names.get(i) for i in (namespace, name, signature, module)),
                hex(method), rejit_id, il_version if flags & HAS_IL_VERSION else None, TIER[tier],
                hex(start), size or None, IL_KIND[il_kind],
                il_offset if IL_KIND[il_kind] == 'exact' else None, loaded or None,
                None if unloaded == ALIVE else unloaded,
                distance if flags & HAS_DISTANCE else None,
                [self.names.get(i) for i in self.stubs[stub - 1]] if stub else None)

    def learn(self, payload):
        at = 0
        while at < len(payload):
            number, n = NAME.unpack_from(payload, at)
            at += NAME.size + n
            self.names[number] = payload[at - n:at].decode()

    def resolve(self, queries):
        """Returns a row for each query."""
        payload = b''.join(queries)
        self.socket.sendall(HEADER.pack(len(payload), QUERIES, 0, 0, 0) + payload)
        while True:
            size, kind, _, _, _ = HEADER.unpack(self.read(HEADER.size))
            payload = self.read(size) if size else b''
            if kind == NAMES:
                self.learn(payload)
            elif kind == FORGET:
                self.names.clear()
            elif kind == STUBS:
                self.stubs = list(STUB.iter_unpack(payload))
            elif kind == ERROR:
                sys.exit(payload.decode())
            elif kind == ANSWERS:
                return map(self.row_of, ANSWER.iter_unpack(payload))


def main():
    client = Client(sys.argv[1])
    queries = [query_from_line(line) for line in sys.stdin]
    for begin in range(0, len(queries), client.batch):
        for row in client.resolve(queries[begin:begin + client.batch]):
            print(json.dumps(row))


if __name__ == '__main__':
    main()
