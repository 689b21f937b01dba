# SPDX-License-Identifier: MIT
"""Source lines of a running program: the runtime's own lines of its stacks, and of addresses in all of its code,
against `clrsym resolve --lines`.

The program runs the same source in several assemblies: not optimised, optimised, with the PDB in the assembly, with
a missing PDB, compiled without a PDB, and with the PDB of another build beside it; and precompiled: not optimised,
optimised, and with the PDB in the assembly. The runtime decides which code has a line."""

import collections
import json
import os
import pathlib
import platform
import shutil
import subprocess

from tests.live import live, runtimes
from tests.oracle import nuget
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / 'lines'
# Assembly -> how its source is compiled.
SHAPES = {
    'debug': ['-debug:portable'],
    'release': ['-debug:portable', '-optimize+'],
    'embedded': ['-debug:embedded', '-optimize+'],
    'missing': ['-debug:portable'],
    'without': ['-debug-'],
    'foreign': ['-debug:portable'],
    'precompiled-debug': ['-debug:portable'],
    'precompiled': ['-debug:portable', '-optimize+'],
    'precompiled-embedded': ['-debug:embedded', '-optimize+'],
}
# The same with runtime async methods, for .NET 11.
ASYNC_SHAPES = {
    'async': ['-debug:portable', '-features:runtime-async=on'],
    'async-release': ['-debug:portable', '-optimize+', '-features:runtime-async=on'],
    'precompiled-async': ['-debug:portable', '-optimize+', '-features:runtime-async=on'],
}
REASONS = {**dict.fromkeys([*SHAPES, *ASYNC_SHAPES], 'found'), 'missing': 'pdb-missing', 'without': 'no-pdb',
           'foreign': 'pdb-of-another-build'}
# Places in the source: each has a frame with a line.
MARKS = ('try', 'catch', 'catch-in-catch', 'finally', 'filter', 'dispose', 'iterator', 'iterator-finally',
         'async-before', 'async-after', 'async-lambda', 'async-catch', 'async-iterator', 'lambda',
         'static-lambda', 'local-function', 'query', 'generic', 'inlined', 'inliner', 'line-directive',
         'hidden', 'after-hidden', 'loop-begin', 'loop-end', 'static-constructor', 'struct-constructor')
TIERS = {'MinOptJitted', 'QuickJitted', 'ReadyToRun', 'OptimizedTier1', 'OptimizedTier1OSR'}
# Maximum of the framework's precompiled bodies that are asked about.
N_PRECOMPILED = 400

# The runtime's data of a frame; PLACE is (file, line, column) or None.
Frame = collections.namedtuple('Frame', 'native il place token module method')


def shapes_of(runtime):
    return SHAPES | ASYNC_SHAPES if runtime == runtimes.NEWEST else SHAPES


class Compiler:
    def __init__(self, directory, runtime):
        self.directory, self.csc = directory, runtimes.compiler(runtime)
        references = runtimes.references(runtime)
        (directory / 'references').write_text(''.join(f'-r:"{path}"\n' for path in references))

    def compile(self, name, source, *options):
        live.run('dotnet', self.csc, '-noconfig', '-nostdlib', '-nologo', '-nullable:enable', '-unsafe',
                 '-langversion:latest', '-warnaserror', '-deterministic',
                 f'@{self.directory / "references"}', f'-out:{self.directory / name}', *options,
                 SOURCES / source, env={**os.environ, 'DOTNET_TieredPGO': '0'})


def precompile(directory, host, runtime):
    """Precompiles the assemblies whose names ask for that; they keep their PDBs."""
    for name in shapes_of(runtime):
        if name.startswith('precompiled'):
            il = (directory / f'{name}.dll').rename(directory / 'other' / f'{name}.dll')
            runtimes.precompile(il, directory / f'{name}.dll', runtimes.framework(host, runtime), directory / 'Recorder.dll',
                                runtime=runtime)


def build(directory, host, runtime):
    """The program, and the assemblies that it runs."""
    (directory / 'other').mkdir(parents=True)
    csc = Compiler(directory, runtime)
    recorder = f'-r:{directory / "Recorder.dll"}'
    csc.compile('Recorder.dll', 'Recorder.cs', '-target:library', '-optimize+', '-debug:portable')
    csc.compile('program.dll', 'Program.cs', recorder, '-debug:portable')
    for name, options in shapes_of(runtime).items():
        csc.compile(f'{name}.dll', 'Shapes.cs', recorder, '-target:library', *options)
    csc.compile('other/foreign.dll', 'Shapes.cs', recorder, '-target:library', '-debug:portable',
                '-define:FOREIGN')
    (directory / 'missing.pdb').unlink()
    shutil.copy(directory / 'other' / 'foreign.pdb', directory)
    precompile(directory, host, runtime)
    (directory / 'program.runtimeconfig.json').write_text(json.dumps({'runtimeOptions': {
        'framework': {'name': 'Microsoft.NETCore.App', 'version': runtimes.version_of(runtime)},
        'configProperties': {'System.Globalization.Invariant': True}}}))
    return [directory / f'{name}.dll' for name in shapes_of(runtime)]


