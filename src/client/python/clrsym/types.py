# SPDX-License-Identifier: MIT
"""The answers of a daemon. clrsym-protocol(7) and clrsym-answers(7) describe each member.

Times are ns of CLOCK_MONOTONIC; addresses and ids are numbers. Unknown values are None.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Type, TypeVar

from .errors import ProtocolError
from .members import MOST_UNSIGNED, NS, Members, shown

MS = 10**6
Kind = TypeVar('Kind', bound=enum.Enum)


class Status(enum.Enum):
    """The result for the address at the time."""

    OK = 'ok'
    NO_PROCESS = 'no-process'
    NO_METHOD = 'no-method'
    UNLOADED = 'unloaded'
    NOT_YET = 'not-yet'
    AMBIGUOUS = 'ambiguous'
    PENDING = 'pending'
    EVICTED = 'evicted'
    INVALID = 'invalid'


class Confidence(enum.Enum):
    """How certain an answer is."""

    EXACT = 'exact'
    ASSUMED = 'assumed'
    PROVISIONAL = 'provisional'
    GAP = 'gap'


class EventKind(enum.Enum):
    """The kind of a Watch event. After RESYNC a client must drop all cached answers."""

    LOAD = 'load'
    UNLOAD = 'unload'
    EPOCH = 'epoch'
    RESYNC = 'resync'


def kind_of(members: Members, name: str, kinds: Type[Kind]) -> Kind:
    try:
        return kinds(members.values.get(name))
    except ValueError:
        raise ProtocolError(f'the daemon sent {shown(members.values.get(name))} as {name} of {members.what}, which '
                            'this version of the module does not know: is the daemon newer?') from None


@dataclasses.dataclass(frozen=True)
class Query:
    """A question: the method at ADDRESS of the process PID at TIME.

    time: ns of CLOCK_MONOTONIC, or text as ParseTime takes it, such as "-5s"; None: the newest state.
    pid_ns: the inode of the pid namespace in which PID counts; None: as clrsym-protocol(7), VALUES, describes.
    """

    pid: int
    address: int
    time: int | str | None = None
    pid_ns: int | None = None


@dataclasses.dataclass(frozen=True)
class MethodName:
    """The parts of a method's name, as the runtime has them; NAMESPACE contains the type."""

    namespace: str | None
    name: str | None
    signature: str | None


@dataclasses.dataclass(frozen=True)
class Method:
    """A method. stub_for: the method that the runtime made this IL stub for."""

    id: int
    namespace: str | None
    name: str | None
    signature: str | None
    token: str | None
    il_size: int | None
    type_args: str | None
    stub_for: MethodName | None


@dataclasses.dataclass(frozen=True)
class Version:
    """One native code version of a method."""

    rejit_id: int
    il_version: int | None
    tier: str


@dataclasses.dataclass(frozen=True)
class Module:
    """The module of a method, and its PDB."""

    id: int
    path: str | None
    pdb_guid: str | None
    pdb_path: str | None


@dataclasses.dataclass(frozen=True)
class Inlined:
    """A method that the JIT inlined at an address."""

    method: str | None
    il_offset: int | None


@dataclasses.dataclass(frozen=True)
class Body:
    """A native code body with its life. OFFSET and all IL members belong to the address in the
    query; without a query they are None.

    size: bytes; None: only START is known. unloaded: None while the body lives. jit_ns: the
    duration of its compilation. pid, pid_ns, generation: only in lists and events.
    """

    symbol: str
    start: int
    size: int | None
    method: Method
    version: Version
    module: Module | None
    flag_names: tuple[str, ...]
    source: str
    loaded: int | None
    unloaded: int | None
    jit_ns: int | None
    offset: int | None
    il_offset: int | None
    il_kind: str | None
    line_il_offset: int | None
    inlined: tuple[Inlined, ...]
    pid: int | None
    pid_ns: int | None
    generation: int | None


@dataclasses.dataclass(frozen=True)
class ProcessId:
    """A process that an ambiguous query can mean."""

    pid: int
    pid_ns: int


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to one query.

    body: with Status.OK. nearest: the body that was there before or is there later; distance_ns:
    from the time of the query to the life of that body, negative if the life was over. candidates:
    with Status.AMBIGUOUS, the first 16 of N_CANDIDATES. reason: with Status.INVALID. epoch: see
    WHAT MAY BE KEPT in clrsym-protocol(7).
    """

    address: int | None
    time: int | None
    pid: int | None
    pid_ns: int | None
    status: Status
    confidence: Confidence | None
    body: Body | None
    nearest: Body | None
    distance_ns: int | None
    candidates: tuple[Body | ProcessId, ...]
    n_candidates: int
    reason: str | None
    horizon: int | None
    epoch: int | None

    @property
    def symbol(self) -> str | None:
        """The name for people; None if there is no name or no certain name."""
        return self.body.symbol if self.body else None


@dataclasses.dataclass(frozen=True)
class Process:
    """A process that the daemon knows. since, last: the first and the latest event. exited: its end, or None."""

    pid: int
    pid_ns: int
    generation: int
    state: str
    runtime: str | None
    runtime_path: str | None
    command: str | None
    bodies: int
    live: int
    modules: int
    since: int
    from_start: bool
    last: int
    exited: int | None
    gap_since: int | None
    horizon: int
    epoch: int
    uid: int | None


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of Watch. With EventKind.RESYNC all members except KIND are None; BODY is only
    set for loads and unloads."""

    kind: EventKind
    pid: int | None
    pid_ns: int | None
    generation: int | None
    epoch: int | None
    body: Body | None


