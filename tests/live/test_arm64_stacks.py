# SPDX-License-Identifier: MIT
"""`clrsym stack` on a machine for arm64, of the program whose threads are in known methods (test_stack.py): of the process,
and of its core file, which this machine reads, too.

test_arm64_stacks.py CLRSYM CLRSYMD PLUGIN_DIR DIRECTORY...: checks what tests/support/arm64-init has written.
"""

import gzip
import json
import pathlib
import re
import shutil

from tests.live import test_record, test_stack
from tests.traces import recorded

STATUS = re.compile(r'^status: (\d+)$', re.MULTILINE)


def written(directory, name):
    """(status, stdout, stderr) of clrsym stack on that machine."""
    errors = (directory / f'{name}.log').read_text(encoding='utf-8')
    return int(STATUS.search(errors)[1]), (directory / f'{name}.json').read_text(encoding='utf-8'), errors


def check_process(tap, directory, what):
    code, output, errors = written(directory, 'process')
    threads = [json.loads(line) for line in output.splitlines()]
    names = [thread['name'] for thread in threads]
    tap.equal((code, *map(names.count, test_stack.STACKS)), (0, test_stack.FEW, 1, 1, 1), f'{what}: its threads are there')
    wrong = test_stack.wrong_stacks(threads)
    tap.check(threads and not wrong, f'{what}: their methods, in order', *wrong, errors)
    natives = [[frame['name'] or '' for frame in thread['frames'][:8]] for thread in threads if thread['name'] == 'native']
    # The innermost functions have no symbols.
    tap.check(all(any(name.startswith(('usleep', '__nanosleep', 'nanosleep')) for name in names) for names in natives),
              f'{what}: native code has its name', natives)
    uncertain = [frame['name'] for thread in threads for frame in thread['frames'] if not frame['is_certain']]
    tap.equal(uncertain, [], f'{what}: all names are certain')
    stopped = test_stack.STOPPED.search(errors)
    tap.check(stopped and int(stopped[3]) == len(threads), f'{what}: how long it was stopped is printed', errors)
    if stopped:
        tap.note(f'{what}: {stopped[3]} threads were stopped for {stopped[2]} ms')
    counts = [tuple(map(int, line.split())) for line in (directory / 'counts').read_text(encoding='utf-8').splitlines()[1:3]]
    tap.check(len(counts) == 2 and all(a < b for a, b in zip(*counts)), f'{what}: the program goes on', counts)


def check_walked(tap, directory, what):
    code, output, errors = written(directory, 'walked')
    threads = [thread for thread in map(json.loads, output.splitlines()) if thread['name'] != 'deep']
    tap.equal((code, sum(thread['name'] == 'waits' for thread in threads)), (0, test_stack.FEW), f'{what}: its threads are there')
    wrong = test_stack.wrong_stacks(threads)
    tap.check(not wrong, f'{what}: their methods, in order', *wrong, errors)


def test(tap, programs, directory, paths):
    for path in map(pathlib.Path, paths):
        kernel = (path / 'kernel').read_text(encoding='utf-8').strip()
        check_process(tap, path, f'{kernel}, a process')
        check_walked(tap, path, f'{kernel}, by the runtime')
        # The program was killed: its last events may be missing.
        test_stack.check_core_threads(tap, *written(path, 'core'), f'{kernel}, its core file', is_certain=False)
        place = test_record.Place(programs, directory, kernel)
        core = place.directory / 'core'
        with gzip.open(path / 'core.gz') as packed, open(core, 'wb') as unpacked:
            shutil.copyfileobj(packed, unpacked)
        shutil.copystat(path / 'core.gz', core)
        test_stack.check_core_threads(tap, *test_stack.stack(place, core, '--json', '--trace', path / 'stacks.nettrace'),
                                      f'{kernel}, its core file on this machine', is_certain=False)


if __name__ == '__main__':
    recorded.main(test)
