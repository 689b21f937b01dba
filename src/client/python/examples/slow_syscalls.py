#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints the slowest system calls of an LTTng trace, each with the managed methods that made it:

    slow_syscalls.py TRACE [PARAMETER=VALUE ...]

Parameters are those of babeltrace2-filter.clrsym.names(7), for example trace=PATH. The package is python3-bt2.
"""

from __future__ import annotations

import heapq
import sys
from typing import Any, Iterator

import bt2  # type: ignore

N_SHOWN = 10
ENTRY, EXIT = 'syscall_entry_', 'syscall_exit_'
FRAMES = 'callstack_user_clr_debug_info'


def calls(messages: Any) -> Iterator[tuple[int, int, str, Any]]:
    """Duration and begin in ns, name, context of the entry."""
    begun: dict[tuple[int, ...], tuple[int, str, Any]] = {}
    lost_until = -1
    for message in messages:
        if isinstance(message, bt2._DiscardedEventsMessageConst):  # pylint: disable=protected-access
            # A call's exit and the next one's entry may be among the lost events.
            begun.clear()
            lost_until = max(lost_until, message.end_default_clock_snapshot.ns_from_origin)
        if not isinstance(message, bt2._EventMessageConst):  # pylint: disable=protected-access
            continue
        event, time = message.event, message.default_clock_snapshot.ns_from_origin
        context = event.common_context_field
        if time <= lost_until or not event.name.startswith((ENTRY, EXIT)):
            continue
        thread = tuple(int(context[name]) for name in ('pid_ns', 'vpid', 'vtid') if name in context)
        if event.name.startswith(ENTRY):
            begun[thread] = time, event.name[len(ENTRY):], context
            continue
        begin, name, entered = begun.pop(thread, (0, '', None))
        if event.name == EXIT + name:
            yield time - begin, begin, name, entered


def value_of(text: str) -> bool | int | str:
    if text in ('yes', 'no'):
        return text == 'yes'
    return int(text) if text.isdecimal() else text


def print_slowest(trace: str, parameters: dict[str, bool | int | str]) -> None:
    names = bt2.ComponentSpec.from_named_plugin_and_component_class('clrsym', 'names', parameters)
    messages = bt2.TraceCollectionMessageIterator(bt2.AutoSourceComponentSpec(trace), names)
    for duration, begin, name, context in heapq.nlargest(N_SHOWN, calls(messages), key=lambda call: call[:2]):
        program = f' ({context["procname"]})' if 'procname' in context else ''
        print(f'{duration / 1e6:.3f} ms  {name}  at {begin / 1e9:.9f}, thread {context["vtid"]} of process '
              f'{context["vpid"]}{program}')
        for frame in context[FRAMES] if FRAMES in context else ():
            if frame['func']:
                print(f'        {frame["func"]}  {frame["src"]}'.rstrip())


def main() -> int:
    if len(sys.argv) < 2 or not all('=' in argument for argument in sys.argv[2:]):
        print('usage: slow_syscalls.py TRACE [PARAMETER=VALUE ...]', file=sys.stderr)
        return 2
    try:
        given = (argument.split('=', 1) for argument in sys.argv[2:])
        print_slowest(sys.argv[1], {name: value_of(text) for name, text in given})
    except (RuntimeError, ValueError, bt2._Error) as error:  # pylint: disable=protected-access
        # The first cause of babeltrace2's own errors has the reason.
        reason = error if isinstance(error, (RuntimeError, ValueError)) else error[0].message
        print(f'slow_syscalls: {reason}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
