# SPDX-License-Identifier: MIT
"""A source that is edited while `dotnet watch` runs its program: code of the new source has no line of the
old one. For a program that was attached before the edit, and after it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from tests.live import live
from tests.live.test_eventpipe import end_holder
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / 'reload'
# s: dotnet watch builds it, and compiles the edit.
SLOW = 120


class Watched:
    def __init__(self, directory):
        self.directory = directory / 'source'
        self.directory.mkdir()
        for path in SOURCE.glob('*.cs*'):
            shutil.copy(path, self.directory)
        self.output = directory / 'output'
        home = directory / 'home'
        home.mkdir()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(('DOTNET_', 'MSBUILD'))},
            'DOTNET_CLI_HOME': str(home), 'DOTNET_CLI_TELEMETRY_OPTOUT': '1', 'DOTNET_NOLOGO': '1',
            'DOTNET_SKIP_FIRST_TIME_EXPERIENCE': '1', 'DOTNET_GENERATE_ASPNET_CERTIFICATE': 'false',
            'DOTNET_CLI_USE_MSBUILD_SERVER': '0', 'MSBUILDDISABLENODEREUSE': '1',
            'UseSharedCompilation': 'false', 'NUGET_PACKAGES': str(home / 'packages'), 'TMPDIR': '/tmp'}
        self.process = None

    def pid_of(self, version):
        """The pid that the program has printed with that version of its source."""
        found = re.findall(rf'^VERSION {version} (\d+)$', self.output.read_text(encoding='utf-8'), re.MULTILINE)
        return int(found[-1]) if found else None

    def is_watching(self):
        return 'Waiting for changes' in self.output.read_text(encoding='utf-8')

    def wait(self, version):
        return live.wait_for(f'version {version}', lambda: self.pid_of(version), self.process, SLOW)

    @contextlib.contextmanager
    def running(self):
        with open(self.output, 'w', encoding='utf-8') as output, \
             live.child(['dotnet', 'watch', '--non-interactive', 'run'], signal.SIGKILL, cwd=self.directory,
                        stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self.environment,
                        start_new_session=True) as self.process:
            try:
                pid = self.wait(1)
                # An edit before that is not noticed.
                live.wait_for('that dotnet watches', self.is_watching, self.process, SLOW)
                yield pid
            finally:
                os.killpg(self.process.pid, signal.SIGKILL)

    def edit(self):
        path = self.directory / 'Program.cs'
        text = path.read_text(encoding='utf-8')
        path.write_text(text.replace('// MARK', '// MARK\n            // A new line.').replace('VERSION 1', 'VERSION 2'),
                        encoding='utf-8')
        self.wait(2)


def lines_of(programs, daemon, pid, method):
    """The status of the line, and its file, of each body of the method, in the order of their loads."""
    bodies = map(json.loads, programs.ask(daemon.source, 'versions', '-p', str(pid), f'Reload.Program.{method}'))
    starts = [body['start'] for body in sorted(bodies, key=lambda body: body['loaded'] or '')]
    answers = programs.ask(daemon.source, 'resolve', '--lines', '-p', str(pid), *starts)
    return [(answer['line_status'], 'edited' in answer['flag_names']) for answer in map(json.loads, answers)]


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    watched = Watched(directory)
    with watched.running() as pid:
        # Each daemon knows nothing from before.
        with recorded.Daemon(programs, directory) as daemon:
            programs.environment['CLRSYM_INGEST'] = str(daemon.ingest)
            programs.ask(daemon.source, 'attach', '--via=eventpipe', str(pid))
            tap.equal(lines_of(programs, daemon, pid, 'Edited'), [('found', False)],
                      'before the edit: the method has its line')
            watched.edit()
            live.wait_for('its new code', lambda: len(lines_of(programs, daemon, pid, 'Edited')) > 1)
            tap.equal(lines_of(programs, daemon, pid, 'Edited'), [('found', False), ('other-il', True)],
                      'attached before the edit: its new code has none')
            tap.equal(lines_of(programs, daemon, pid, 'Unedited'), [('found', False)],
                      'and code from before has its line')
            programs.ask([], 'detach', str(pid))
        with recorded.Daemon(programs, directory) as daemon:
            programs.environment['CLRSYM_INGEST'] = str(daemon.ingest)
            programs.ask(daemon.source, 'attach', '--via=eventpipe', str(pid))
            tap.equal(lines_of(programs, daemon, pid, 'Edited'), [('other-il', True)],
                      'attached after the edit: no line that may be the old source')
            programs.ask([], 'detach', str(pid))
    end_holder()


if __name__ == '__main__':
    live.run_or_skip(live.no_dotnet(), lambda: recorded.main(test))
