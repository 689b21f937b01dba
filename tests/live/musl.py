# SPDX-License-Identifier: MIT
"""Root directories like an Alpine container's, with a .NET runtime for musl, the live programs, and the program that
enters the directories.

Debian has the C library. GCC's static C++ library is linked into a shared one for musl. NuGet has the runtimes."""

import os
import pathlib
import shutil

from tests.live import live, runtimes, self_contained

HERE = pathlib.Path(__file__).resolve().parent
RID = runtimes.MUSL
LOADER = pathlib.Path('/lib/ld-musl-x86_64.so.1')
PROGRAMS = {'app': 'clrsym-live', 'plain': 'clrsym-plain'}
# A user that no process of the machine has.
USER = 1654


def missing():
    """Why no such root directory is possible here, or None."""
    for program in ('dotnet', 'musl-gcc', 'objcopy', 'unshare'):
        if not shutil.which(program):
            return f'no {program} on PATH'
    return None if os.geteuid() == 0 else 'only root enters namespaces'


def gcc_file(name):
    return live.run('gcc', f'-print-file-name={name}').strip()


def make_tools(to):
    """Makes enter, and libstdc++.so.6, which also stands for libgcc_s.so.1."""
    live.run('musl-gcc', '-static', '-O1', '-D_GNU_SOURCE', '-o', to / 'enter', HERE / 'musl/enter.c')
    # cxx.c exports symbols that the static library hides.
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
    # musl and its own C++ library, without glibc.
    os.symlink(LOADER.name, root / 'lib/libc.musl-x86_64.so.1')
    shutil.copy(tools(directory) / 'libstdc++.so.6', root / 'usr/lib')
    os.symlink('libstdc++.so.6', root / 'usr/lib/libgcc_s.so.1')


def make_root(root, directory, runtime):
    """/app has the runtime's files and the programs."""
    make_system(root, directory)
    self_contained.make(root / 'app', directory, runtime, RID, runtimes.musl_packages(runtime), PROGRAMS)


class Root:
    """The root directory with one runtime."""

    def __init__(self, directory, runtime):
        """RuntimeError: not available."""
        directory = pathlib.Path(directory)
        self.path = directory / f'root-{runtime}'
        self.enter = tools(directory) / 'enter'
        make_root(self.path, directory, runtime)

    def command(self, program, *arguments):
        """PROGRAM: its path in the root directory."""
        return [str(word) for word in (self.enter, self.path, USER, program, *arguments)]


def main_process(process):
    """The pid, outside of the container, of the command's program; 0: not started yet."""
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text(encoding='ascii').split()
    if not children:
        return 0
    # The executable is enter until it executes the program.
    program = os.readlink(f'/proc/{children[0]}/exe')
    return int(children[0]) if not program.endswith('/enter') else 0
