# SPDX-License-Identifier: MIT
"""What `clrsym doctor` says, for its tests; and files that are out of sight for a while."""

import contextlib
import json
import os
import pathlib
import subprocess


class Doctor:
    """The verb, and what it says."""

    def __init__(self, programs, directory):
        self.programs, self.directory = programs, pathlib.Path(directory)
        self.environment = {**programs.environment,
                            'CLRSYM_SESSIONS': str(self.directory / 'place'),
                            'PATH': f'{pathlib.Path(programs.clrsym).parent}:{os.environ["PATH"]}'}
        self.socket = self.directory / 'no-daemon'

    def call(self, *arguments, before=(), **environment):
        return self.programs.run([*before, self.programs.clrsym, 'doctor', '--socket', self.socket,
                                  *arguments], env={**self.environment, **environment})

    def findings(self, *arguments, **options):
        done = self.call('--json', *arguments, **options)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        found = {row['check']: row for row in rows}
        stopping = [row for row in rows if row['status'] in ('problem', 'unknown')]
        if done.stderr or done.returncode != (1 if stopping else 0):
            raise RuntimeError(f'exit {done.returncode}: {done.stderr}{done.stdout}')
        return found

    def expect(self, tap, check, status, text, what, *arguments, mend=None, **options):
        row = self.findings(*arguments, **options).get(check)
        tap.check(row and row['status'] == status and text in row['text'] and
                  (mend is None or mend in (row['mend'] or '')), f'{check}: {what}', row)
        return row

    def run_mend(self, row):
        done = subprocess.run(['sh', '-c', row['mend']], env={**self.environment, 'CLRSYM_SOCKET': str(self.socket)},
                              text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{row["mend"]}: {done.stdout}{done.stderr}')


@contextlib.contextmanager
def hidden(*paths, by='/dev/null'):
    for path in paths:
        subprocess.run(['mount', '--bind', by, path], check=True)
    try:
        yield
    finally:
        for path in paths:
            subprocess.run(['umount', path], check=True)


def libraries(name):
    found = subprocess.run(['find', '/usr/lib', '-name', name], capture_output=True, text=True,
                           check=False).stdout.split()
    return [os.path.realpath(path) for path in found]
