# SPDX-License-Identifier: MIT
"""Writes one of the test programs in C: generate.py PROGRAM OUTPUT.c OUTPUT.h...

An OUTPUT.h is the lttng-ust header of one provider and is called PROGRAM-PROVIDER.h. The program
calls each tracepoint of its list once, in order, and ends.
"""

import pathlib
import sys

from tests.provider.cases import PROGRAMS


# CTF type: the tracepoint's C arguments, and its field.
CTF_TYPES = {
    'u8': ('uint8_t, arg{i}', 'lttng_ust_field_integer(uint8_t, {name}, arg{i})'),
    'u16': ('uint16_t, arg{i}', 'lttng_ust_field_integer(uint16_t, {name}, arg{i})'),
    'u32': ('uint32_t, arg{i}', 'lttng_ust_field_integer(uint32_t, {name}, arg{i})'),
    'u64': ('uint64_t, arg{i}', 'lttng_ust_field_integer(uint64_t, {name}, arg{i})'),
    'f64': ('double, arg{i}', 'lttng_ust_field_float(double, {name}, arg{i})'),
    'string': ('const char *, arg{i}', 'lttng_ust_field_string({name}, arg{i})'),
    'i8[]': ('const int8_t *, arg{i}, uint32_t, n_arg{i}',
             'lttng_ust_field_sequence(int8_t, {name}, arg{i}, uint32_t, n_arg{i})'),
    'u32[]': ('const uint32_t *, arg{i}, uint32_t, n_arg{i}',
              'lttng_ust_field_sequence(uint32_t, {name}, arg{i}, uint32_t, n_arg{i})'),
}

HEADER = '''\
/* SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER {provider}

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "{file}"

#if !defined({guard}) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define {guard}

#include <lttng/tracepoint.h>
#include <stdint.h>

{events}
#endif

#include <lttng/tracepoint-event.h>
'''

EVENT = '''\
LTTNG_UST_TRACEPOINT_EVENT({provider}, {name},
        LTTNG_UST_TP_ARGS({arguments}),
        LTTNG_UST_TP_FIELDS({fields}))
LTTNG_UST_TRACEPOINT_LOGLEVEL({provider}, {name}, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE)
'''

PROGRAM = '''\
/* SPDX-License-Identifier: MIT */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
{includes}

{data}

int main(void)
{{
{calls}
        return 0;
}}
'''


def c_bytes(data):
    """Octal escapes have at most three digits, whatever follows."""
    return '"' + ''.join(f'\\{byte:03o}' for byte in data) + '"'


class Data:
    """The blobs as C arrays; a blob that is a prefix of another shares its array."""

    def __init__(self):
        self.arrays = []

    def name(self, blob):
        for i, array in enumerate(self.arrays):
            if array.startswith(blob):
                return f'data_{i}'
        self.arrays.append(blob)
        return f'data_{len(self.arrays) - 1}'

    def definitions(self):
        return '\n'.join(f'static const _Alignas(8) char data_{i}[] =\n        {c_bytes(array)};'
                         for i, array in enumerate(self.arrays))


def call(emission, data):
    arguments = [emission.event.provider, emission.event.name]
    for _, kind, value in emission.ctf:
        if kind == 'string':
            arguments.append(c_bytes(value))
        elif kind == 'i8[]':
            arguments += [f'(const int8_t *){data.name(value)}', f'{len(value)}u']
        elif kind == 'u32[]':
            arguments += [f'(const uint32_t *){data.name(value)}', f'{len(value) // 4}u']
        elif kind == 'f64':
            arguments.append(repr(value))
        else:
            arguments.append(f'UINT64_C({value:#x})')
    return f'        lttng_ust_tracepoint({", ".join(arguments)});'


def event_classes(emissions):
    """Returns (provider, name) -> ((field, CTF type), ...)."""
    classes = {}
    for emission in emissions:
        key = emission.event.provider, emission.event.name
        shape = tuple((name, kind) for name, kind, _ in emission.ctf)
        assert classes.setdefault(key, shape) == shape, f'{key} has two shapes in one program'
    return classes


def header(file, provider, classes):
    events = []
    for (owner, name), shape in classes.items():
        if owner != provider:
            continue
        kinds = [(CTF_TYPES[kind], field, i) for i, (field, kind) in enumerate(shape)]
        events.append(EVENT.format(
            provider=provider, name=name,
            arguments=', '.join(kind[0].format(i=i) for kind, _, i in kinds),
            fields=' '.join(kind[1].format(i=i, name=field) for kind, field, i in kinds)))
    guard = file.name.upper().replace('-', '_').replace('.', '_')
    return HEADER.format(provider=provider, file=file.name, guard=guard, events='\n'.join(events))


def main(program, source, *headers):
    emissions = list(PROGRAMS[program]())
    classes = event_classes(emissions)
    files = {path.stem.partition('-')[2]: path for path in map(pathlib.Path, headers)}
    providers = {provider for provider, _ in classes}
    assert providers == set(files), f'headers wanted: {providers}'
    for provider, file in files.items():
        file.write_text(header(file, provider, classes), encoding='utf-8')

    data = Data()
    calls = [call(emission, data) for emission in emissions]
    pathlib.Path(source).write_text(PROGRAM.format(
        includes='\n'.join(f'#include "{file.name}"' for file in files.values()),
        data=data.definitions(), calls='\n'.join(calls)), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