def method_name_of(members: Members) -> MethodName:
    return MethodName(members.text_or_none('namespace'), members.text_or_none('name'),
                      members.text_or_none('signature'))


def method_of(value: object) -> Method:
    members = Members(value, 'a method')
    stub = Members(members.values['stub_for'], 'the method of a stub') if members.has('stub_for') else None
    return Method(id=members.hexadecimal('id'), namespace=members.text_or_none('namespace'),
                  name=members.text_or_none('name'), signature=members.text_or_none('signature'),
                  token=members.text_or_none('token'), il_size=members.number_or_none('il_size'),
                  type_args=members.text_or_none('type_args'), stub_for=method_name_of(stub) if stub else None)


def version_of(value: object) -> Version:
    members = Members(value, 'a version')
    return Version(members.number('rejit_id'), members.number_or_none('il_version'), members.text('tier'))


def module_of(value: object) -> Module:
    members = Members(value, 'a module')
    return Module(members.hexadecimal('id'), members.text_or_none('path'), members.text_or_none('pdb_guid'),
                  members.text_or_none('pdb_path'))


def inlined_of(value: object) -> Inlined:
    members = Members(value, 'an inlined method')
    return Inlined(members.text_or_none('method'), members.number_or_none('il_offset'))


def body_of(members: Members) -> Body:
    return Body(
        symbol=members.text('symbol'), start=members.hexadecimal('start'),
        size=members.number_or_none('size'), method=method_of(members.values.get('method')),
        version=version_of(members.values.get('version')),
        module=module_of(members.values['module']) if members.has('module') else None,
        flag_names=members.texts('flag_names'), source=members.text('source'),
        loaded=members.time_or_none('loaded'), unloaded=members.time_or_none('unloaded'),
        jit_ns=members.scaled_or_none('jit_ms', MS), offset=members.number_or_none('offset', MOST_UNSIGNED),
        il_offset=members.number_or_none('il_offset'), il_kind=members.text_or_none('il_kind'),
        line_il_offset=members.number_or_none('line_il_offset'),
        inlined=tuple(map(inlined_of, members.rows('inlined'))) if members.has('inlined') else (),
        pid=members.number_or_none('pid'), pid_ns=members.number_or_none('pid_ns', MOST_UNSIGNED),
        generation=members.number_or_none('generation'))


def candidate_of(value: object) -> Body | ProcessId:
    members = Members(value, 'a candidate')
    if members.has('start'):
        return body_of(members)
    return ProcessId(members.number('pid'), members.number('pid_ns', MOST_UNSIGNED))


def answer_of(value: object) -> Answer:
    members = Members(value, 'an answer')
    status = kind_of(members, 'status', Status)
    nearest = Members(members.values['nearest'], 'a body') if members.has('nearest') else None
    return Answer(
        address=members.hexadecimal('addr') if status is not Status.INVALID else None,
        time=members.time_or_none('time'), pid=members.number_or_none('pid'),
        pid_ns=members.number_or_none('pid_ns', MOST_UNSIGNED), status=status,
        confidence=kind_of(members, 'confidence', Confidence) if members.has('confidence') else None,
        body=body_of(members) if status is Status.OK else None, nearest=body_of(nearest) if nearest else None,
        distance_ns=nearest.scaled_or_none('distance', NS) if nearest else None,
        candidates=tuple(map(candidate_of, members.rows('candidates'))) if members.has('candidates') else (),
        n_candidates=members.number_or_none('n_candidates') or 0, reason=members.text_or_none('reason'),
        horizon=members.time_or_none('horizon'), epoch=members.number_or_none('epoch', MOST_UNSIGNED))


def process_of(value: object) -> Process:
    members = Members(value, 'a process')
    return Process(
        pid=members.number('pid'), pid_ns=members.number('pid_ns', MOST_UNSIGNED),
        generation=members.number('generation'), state=members.text('state'),
        runtime=members.text_or_none('runtime'), runtime_path=members.text_or_none('runtime_path'),
        command=members.text_or_none('command'), bodies=members.number('bodies'), live=members.number('live'),
        modules=members.number('modules'), since=members.time('since'), from_start=members.truth('from_start'),
        last=members.time('last'), exited=members.time_or_none('exited'),
        gap_since=members.time_or_none('gap_since'), horizon=members.time('horizon'),
        epoch=members.number('epoch', MOST_UNSIGNED), uid=members.number_or_none('uid'))


def listed_body_of(value: object) -> Body:
    return body_of(Members(value, 'a body'))


def event_of(value: object) -> Event:
    members = Members(value, 'an event')
    kind = kind_of(members, 'event', EventKind)
    if kind is EventKind.RESYNC:
        return Event(kind, None, None, None, None, None)
    return Event(kind=kind, pid=members.number('pid'), pid_ns=members.number('pid_ns', MOST_UNSIGNED),
                 generation=members.number('generation'), epoch=members.number('epoch', MOST_UNSIGNED),
                 body=body_of(members) if kind is not EventKind.EPOCH else None)
