# SPDX-License-Identifier: MIT
"""Calls of the daemon's JSON protocol on one connection, and the unparsed replies. For tests of a daemon's state,
because the client takes more time than the answers, above all with sanitizers."""

import collections
import json
import re
import socket

INTERFACE = 'org.clrsym.Symbolizer'
# Queries of one call.
BATCH = 1000

DECODE = json.JSONDecoder().raw_decode


class Calls:
    """The client's end of a connection."""

    def __init__(self, connection):
        self.socket = connection
        # Unread complete replies, and the bytes after them.
        self.replies, self.input = collections.deque(), b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def call(self, method, more=False, **parameters):
        self.send(json.dumps({'method': f'{INTERFACE}.{method}', 'parameters': parameters,
                              'more': more}).encode() + b'\0')

    def raw_reply(self):
        """The bytes of the next reply; None: end of file."""
        if self.replies:
            return self.replies.popleft()
        parts = [self.input]
        while b'\0' not in parts[-1]:
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionResetError:  # it disconnected before it read our calls
                data = b''
            if not data:
                self.input = b''.join(parts)
                return None
            parts.append(data)
        *replies, self.input = b''.join(parts).split(b'\0')
        self.replies.extend(replies)
        return self.replies.popleft()

    def reply(self):
        reply = self.raw_reply()
        return reply and json.loads(reply)

    def ask(self, method, **parameters):
        """The bytes of the reply."""
        self.call(method, **parameters)
        return self.raw_reply()

    def rows(self, method, member, **parameters):
        """The rows of a list as texts, as `clrsym --json` prints them."""
        self.call(method, more=True, **parameters)
        rows, is_last = [], False
        while not is_last:
            reply = self.raw_reply()
            if reply is None:
                raise RuntimeError(f'{method}: no reply')
            text = reply.decode()
            head = re.match(r'\{"parameters":\{"%s":\[' % member, text)
            if not head:
                raise RuntimeError(f'{method}: {text[:400]}')
            at = head.end()
            while text[at] != ']':
                end = DECODE(text, at)[1]
                rows.append(text[at:end])
                at = end + (text[end] == ',')
            is_last = '"continues":true' not in text[at:]
        return rows

    def answers(self, probes):
        """Answers to rows of probes.tsv, as texts without the epochs, which differ by daemon."""
        return [re.sub(r',"epoch":\d+\}$', '}', answer)
                for queries in batches(probes)
                for answer in self.rows('Resolve', 'answers', queries=queries)]


def batches(probes, n=BATCH):
    """Queries for rows of probes.tsv, N in each call."""
    queries = [{'pid': int(row['pid']), 'pid_ns': int(row['pid_ns']), 'addr': row['addr'],
                'time': int(row['time_ns'])} for row in probes]
    return [queries[at:at + n] for at in range(0, len(queries), n)]


def connect(path, timeout=300):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    connection.connect(str(path))
    return Calls(connection)
