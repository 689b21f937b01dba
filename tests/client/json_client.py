# SPDX-License-Identifier: MIT
"""Names addresses over the JSON form of clrsym-protocol(7), from which alone it is written.

    json_client.py SOCKET < LINES

A line is "[PIDNS:]PID ADDR [TIME]"; for each, a line comes: a JSON array of what ROW names.
"""

import json
import socket
import sys

BATCH = 4096
ROW = ('status', 'confidence', 'namespace', 'name', 'signature', 'module', 'method', 'rejit_id',
       'il_version', 'tier', 'start', 'size', 'il_kind', 'il_offset', 'loaded', 'unloaded',
       'distance', 'stub_for')


class Failed(Exception):
    """Another answer of the daemon, or a disconnect."""


def query_from_line(line):
    who, address, *times = line.split()
    namespace, _, pid = who.rpartition(':')
    query = {'pid': int(pid), 'addr': address}
    if namespace:
        query['pid_ns'] = int(namespace)
    if times:
        query['time'] = times[0]
    return query


def nanoseconds(text):
    """Returns a time or a distance, "S.NNNNNNNNN", exactly."""
    return text if text is None else int(text.replace('.', ''))


def row_of(answer):
    body = answer.get('nearest', answer)
    method, version, module = (body.get(key) or {} for key in ('method', 'version', 'module'))
    stub = method.get('stub_for')
    return (answer['status'], answer['confidence'], method.get('namespace'), method.get('name'),
            method.get('signature'), module.get('path'), method.get('id'),
            version.get('rejit_id'), version.get('il_version'), version.get('tier'),
            body.get('start'), body.get('size'), body.get('il_kind'), body.get('il_offset'),
            nanoseconds(body.get('loaded')), nanoseconds(body.get('unloaded')),
            nanoseconds(body.get('distance')), stub and list(stub.values()))


class Client:
    """A connection to a daemon."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.input = b''

    def call(self, method, **parameters):
        call = {'method': 'org.clrsym.Symbolizer.' + method, 'parameters': parameters}
        self.socket.sendall(json.dumps(call).encode() + b'\0')
        while b'\0' not in self.input:
            data = self.socket.recv(1 << 16)
            if not data:
                raise Failed('the daemon has hung up')
            self.input += data
        text, _, self.input = self.input.partition(b'\0')
        reply = json.loads(text, parse_float=str)  # a float would lose digits
        if 'error' in reply:
            raise Failed(f'{reply["error"]}: {reply["parameters"]}')
        return reply['parameters']

    def resolve(self, queries):
        """Returns a row for each query."""
        return map(row_of, self.call('Resolve', queries=queries)['answers'])


def main():
    client = Client(sys.argv[1])
    queries = [query_from_line(line) for line in sys.stdin]
    for begin in range(0, len(queries), BATCH):
        for row in client.resolve(queries[begin:begin + BATCH]):
            print(json.dumps(row))


if __name__ == '__main__':
    main()
