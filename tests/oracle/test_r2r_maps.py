# SPDX-License-Identifier: MIT
"""The maps of precompiled code in the runtime's own images, against what the runtime says of them
through its debugger interface: data/r2rmaps-VERSION.tsv.xz, of .NET VERSION for x86-64."""

import collections
import lzma
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'traces'))

import recorded  # pylint: disable=wrong-import-position

DATA = pathlib.Path(__file__).resolve().parent / 'data'
VERSION = '10.0.12'


def directory_of_runtime():
    """Its directory of that version, beside the dotnet on PATH; or None."""
    program = shutil.which('dotnet')
    if not program:
        return None
    path = pathlib.Path(os.path.realpath(program)).parent / 'shared/Microsoft.NETCore.App' / VERSION
    return path if path.is_dir() else None


def truth():
    """Rows by module: module, GUID of its PDB, token, RVA, bytes, map."""
    rows = collections.defaultdict(list)
    with lzma.open(DATA / f'r2rmaps-{VERSION}.tsv.xz', 'rt') as lines:
        for line in list(lines)[1:]:
            fields = line.rstrip('\n').split('\t')
            rows[fields[0]].append(fields)
    return rows


def main():
    tap, directory = recorded.Tap(), directory_of_runtime()
    if directory is None:
        print(f'1..0 # SKIP no .NET {VERSION} here')
        return
    for module, rows in sorted(truth().items()):
        done = subprocess.run([sys.argv[1], directory / module], capture_output=True, text=True,
                              check=False)
        maps = {fields[0]: fields for fields in
                (line.split('\t') for line in done.stdout.splitlines()) if fields[0] != '#'}
        wrong = [row for row in rows
                 if maps.get(row[3][2:], ())[1:] != [row[4], row[2][2:], row[5]]]
        tap.check(done.returncode == 0 and not wrong and len(rows) > 20,
                  f'{module}: {len(rows)} maps, as the runtime has them, of {len(maps)}',
                  done.stderr, len(wrong), *wrong[:2])
    tap.finish()


if __name__ == '__main__':
    main()
