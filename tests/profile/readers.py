# SPDX-License-Identifier: MIT
"""Readers of the forms that know only what is published of them, and what a profile must become."""

import collections
import functools
import gzip
import json
import re
import unicodedata


@functools.cache
def printable(name):
    """What is written of a name that is not fit to be seen."""
    return ''.join(f'\\u{{{ord(c):x}}}'
                   if unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp') else c for c in name)


@functools.cache
def shown(frame):
    name, module = printable(frame.name), printable(frame.module or '')
    if name in ('', '[unknown]'):
        file = re.sub(r'.*/(?=.)', '', module)
        name = '[unknown]' if not module else file if file.startswith('[') else f'[{file}]'
    return name + (' ~' if frame.is_marked else '')


@functools.cache
def folded_name(name):
    name = name.replace(';', ':')
    number = re.search(r'( +)([0-9.]+)$', name)
    if number:
        name = name[:number.start()] + '_' * len(number[1]) + number[2]
    name = re.sub(r'^ +| +$', lambda spaces: '_' * len(spaces[0]), name)
    return name


def folded(samples, annotate=False):
    """What a folded file says of them: Counter of stacks from the root."""
    marks = {'managed': '_[j]', 'kernel': '_[k]'} if annotate else {}
    result = collections.Counter()
    for sample in samples:
        comm = folded_name(printable(sample.comm))
        stack = [('_' + comm[1:]) if comm.startswith('#') else comm]
        stack += [folded_name(shown(frame) + marks.get(frame.kind, ''))
                  for frame in reversed(sample.frames)]
        result[tuple(stack)] += 1
    return result


def read_folded(text):
    """As flamegraph.pl reads: also a second number before the count, which must not be there."""
    result = collections.Counter()
    for line in text.splitlines():
        stack, count = re.fullmatch(r'(.*)\s+?(\d+(?:\.\d*)?)', line).groups()
        assert not re.fullmatch(r'(.*)\s+?(\d+(?:\.\d*)?)', stack), line
        result[tuple(stack.split(';'))] += int(count)
    return result


# The columns of the tables of a thread (version 48 of the processed format); each refers to another table, or to none.
FIREFOX_TABLES = {
    'samples': {'stack': 'stackTable', 'time': None},
    'markers': {'data': None, 'name': 'stringArray', 'startTime': None, 'endTime': None, 'phase': None, 'category': 'categories'},
    'stackTable': {'frame': 'frameTable', 'prefix': 'stackTable', 'category': 'categories', 'subcategory': None},
    'frameTable': {'address': None, 'inlineDepth': None, 'category': 'categories', 'subcategory': None, 'func': 'funcTable',
                   'nativeSymbol': None, 'innerWindowID': None, 'implementation': None, 'line': None, 'column': None},
    'funcTable': {'name': 'stringArray', 'isJS': None, 'relevantForJS': None, 'resource': 'resourceTable',
                  'fileName': 'stringArray', 'lineNumber': None, 'columnNumber': None},
    'resourceTable': {'lib': None, 'name': 'stringArray', 'host': None, 'type': None},
    'nativeSymbols': {'libIndex': None, 'address': None, 'name': 'stringArray', 'functionSize': None},
}


def read_firefox(path):
    """The file; raises if it is not what the published format asks for."""
    file = json.loads(gzip.decompress(path.read_bytes()))
    meta = file['meta']
    assert meta['preprocessedProfileVersion'] == 48 and meta['interval'] > 0, meta
    assert [schema['name'] for schema in meta['markerSchema']] == ['clrsym'], meta
    for thread in file['threads']:
        sizes = {name: thread[name]['length'] for name in FIREFOX_TABLES}
        sizes |= {'stringArray': len(thread['stringArray']), 'categories': len(meta['categories'])}
        assert isinstance(thread['pid'], str) and isinstance(thread['tid'], int), thread['pid']
        for name, columns in FIREFOX_TABLES.items():
            for column, table in columns.items():
                values = thread[name][column]
                assert len(values) == sizes[name], (name, column)
                assert table is None or all(value in (None, -1) or 0 <= value < sizes[table] for value in values), (name, column)
        stacks = thread['stackTable']
        assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks['prefix'])), 'prefixes'
        frames = [thread['frameTable']['category'][frame] for frame in stacks['frame']]
        assert frames == stacks['category'], 'categories of frames'
    return file


def firefox_samples(thread):
    """Yields (stack of (name, module), ms)."""
    strings, functions, modules = thread['stringArray'], thread['funcTable'], thread['resourceTable']['name']
    stacks = [()]
    for frame, prefix in zip(thread['stackTable']['frame'], thread['stackTable']['prefix']):
        function = thread['frameTable']['func'][frame]
        resource = functions['resource'][function]
        place = strings[functions['name'][function]], strings[modules[resource]] if resource >= 0 else None
        stacks.append(stacks[0 if prefix is None else prefix + 1] + (place,))
    for stack, time in zip(thread['samples']['stack'], thread['samples']['time']):
        yield stacks[0 if stack is None else stack + 1], time


