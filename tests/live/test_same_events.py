# SPDX-License-Identifier: MIT
"""One program, whose events the runtime writes twice: to LTTng, and by EventPipe to a .nettrace file. Both have the
same events with the same fields, and so one map comes of both.

test_same_events.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import collections
import json
import os
import pathlib

from tests.live import live, runtimes, test_live
from tests.traces import recorded

ROUNDS = 10
PROVIDER = 'Microsoft-Windows-DotNETRuntime:60000A20B8:5'
# Those of the code map that live.session() has, without the rundown's.
EVENTS = 'Method*', 'Module*', 'Assembly*', 'AppDomain*', 'ILStubGenerated', 'BulkType'


def events(programs, path):
    """(time in ns, (event, its fields as text)) of the runtime's own events."""
    rows = (json.loads(line) for pattern in EVENTS
            for line in programs.run([programs.clrsym, 'dump', '--event', pattern, path]).stdout.splitlines())
    return [(test_live.ns(row['time']), (row['event'], json.dumps(row['fields'], sort_keys=True))) for row in rows
            if 'DCStart' not in row['event'] and 'DCEnd' not in row['event']]


def surplus(these, others):
    return list(collections.Counter(row for _, row in these) - collections.Counter(row for _, row in others))


def test_runtime(tap, programs, command, directory, what):
    directory.mkdir()
    program = live.Program(command, directory, ROUNDS)
    written = directory / 'written.nettrace'
    variables = {'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': PROVIDER, 'DOTNET_EventPipeOutputPath': str(written),
                 'DOTNET_EventPipeOutputStreaming': '1', 'DOTNET_EventPipeRundown': '0'}
    os.environ.update(variables)
    try:
        with live.session('same-events', f'--output={directory}/trace'), program.ready():
            pass
    finally:
        for name in variables:
            del os.environ[name]
    lttng, eventpipe = (events(programs, path) for path in (directory / 'trace', written))
    # EventPipe ends a moment before the runtime does.
    end = max((time for time, _ in eventpipe), default=0)
    only_lttng = surplus([row for row in lttng if row[0] <= end], eventpipe)
    only_eventpipe = surplus(eventpipe, lttng)
    tap.check(len(eventpipe) > 3000 and not only_lttng and not only_eventpipe,
              f'{what}: {len(eventpipe)} events of {len({row[0] for _, row in eventpipe})} kinds are the same by both',
              len(only_lttng), len(only_eventpipe), *only_lttng[:3], *only_eventpipe[:3])


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for runtime, command in runtimes.commands(tap, __file__, directory, library=runtimes.tracepoints(programs.plugin_dir)):
        test_runtime(tap, programs, command, directory / f'run-{runtime}', f'.NET {runtime}')


if __name__ == '__main__':
    live.in_sandbox(lambda: recorded.main(test))
