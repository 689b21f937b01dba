# SPDX-License-Identifier: MIT
"""The maps of precompiled code in the runtime's own images, compared with the maps from the
runtime's debugger interface: data/r2rmaps-VERSION.tsv.xz, of .NET VERSION for x86-64 or
arm64. Also reads the maps of every function of every image of .NET 8 to 11, ASP.NET included."""

import collections
import lzma
import pathlib
import platform
import shutil
import subprocess
import sys

from tests.oracle import nuget
from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parent / 'data'
PACKAGES = ('Microsoft.NETCore.App.Runtime.linux-x64', 'Microsoft.AspNetCore.App.Runtime.linux-x64')
# The version with this suffix has no ASP.NET images.
ARM64 = f'{nuget.ARM64_RUNTIME[1]}-arm64'
# Totals of a version: images with precompiled code; functions, catch and finally blocks included;
# methods; and maps. All versions have 727,903 methods; three images of .NET 8 and three of .NET 9
# have only IL.
Sums = collections.namedtuple('Sums', 'images functions methods maps')
VERSIONS = {'8.0.31': Sums(225, 176655, 162514, 162514), '9.0.20': Sums(225, 191284, 176547, 176547),
            '10.0.12': Sums(230, 202234, 186119, 186119), '11.0.0': Sums(230, 223241, 202723, 202723),
            ARM64: Sums(92, 148970, 137818, 137818)}
# Stubs that resume the async variants of methods, from the fixups of the variants (kind 0x38).
RESUMED = {'11.0.0': 1785}
# Rows of the debugger interface, which repeats some methods. For arm64, the data lacks the two rows
# of a method that has the maps of three bodies in one.
ROWS = {'8.0.31': 28989, '9.0.20': 27337, '10.0.12': 27506, '11.0.0': 24612,
        ARM64: 27397}


def truth(version):
    """Returns the rows by module: module, GUID of its PDB, token, RVA, bytes, map."""
    rows = collections.defaultdict(list)
    with lzma.open(DATA / f'r2rmaps-{version}.tsv.xz', 'rt') as lines:
        for line in list(lines)[1:]:
            fields = line.rstrip('\n').split('\t')
            rows[fields[0]].append(fields)
    return rows


def images_of(version):
    """Returns module -> file. Facade assemblies, which are for any machine, are among them."""
    packages = [nuget.ARM64_RUNTIME] if version == ARM64 else [(name, version) for name in PACKAGES]
    return {path.name: path for directory in nuget.restore(packages)
            for path in sorted(directory.glob('runtimes/*/*/**/*.dll'))}


class Maps:
    """The maps of all images, {module: {rva: [bytes, token, map]}}, and their totals."""

    def __init__(self, program, images):
        done = subprocess.run([program, *images.values()], capture_output=True, text=True, check=False)
        self.errors, self.is_complete = done.stderr, done.returncode == 0
        self.of_module, maps, sums = {}, {}, []
        for line in done.stdout.splitlines():
            fields = line.split('\t')
            if fields[0] != '#':
                maps[fields[0]] = fields[1:]
                continue
            self.of_module[pathlib.Path(fields[1]).name], maps = maps, {}
            if len(fields) == 5:
                sums.append([1, *map(int, fields[2:])])
        self.sums = Sums(*map(sum, zip(*sums)))


def check(tap, program, version):
    maps = Maps(program, images_of(version))
    tap.check(maps.is_complete and not maps.errors, f'{version}: all that is precompiled is read', maps.errors)
    tap.equal(maps.sums, VERSIONS[version], f'{version}: as many as there are')
    resumed = sum(row[1] == 'resume' for rows in maps.of_module.values() for row in rows.values())
    tap.equal(resumed, RESUMED.get(version, 0), f'{version}: stubs that continue async methods')
    rows = truth(version)
    for module in sorted(rows):
        found = maps.of_module.get(module, {})
        wrong = [row for row in rows[module] if found.get(row[3][2:]) != [row[4], row[2][2:], row[5]]]
        n = len({row[3] for row in rows[module]})
        tap.check(not wrong, f'{version}, {module}: {n} maps of {len(found)}, as the runtime has them',
                  len(wrong), *wrong[:2])
    tap.equal(sum(map(len, rows.values())), ROWS[version], f'{version}: they are all compared')


def main():
    if platform.machine() != 'x86_64' or not shutil.which('dotnet'):
        print('1..0 # SKIP no dotnet for x86-64 here')
        return
    tap = recorded.Tap()
    for version in VERSIONS:
        check(tap, sys.argv[1], version)
    tap.finish()


if __name__ == '__main__':
    main()
