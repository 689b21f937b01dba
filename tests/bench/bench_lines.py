# SPDX-License-Identifier: MIT
"""What source lines cost: reading PDBs beside System.Reflection.Metadata, questions with lines beside the same
without, the first line of an assembly, and the memory for many. Asserts no time."""

import csv
import json
import lzma
import os
import pathlib
import shutil
import statistics
import subprocess

from tests.bench import measure
from tests.lines import test_lines
from tests.traces import recorded

TESTS = pathlib.Path(__file__).resolve().parents[1]
N_RUNS = 7
# PDBs with as many methods together as ten large ones of a compiler have; assemblies of a large program.
N_PDBS, N_METHODS = 10, 21000
N_ASSEMBLIES = 200
N_QUESTIONS = 100_000
RECORDING = 'debug'


def generated_source():
    """Classes of 100 methods with some four sequence points each."""
    yield 'namespace Many;'
    for i in range(N_METHODS):
        if i % 100 == 0:
            yield ('}\n' if i else '') + f'public static class C{i // 100}\n{{'
        yield f'    public static int M{i}(int x)\n    {{\n        if (x > {i})\n            return x * {i};\n' \
              '        x += 3;\n        return x;\n    }'
    yield '}'


def build(directory):
    """(the assembly with many methods, the program on System.Reflection.Metadata)"""
    from tests.live import runtimes, test_live_lines
    compiler = test_live_lines.Compiler(directory, runtimes.OWN)
    source = directory / 'Many.cs'
    source.write_text('\n'.join(generated_source()))
    compiler.compile('Many.dll', source, '-target:library', '-debug:portable')
    compiler.compile('points.dll', TESTS / 'bench' / 'points' / 'Program.cs', '-optimize+')
    version = test_live_lines.live.run('dotnet', '--list-runtimes').split(
        'Microsoft.NETCore.App ')[-1].split()[0]
    (directory / 'points.runtimeconfig.json').write_text(json.dumps(
        {'runtimeOptions': {'framework': {'name': 'Microsoft.NETCore.App', 'version': version}}}))
    return directory / 'Many.dll', directory / 'points.dll'


def figures(command):
    """The medians of what a command prints in several runs."""
    runs = []
    for _ in range(N_RUNS):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True)
        runs.append([float(word) for word in done.stdout.split()])
    return [statistics.median(column) for column in zip(*runs)]


def compare_readers(tap, bench, directory):
    assembly, program = build(directory)
    pdbs = [directory / f'{i}.pdb' for i in range(N_PDBS)]
    for path in pdbs:
        shutil.copy(assembly.with_suffix('.pdb'), path)
    ours = figures([bench, 'points', *pdbs])
    theirs = figures(['dotnet', program, *pdbs])
    tap.equal(ours[:2], theirs[:2], f'{ours[0]:.0f} methods and {ours[1]:.0f} points, by both')
    for name, (_, _, cold, warm, memory) in ('clrsym', ours), ('System.Reflection.Metadata', theirs):
        tap.note(f'{name}: {cold:.1f} ms cold, {warm:.1f} ms warm, {memory:.1f} MiB')
    tap.note(f'clrsym takes {ours[2] / theirs[2]:.2f} x the time cold, {ours[3] / theirs[3]:.2f} x warm, '
             f'{ours[4] / max(theirs[4], 0.1):.2f} x the memory')


def many_assemblies(tap, bench, directory):
    """Copies of the recorded program's assemblies, each a module of its own."""
    where = test_lines.unpack(directory, RECORDING)
    copies = []
    for i in range(N_ASSEMBLIES):
        target = directory / 'copies' / str(i)
        target.mkdir(parents=True)
        for name in ('App.dll', 'App.pdb'):
            shutil.copy(where / 'app' / name, target)
        copies.append(target / 'App.dll')
    found, mean, longest, memory = figures([bench, 'modules', *copies])
    tap.equal(found, N_ASSEMBLIES, f'each of {N_ASSEMBLIES} assemblies has a line')
    tap.note(f'the first line of an assembly: {mean:.2f} ms, at most {longest:.2f} ms; '
             f'all of them take {memory:.1f} MiB')
    return where


def questions(tap, programs, where):
    with lzma.open(test_lines.DATA / RECORDING / 'lines.tsv.xz', 'rt', encoding='utf-8') as file:
        rows = list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))
    text = ''.join(map(test_lines.question, rows))
    path = where / 'questions'
    path.write_text(text * (N_QUESTIONS // len(rows) + 1))
    ways = {'without lines': [], 'with lines': ['--lines', '--symbols', where / 'app']}
    for form in ('--json', '--names=csharp'):
        costs = {way: [] for way in ways}
        for _ in range(N_RUNS):
            for way, options in ways.items():
                costs[way].append(measure.run([programs.clrsym, 'resolve', '--trace', where / 'trace', form,
                                               *options], path, {**os.environ, **programs.environment}))
        costs = {way: measure.median(runs) for way, runs in costs.items()}
        tap.note(f'{N_QUESTIONS} questions, {form}: {costs["without lines"].wall:.2f} s, with lines '
                 f'{costs["with lines"].wall:.2f} s: '
                 f'{costs["with lines"].wall / costs["without lines"].wall:.2f} x')


def run(tap, programs, directory, names):
    bench, *_ = names
    directory = pathlib.Path(directory)
    if shutil.which('dotnet'):
        (directory / 'many').mkdir()
        compare_readers(tap, bench, directory / 'many')
    else:
        tap.note('no `dotnet`: nothing is compared with System.Reflection.Metadata')
    questions(tap, programs, many_assemblies(tap, bench, directory))


if __name__ == '__main__':
    recorded.main(run)
