# SPDX-License-Identifier: MIT
"""The sources compile with musl, so that distributions with musl can package them; and what needs no library but libc
gives the same answers with musl: names of methods, and the signatures in metadata."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPILER = 'musl-gcc'
# The headers of this machine's C library may not be seen, so those of kernel and libraries have links of their own.
PLACES = pathlib.Path('/usr/include'), *pathlib.Path('/usr/include').glob('*-linux-gnu')
HEADERS = ('asm', 'asm-generic', 'babeltrace2', 'curl', 'jansson.h', 'jansson_config.h', 'libiberty', 'linux', 'lttng',
           'perf', 'systemd', 'zconf.h', 'zlib.h', 'zstd.h', 'zstd_errors.h')
# Options of Ninja's commands that are about the files which a compilation writes; those with a word that follows.
OUTPUT, OUTPUT_TO = ('-c', '-MD'), ('-o', '-MF', '-MQ')
MANY = 400
# A program of the tests -> the rooms that it consists of, which use libc only; and the room that those use.
ALONE = {'name-fields': ('names',), 'method-signatures': ('metadata',)}
PLAIN = 'util'


def link_headers(to):
    for name in HEADERS:
        found = [place / name for place in PLACES if (place / name).exists()]
        if found:
            (to / name).symlink_to(found[0])


def arguments(command):
    """Those of the compilation, without output, and without directories of this machine's C library."""
    words = iter(shlex.split(command))
    next(word for word in words if word.rpartition('/')[2] in ('cc', 'gcc', 'clang'))
    for word in words:
        if word in OUTPUT_TO:
            next(words)
        elif word not in OUTPUT and pathlib.Path(re.sub('^(-I|-isystem)', '', word)) not in PLACES:
            yield word


def compilations(build):
    """file -> the command that compiles it, of what is installed; a file in several targets counts once."""
    commands = json.loads((build / 'compile_commands.json').read_text(encoding='utf-8'))
    named = {os.path.normpath(pathlib.Path(one['directory']) / one['file']): one for one in commands}
    return {path: one for path, one in named.items()
            if pathlib.Path(path).relative_to(ROOT).parts[0] in ('src', 'plugins')}


def compile_one(headers, command):
    done = subprocess.run([COMPILER, *arguments(command['command']), '-fsyntax-only', '-fdiagnostics-color=never',
                           '-Werror', '-isystem', headers], cwd=command['directory'], capture_output=True, text=True,
                          check=False)
    return done.stderr if done.returncode else ''


def check_sources(tap, build, headers):
    found = compilations(build)
    tap.check(len(found) > MANY, f'{len(found)} sources are found', sorted(found)[:10])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = list(pool.map(lambda command: compile_one(headers, command), found.values()))
    tap.check(not any(errors), 'all sources compile with musl', '\n'.join(filter(None, errors)))


def link(build, headers, name, to):
    """A static program of the tests, of musl; the files of PLAIN are those that its library has in the build."""
    plain = sorted((build / 'src' / PLAIN / f'libclrsym-{PLAIN}-plain.a.p').glob('*.o'))
    sources = [ROOT / 'src' / PLAIN / path.name.removesuffix('.o') for path in plain]
    for room in ALONE[name]:
        sources += sorted((ROOT / 'src' / room).glob('*.c'))
    done = subprocess.run([COMPILER, '-static', '-O1', '-D_GNU_SOURCE', '-I', ROOT / 'src', '-isystem', headers, '-o', to,
                           ROOT / f'tests/support/{name}.c', *sources], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ''


def corpus(name):
    return sorted((HERE.parent / 'fuzz/corpus' / name).iterdir())


def runs_of(name):
    """(arguments, input) for a program: real files, and hostile ones."""
    if name == 'name-fields':
        fields = [(path.read_bytes().split(b'\0') + [b''] * 3)[:3] for path in corpus('names')]
        return [((), b''.join(field + b'\0' for three in fields for field in three))]
    return [((path,), b'') for directory in ('r2r-code', 'pdb') for path in corpus(directory)]


def output_of(program, run):
    words, text = run
    done = subprocess.run([program, *words], input=text, capture_output=True, check=False)
    return done.returncode, done.stdout


def check_alone(tap, build, headers, scratch):
    for name in ALONE:
        error = link(build, headers, name, scratch / name)
        if not tap.check(not error, f'{name} is linked with musl', error):
            continue
        runs = runs_of(name)
        got, want = ([output_of(program, run) for run in runs] for program in (scratch / name, build / 'tests' / name))
        tap.check(got == want and sum(len(output) for _, output in want) > 100,
                  f'{name}: the same output, {len(runs)} times',
                  *(f'{run}: {one} {other}' for run, one, other in zip(runs, got, want) if one != other))


def main():
    tap = recorded.Tap()
    build = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which('musl-gcc'):
        tap.skip('the sources compile with musl', 'musl-gcc is not installed')
    else:
        with tempfile.TemporaryDirectory(prefix='clrsym-') as scratch:
            headers = pathlib.Path(scratch) / 'include'
            headers.mkdir()
            link_headers(headers)
            check_sources(tap, build, headers)
            check_alone(tap, build, headers, pathlib.Path(scratch))
    tap.finish()


if __name__ == '__main__':
    main()
