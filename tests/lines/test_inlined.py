# SPDX-License-Identifier: MIT
"""Inlined methods in recorded programs, which ran with DOTNET_RichDebugInfo=1.

The oracle is the source of the program: a marker in the source calls the recorder, which prints the
return address; the method with the marker in its source is the innermost method there. At returns
of inlined methods the JIT often has no mapping, so that some answers must be wrong: the test checks
the number of right ones.
"""

import json
import re

from tests.lines.test_types import question, read_markers, unpack
from tests.traces import recorded


# Recording -> minimum numbers of markers in inlined methods, and in all others, with the right
# innermost method. Another reader of the same events found the same numbers. If the machine has the
# runtime's own assemblies of that version, a few more are right.
RIGHT = {'rich': (87, 271), 'rich9': (87, 271)}


def without_arguments(name):
    """Returns 'A.B`1.M' for 'A.B`1[System.Int32].M(int32)', because the source does not name the
    instance."""
    return re.sub(r'\[.*?\]', '', re.sub(r'\(.*', '', name))


def innermost(line):
    """Returns the method that `resolve` prints for an address."""
    name = line.split(' ', 1)[1].rsplit('+0x', 1)[0]
    inlined = re.search(r', inlined ~(.*?)(?: in ~.*)?$', line)
    return without_arguments(inlined[1] if inlined else name)


def check_markers(tap, programs, name, where):
    rows = read_markers(name)
    source = ['--trace', where / 'trace', '--symbols', where / 'app', '--names', 'clr']
    lines = programs.run([programs.clrsym, 'resolve', *source],
                         text=''.join(map(question, rows))).stdout.splitlines()
    tap.equal(len(lines), len(rows), f'{name}: an answer for each marker')
    right = {True: 0, False: 0}
    for row, line in zip(rows, lines):
        is_inlined = row['outer_method'] != row['innermost_method_by_source']
        right[is_inlined] += innermost(line) == without_arguments(row['innermost_method_by_source'])
    tap.check(right[True] >= RIGHT[name][0] and right[False] >= RIGHT[name][1],
              f'{name}: {right[True]} markers in inlined methods and {right[False]} others are right', right)
    deep = [line for row, line in zip(rows, lines) if row['kind'] == 'inlined-inner/return/tier1' and
            row['outer_method'] == 'Mini.Program.Inlined']
    tap.check(deep and all(re.search(r', inlined ~Mini\.Program\.Inner\(int32\)(?: in ~Mini\.Program\.Middle\(int32\))?$',
                                     line) for line in deep) and
              any('in ~Mini.Program.Middle' in line for line in deep),
              f'{name}: a method in a method in a method', deep)


def check_lines(tap, programs, name, where):
    """The lines of inlined methods are in their own source; the lines of their calls are known
    only on .NET 9."""
    rows = [row for row in read_markers(name) if row['kind'] == 'inlined-inner/return/tier1' and
            row['outer_method'] == 'Mini.Program.Inlined']
    source = ['--trace', where / 'trace', '--symbols', where / 'app', '--lines']
    answers = [json.loads(line) for line in
               programs.ask(source, 'resolve', text=''.join(map(question, rows)))]
    frames = [answer['inlined_frames'] for answer in answers]
    inner = {(frame[0]['symbol'], frame[0]['file'], frame[0]['line_status']) for frame in frames}
    tap.equal(inner, {('Mini.Program.Inner(int)', '/mnt/src/mini/App/Program.cs', 'found')},
              f'{name}: the line of the innermost method')
    middle = {frame[1]['line_status'] for frame in frames if len(frame) > 1}
    tap.equal(middle, {'found' if name == 'rich9' else 'no-il-offset'}, f'{name}: the line of its caller')
    lines = {(frame[0]['line'], frame[1]['line'], answer['line'])
             for frame, answer in zip(frames, answers) if len(frame) > 1}
    tap.check(all(len(set(one)) == 3 for one in lines), f'{name}: each has a line of its own', lines)


def run(tap, programs, directory, _):
    for name in RIGHT:
        where = unpack(directory, name)
        check_markers(tap, programs, name, where)
        check_lines(tap, programs, name, where)


if __name__ == '__main__':
    recorded.main(run)
