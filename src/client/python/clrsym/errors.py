# SPDX-License-Identifier: MIT
"""The errors of the client. Each message gives what failed, and what to do."""

from __future__ import annotations


class ClrsymError(Exception):
    """The base class of all errors of this package."""


class ConnectionFailed(ClrsymError):
    """No daemon listens on the socket, or the daemon has closed the connection."""


class TimedOut(ClrsymError):
    """The daemon did not answer in time. The connection is closed."""


class ProtocolError(ClrsymError):
    """The reply violates clrsym-protocol(7). The connection is closed."""


class CallError(ClrsymError):
    """The daemon refuses the call. The connection stays open.

    name: of the error, such as "org.clrsym.Symbolizer.PermissionDenied".
    reason: the daemon's own text; empty if the error has none.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f'{name.rpartition(".")[2]}: {reason}' if reason else name)
        self.name, self.reason = name, reason
