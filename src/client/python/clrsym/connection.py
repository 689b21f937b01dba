# SPDX-License-Identifier: MIT
"""A connection to the query socket: calls and replies, with limits of bytes and time."""

from __future__ import annotations

import decimal
import json
import os
import socket
import time
from typing import Iterator, NoReturn

from .errors import CallError, ConnectionFailed, ProtocolError, TimedOut
from .members import Members, shown

INTERFACE = 'org.clrsym.Symbolizer'
SYSTEM_SOCKET = '/run/clrsym/query'
# Bytes: limit of one reply, which the daemon promises, and of all replies to one call.
MOST_REPLY, MOST_REPLIES = 16 << 20, 1 << 30
# Bytes: reserve above the daemon's limit, which does not count the members around a list.
AROUND = 1 << 16
READ = 1 << 18


def socket_path() -> str:
    """Returns the default socket: $CLRSYM_SOCKET, the user's own daemon, the system's daemon."""
    given = os.environ.get('CLRSYM_SOCKET')
    if given:
        return given
    directory = os.environ.get('XDG_RUNTIME_DIR')
    if directory:
        own = os.path.join(directory, 'clrsym', 'query')
        try:
            if os.stat(directory).st_uid == os.geteuid() and os.path.exists(own):
                return own
        except OSError:
            pass
    return SYSTEM_SOCKET


class Deadline:
    """The time at which a call gives up. SECONDS None: never."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Returns the remaining seconds; None: no limit. Raises TimedOut at the deadline."""
        if self.at is None:
            return None
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimedOut(f'the daemon did not answer within {self.seconds:g} s: try again, or give a longer timeout')
        return left


def not_a_number(text: str) -> NoReturn:
    raise ValueError(text)


def reply_of(data: bytes) -> Members:
    try:
        value = json.loads(data, parse_float=decimal.Decimal, parse_constant=not_a_number)
    except (ValueError, RecursionError, decimal.InvalidOperation) as error:
        raise ProtocolError(f'the daemon sent no JSON: {shown(data)} ({shown(str(error))}); '
                            'is that the query socket?') from None
    return Members(value, 'a reply')


def parameters_of(reply: Members) -> Members:
    return Members(reply.values.get('parameters'), 'parameters of a reply')


class Connection:
    """One connection. After an error other than CallError the connection is unusable, because it
    can be within a reply."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self.path = path
        self.input = bytearray()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.settimeout(timeout)
            self.socket.connect(path)
        except OSError as error:
            self.socket.close()
            raise ConnectionFailed(f'{path}: {error.strerror or error}; to start the daemon: '
                                   'systemctl start clrsymd.socket') from None

    def close(self) -> None:
        self.socket.close()

    def send(self, call: dict[str, object], deadline: Deadline) -> None:
        data = json.dumps(call).encode() + b'\0'
        try:
            self.socket.settimeout(deadline.left())
            self.socket.sendall(data)
        except TimeoutError:
            deadline.left()
            raise TimedOut('the daemon does not read') from None
        except OSError as error:
            raise ConnectionFailed(f'{self.path}: {error.strerror or error}') from None

    def fill(self, deadline: Deadline) -> None:
        """Receives some bytes."""
        try:
            self.socket.settimeout(deadline.left())
            data = self.socket.recv(READ)
        except TimeoutError:
            deadline.left()
            return
        except OSError as error:
            raise ConnectionFailed(f'{self.path}: {error.strerror or error}') from None
        if not data:
            raise ConnectionFailed(f'{self.path}: the daemon has closed the connection' +
                                   (' in the middle of a reply' if self.input else ''))
        self.input += data

    def receive(self, deadline: Deadline) -> tuple[Members, int]:
        """Returns (the next reply, its size). The reply arrives in pieces of any size."""
        searched = 0
        while (end := self.input.find(b'\0', searched)) < 0:
            searched = len(self.input)
            if searched > MOST_REPLY + AROUND:
                raise ProtocolError(f'the daemon sent a reply of more than {MOST_REPLY >> 20} MiB')
            self.fill(deadline)
        data = bytes(self.input[:end])
        del self.input[:end + 1]
        reply = reply_of(data)
        if reply.has('error'):
            reasons = Members(reply.values.get('parameters') or {}, 'an error').values.values()
            raise CallError(reply.text('error'), '; '.join(map(str, reasons)))
        return reply, end

    def call(self, method: str, parameters: dict[str, object], deadline: Deadline, more: bool = False) -> None:
        self.send({'method': f'{INTERFACE}.{method}', 'parameters': parameters, 'more': more}, deadline)

    def replies(self, deadline: Deadline) -> Iterator[Members]:
        """Yields the parameters of each reply to the call."""
        size, is_last = 0, False
        while not is_last:
            reply, n = self.receive(deadline)
            size += n
            if size > MOST_REPLIES:
                raise ProtocolError(f'the daemon sent replies of more than {MOST_REPLIES >> 20} MiB to one call')
            is_last = not (reply.has('continues') and reply.truth('continues'))
            yield parameters_of(reply)