def check_speedscope(file):
    """Raises if it is not what speedscope's published schema asks for."""
    def only(value, required, optional=()):
        assert isinstance(value, dict) and set(required) <= set(value), value
        assert set(value) <= set(required) | set(optional), value

    def number(value):
        assert isinstance(value, (int, float)) and not isinstance(value, bool), value
        return value

    only(file, ['$schema', 'shared', 'profiles'], ['name', 'activeProfileIndex', 'exporter'])
    assert file['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
    only(file['shared'], ['frames'])
    for frame in file['shared']['frames']:
        only(frame, ['name'], ['file', 'line', 'col'])
        assert isinstance(frame['name'], str) and isinstance(frame.get('file', ''), str), frame
    for profile in file['profiles']:
        only(profile, ['type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'])
        assert profile['type'] == 'sampled' and isinstance(profile['name'], str)
        assert profile['unit'] in ('none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds',
                                   'bytes')
        assert len(profile['samples']) == len(profile['weights'])
        assert (number(profile['endValue']) - number(profile['startValue'])
                == sum(map(number, profile['weights'])))
        for stack in profile['samples']:
            for index in stack:
                assert 0 <= number(index) < len(file['shared']['frames']), stack


def fields(data):
    """(number, value) of a protobuf message: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at:at + 8], 'little')
            at += 8
        elif key & 7 == 2:
            size = varint()
            assert at + size <= len(data)
            yield key >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError(f'wire type {key & 7}')


def packed(data):
    """Integers of a packed field."""
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    assert shift == 0
    return values


class Pprof:
    """A profile.proto, by the numbers of its fields."""

    def __init__(self, path):
        messages = collections.defaultdict(list)
        with gzip.open(path) as file:
            for number, value in fields(file.read()):
                messages[number].append(value)
        self.strings = [value.decode() for value in messages[6]]
        assert self.strings[0] == ''
        self.types = [self.value_type(value) for value in messages[1]]
        self.period_type = [self.value_type(value) for value in messages[11]]
        self.time, self.duration, self.period = (sum(messages[i]) for i in (9, 10, 12))
        self.mappings = {}
        for value in messages[3]:
            mapping = dict(fields(value))
            self.mappings[mapping[1]] = self.strings[mapping[5]]
        functions, files, self.locations = {}, {}, {}
        self.lines = set()  # (function, its file, line)
        for value in messages[5]:
            function = dict(fields(value))
            functions[function[1]] = self.strings[function.get(2, 0)]
            files[function[1]] = self.strings[function.get(4, 0)]
        for value in messages[4]:
            location = dict(fields(value))
            line = dict(fields(location[4]))
            self.locations[location[1]] = functions[line[1]], self.mappings.get(location.get(2))
            if line.get(2):
                self.lines.add((functions[line[1]], files[line[1]], line[2]))
        assert 0 not in functions and 0 not in self.locations and 0 not in self.mappings
        self.samples = [self.sample(value) for value in messages[2]]

    def value_type(self, value):
        value = dict(fields(value))
        return self.strings[value[1]], self.strings[value[2]]

    def sample(self, data):
        stack, values, labels = (), None, {}
        for number, value in fields(data):
            if number == 1:
                stack = tuple(self.locations[i] for i in packed(value))
            elif number == 2:
                values = packed(value)
            elif number == 3:
                label = dict(fields(value))
                labels[self.strings[label[1]]] = (self.strings[label[2]] if 2 in label
                                                  else label.get(3, 0))
        return stack, values, labels


class Otlp:
    """An ExportProfilesServiceRequest with one profile (opentelemetry-proto 1.11.0), by the numbers of its fields."""

    def __init__(self, data):
        request = dict(fields(data))
        self.tables = collections.defaultdict(list)
        for number, value in fields(request[2]):
            self.tables[number].append(value)
        # The first row of each table is empty.
        assert all(self.tables[number][0] == b'' for number in range(1, 8)), self.tables.keys()
        self.strings = [text.decode() for text in self.tables[5]]
        assert len(set(self.strings)) == len(self.strings)
        resource_profiles = dict(fields(request[1]))
        self.resource = dict(self.pair(pair) for _, pair in fields(resource_profiles[1]))
        scope_profiles = dict(fields(resource_profiles[2]))
        assert dict(fields(scope_profiles[1]))[1] == b'clrsym'
        self.types, self.samples, self.time, self.duration, self.period = None, [], 0, 0, 0
        for number, value in fields(scope_profiles[2]):
            if number == 1:
                self.type = self.value_type(value)
            elif number == 2:
                self.samples.append(self.sample(value))
            elif number == 3:
                self.time = value
            elif number == 4:
                self.duration = value
            elif number == 6:
                self.period = value

    def value_type(self, data):
        value = dict(fields(data))
        return self.strings[value[1]], self.strings[value[2]]

    @staticmethod
    def value(data):
        (number, value), = fields(data)
        return {1: lambda: value.decode(), 3: lambda: value}[number]()

    def pair(self, data):
        """Of a resource: the key is a text."""
        pair = dict(fields(data))
        return pair[1].decode(), self.value(pair[2])

    def attribute(self, index):
        assert index > 0
        attribute = dict(fields(self.tables[6][index]))
        return self.strings[attribute[1]], self.value(attribute[2])

    @functools.cache
    def location(self, index):
        """(function, its file, module, line)"""
        assert index > 0
        location = dict(fields(self.tables[2][index]))
        line = dict(fields(location[3]))
        function = dict(fields(self.tables[3][line[1]]))
        mapping = dict(fields(self.tables[1][location.get(1, 0)]))
        return (self.strings[function[1]], self.strings[function.get(3, 0)],
                self.strings[mapping[4]] if mapping else None, line.get(2, 0))

    def sample(self, data):
        """(stack of locations, value, attributes)"""
        sample = dict(fields(data))
        stack = dict(fields(self.tables[7][sample[1]])).get(1, b'')
        value, = packed(sample[4])
        return tuple(map(self.location, packed(stack))), value, dict(map(self.attribute, packed(sample[2])))
