# SPDX-License-Identifier: MIT
"""The rooms of the tree (directories of src and plugins) and what the files in them include.

The map of the tree in HACKING.md names the rooms in the order of inclusion. It is the only list of them.
"""

import collections
import itertools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ('src', 'plugins')
# A line of the map: "    src/util/    what is in it".
MAP_LINE = re.compile(r'^    ((?:src|plugins)/\w+)/ +(\S.*)$', re.MULTILINE)
# Ends the description of a room that is a program of its own.
CLOSED = 'nothing includes it'
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
TYPEDEF = re.compile(r'^typedef\b(?:[^;{]*\{.*?^\}|[^;{]*?)\s*\**(?:\(\*\s*)?(\w+)(?:\)\s*\([^;]*)?;',
                     re.MULTILINE | re.DOTALL)


def read(path):
    return (ROOT / path).read_text(encoding='utf-8')


def read_map():
    """Room -> its description, in the map's order."""
    return dict(MAP_LINE.findall(read('HACKING.md')))


def c_files():
    """Sources and headers of all rooms, relative to the root."""
    return sorted(path.relative_to(ROOT) for tree in TREES for path in (ROOT / tree).rglob('*')
                  if path.suffix in ('.c', '.h', '.inc'))


def room_of(path):
    return '/'.join(path.parts[:2])


def includes(path):
    """The project's own files that PATH includes; generated files are left out."""
    found = []
    for name in INCLUDE.findall(read(path)):
        candidates = [path.parent / name] if '/' not in name else \
            [pathlib.Path(tree) / name for tree in TREES]
        found += [one for one in candidates if (ROOT / one).exists()]
    return found


class Tree:
    def __init__(self):
        self.map = read_map()
        self.files = c_files()
        self.includes = {path: includes(path) for path in self.files}

    def rooms_on_disk(self):
        """The rooms with sources, in C or in another language: each has a meson.build."""
        return sorted({room_of(path) for path in self.files} |
                      {room_of(path.relative_to(ROOT)) for tree in TREES for path in (ROOT / tree).glob('*/meson.build')})

    def upward(self):
        """The includes that go against the map, each as a line of text."""
        place = {room: i for i, room in enumerate(self.map)}
        closed = {room for room, text in self.map.items() if text.endswith(CLOSED)}
        found = []
        for path, others in self.includes.items():
            room = room_of(path)
            for other in others:
                to = room_of(other)
                if to != room and (to in closed or place.get(to, 0) > place.get(room, 0)):
                    found.append(f'{path} includes {other}')
        return found

    def circles(self):
        """Circles of modules. A module is a source with the header of its name. A header without a
        source belongs to whoever includes it: its includes are theirs."""
        sources = {path.with_suffix('') for path in self.files if path.suffix == '.c'}
        graph = collections.defaultdict(set)
        for path in self.files:
            if path.with_suffix('') in sources:
                graph[path.with_suffix('')] |= self.included_modules(path, sources, set())
        return find_circles(graph) + find_circles(self.includes)

    def included_modules(self, path, sources, seen):
        found = set()
        for other in self.includes[path]:
            module = other.with_suffix('')
            if module in sources:
                found.add(module)
            elif other in self.includes and other not in seen:
                seen.add(other)
                found |= self.included_modules(other, sources, seen)
        return found

    def room_circles(self):
        graph = collections.defaultdict(set)
        for path, others in self.includes.items():
            graph[room_of(path)] |= {room_of(other) for other in others}
        return find_circles(graph)

    def closure(self, room):
        """The rooms that a program of ROOM is linked with: those that it includes, and so on."""
        found, waiting = set(), [room]
        while waiting:
            room = waiting.pop()
            if room not in found:
                found.add(room)
                waiting += {room_of(other) for path in self.files if room_of(path) == room
                            for other in self.includes[path]}
        return found

    def programs(self):
        """The rooms with a main(), and those of the plugins."""
        return sorted({room_of(path) for path in self.files
                       if path.name == 'main.c' or path.parts[0] == 'plugins'})

    def duplicate_types(self):
        """Types of one name that are linked into one program: name -> their files."""
        types = {path: set(TYPEDEF.findall(read(path))) for path in self.files}
        found = collections.defaultdict(set)
        for program in self.programs():
            rooms = self.closure(program)
            files = [path for path in self.files if room_of(path) in rooms]
            for one, other in itertools.combinations(files, 2):
                for name in types[one] & types[other]:
                    found[name] |= {str(one), str(other)}
        return found


def find_circles(graph):
    """The sets of nodes that reach each other (Tarjan), each sorted; a node alone is none."""
    index, low, stack, circles = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                circles.append(sorted(map(str, members)))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return circles
