#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every sequence point of the PDBs in tests/lines, embedded ones too, and of the PDBs that the build here
makes, against those that System.Reflection.Metadata reads."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'traces'))

import recorded  # pylint: disable=wrong-import-position
import traceevent  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
LINES = HERE.parent / 'lines' / 'data'
# At least so many files have to be there.
MIN_FILES = 12


def find_pdbs(directory, command):
    """Unpacks the recorded programs. Files with PDBs: those, assemblies with an embedded one, and the reader's own."""
    for archive in sorted(LINES.glob('*/app.tar.xz')):
        with tarfile.open(archive) as tar:
            tar.extractall(directory / archive.parent.name)
    return [*sorted(directory.glob('*/app/*.pdb')), *sorted(directory.glob('*/app/LibEmb.dll')),
            *sorted(directory.glob('embedded/app/App.dll')),
            pathlib.Path(command[1]).with_suffix('.pdb')]


def read(command, files):
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True,
                          timeout=recorded.TIMEOUT, env=traceevent.ENVIRONMENT)
    return done.stdout.splitlines()


def main():
    tap = recorded.Tap()
    with tempfile.TemporaryDirectory(prefix='clrsym-') as directory:
        theirs = traceevent.build(directory, HERE / 'sequence-points')
        files = find_pdbs(pathlib.Path(directory), theirs)
        tap.check(len(files) >= MIN_FILES, f'{len(files)} files')
        want = read(theirs, files)
        got = read([sys.argv[1]], files)
        differ = [pair for pair in zip(got, want) if pair[0] != pair[1]]
        tap.equal(differ[:5], [], f'all {len(want)} sequence points are equal')
        tap.equal(len(got), len(want), 'as many sequence points')
        tap.check(len(want) > 1000 and any(line.endswith(' hidden') for line in want),
                  'some of them are hidden')
    tap.finish()


if __name__ == '__main__':
    main()
