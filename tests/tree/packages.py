# SPDX-License-Identifier: MIT
"""What the tests look for before they run, or skip: programs on PATH and Python modules; and the libraries
that the build looks for. Each has to be in a package that tests/install installs, or be looked for by
tests/install itself (dotnet)."""

import ast
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

from tests.tree import rooms

HERE = pathlib.Path(__file__).resolve().parent
TABLE = re.compile(r"^readonly \w*packages='\n(.*?)^'", re.MULTILINE | re.DOTALL)
TABLE_LINE = re.compile(r'^([a-z0-9][a-z0-9.+-]+) {2,}\S', re.MULTILINE)
DEPENDENCY = re.compile(r"\bdependency\('([^']+)'")
LOOKED_FOR = re.compile(r'\bcommand -v ([\w-]+)')


def installed_packages():
    """(the packages in tests/install's tables, the programs that it looks for itself)."""
    text = rooms.read('tests/install')
    tables = TABLE.findall(text)
    return set(TABLE_LINE.findall(''.join(tables))), set(LOOKED_FOR.findall(text))


def texts_of(node):
    """The texts of a constant, or of a tuple or list of constants."""
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return [one.value for one in nodes if isinstance(one, ast.Constant)]


def programs_in(tree):
    """What shutil.which() looks for on PATH, in tuples: one program of each is enough. By a name: what
    that name loops over, or, with map(), what it is."""
    loops, values = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            loops.setdefault(node.target.id, []).extend(texts_of(node.iter))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = texts_of(node.value)
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        words = [ast.unparse(node.func), *map(ast.unparse, node.args)]
        if words[:2] == ['map', 'shutil.which']:
            found.add(tuple(values.get(words[2], words[2:])))
        elif words[0] == 'shutil.which' and all(word.arg != 'path' for word in node.keywords):
            found |= {(name,) for name in texts_of(node.args[0]) or loops.get(words[1], words[1:])}
    return found


def modules_in(tree, own):
    """The modules that are neither Python's own nor the tests' (OWN)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module)
    known = own | set(sys.stdlib_module_names)
    return {name for name in found if name.partition('.')[0] not in known}


def package_of(path):
    """The Debian packages that have a file; '/bin' and '/usr/bin' are one."""
    for name in (path, path.removeprefix('/usr')):
        done = subprocess.run(['dpkg-query', '-S', name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return {one.partition(':')[0].strip() for line in done.stdout.splitlines()
                    for one in line.rpartition(': ')[0].split(',')}
    return set()


def file_of(module):
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # nor is the package that it is in
        return None
    return spec.origin if spec else None


def libraries():
    """pkg-config's file of each dependency() that meson.build looks for; None if it is not here."""
    names = {name for path in rooms.ROOT.rglob('meson.build')
             for name in DEPENDENCY.findall(path.read_text(encoding='utf-8'))}
    found = {}
    for name in sorted(names):
        done = subprocess.run(['pkg-config', '--variable=pcfiledir', name], capture_output=True,
                              text=True, check=False)
        found[name] = f'{done.stdout.strip()}/{name}.pc' if done.returncode == 0 else None
    return found


def find_missing():
    """(what was looked for, a line for each that tests/install does not install)."""
    tests = rooms.ROOT / 'tests'
    trees = {path: ast.parse(path.read_text(encoding='utf-8')) for path in tests.rglob('*.py')
             if path.parent != HERE}
    own = {'tests'} | {path.name for path in (rooms.ROOT / 'src/client/python').iterdir()}
    packages, looked_for = installed_packages()
    files = {}
    for tree in trees.values():
        files |= {' or '.join(names): [shutil.which(name) for name in names]
                  for names in programs_in(tree) if not looked_for & set(names)}
        files |= {name: [file_of(name)] for name in modules_in(tree, own)}
    files |= {name: [path] for name, path in libraries().items()}
    return sorted(files), [
        f'{name}: {"; ".join(filter(None, paths)) or "is not here"}'
        for name, paths in sorted(files.items())
        if not any(path and package_of(path) & packages for path in paths)]
