# SPDX-License-Identifier: MIT
"""A directory with a .NET runtime of NuGet for another machine or C library, and programs that start it."""

import json
import pathlib
import shutil

from tests.live import live, runtimes


# The host program has room for the assembly's name: the digits of a hash, then zeros.
PLACE = b'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2'
PLACE_SIZE = 1024


def make_host(assembly, apphost, to):
    """The host program with the name of its assembly."""
    code = apphost.read_bytes()
    at = code.index(PLACE)
    name = f'{assembly}.dll'.encode()
    to.write_bytes(code[:at] + name + b'\0' * (PLACE_SIZE - len(name)) + code[at + PLACE_SIZE:])
    to.chmod(0o755)


def make(to, directory, runtime, rid, packages, programs):
    """PACKAGES: the host program and the runtime, for RID. PROGRAMS: {directory: assembly}, built below DIRECTORY.
    RuntimeError: a package is not available."""
    host, pack = runtimes.nuget.restore(packages)
    for path in [*pack.glob(f'runtimes/{rid}/lib/*/*'), *pack.glob(f'runtimes/{rid}/native/*')]:
        shutil.copy(path, to)
    apphost = host / f'runtimes/{rid}/native/apphost'
    configuration = {'runtimeOptions': {
        'includedFrameworks': [{'name': 'Microsoft.NETCore.App', 'version': packages[1][1]}],
        'configProperties': {'System.Globalization.Invariant': True}}}
    # The SDK of .NET 10 builds for no newer runtime.
    framework = None if runtime in (runtimes.OWN, runtimes.NEWEST) else f'net{runtime}.0'
    for program, name in programs.items():
        built = live.build(pathlib.Path(directory) / f'{program}-{runtime}', program, f'{name}.dll', framework)
        for path in built.with_suffix('.dll'), built.with_suffix('.pdb'):
            shutil.copy(path, to)
        (to / f'{name}.runtimeconfig.json').write_text(json.dumps(configuration), encoding='utf-8')
        make_host(name, apphost, to / name)
