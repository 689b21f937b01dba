# SPDX-License-Identifier: MIT
"""The binary interface of libclrsym only grows: abidiff compares it with that in tests/client/libclrsym.abi.

    test_abi.py LIBRARY             compares
    test_abi.py --write LIBRARY     accepts additions: writes the file again
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / 'include'
KNOWN = HERE / 'libclrsym.abi'
# Bits of abidiff's exit status (abidiff(1)).
ERROR, CHANGE, INCOMPATIBLE = 1 | 2, 4, 8


def write(library):
    subprocess.run(['abidw', '--headers-dir', HEADERS, '--drop-private-types', '--no-corpus-path', '--no-comp-dir-path',
                    '--no-show-locs', '--no-parameter-names', '--out-file', KNOWN, library], check=True)


def compare(library, *options):
    return subprocess.run(['abidiff', '--headers-dir2', HEADERS, '--drop-private-types', *options, KNOWN, library],
                          capture_output=True, text=True, check=False)


def changed_library(directory):
    """Returns a library of the same soname that lacks functions, which abidiff must report."""
    source, path = pathlib.Path(directory) / 'changed.c', pathlib.Path(directory) / 'libclrsym.so.1'
    source.write_text('const char *clrsym_version(void) { return "x"; }\n', encoding='ascii')
    subprocess.run(['cc', '-g', '-shared', '-fPIC', '-Wl,-soname,libclrsym.so.1', '-o', path, source], check=True)
    return path


def run(tap, library, directory):
    if not shutil.which('abidiff'):
        tap.skip('abidiff', 'not installed: apt install abigail-tools')
        return
    done = compare(library)
    tap.check(not done.returncode & (ERROR | INCOMPATIBLE), 'the interface has all that it had', done.stdout, done.stderr)
    tap.check(not done.returncode & CHANGE, 'what was added is in libclrsym.abi: tests/client/test_abi.py --write LIBRARY',
              done.stdout)
    done = compare(changed_library(directory))
    tap.check(done.returncode & INCOMPATIBLE and 'clrsym_resolve' in done.stdout, 'functions that are gone are found',
              done.returncode, done.stdout[:500])


def main():
    if sys.argv[1] == '--write':
        write(sys.argv[2])
        return
    tap = recorded.Tap()
    with tempfile.TemporaryDirectory(prefix='clrsym-') as directory:
        run(tap, sys.argv[1], directory)
    tap.finish()


if __name__ == '__main__':
    main()
