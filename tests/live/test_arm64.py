# SPDX-License-Identifier: MIT
"""A .NET runtime for arm64 under qemu-user, attached over its diagnostic port by programs of this machine. Its pid and its
files are qemu's; the addresses of its code are those that the program itself sees.

test_arm64.py CLRSYM CLRSYMD PLUGIN_DIR ROOT: a root directory with libraries for arm64 and qemu-aarch64, of
tests/on-arm64
"""

import contextlib
import json
import os
import pathlib
import subprocess

from tests.live import live, runtimes, self_contained, test_eventpipe, test_plain
from tests.traces import recorded

RID = 'linux-arm64'
PACKAGES = [runtimes.nuget.ARM64_HOST, runtimes.nuget.ARM64_RUNTIME]
PROGRAMS = {'plain': 'clrsym-plain'}
# The runtime's two mappings of a page of code are more than qemu-user can keep equal.
# Which program is started is not told by qemu's command: no settings file is found.
VARIABLES = {'DOTNET_EnableWriteXorExecute': '0', 'DOTNET_LTTng': '0', 'DOTNET_PerfMapEnabled': '3', 'TMPDIR': '/tmp',
             'DOTNET_SYSTEM_GLOBALIZATION_INVARIANT': '1'}


class Emulated(test_plain.Plain):
    """The program that compiles for each line that it gets."""

    def __init__(self, root):
        self.root, self.process = root, None

    @contextlib.contextmanager
    def running(self):
        # qemu-user becomes the program: the pid stays. It ends with its mount namespace.
        script = 'mount --rbind /proc "$0/proc" && exec chroot "$0" qemu-aarch64 "$@"'
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(('DOTNET_', 'COMPlus_', 'LTTNG_'))}
        with live.child(['unshare', '--mount', 'sh', '-c', script, str(self.root), '/app/clrsym-plain'],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        env={**kept, **VARIABLES}) as self.process:
            self.line('READY')
            yield self
            self.process.stdin.close()
            self.process.wait(live.TIMEOUT)

    def bodies(self):
        return self.bodies_of(self.root / f'tmp/perf-{self.pid}.map')


def check_listed(tap, feed, program):
    process, = (row for row in map(json.loads, feed.programs.ask(feed.daemon.source, 'ps'))
                if row['pid'] == program.pid)
    tap.check(process['runtime'].startswith('10.') and process['bodies'] > 500, 'ps lists it', process)


def test(tap, programs, directory, arguments):
    root = pathlib.Path(arguments[0])
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    (root / 'app').mkdir(exist_ok=True)
    self_contained.make(root / 'app', directory, runtimes.OWN, RID, PACKAGES, PROGRAMS)
    feed = test_eventpipe.DirectFeed(programs, directory)
    program = Emulated(root)
    with feed.running(), program.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        row, = feed.rows('attach', '--via=eventpipe', program.pid)
        tap.check(row['state'] == 'attached' and row['methods'] > 100, 'arm64: attached, and complete', row)
        test_plain.check(tap, feed, program, 'arm64')
        check_listed(tap, feed, program)
        feed.rows('detach', program.pid)
        tap.check(program.process.poll() is None, 'arm64: detached, and the program goes on')


if __name__ == '__main__':
    recorded.main(test)