def frame_of(words):
    native, il, file, line, column, token, module, method = words
    return Frame(int(native), int(il), (file, int(line), int(column)) if file else None,
                 int(token, 16), module, method)


class Talk:
    """The pipes to and from the program."""

    def __init__(self, process):
        self.process = process

    def lines_until(self, last):
        lines = []
        while (line := self.process.stdout.readline().rstrip('\n')) != last:
            if not line and self.process.poll() is not None:
                raise RuntimeError(f'the program ended with {self.process.returncode}')
            lines.append(line)
        return lines

    def stacks(self):
        """[(mark, return addresses, frames)]"""
        stacks = []
        for line in self.lines_until('READY'):
            word, _, rest = line.replace('\t', ' ', 1).partition(' ')
            if word == 'STACK':
                mark, *addresses = rest.split(' ')
                stacks.append((mark, [int(address, 16) for address in addresses], []))
            elif word == 'FRAME':
                stacks[-1][2].append(frame_of(rest.split('\t')))
        return stacks

    def ask(self, questions):
        """The runtime's frames at (address, method)."""
        self.process.stdin.write(''.join(f'{address:x} {method:x}\n' for address, method in questions)
                                 + '.\n')
        self.process.stdin.flush()
        frames = [frame_of(line.split('\t')[1:]) for line in self.lines_until('DONE')]
        if len(frames) != len(questions):
            raise RuntimeError(f'{len(frames)} frames at {len(questions)} addresses')
        return frames


class Clrsym:
    def __init__(self, programs, daemon, pid):
        self.programs, self.daemon, self.pid = programs, daemon, pid

    def bodies(self):
        return [json.loads(line) for line in
                self.programs.ask(self.daemon.source, 'methods', '--pid', str(self.pid))]

    def resolve(self, addresses):
        """address -> the answer"""
        addresses = sorted(set(addresses))
        lines = self.programs.ask(self.daemon.source, 'resolve', '--lines', '--pid', str(self.pid),
                                  text=''.join(f'{address:#x}\n' for address in addresses))
        return dict(zip(addresses, map(json.loads, lines)))


def place_of(answer):
    return (answer['file'], answer['line'], answer['column']) if answer.get('file') else None


def is_of(answer, frame, offset):
    """True if the frame is in the answer's body, OFFSET bytes from its start."""
    return (answer['status'] == 'ok' and int(answer['method']['token'], 16) == frame.token and
            os.path.basename(answer['module']['path']) == frame.module and offset == frame.native)


def pairs_of(stack, answers):
    """[(frame, its answer)], from the innermost to the outermost. The chain contains native frames, which the
    runtime does not list."""
    _, addresses, frames = stack
    pairs, rest = [], list(addresses)
    for frame in frames:
        for i, address in enumerate(rest):
            answer = answers[address - 1]
            if answer['status'] == 'ok' and is_of(answer, frame, address - int(answer['start'], 16)):
                pairs.append((frame, answer))
                rest = rest[i + 1:]
                break
    return pairs


def differences(pairs):
    return [f'{frame}: {answer.get("line_il_offset")} {place_of(answer)} {json.dumps(answer)}'
            for frame, answer in pairs
            if place_of(answer) != frame.place or answer['line_il_offset'] != frame.il]


def is_ours(path):
    return os.path.basename(path or '').removesuffix('.dll') in (*REASONS, 'program', 'Recorder')


def test_stacks(tap, clrsym, stacks, shapes):
    answers = clrsym.resolve(address - 1 for _, addresses, _ in stacks for address in addresses)
    by_mark = [(mark, pair) for stack in stacks for mark in stack[:1] for pair in pairs_of(stack, answers)]
    pairs = [pair for _, pair in by_mark]
    ours = [frame for _, _, frames in stacks for frame in frames if is_ours(frame.module)]
    found = [pair for pair in pairs if is_ours(pair[0].module)]
    wrong = differences(pairs)
    tap.check(not wrong, f'{len(stacks)} stacks: {len(pairs)} frames have the line of the runtime, or none',
              f'{len(wrong)} have not', *wrong[:5])
    # A method with a running catch or finally has two frames, but one in the chain.
    tap.check(len(found) >= 0.93 * len(ours), f"{len(found)} of the program's {len(ours)} frames are seen")
    seen = {mark for mark, (frame, answer) in by_mark if place_of(answer)}
    tap.equal(set(MARKS) - seen, set(), 'each kind of code has lines')
    tiers = {answer['version']['tier'] for frame, answer in pairs if place_of(answer)}
    tap.check(TIERS <= tiers, f'and each tier: {", ".join(sorted(tiers))}')
    # Compiler-generated code has no line in any assembly.
    statuses = {(frame.module.removesuffix('.dll'), answer['line_status']) for frame, answer in found}
    tap.equal(sorted((name, status) for name, status in statuses if name in shapes and status != 'no-line'),
              sorted((name, reason) for name, reason in REASONS.items() if name in shapes), 'where there is no line, the reason is right')


