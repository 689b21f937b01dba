# SPDX-License-Identifier: MIT
"""Names of precompiled code from the runtime's own images, compared with the names in its events.

The recordings are of .NET 10.0.12 for x86-64; the images must be beside the dotnet on PATH. An
event has the address of a method; the test derives the address of the mapped image from the methods
themselves.
"""

import collections
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from tests.traces import recorded

TESTS = pathlib.Path(__file__).resolve().parents[1]
VERSION = '10.0.12'
PAGE = 4096
CORE = 'System.Private.CoreLib.dll'
# Recordings, and their minimum numbers of precompiled methods.
SESSIONS = {'lib': 2000, 'sampled': 500}
# C#'s keywords for types.
WORDS = {'System.Boolean': 'bool', 'System.Byte': 'byte', 'System.Char': 'char', 'System.Int16': 'short',
         'System.Int32': 'int', 'System.Int64': 'long', 'System.UInt16': 'ushort', 'System.UInt32': 'uint',
         'System.UInt64': 'ulong', 'System.Object': 'object', 'System.String': 'string',
         'System.IntPtr': 'nint', 'System.Double': 'double', 'System.Single': 'float', 'System.SByte': 'sbyte',
         'System.UIntPtr': 'nuint', 'System.Decimal': 'decimal', 'System.__Canon': '__Canon'}

Name = collections.namedtuple('Name', 'rva size token texts type_args')


def directory_of_runtime():
    """Returns the directory of the runtime's version beside the dotnet on PATH; or None."""
    program = shutil.which('dotnet')
    if not program:
        return None
    path = pathlib.Path(os.path.realpath(program)).parent / 'shared/Microsoft.NETCore.App' / VERSION
    return path if path.is_dir() else None


