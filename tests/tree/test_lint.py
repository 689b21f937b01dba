# SPDX-License-Identifier: MIT
"""shellcheck finds no warning in the scripts, pylint no fault in the tests and in the Python package."""

import os
import pathlib
import shutil
import subprocess

from tests.traces import recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The faults that pylint finds, not its taste.
PYLINT = ['pylint', '--score=n', '--ignored-modules=gdb', '--disable=all',
          '--enable=E,F,bare-except,dangerous-default-value,duplicate-key,self-assigning-variable,'
          'subprocess-run-check,unreachable,unused-import,unused-variable',
          # Not known to it: members of enums of the standard library.
          '--disable=no-member,unsubscriptable-object']


def files():
    for directory, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in ('.git', 'build', 'bin', 'obj', 'corpus', '__pycache__')]
        yield from (pathlib.Path(directory) / name for name in names)


def is_script(path):
    """A shell script, by its name or by its first line."""
    if path.suffix in ('.sh', '.bash'):
        return True
    with open(path, 'rb') as file:
        return path.suffix == '' and file.read(2) == b'#!' and b'sh' in file.readline()


def check(tap, name, command, count):
    if not shutil.which(command[0]):
        tap.skip(name, f'{command[0]} is not installed')
        return
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    tap.check(done.returncode == 0, f'{name}: {count} files', done.stdout, done.stderr)


def main():
    tap = recorded.Tap()
    names = [path.relative_to(ROOT) for path in files() if not path.is_symlink()]
    scripts = [name for name in names if is_script(ROOT / name)]
    sources = [name for name in names if name.suffix == '.py']
    tap.check(len(scripts) > 10 and len(sources) > 100, 'scripts and tests are found', scripts, len(sources))
    check(tap, 'shellcheck', ['shellcheck', '-x', '-P', 'SCRIPTDIR:SCRIPTDIR/..', '-S', 'warning', *scripts], len(scripts))
    check(tap, 'pylint', [*PYLINT, *sources], len(sources))
    tap.finish()


if __name__ == '__main__':
    main()