def addresses_in(body):
    """The start, the end, and addresses in between."""
    start, size = int(body['start'], 16), body['size']
    return sorted({start + size * i // 16 for i in range(16)} | {start + size - 1})


def has_file(body):
    """False for dynamic methods, and for the runtime's stubs."""
    method = body['method']
    return method['token'] and body['size'] and '[dynamic]' not in str(method) and method['namespace'] != 'dynamicClass'


def is_thunk(body):
    """True for the generated body of an async method: it returns a runtime async method's task (the runtime shows
    the method's first line for it), or awaits the task of an ordinary method."""
    name, signature = body['method']['name'], body['method']['signature']
    awaits = name.endswith(('.MoveNextAsync', '.DisposeAsync')) and 'System.Threading.Tasks.' not in signature
    return os.path.basename(body['module']['path']).removesuffix('.dll') in ASYNC_SHAPES and \
        (awaits or signature.startswith('class System.Threading.Tasks.'))


def is_instance(body):
    """True for a generic method, or a method of a generic type."""
    return '[' in (body['method']['namespace'] or '') or 'generic ' in (body['method']['signature'] or '')


def test_addresses(tap, clrsym, talk):
    bodies = [body for body in clrsym.bodies() if has_file(body)]
    ours = [body for body in bodies if is_ours(body['module']['path'])]
    precompiled = [body for body in bodies if body['version']['tier'] == 'ReadyToRun']
    asked = ours + precompiled[::max(1, len(precompiled) // N_PRECOMPILED)]
    questions = [(address, int(body['method']['id'], 16)) for body in asked for address in addresses_in(body)]
    answers = clrsym.resolve(address for address, _ in questions)
    pairs = [(frame, answers[address]) for frame, (address, _) in zip(talk.ask(questions), questions)]
    # If instances of a method have the same size and the same offset in their pages, all of them have one map, or
    # none.
    unclear = {answer['start'] for _, answer in pairs if answer['version']['tier'] == 'ReadyToRun' and
               answer['line_il_offset'] is None and is_instance(answer) and not is_ours(answer['module']['path'])}
    tap.check(len(unclear) * 50 < len(asked), f'{len(unclear)} of {len(asked)} bodies are one of several instances')
    pairs = [pair for pair in pairs if pair[1]['start'] not in unclear]
    thunks = [answer for _, answer in pairs if is_thunk(answer)]
    tap.check(not any(map(place_of, thunks)), f'{len(thunks)} addresses in thunks have no line', *thunks[:2])
    pairs = [pair for pair in pairs if not is_thunk(pair[1])]
    wrong = differences(pairs)
    n_lines = sum(place_of(answer) is not None for _, answer in pairs)
    tap.check(not wrong, f'{len(pairs)} addresses in {len(asked)} bodies: {n_lines} have the line of the '
              'runtime, the others none', f'{len(wrong)} have not', *wrong[:5])
    tap.check(n_lines > 3000, 'there are enough')
    known = [is_ours(frame.module) for frame, answer in pairs if answer['version']['tier'] == 'ReadyToRun']
    tap.check(known.count(False) > 1000 and known.count(True) > 1000,
              f'{known.count(False)} precompiled addresses of the framework and {known.count(True)} of the '
              'program have the IL offset of the runtime')


def test_runtime(tap, programs, directory, runtime):
    directory.mkdir()
    host = runtimes.host(directory, runtime)
    assemblies = build(directory / 'app', host, runtime)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('DOTNET_', 'COMPlus_', 'LD_PRELOAD'))}
    environment |= {'TMPDIR': str(directory), 'DOTNET_ROOT': str(host.parent), 'DOTNET_LTTng': '0', 'DOTNET_TC_CallCountingDelayMs': '0'}
    with recorded.Daemon(programs, directory) as daemon, \
         live.child([host, directory / 'app' / 'program.dll', *assemblies], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True, env=environment) as process:
        programs.environment['CLRSYM_INGEST'] = str(daemon.ingest)
        talk = Talk(process)
        stacks = talk.stacks()
        done = programs.run([programs.clrsym, 'attach', *daemon.source, '--wait=60', '--via=eventpipe',
                             process.pid])
        tap.check(done.returncode == 0, 'attached', done.stdout, done.stderr)
        clrsym = Clrsym(programs, daemon, process.pid)
        test_stacks(tap, clrsym, stacks, shapes_of(runtime))
        test_addresses(tap, clrsym, talk)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    for runtime in runtimes.of_test(__file__):
        tap.note(f'.NET {runtime}')
        try:
            test_runtime(tap, programs, directory / runtime, runtime)
        except nuget.NotRestored as error:
            tap.skip(f'.NET {runtime}', str(error))


def missing():
    if platform.machine() != 'x86_64':
        return 'the program has x86-64 code'
    return live.no_dotnet()


if __name__ == '__main__':
    live.run_or_skip(missing(), lambda: recorded.main(test))
