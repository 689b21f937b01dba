# SPDX-License-Identifier: MIT
"""Source lines of recorded programs, compared with those of their runtime.

Each recording in data/ has a trace, the program's assemblies with the PDBs beside them (some are
missing, embedded, or of another build), and lines.tsv: addresses, with the IL offset and the file,
line and column that the runtime reported for them through StackTrace. An address of a call is the
address of the call instruction.
"""

import csv
import json
import lzma
import pathlib
import tarfile

from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parent / 'data'
# Recording -> minimum number of addresses with a line. Of r2r's addresses, 1,000 are in precompiled
# code: their IL offsets are in the images, which are no longer at the program's paths. Async is a
# program of .NET 11, with bodies of runtime async.
RECORDINGS = {'debug': 3500, 'embedded': 5500, 'mismatched': 1000, 'r2r': 3900, 'net8': 5500, 'async': 560}


def unpack(directory, name):
    target = pathlib.Path(directory) / name
    for part in ('trace', 'app'):
        with tarfile.open(DATA / name / f'{part}.tar.xz') as archive:
            archive.extractall(target)
    return target


def read_rows(name):
    with lzma.open(DATA / name / 'lines.tsv.xz', 'rt', encoding='utf-8') as file:
        return list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


def question(row):
    seconds, ns = divmod(int(row['time_ns']), 10**9)
    return f'{row["pid"]} {row["addr"]} {seconds}.{ns:09}\n'


def place(row):
    """None: no line."""
    return (row['file'], int(row['line']), int(row['column'])) if row['file'] else None


def may_have_no_offset(row, answer, where):
    """-1 stands for a method without IL. The recording lacks the runtime's own images;
    precompiled code is found by the GUID of its PDB, and LibNo.dll has no PDB."""
    name = pathlib.Path(answer['module']['path'] or '').name
    return row['il_offset'] == '-1' or not (where / 'app' / name).exists() or \
        name == 'LibNo.dll' and answer['version']['tier'] == 'ReadyToRun'


def is_offset(row, answer, where):
    offset = answer['line_il_offset']
    return may_have_no_offset(row, answer, where) if offset is None else offset == int(row['il_offset'])


def check(tap, programs, directory, name):
    rows = read_rows(name)
    where = unpack(directory, name)
    text = ''.join(map(question, rows))
    answers = [json.loads(line) for line in programs.ask(
        ['--trace', where / 'trace'], 'resolve', '--lines', '--symbols', where / 'app', text=text)]
    wrong_il = [(row['addr'], row['il_offset'], answer['line_il_offset'])
                for row, answer in zip(rows, answers)
                if not is_offset(row, answer, where)]
    wrong = [(row['addr'], place(row), answer.get('line_status')) for row, answer in zip(rows, answers)
             if place(row) != place({**answer, 'file': answer.get('file')})]
    n_lines = sum(bool(answer.get('file')) for answer in answers)
    tap.equal(len(answers), len(rows), f'{name}: an answer for each address')
    tap.equal(wrong_il[:5], [], f'{name}: the IL offsets are those of the runtime')
    tap.equal(wrong[:5], [], f'{name}: all {len(rows)} lines are those of the runtime')
    tap.check(n_lines >= RECORDINGS[name], f'{name}: {n_lines} addresses have a line')
    return where, rows


def check_other(tap, programs, where, rows):
    """Without PDBs there are no lines; text output; a source map."""
    row = next(row for row in rows if place(row))
    source = ['--trace', where / 'trace']
    bare = json.loads(programs.ask(source, 'resolve', '--lines', text=question(row))[0])
    tap.equal((bare['file'], bare['line'], bare['line_status']), (None, None, 'pdb-missing'),
              'without the PDB there is no line, but its reason')
    plain = json.loads(programs.ask(source, 'resolve', text=question(row))[0])
    tap.check('file' not in plain, 'no line is added that was not asked for')
    done = programs.run([programs.clrsym, 'resolve', *source, '--lines', '--symbols', where / 'app',
                         '--source-map', '/mnt/src=/home/me'], text=question(row))
    file, line, column = place(row)
    tap.check(done.stdout.rstrip().endswith(
        f' at {file.replace("/mnt/src", "/home/me")}:{line}:{column}'),
              'text has the line, and the path by --source-map', done.stdout, done.stderr)
    done = programs.run([programs.clrsym, 'resolve', *source, '--lines', '--filter'], text='')
    tap.equal(done.returncode, 2, '--filter does not take --lines')


def check_first(tap, programs, where, rows):
    """The first lines of methods in `history` and `versions` are not after the lines of their
    code."""
    source = ['--trace', where / 'trace', '--symbols', where / 'app', '--lines']
    row = next(row for row in rows if place(row))
    pid = ['--pid', row['pid']]
    body = json.loads(programs.ask(source, 'history', *pid, row['addr'])[0])
    method = f'{body["method"]["namespace"]}.{body["method"]["name"]}'
    of_method = [place(other) for other in rows if place(other) and
                 int(body['start'], 16) <= int(other['addr'], 16) < int(body['start'], 16) + body['size']]
    tap.equal((body['file'], body['line_status']), (place(row)[0], 'found'), 'history has the source')
    tap.check(of_method and body['line'] <= min(line for _, line, _ in of_method),
              "and the method's first line", body, of_method)
    for verb, what in ('history', row['addr']), ('versions', method):
        text = programs.run([programs.clrsym, verb, *source, *pid, what]).stdout
        tap.check(f' {body["file"]}:{body["line"]} ' in text and ' LINE ' in text,
                  f'{verb}: the table has it', text)


def check_thunks(tap, programs, where):
    """A runtime async method has a thunk, the body that returns a task. Thunks are never tiered."""
    bodies = list(map(json.loads, programs.ask(
        ['--trace', where / 'trace'], 'methods', '--all', '--style', 'csharp', '--symbols', where / 'app')))
    text = programs.run([programs.clrsym, 'methods', '--all', '--trace', where / 'trace', '--symbols', where / 'app']).stdout
    want = {f'{int(body["start"], 16):#x}' for body in bodies if body['version']['tier'] == 'Optimized' and
            'System.Threading.Tasks.Task' in (body['method']['signature'] or '').split('(')[0]}
    got = {line.split()[0] for line in text.splitlines() if line.endswith(' [thunk]')}
    tap.check(len(got) > 3 and got == want, 'the thunks of async methods are marked', got ^ want, len(got))


def run(tap, programs, directory, _):
    for name in RECORDINGS:
        where, rows = check(tap, programs, directory, name)
        if name == 'async':
            check_thunks(tap, programs, where)
    check_other(tap, programs, where, rows)
    check_first(tap, programs, where, rows)


if __name__ == '__main__':
    recorded.main(run)
