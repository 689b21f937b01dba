# SPDX-License-Identifier: MIT
"""What holds for the source tree itself: the rooms and their order, file sizes, type names, manual pages,
and that tests/install installs whatever a test may skip for. Reads files only."""

import os
import pathlib
import re
import shutil
import subprocess

from tests.live import runtimes
from tests.traces import recorded
from tests.tree import packages, rooms

MAX_LINES = 800
SOURCES = {'.c', '.h', '.py', '.sh', '.inc'}


def tracked_files():
    """Also files that are not committed yet, but nothing that is ignored (builds)."""
    done = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                          cwd=rooms.ROOT, capture_output=True, check=False)
    if done.returncode == 0:
        names = done.stdout.decode().split('\0')[:-1]
    else:
        names = [path.relative_to(rooms.ROOT) for top in ('src', 'plugins', 'include', 'man',
                                                          'systemd', 'debian', 'tests', 'README.md', 'HACKING.md')
                 for path in [rooms.ROOT / top, *(rooms.ROOT / top).rglob('*')]]
    return sorted(path for path in map(pathlib.Path, names) if (rooms.ROOT / path).is_file())


def long_files(files):
    return [f'{path}: {n} lines' for path in files if path.suffix in SOURCES
            if (n := rooms.read(path).count('\n')) > MAX_LINES]


def path_changes(files):
    """Tests that change sys.path. The test of the Python package in this tree must."""
    return [str(path) for path in files if path.parts[0] == 'tests' and path.suffix == '.py' and
            path.name not in ('test_python.py', 'test_tree.py') and 'sys.path' in rooms.read(path)]


def unknown_tests():
    """Tests that clrsym-security(7) names, and that do not exist."""
    text = rooms.read('man/clrsym-security.7').replace('\\-', '-')
    named = re.findall(r'tests/[\w/.-]+\w', text)
    return [name for name in named if not (rooms.ROOT / name).exists()] if named else ['none']


def unlisted_tests():
    """Tests that run a .NET program and are not in the table of runtimes, and rows of it without a test."""
    tests = {path.name for path in (rooms.ROOT / 'tests').glob('*/test_*.py')
             if re.search(r"\blive\.(build|publish)\(|\bruntimes\.|'dotnet', 'watch'", path.read_text(encoding='utf-8')) and
             path.parent.name != 'tree'}
    return sorted(tests ^ runtimes.TESTS.keys())


def manual_pages():
    return sorted((rooms.ROOT / 'man').glob('*.[1-8]'))


def formatted_pages():
    """What man warns of while it formats the pages, as lintian reads them: a table is too wide, a macro is unknown."""
    found = []
    for path in manual_pages():
        done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', path], text=True, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANROFFSEQ': '', 'MANWIDTH': '80'})
        found += [f'{path.name}: {line}' for line in done.stderr.splitlines()]
    return found


def linted_pages():
    """What mandoc finds wrong with the manual pages."""
    if not shutil.which('mandoc'):
        return ['no mandoc']
    done = subprocess.run(['mandoc', '-Tlint', *manual_pages()], capture_output=True,
                          text=True, check=False)
    version = re.search(r"^    version: '(.*)'", rooms.read('meson.build'), re.M)[1]
    old = [path.name for path in manual_pages()
           if f'"clrsym {version}"' not in path.read_text(encoding='utf-8')]
    return done.stdout.splitlines() + [f'{name} is not of version {version}' for name in old]


def odd_pages():
    """Lines of manual pages that a formatter drops, or shows as they are."""
    found = []
    for path in manual_pages():
        text = path.read_text(encoding='utf-8')
        if '\n.TS\n' in text and not text.startswith("'\\\" t\n"):
            found.append(f'{path.name}:1: a page with a table does not ask for tbl')
        is_filled = True
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(r'\.(?:PP|TP|fi|nf) +\S', line) and not line.startswith('.TP '):
                found.append(f'{path.name}:{number}: text after {line[:3]}')
            if re.match(r'\\&\.(?:fi|nf|PP|TP|SH)$', line):
                found.append(f'{path.name}:{number}: {line} is shown, not done')
            if line in ('.nf', '.fi'):
                if is_filled == (line == '.fi'):
                    found.append(f'{path.name}:{number}: {line} without the other')
                is_filled = line == '.fi'
        if not is_filled:
            found.append(f'{path.name}: .nf without .fi')
    return found


def check(tap, tree, files):
    tap.equal(sorted(tree.map), tree.rooms_on_disk(), 'HACKING.md has each room, and no other')
    tap.equal(tree.upward(), [], 'no include goes against the order of the rooms')
    tap.equal(tree.room_circles(), [], 'rooms do not include each other in a circle')
    tap.equal(tree.circles(), [], 'modules do not include each other in a circle')
    tap.equal([f'{name}: {" ".join(sorted(where))}' for name, where in
               sorted(tree.duplicate_types().items())], [],
              'no program has two types of one name')
    tap.equal(long_files(files), [], f'no file has over {MAX_LINES} lines')
    tap.equal(path_changes(files), [], 'the tests are a package')
    looked_for, missing = packages.find_missing()
    tap.check(looked_for, f'tests and build look for {len(looked_for)} programs, modules and libraries')
    tap.equal(missing, [], 'tests/install installs each of them')
    tap.equal(unknown_tests(), [], 'the tests that clrsym-security(7) names exist')
    tap.equal(unlisted_tests(), [], 'each test with a .NET program is in the table of runtimes')
    tap.equal(odd_pages(), [], 'no line of a manual page is dropped, or is a macro that is shown')
    tap.equal(linted_pages(), [], 'mandoc finds nothing wrong with a manual page')
    tap.equal(formatted_pages(), [], 'man formats each page without a warning')


def main():
    tap = recorded.Tap()
    check(tap, rooms.Tree(), tracked_files())
    tap.finish()


if __name__ == '__main__':
    main()
