# SPDX-License-Identifier: MIT
"""The calls, one function each."""

from __future__ import annotations

import collections
from types import TracebackType
from typing import Callable, Iterable, Sequence, Type, TypeVar

from .connection import Connection, Deadline, parameters_of, socket_path
from .errors import CallError, ProtocolError, TimedOut
from .types import Answer, Body, Event, Process, Query, answer_of, event_of, listed_body_of, process_of

Row = TypeVar('Row')
# Maximum number of queries in one call; the daemon promises this limit.
BATCH = 4096
# Seconds.
TIMEOUT = 30.0


def integer(value: int, what: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f'{what} {value!r}: an integer from 0 to {most:#x} is expected')
    return value


def time_parameter(time: int | str | None) -> int | str | None:
    return time if time is None or isinstance(time, str) else integer(time, 'time', 2**63 - 1)


def process_parameters(pid: int | None, pid_ns: int | None) -> dict[str, object]:
    return {'pid': None if pid is None else integer(pid, 'pid', 2**31 - 1),
            'pid_ns': None if pid_ns is None else integer(pid_ns, 'pid_ns', 2**63 - 1)}


def query_parameters(query: Query) -> dict[str, object]:
    return {**process_parameters(query.pid, query.pid_ns), 'addr': hex(integer(query.address, 'address', 2**64 - 1)),
            'time': time_parameter(query.time)}


class Watch:
    """Iterates over loads and unloads of code while they happen; ends when the daemon ends.

    The first events are an EventKind.EPOCH for each watched process. Iteration waits without limit
    while nothing happens; next_event() has a timeout. A Watch must be closed, or used with `with`.
    """

    def __init__(self, connection: Connection, parameters: dict[str, object], timeout: float | None) -> None:
        self._connection, self._timeout = connection, timeout
        self._events: collections.deque[Event] = collections.deque()
        deadline = Deadline(timeout)
        try:
            connection.call('Watch', parameters, deadline, more=True)
            self._receive(deadline)
        except BaseException:
            connection.close()
            raise

    def _receive(self, deadline: Deadline) -> None:
        reply, _ = self._connection.receive(deadline)
        if not (reply.has('continues') and reply.truth('continues')):
            raise ProtocolError('the daemon has ended to watch without an error')
        self._events.extend(map(event_of, parameters_of(reply).rows('events')))

    def next_event(self, timeout: float | None = None) -> Event | None:
        """Returns the next event; None if nothing happens for TIMEOUT seconds (TIMEOUT None: no
        limit).

        Raises ConnectionFailed when the daemon ends, and TimedOut if it stops within a reply.
        """
        waiting = Deadline(timeout)
        try:
            while not self._events:
                if not self._connection.input:
                    try:
                        self._connection.fill(waiting)
                    except TimedOut:
                        return None
                self._receive(Deadline(self._timeout))
        except BaseException:
            self.close()
            raise
        return self._events.popleft()

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Event:
        event = self.next_event()
        assert event is not None
        return event

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: Type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()


class Client:
    """A connection to a daemon. A Client must be closed, or used with `with`; one thread may use
    it at a time."""

    def __init__(self, path: str | None = None, timeout: float | None = TIMEOUT) -> None:
        """PATH: the query socket; None: the socket that clrsym(1) finds. TIMEOUT of a call in
        seconds; None: no limit."""
        self._path, self._timeout = path or socket_path(), timeout
        self._connection = Connection(self._path, timeout)

    def _rows(self, method: str, parameters: dict[str, object], name: str, row_of: Callable[[object], Row],
              wait: float = 0.0) -> list[Row]:
        """Returns the rows in the array NAME of all replies to a call."""
        deadline = Deadline(None if self._timeout is None else self._timeout + wait)
        try:
            self._connection.call(method, parameters, deadline, more=True)
            return [row_of(row) for reply in self._connection.replies(deadline) for row in reply.rows(name)]
        except CallError:
            raise
        except BaseException:
            self.close()
            raise

    def ask(self, queries: Iterable[Query], wait: float = 0.0) -> list[Answer]:
        """Returns an answer for each query, in order.

        WAIT: seconds for which the daemon may wait for events that have not arrived yet.
        """
        asked = [query_parameters(query) for query in queries]
        answers: list[Answer] = []
        for begin in range(0, len(asked), BATCH):
            batch = asked[begin:begin + BATCH]
            got = self._rows('Resolve', {'queries': batch, 'wait_ms': round(wait * 1000)}, 'answers', answer_of, wait)
            if len(got) != len(batch):
                self.close()
                raise ProtocolError(f'the daemon sent {len(got)} answers to {len(batch)} queries')
            answers += got
        return answers

    def resolve(self, pid: int, addresses: Sequence[int], *, time: int | str | None = None,
                pid_ns: int | None = None, wait: float = 0.0) -> list[Answer]:
        """Returns an answer for each of the addresses of a process, at TIME; see Query and
        ask()."""
        return self.ask((Query(pid, address, time, pid_ns) for address in addresses), wait)

    def methods(self, pid: int | None = None, *, pid_ns: int | None = None, unloaded: bool = False,
                time: int | str | None = None) -> list[Body]:
        """Returns the native code bodies of a process, or of all processes: living bodies,
        bodies that lived at TIME, or all bodies (UNLOADED)."""
        parameters = process_parameters(pid, pid_ns) | {'all': unloaded, 'time': time_parameter(time)}
        return self._rows('ListMethods', parameters, 'methods', listed_body_of)

    def processes(self, pid: int | None = None, *, pid_ns: int | None = None) -> list[Process]:
        """Returns the processes that the daemon knows and that the user may see."""
        return self._rows('ListProcesses', process_parameters(pid, pid_ns), 'processes', process_of)

    def watch(self, pid: int | None = None, *, pid_ns: int | None = None) -> Watch:
        """Watches loads and unloads of a process, or of all processes, from now on; over a
        connection of its own."""
        parameters = process_parameters(pid, pid_ns)
        return Watch(Connection(self._path, self._timeout), parameters, self._timeout)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()


def connect(path: str | None = None, timeout: float | None = TIMEOUT) -> Client:
    """Connects to the daemon at PATH, or at the socket that clrsym(1) finds. Returns a Client."""
    return Client(path, timeout)
