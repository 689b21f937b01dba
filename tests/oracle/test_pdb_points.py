# SPDX-License-Identifier: MIT
"""Sequence points, compared with those of System.Reflection.Metadata: of the PDBs in
tests/lines, embedded ones included, of the PDBs of this build, and of PDBs embedded in
assemblies of the .NET SDK (F# compiler included)."""

import collections
import itertools
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from tests.oracle import traceevent
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
LINES = HERE.parent / 'lines' / 'data'
# Assemblies of the SDK; only assemblies with an embedded PDB count.
OF_SDK = ('FSharp/*.dll', 'Microsoft.TestPlatform.*.dll', 'Spectre.Console.dll', 'vstest.console.dll')
EMBEDDED = b'MPDB'
# Minimum number of files, and of different assemblies of the SDK.
MIN_FILES, MIN_OF_SDK = 12, 10


def find_in_sdk():
    dotnet = pathlib.Path(shutil.which('dotnet')).resolve().parent
    version = subprocess.run(['dotnet', '--version'], capture_output=True, text=True, check=True).stdout.strip()
    return [path for pattern in OF_SDK for path in sorted((dotnet / 'sdk' / version).glob(pattern))
            if EMBEDDED in path.read_bytes()]


def find_pdbs(directory, command):
    """Unpacks the recorded programs. Returns files with PDBs: PDBs, assemblies with embedded
    ones, and the reader's own."""
    for archive in sorted(LINES.glob('*/app.tar.xz')):
        with tarfile.open(archive) as tar:
            tar.extractall(directory / archive.parent.name)
    return [*sorted(directory.glob('*/app/*.pdb')), *sorted(directory.glob('*/app/LibEmb.dll')),
            *sorted(directory.glob('embedded/app/App.dll')),
            pathlib.Path(command[1]).with_suffix('.pdb')]


def read(command, files):
    """Returns file -> "METHOD IL LINE ..." for each point."""
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True,
                          timeout=recorded.TIMEOUT, env=traceevent.ENVIRONMENT)
    points = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        path, _, point = line.partition(' ')
        points[path].append(point)
    return points


def main():
    tap = recorded.Tap()
    with tempfile.TemporaryDirectory(prefix='clrsym-') as directory:
        theirs = traceevent.build(directory, HERE / 'sequence-points')
        files, of_sdk = find_pdbs(pathlib.Path(directory), theirs), find_in_sdk()
        tap.check(len(files) >= MIN_FILES, f'{len(files)} files of our own')
        tap.check(len(of_sdk) >= MIN_OF_SDK, f'{len(of_sdk)} assemblies of the SDK', *of_sdk)
        files += of_sdk
        want, got = read(theirs, files), read([sys.argv[1]], files)
        for path in map(str, files):
            differ = [pair for pair in itertools.zip_longest(got[path], want[path]) if pair[0] != pair[1]]
            methods = {point.split(' ', 1)[0] for point in want[path]}
            tap.check(want[path] and not differ, f'{pathlib.Path(path).relative_to(pathlib.Path(path).parents[2])}: '
                      f'the {len(want[path])} points of {len(methods)} methods are equal', len(differ), *differ[:3])
        tap.check(any(point.endswith(' hidden') for points in want.values() for point in points),
                  'some of them are hidden')
    tap.finish()


if __name__ == '__main__':
    main()
