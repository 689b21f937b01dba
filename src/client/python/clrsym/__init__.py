# SPDX-License-Identifier: MIT
"""Names addresses in .NET processes: a client of clrsymd.

    import clrsym

    with clrsym.connect() as client:
        for answer in client.resolve(4711, [0x7ff36eaa1c70], time='-5s'):
            print(answer.symbol or answer.status.value)
        for body in client.methods(4711):
            print(hex(body.start), body.symbol, body.version.tier)
        with client.watch(4711) as events:
            for event in events:
                print(event.kind.value, event.body and event.body.symbol)

connect() and the functions of Client and Watch describe their parameters; the dataclasses, what is known of an answer.
Every error is a ClrsymError: ConnectionFailed, TimedOut, ProtocolError, or CallError with the daemon's reason.
A wrong argument is a ValueError. The manual is clrsym-protocol(7); what an answer means, clrsym-answers(7).
"""

from .client import Client, Watch, connect
from .errors import CallError, ClrsymError, ConnectionFailed, ProtocolError, TimedOut
from .types import (Answer, Body, Confidence, Event, EventKind, Inlined, Method, MethodName, Module, Process,
                    ProcessId, Query, Status, Version)

__all__ = ['Answer', 'Body', 'CallError', 'Client', 'ClrsymError', 'Confidence', 'ConnectionFailed', 'Event',
           'EventKind', 'Inlined', 'Method', 'MethodName', 'Module', 'Process', 'ProcessId', 'ProtocolError',
           'Query', 'Status', 'TimedOut', 'Version', 'Watch', 'connect']