class Images:
    """The names in images, from the output of the tested program."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.images = {}

    def names(self, module):
        if module not in self.images:
            done = subprocess.run([self.program, self.directory / module], capture_output=True, text=True,
                                  check=False)
            rows = [line.split('\t') for line in done.stdout.splitlines()]
            self.images[module] = [
                Name(int(row[0], 16), int(row[1]), int(row[2], 16), tuple(row[3:6]), row[6])
                for row in rows if len(row) > 2]
        return self.images[module]


def texts(body):
    method = body['method']
    return tuple(method[key] or '' for key in ('namespace', 'name', 'signature'))


def module_of(body):
    path = (body['module'] or {}).get('path') or ''
    return path.rsplit('/', 1)[1] if f'/Microsoft.NETCore.App/{VERSION}/' in path else None


def check_listed(tap, images, bodies, what, least):
    """A listed method has a token and a module: one method of the image must have all equal
    members."""
    n, wrong = 0, []
    for body in bodies:
        module = module_of(body)
        if body['version']['tier'] != 'ReadyToRun' or not module or not body['method']['token']:
            continue
        start, token = int(body['start'], 16), int(body['method']['token'], 16)
        n += 1
        found = [name for name in images.names(module)
                 if name.token == token and (start - name.rva) % PAGE == 0 and name.size == body['size']]
        if texts(body) not in [name.texts for name in found]:
            wrong.append((texts(body), found))
    tap.check(n >= least and not wrong, f'{what}: {n} precompiled methods have their names in the image',
              n, len(wrong), *wrong[:3])


def base_of(names, entries):
    """Returns the address of the mapped image on which most methods agree."""
    by_texts = collections.defaultdict(list)
    for name in names:
        by_texts[name.texts].append(name.rva)
    votes = collections.Counter(start - rva for start, body in entries for rva in by_texts[texts(body)]
                                if (start - rva) % PAGE == 0)
    return votes.most_common(1)[0][0] if votes else None


def plain_types(arguments):
    """Returns "int,System.Guid" for "System.Int32,System.Guid"; None if one of the types is
    generic itself."""
    if '[' in arguments:
        return None
    return ', '.join(WORDS.get(name, name.replace('+', '.')) for name in arguments.split(','))


def type_args_of(line, method):
    found = re.search(re.escape(method) + r'<([^(]*)>\(', line)
    return found and found[1]


def check_entries(tap, images, bodies, lines):
    """Precompiled methods that a thread entered: the event has their first address. With
    MethodDetails, the event also has their type arguments; lines for people at the same
    addresses have the same arguments."""
    entries = [(int(body['start'], 16), body) for body in bodies if body['source'] == 'r2r-entry']
    names = images.names(CORE)
    base = base_of(names, entries)
    by_start = {base + name.rva: name for name in names}
    end = max(by_start)
    known = [(by_start[start], body) for start, body in entries if start in by_start]
    tap.check(len(known) > 300 and all(name.texts == texts(body) for name, body in known),
              f'{len(known)} methods that were entered have the names of the image', len(known))
    tap.equal([hex(start) for start, _ in entries if base <= start <= end and start not in by_start], [],
              'no method was entered in the image where it has none')
    pairs = [(plain_types(name.type_args), type_args_of(lines[body['start']], name.texts[1]))
             for name, body in known if body['method']['type_args'] and name.texts[1].isidentifier()]
    pairs = [pair for pair in pairs if pair[0]]
    tap.check(len(pairs) > 20 and all(types == found for types, found in pairs),
              f'{len(pairs)} generic methods have the type arguments of the events',
              *[pair for pair in pairs if pair[0] != pair[1]][:3])
    tap.equal([body['symbol'] for name, body in known
               if bool(name.type_args) != body['method']['signature'].split('instance ')[-1]
               .startswith('generic ')], [], 'generic methods have type arguments, and others do not')


def check_shown(tap, images, bodies, lines, what):
    """Lines for people have type arguments of precompiled code even if no event has them."""
    n, wrong = 0, []
    for body in bodies:
        module, method = module_of(body), body['method']
        if body['version']['tier'] != 'ReadyToRun' or not module or method['type_args'] or \
                'generic ' not in (method['signature'] or '') or not method['name'].isidentifier():
            continue
        start, token = int(body['start'], 16), int(method['token'], 16)
        wanted = {plain_types(name.type_args) for name in images.names(module)
                  if name.token == token and (start - name.rva) % PAGE == 0 and name.size == body['size']}
        if len(wanted) == 1 and None not in wanted:
            n += 1
            if {type_args_of(lines[body['start']], method['name'])} != wanted:
                wrong.append((lines[body['start']], wanted))
    tap.check(n > 20 and not wrong, f'{what}: {n} precompiled generic methods are shown with their type arguments',
              n, len(wrong), *wrong[:3])


def lines_of(programs, *arguments):
    done = programs.run([programs.clrsym, 'methods', '--all', *arguments])
    return {line.split(' ', 1)[0]: line for line in done.stdout.splitlines()}


def main():
    programs_arguments, program = sys.argv[1:-1], sys.argv[-1]
    directory = directory_of_runtime()
    if directory is None:
        print(f'1..0 # SKIP no .NET {VERSION} here')
        return
    images = Images(program, directory)

    def run(tap, programs, scratch, _):
        for name, least in SESSIONS.items():
            trace = pathlib.Path(scratch) / f'{name}.nettrace'
            trace.write_bytes(lzma.open(TESTS / 'nettrace' / 'data' / name / 'rundown.nettrace.xz').read())
            bodies = programs.bodies(['--trace', trace])
            check_listed(tap, images, bodies, name, least)
            check_shown(tap, images, bodies, lines_of(programs, '--trace', trace, '--symbols', directory), name)
        rich = pathlib.Path(scratch) / 'rich'
        with tarfile.open(TESTS / 'lines' / 'data' / 'rich' / 'trace.tar.xz') as archive:
            archive.extractall(rich)
        check_entries(tap, images, programs.bodies(['--trace', rich]), lines_of(programs, '--trace', rich))

    sys.argv[1:] = programs_arguments
    recorded.main(run)


if __name__ == '__main__':
    main()
