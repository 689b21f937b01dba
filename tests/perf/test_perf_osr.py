# SPDX-License-Identifier: MIT
"""Methods that OSR has replaced on the stack: no output has the false frame that perf shows in place of their
caller. With copies of the stack, each caller is that of the source. Without them, it is that of the source, or a
frame for an unknown caller."""

import lzma
import pathlib
import re

from tests.perf import perftool
from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parent / 'data' / 'osr'
UNKNOWN = perftool.OSR_UNKNOWN
# Callers of each method in the source, without native code and the runtime's frames.
CALLERS = {
    'Osr.Plain': {'Osr.CallsPlain'},
    'Osr.CallsPlain': {'Osr.Main'},
    'Osr.LoopCalls': {'Osr.Main'},
    'Osr.Small': {'Osr.LoopCalls', 'Osr.Outer'},
    'Osr.Outer': {'Osr.Main'},
    'Osr.Inner': {'Osr.Outer'},
    'Osr.Generic': {'Osr.Main'},
    'Osr.Many': {'Osr.Main'},
    'Osr.Tries': {'Osr.Main'},
    'Osr.Frame': {'Osr.Main'},
    'Osr.S.Instance': {'Osr.Main'},
    'Osr.Main.lambda#c.15_0': {'Osr.Main'},
    'Osr.Plain2': {'Osr.Main.lambda#c.15_1'},
    'Osr.Async': {'[async resume stub]'},
    # Precompiled: it has a name only with a rundown in the trace.
    'Osr.Main': {'System.Environment.CallEntryPoint', '[System.Private.CoreLib.dll]'},
}
# In .NET 10, native code calls Main.
CALLERS_10 = CALLERS | {'Osr.Main': {'[libcoreclr.so]'}, 'Osr.Async': {'Osr.AsyncOuter.async#13'}}
OUTPUTS = 'folded', 'speedscope.json', 'svg', 'html'


def method(frame):
    """The name without parameters and type arguments."""
    return re.split(r'[(<]', frame, maxsplit=1)[0] if not frame.startswith('<') else frame


def edges(stacks):
    """(caller, callee, number of samples) for each method whose callers are in the source."""
    for stack, count in stacks.items():
        names = [frame if frame == UNKNOWN else method(frame) for frame in stack]
        for caller, callee in zip(names, names[1:]):
            if callee in CALLERS:
                yield caller, callee, count


def unpack(directory, name):
    path = directory / name
    path.write_bytes(lzma.open(DATA / (name + '.xz')).read())
    path.chmod(0o600)
    return path


def check_edges(tap, stacks, what, least):
    found = list(edges(stacks))
    right = sum(count for caller, callee, count in found if caller in CALLERS[callee])
    unknown = sum(count for caller, _, count in found if caller == UNKNOWN)
    wrong = [edge for edge in found if edge[0] not in CALLERS[edge[1]] and edge[0] != UNKNOWN]
    tap.check(not wrong, f'{what}: no caller is wrong ({right} right, {unknown} unknown)', wrong)
    tap.check(right + unknown >= least, f'{what}: there are so many', right, unknown)
    return right, unknown


def check_arm64(tap, programs, directory, name):
    """Recordings of arm64, on any machine: OSR hides no caller there."""
    data, trace = unpack(directory, name + '.data'), unpack(directory, name + '.nettrace')
    output = directory / f'{name}.folded'
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', trace, '--force', '-o', output)
    tap.check(done.returncode == 0 and 'OSR' not in done.stderr, f'{name}: it is named', done.stderr)
    stacks = perftool.folded(output.read_text())
    # The recording lacks the methods' code: in its first and last instructions, a method's caller is skipped.
    skipped = {callee: {other for one in callers for other in CALLERS_10.get(one, ())} for callee, callers in CALLERS_10.items()}
    found = list(edges(stacks))
    right, unknown, far = (sum(count for caller, callee, count in found if fits(caller, callee)) for fits in (
        lambda caller, callee: caller in CALLERS_10[callee], lambda caller, _: caller == UNKNOWN,
        lambda caller, callee: caller in skipped[callee] - CALLERS_10[callee]))
    tap.check(right + far == sum(count for _, _, count in found) and right > 400 and 100 * far <= right,
              f'{name}: no caller is wrong ({right} right, {far} farther away)', found)
    tap.check(unknown == 0, f'{name}: each caller is known')
    n, roots = sum(stacks.values()), sum(count for stack, count in stacks.items() if 'Osr.Main' in map(method, stack))
    tap.check(3 * roots > n, f'{name}: {roots} of {n} stacks lead to Main')


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('methods that were replaced on the stack', reason)
        return
    directory = pathlib.Path(directory)
    for name in 'arm64-copies', 'arm64-frames':
        check_arm64(tap, programs, directory, name)
    for name in 'copies', 'frames':
        data, trace = unpack(directory, name + '.data'), unpack(directory, name + '.nettrace')
        files = {ending: directory / f'{name}.{ending}' for ending in OUTPUTS}
        done = perftool.clrsym_perf(programs, '-i', data, '--trace', trace, '--force',
                                    *[f'--output={path}' for path in files.values()])
        tap.check(done.returncode == 0, f'{name}: it is named', done.stderr)
        right, unknown = check_edges(tap, perftool.folded(files['folded'].read_text()), name, 250)
        texts = {ending: path.read_text() for ending, path in files.items()}
        done = perftool.clrsym_perf(programs, '-i', data, '--trace', trace, '--force')
        texts['text'] = done.stdout
        if name == 'copies':
            tap.check(unknown == 0 and re.search(r'(\d+) callers hidden by OSR \(\1 found, 0 by other samples ~, 0 unknown\)',
                                                 done.stderr), 'copies: each caller is found', done.stderr)
        else:
            tap.check(unknown > 250 and ' by other samples ~, ' in done.stderr, 'frames: they are unknown', right, done.stderr)
            plain = perftool.script(programs, data, settings=[f'trace={trace}', 'format=folded'])
            check_edges(tap, perftool.folded(plain.stdout), 'frames, by the filter alone', 250)
        for ending, text in texts.items():
            tap.check('doublemapper' not in text, f'{name}: no false frame as {ending}')
            tap.check((UNKNOWN in text) == (unknown > 0), f'{name}: unknown callers as {ending}')


if __name__ == '__main__':
    recorded.main(run)
