# SPDX-License-Identifier: MIT
"""A program with each runtime that can be had: that of this machine, and those of NuGet."""

import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / 'oracle'))

import live  # pylint: disable=wrong-import-position
import nuget  # pylint: disable=wrong-import-position

PACK = 'Microsoft.NETCore.App.Runtime.linux-x64'
COMPILER = 'Microsoft.NETCore.App.Crossgen2.linux-x64'
# The SDK of .NET 10 cannot publish for it.
LATEST = '11.0.0'


def own():
    """The version of this machine's runtime."""
    return live.run('dotnet', '--list-runtimes').split('Microsoft.NETCore.App ')[-1].split()[0]


def precompile(assembly, to, *references):
    """Native code beside the IL of the assembly, for this machine's runtime."""
    tools, = nuget.restore([(COMPILER, own())])
    framework = pathlib.Path(shutil.which('dotnet')).resolve().parent / 'shared/Microsoft.NETCore.App' / own()
    live.run(tools / 'tools/crossgen2', '--targetos:linux', '--targetarch:x64', '-O', '-o', to, assembly,
             *(word for path in (framework / '*.dll', *references) for word in ('-r', path)))


def beside(directory, version):
    """A directory of `dotnet` with a runtime of NuGet in place of this machine's."""
    files, = nuget.restore([(PACK, version)])
    files /= 'runtimes/linux-x64'
    to = pathlib.Path(directory) / 'dotnet'
    shared, fxr = to / 'shared/Microsoft.NETCore.App' / version, to / 'host/fxr' / version
    shared.mkdir(parents=True)
    fxr.mkdir(parents=True)
    for path in [*files.glob('lib/*/*'), *files.glob('native/*')]:
        shutil.copy(path, shared)
    shutil.copy(files / 'native/libhostfxr.so', fxr)
    shutil.copy(os.path.realpath(shutil.which('dotnet')), to / 'dotnet')
    return to / 'dotnet'


def commands(tap, directory, program='app', name='clrsym-live'):
    """Yields ("10", command) of each; those that are not to be had are skipped."""
    directory = pathlib.Path(directory)
    assembly = live.build(directory / '10', program, f'{name}.dll')
    yield '10', [shutil.which('dotnet'), assembly]
    for framework in ('net8.0', 'net9.0'):
        try:
            host = live.publish(directory / framework, framework, program=program, name=name)
        except RuntimeError as error:
            tap.skip(framework, f'its runtime is not to be had: {str(error).splitlines()[-1]}')
        else:
            yield framework[3:-2], [host]
    try:
        dotnet = beside(directory / LATEST, LATEST)
    except RuntimeError as error:
        tap.skip(LATEST, f'it is not to be had: {str(error).splitlines()[-1]}')
    else:
        yield LATEST.split('.', maxsplit=1)[0], ['/usr/bin/env', 'DOTNET_ROLL_FORWARD=LatestMajor', f'DOTNET_ROOT={dotnet.parent}',
                                                 dotnet, assembly]
