# SPDX-License-Identifier: MIT
"""`clrsym stack --walk=runtime` of processes that only pretend to be .NET runtimes: the command
ends, and names the missing data.

test_stack_hostile.py CLRSYM CLRSYMD PLUGIN_DIR
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

from tests.daemon import fake_flood
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent


# s; several times the ten that a port has to answer.
LIMIT = 120


class Fake:
    """A process with PROGRAM, a program of this directory, at its port; the arguments follow the
    directory."""

    def __init__(self, programs, directory, what, program, *arguments):
        self.place = directory / what
        self.place.mkdir()
        self.programs = programs
        self.environment = {**programs.environment, 'TMPDIR': str(self.place), 'HOME': str(self.place)}
        self.process = subprocess.Popen([sys.executable, '-B', HERE / program, self.place, *arguments], stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, 'TMPDIR': str(self.place)}, start_new_session=True)
        self.pid = int(self.process.stdout.readline().split()[0])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        # The process has children.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stack(self, *arguments):
        done = subprocess.run([self.programs.clrsym, 'stack', str(self.pid), '--walk=runtime', *arguments],
                              env=self.environment, text=True, capture_output=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout, done.stderr

    def left(self):
        return [path.name for path in self.place.glob('clrsym-*')]


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    with Fake(programs, directory, 'silent', 'fake_runtime.py', '1') as fake:
        code, output, errors = fake.stack()
        tap.check((code, output) == (1, '') and 'has walked no stack' in errors, 'a runtime without threads', code, errors)
        tap.equal(fake.left(), [], 'nothing is left')
    with Fake(programs, directory, 'lies', 'fake_flood.py', 'lies') as fake:
        code, output, errors = fake.stack('--json', '-v')
        threads = [json.loads(line) for line in output.splitlines()]
        tap.equal((code, [thread['tid'] for thread in threads]), (0, list(fake_flood.LYING_THREADS)),
                  'threads that there are not: each once')
        tap.check('in the first of 2 rounds' in errors, 'and how many rounds came', errors)
    with Fake(programs, directory, 'samples', 'fake_flood.py', 'samples') as fake:
        code, output, errors = fake.stack()
        tap.check((code, output) == (1, '') and f'process {fake.pid}' in errors, 'a session that sends without end', code, errors)
        tap.equal(fake.left(), [], 'nothing is left')
    with Fake(programs, directory, 'stopped', 'fake_runtime.py', '1') as fake:
        os.kill(fake.pid, signal.SIGSTOP)
        code, output, errors = fake.stack()
        tap.check((code, output) == (1, '') and f'process {fake.pid}' in errors, 'a process that is stopped', code, errors)


if __name__ == '__main__':
    recorded.main(test)
