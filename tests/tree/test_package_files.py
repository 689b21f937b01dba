# SPDX-License-Identifier: MIT
"""The lists of files of the Debian and the RPM packages, against what a build installs: each file is in one package of
either kind, in the same one, and each line of a list has a file. The versions agree. Reads files only:

    test_package_files.py BUILD
"""

import collections
import fnmatch
import json
import pathlib
import re
import sys

from tests.traces import recorded
from tests.tree import rooms

SPEC = 'debian/rpm/clrsym.spec'
# Where packages have what a build with its defaults has elsewhere.
PYTHON, UNITS = 'usr/lib/python3/dist-packages', 'usr/lib/systemd/system'
# Names that differ: RPM's -> Debian's.
NAMES = {'libclrsym': 'libclrsym1', 'libclrsym-devel': 'libclrsym-dev'}


def installed_files(build):
    """What the build installs, by its place in a package; and the directory of libraries."""
    info = build / 'meson-info'
    options = {row['name']: row['value'] for row in json.loads((info / 'intro-buildoptions.json').read_text(encoding='utf-8'))}
    paths = json.loads((info / 'intro-installed.json').read_text(encoding='utf-8')).values()
    found = set()
    for path in paths:
        path = 'usr/' + path.removeprefix(options['prefix']).removeprefix('/usr').lstrip('/')
        found.add(re.sub(r'^usr/lib/python3[^/]*/(?:site|dist)-packages', PYTHON, path))
    return found, 'usr/' + options['libdir']


def debian_lists():
    """Package -> patterns."""
    return {path.stem: path.read_text(encoding='utf-8').replace('${env:unit_dir}', UNITS).split()
            for path in (rooms.ROOT / 'debian').glob('*.install')}


def rpm_lists(libdir):
    """Package, by Debian's name -> patterns."""
    macros = {'_prefix': 'usr', '_bindir': 'usr/bin', '_libexecdir': 'usr/libexec', '_libdir': libdir, '_datadir': 'usr/share',
              '_mandir': 'usr/share/man', '_includedir': 'usr/include', '_unitdir': UNITS, '_sysusersdir': 'usr/lib/sysusers.d',
              'python3_sitelib': PYTHON}
    lists = {}
    for option, name, text in re.findall(r'^%files(?: (-n )?(\S+))?\n(.*?)(?=^%files|^%changelog)', rooms.read(SPEC), re.M | re.S):
        name = name if option or not name else f'clrsym-{name}'
        lists[NAMES.get(name, name) or 'clrsym'] = [
            re.sub(r'%\{(\w+)\}', lambda match: macros[match[1]], line) for line in text.splitlines()
            if line.startswith('%{')]
    return lists


def match(lists, files):
    """(file -> packages, "PACKAGE: PATTERN" of those without a file)."""
    packages, useless = collections.defaultdict(set), []
    for name, patterns in lists.items():
        for pattern in patterns:
            found = {path for path in files if fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern + '/*')}
            for path in found:
                packages[path].add(name)
            if not found:
                useless.append(f'{name}: {pattern}')
    return packages, useless


def versions():
    """Where a version is written -> it."""
    return {name: re.search(pattern, rooms.read(name), re.M)[1] for name, pattern in (
        ('meson.build', r"^    version: '(.*)'"), ('debian/changelog', r'^clrsym \((.*)-\d+\)'), (SPEC, r'^Version: *(\S+)'),
        ('NEWS.md', r'^## (\S+)'), ('README.md', r'-o clrsym-([\d.]+)\.tar\.gz'))} | {f'{SPEC}, %changelog': re.search(r'^\* .* - (.*)-\d+$', rooms.read(SPEC), re.M)[1]}


def main():
    tap = recorded.Tap()
    files, libdir = installed_files(pathlib.Path(sys.argv[1]))
    kinds = {'Debian': debian_lists(), 'RPM': rpm_lists(libdir)}
    tap.equal(sorted(kinds['RPM']), sorted(kinds['Debian']), 'the RPM packages are those of Debian')
    found = {}
    for kind, lists in kinds.items():
        found[kind], useless = match(lists, files)
        tap.equal([f'{path}: {" ".join(found[kind][path]) or "none"}' for path in sorted(files) if len(found[kind][path]) != 1], [],
                  f'each of {len(files)} installed files is in one {kind} package')
        tap.equal(useless, [], f'each line of the {kind} packages has a file')
    tap.equal([path for path in sorted(files) if found['RPM'][path] != found['Debian'][path]], [], 'and in the same one')
    tap.equal(len(set(versions().values())), 1, f'one version: {versions()}')
    tap.finish()


if __name__ == '__main__':
    main()
