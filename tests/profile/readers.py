# SPDX-License-Identifier: MIT
"""Readers of the forms, written from their published descriptions, and the expected contents of
a profile."""

import collections
import functools
import gzip
import json
import re
import unicodedata

from tests.profile import messages


@functools.cache
def printable(name):
    """Returns the text that stands for a name with unprintable characters."""
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
    """Returns the stacks of a folded file, as a Counter of stacks from the root."""
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
    """Parses like flamegraph.pl, which also takes a second number before the count; that number
    must be absent."""
    result = collections.Counter()
    for line in text.splitlines():
        stack, count = re.fullmatch(r'(.*)\s+?(\d+(?:\.\d*)?)', line).groups()
        assert not re.fullmatch(r'(.*)\s+?(\d+(?:\.\d*)?)', stack), line
        result[tuple(stack.split(';'))] += int(count)
    return result


# Columns of a thread's tables (version 48 of the processed format), and the table that each refers
# to, or None.
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
    """Returns the file; raises an error if it violates the published format."""
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
    """Raises an error if the file violates speedscope's published schema."""
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


class Pprof:
    """A profile.proto."""

    def __init__(self, path):
        with gzip.open(path) as file:
            profile = messages.decode('pprof.Profile', file.read())
        self.strings = profile.string_table
        assert self.strings[0] == ''
        self.types = [self.value_type(value) for value in profile.sample_type]
        self.period_type = [self.value_type(profile.period_type)] if profile.HasField('period_type') else []
        self.time, self.duration, self.period = profile.time_nanos, profile.duration_nanos, profile.period
        self.mappings = {mapping.id: self.strings[mapping.filename] for mapping in profile.mapping}
        functions = {function.id: function for function in profile.function}
        self.locations = {}
        self.lines = set()  # (function, file, line)
        for location in profile.location:
            line, = location.line
            function = functions[line.function_id]
            name = self.strings[function.name]
            assert location.mapping_id == 0 or location.mapping_id in self.mappings, location
            self.locations[location.id] = name, self.mappings.get(location.mapping_id)
            if line.line:
                self.lines.add((name, self.strings[function.filename], line.line))
        assert 0 not in functions and 0 not in self.locations and 0 not in self.mappings
        self.samples = [self.sample(sample) for sample in profile.sample]

    def value_type(self, value):
        return self.strings[value.type], self.strings[value.unit]

    def sample(self, sample):
        """Returns (stack of (function, module), values, labels)."""
        return (tuple(self.locations[i] for i in sample.location_id), list(sample.value),
                {self.strings[label.key]: self.strings[label.str] if label.str else label.num for label in sample.label})


class Otlp:
    """An ExportProfilesServiceRequest (opentelemetry-proto 1.11.0) with one profile."""

    def __init__(self, data):
        request = messages.decode('otlp.ExportProfilesServiceRequest', data)
        self.tables = request.dictionary
        # The first row of each table is empty; a link's identifiers have their size.
        first = {field.name: rows[0] for field, rows in self.tables.ListFields()}
        link = first.pop('link_table')
        assert first.pop('string_table') == '' and (link.trace_id, link.span_id) == (bytes(16), bytes(8)), link
        assert len(first) == 5 and not any(row.ListFields() for row in first.values()), first
        self.strings = self.tables.string_table
        assert len(set(self.strings)) == len(self.strings)
        resource_profiles, = request.resource_profiles
        self.resource = {pair.key: self.value(pair.value) for pair in resource_profiles.resource.attributes}
        scope_profiles, = resource_profiles.scope_profiles
        assert scope_profiles.scope.name == 'clrsym' and scope_profiles.scope.version, scope_profiles.scope
        profile, = scope_profiles.profiles
        self.type = self.strings[profile.sample_type.type_strindex], self.strings[profile.sample_type.unit_strindex]
        self.time, self.duration, self.period = profile.time_unix_nano, profile.duration_nano, profile.period
        self.samples = [self.sample(sample) for sample in profile.samples]

    @staticmethod
    def value(value):
        return getattr(value, value.WhichOneof('one'))

    def attribute(self, index):
        assert index > 0
        attribute = self.tables.attribute_table[index]
        return self.strings[attribute.key_strindex], self.value(attribute.value)

    @functools.cache
    def location(self, index):
        """Returns (function, file, module, line)."""
        assert index > 0
        location = self.tables.location_table[index]
        line, = location.lines
        assert line.function_index > 0
        function = self.tables.function_table[line.function_index]
        module = self.tables.mapping_table[location.mapping_index].filename_strindex
        return (self.strings[function.name_strindex], self.strings[function.filename_strindex],
                self.strings[module] if location.mapping_index else None, line.line)

    def sample(self, sample):
        """Returns (stack of locations, value, attributes)."""
        assert sample.stack_index > 0
        value, = sample.values
        stack = self.tables.stack_table[sample.stack_index].location_indices
        return tuple(map(self.location, stack)), value, dict(map(self.attribute, sample.attribute_indices))
