# SPDX-License-Identifier: MIT
"""`clrsym record` on a machine for arm64, of the programs whose call chains are known (test_chains.py): with copies of
stacks, no caller is wrong.

test_arm64_chains.py --make DIRECTORY: puts the programs there, with a runtime for arm64.
test_arm64_chains.py DIRECTORY...: checks what tests/support/arm64-init has recorded.
"""

import pathlib
import sys
import tempfile

from tests.live import runtimes, self_contained, test_arm64, test_chains
from tests.perf import perftool
from tests.traces import recorded

PROGRAMS = {'chains': 'clrsym-chains', 'stacks': 'clrsym-stacks'}


def make(to):
    with tempfile.TemporaryDirectory() as directory:
        self_contained.make(to, directory, runtimes.OWN, test_arm64.RID, test_arm64.PACKAGES, PROGRAMS)


def check(tap, directory):
    what = (directory / 'kernel').read_text(encoding='utf-8').strip()
    for name in 'both', 'kinds':
        path, log = directory / f'{name}.folded', (directory / f'{name}.log').read_text(encoding='utf-8')
        if not tap.check('status: 0' in log, f'{what}, {name}: it is recorded', log):
            continue
        stacks = perftool.folded(path.read_text(encoding='utf-8'))
        if name == 'kinds':
            counts, wrong = test_chains.count_kinds(stacks)
        else:
            counts = test_chains.Counted(stacks)
            wrong = counts.wrong
        unknown = counts['unknown'] + counts['shared, unknown']
        tap.note(f'{what}, {name}: {dict(counts)}')
        tap.check(counts['right'] > 400 and not wrong, f'{what}, {name}: no caller is wrong', counts, wrong.most_common(8), log)
        tap.check(20 * unknown <= counts['right'], f'{what}, {name}: all but 1 in 20 callers are known', counts)


def main():
    if sys.argv[1] == '--make':
        make(pathlib.Path(sys.argv[2]))
        return 0
    tap = recorded.Tap()
    for directory in sys.argv[1:]:
        check(tap, pathlib.Path(directory))
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
