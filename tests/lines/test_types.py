# SPDX-License-Identifier: MIT
"""Type arguments of generic methods in recorded programs.

The oracle is the source of the program: a marker in the source calls the recorder, which prints the
return address. The marker's kind names the instance that the source calls there.
"""

import csv
import json
import lzma
import pathlib
import re
import tarfile

from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parent / 'data'
RECORDINGS = ('rich', 'rich9')
# Instances that the source calls, and the instances of their code: reference types share code. A
# marker of Convert<TIn, TOut> has no instance of its own.
INSTANCES = {
    'generic-int': ('Describe<int>(T, string)',),
    'generic-string': ('Describe<__Canon>(T, string)',),
    'generic-object': ('Describe<__Canon>(T, string)',),
    'generic-struct': ('Describe<Mini.Point>(T, string)',),
    'generic-two': ('Convert<int, __Canon>(TIn, System.Func<TIn, TOut>)',
                    'Convert<__Canon, long>(TIn, System.Func<TIn, TOut>)'),
}
CORE = 'System.Private.CoreLib.dll'


def unpack(directory, name):
    target = pathlib.Path(directory) / name
    for part in ('trace', 'app'):
        with tarfile.open(DATA / name / f'{part}.tar.xz') as archive:
            archive.extractall(target)
    return target


def read_markers(name):
    with lzma.open(DATA / name / 'markers.tsv.xz', 'rt', encoding='utf-8') as file:
        return list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


def question(row):
    """Asks about the call, because the address is its return address."""
    seconds, ns = divmod(int(row['time_ns']), 10**9)
    return f'{row["pid"]} {int(row["addr"], 16) - 1:#x} {seconds}.{ns:09}\n'


def names(programs, source, rows):
    text = ''.join(map(question, rows))
    done = programs.run([programs.clrsym, 'resolve', *source], text=text)
    return [line.split(' Mini.Program.', 1)[1].rsplit('+0x', 1)[0] for line in done.stdout.splitlines()]


def arguments(answer):
    """Returns (module, token) for each type argument; no argument is generic itself."""
    return tuple((path.rsplit('/', 1)[1], token) for token, _, path in
                 (argument.split('@') for argument in answer['method']['type_args'].split(',')))


def check_markers(tap, programs, name, where):
    rows = [row for row in read_markers(name) if row['kind'].split('/')[0] in INSTANCES]
    kinds = [row['kind'].split('/')[0] for row in rows]
    source = ['--trace', where / 'trace', '--symbols', where / 'app']
    answers = [json.loads(line) for line in
               programs.ask(source[:2], 'resolve', text=''.join(map(question, rows)))]
    got = {kind: {arguments(answer) for answer, its in zip(answers, kinds) if its == kind}
           for kind in INSTANCES}
    number, canon, struct = (min(got[kind])[0] for kind in ('generic-int', 'generic-string', 'generic-struct'))
    long = min(types[1] for types in got['generic-two'] if types[0] == canon)
    tap.equal(got, {'generic-int': {(number,)}, 'generic-string': {(canon,)}, 'generic-object': {(canon,)},
                    'generic-struct': {(struct,)}, 'generic-two': {(number, canon), (canon, long)}},
              f'{name}: {len(rows)} markers are in the instances that the source calls')
    tap.equal((len({number, canon, struct, long}), struct[0], {number[0], canon[0], long[0]}),
              (4, 'App.dll', {CORE}), f'{name}: four types, one of them of the program')
    shown = names(programs, source, rows)
    # If the framework of the recording is not on this machine, its types have no names.
    wrong = [(kind, text) for kind, text in zip(kinds, shown) if text not in INSTANCES[kind] and
             (kind == 'generic-struct' or not re.match(r'(Describe|Convert)<\?>\(T', text))]
    tap.equal(wrong[:5], [], f'{name}: the names are those of the source')
    bare = names(programs, source[:2], rows)
    structs = {text for kind, text in zip(kinds, bare) if kind == 'generic-struct'}
    tap.equal(structs, {'Describe<?>(M1, string)'}, f'{name}: without the assembly nothing is made up')


def check_all(tap, programs, name, where):
    """All generic methods of the program, jitted or precompiled."""
    source = ['--trace', where / 'trace', '--symbols', where / 'app', '--all']
    bodies = [json.loads(line) for line in programs.ask(source, 'methods')]
    generic = [body for body in bodies if (body['method']['signature'] or '').replace('instance ', '')
               .startswith('generic ')]
    tap.check(len(generic) > 100 and all(body['method']['type_args'] for body in generic),
              f'{name}: the type arguments of all {len(generic)} bodies of generic methods are known',
              [body['symbol'] for body in generic if not body['method']['type_args']][:5])
    others = [body['symbol'] for body in bodies if body['method']['type_args'] and body not in generic]
    tap.equal(others[:5], [], f'{name}: and nothing else has any')
    modules = {part.split('@')[2].split('[')[0].rstrip(']') for body in generic
               for part in body['method']['type_args'].split(',')}
    tap.check(any(module.endswith('/' + CORE) for module in modules) and
              any(module.endswith('/App.dll') for module in modules),
              f'{name}: types of the framework and of the program', modules)


def run(tap, programs, directory, _):
    for name in RECORDINGS:
        where = unpack(directory, name)
        check_markers(tap, programs, name, where)
        check_all(tap, programs, name, where)


if __name__ == '__main__':
    recorded.main(run)
