# SPDX-License-Identifier: MIT
"""Root directories like that of an Alpine container, with a .NET runtime for musl and the live programs, and the program
that enters them.

Debian has the C library. GCC's static C++ library becomes a shared one for it. NuGet has the runtimes.
"""

import json
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / 'oracle'))

import live  # pylint: disable=wrong-import-position
import nuget  # pylint: disable=wrong-import-position
import runtimes  # pylint: disable=wrong-import-position

RID = runtimes.MUSL
LOADER = pathlib.Path('/lib/ld-musl-x86_64.so.1')
# In the program that starts the runtime, the place for the name of the assembly: the digits of a hash, then zeros.
PLACE = b'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2'
PLACE_SIZE = 1024
PROGRAMS = {'app': 'clrsym-live', 'plain': 'clrsym-plain'}
# A user that no process of the machine has.
USER = 1654


def missing():
    """Why there can be no such root directory here, or None."""
    for program in ('dotnet', 'musl-gcc', 'objcopy', 'unshare'):
        if not shutil.which(program):
            return f'no {program} on PATH'
    return None if os.geteuid() == 0 else 'only root enters namespaces'


def gcc_file(name):
    return live.run('gcc', f'-print-file-name={name}').strip()


def make_tools(to):
    """enter, and libstdc++.so.6, which is libgcc_s.so.1, too."""
    live.run('musl-gcc', '-static', '-O1', '-D_GNU_SOURCE', '-o', to / 'enter', HERE / 'musl/enter.c')
    # What is hidden in a static library is exported under its name by cxx.c.
    live.run('objcopy', '--redefine-sym', '_Unwind_Resume=hidden_resume', gcc_file('libgcc_eh.a'), to / 'eh.a')
    live.run('musl-gcc', '-shared', '-fPIC', '-O2', '-s', '-D_GNU_SOURCE', '-o', to / 'libstdc++.so.6', HERE / 'musl/cxx.c',
             '-Wl,--eh-frame-hdr,-soname,libstdc++.so.6', '-Wl,--whole-archive', gcc_file('libstdc++.a'), to / 'eh.a',
             '-Wl,--no-whole-archive')


def tools(directory):
    return live.made_once('musl-tools', pathlib.Path(directory) / 'musl-tools', make_in(make_tools))


def make_in(make):
    def make_new(to):
        to.mkdir(exist_ok=True)
        make(to)
    return make_new


def make_system(root, directory):
    for name in ('lib', 'usr/lib', 'tmp', 'proc', 'dev', 'app'):
        (root / name).mkdir(parents=True)
    (root / 'tmp').chmod(0o1777)
    shutil.copy(LOADER, root / 'lib')
    # musl and its own C++ library: nothing of glibc.
    os.symlink(LOADER.name, root / 'lib/libc.musl-x86_64.so.1')
    shutil.copy(tools(directory) / 'libstdc++.so.6', root / 'usr/lib')
    os.symlink('libstdc++.so.6', root / 'usr/lib/libgcc_s.so.1')


def make_host(assembly, apphost, to):
    """The host program with the name of its assembly."""
    code = apphost.read_bytes()
    at = code.index(PLACE)
    name = f'{assembly}.dll'.encode()
    to.write_bytes(code[:at] + name + b'\0' * (PLACE_SIZE - len(name)) + code[at + PLACE_SIZE:])
    to.chmod(0o755)


def make_root(root, directory, runtime):
    """/app has the runtime's files and the programs."""
    host, pack = nuget.restore(runtimes.musl_packages(runtime))
    make_system(root, directory)
    for path in [*pack.glob(f'runtimes/{RID}/lib/*/*'), *pack.glob(f'runtimes/{RID}/native/*')]:
        shutil.copy(path, root / 'app')
    apphost = host / f'runtimes/{RID}/native/apphost'
    configuration = {'runtimeOptions': {
        'includedFrameworks': [{'name': 'Microsoft.NETCore.App', 'version': runtimes.musl_version_of(runtime)}],
        'configProperties': {'System.Globalization.Invariant': True}}}
    # The SDK of .NET 10 builds for nothing newer.
    framework = None if runtime in (runtimes.OWN, runtimes.NEWEST) else f'net{runtime}.0'
    for program, name in PROGRAMS.items():
        built = live.build(directory / f'{program}-{runtime}', program, f'{name}.dll', framework)
        for path in built.with_suffix('.dll'), built.with_suffix('.pdb'):
            shutil.copy(path, root / 'app')
        (root / f'app/{name}.runtimeconfig.json').write_text(json.dumps(configuration), encoding='utf-8')
        make_host(name, apphost, root / 'app' / name)


class Root:
    """The root directory with one runtime."""

    def __init__(self, directory, runtime):
        """RuntimeError: it is not to be had."""
        directory = pathlib.Path(directory)
        self.path = directory / f'root-{runtime}'
        self.enter = tools(directory) / 'enter'
        make_root(self.path, directory, runtime)

    def command(self, program, *arguments):
        """PROGRAM: its path in the root directory."""
        return [str(word) for word in (self.enter, self.path, USER, program, *arguments)]


def main_process(process):
    """The pid, as seen from outside, of the program that a command has started; 0: not yet."""
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text(encoding='ascii').split()
    if not children:
        return 0
    # enter's own until it has become the program.
    program = os.readlink(f'/proc/{children[0]}/exe')
    return int(children[0]) if not program.endswith('/enter') else 0
