# SPDX-License-Identifier: MIT
"""Traces of written.py, by source.clrsym.ctf and by babeltrace2's own source: every event, field, packet and
loss, with their times, in the same order. The CTF 2 twin of a trace is read as that trace. Rotated
sessions, overlapping snapshots and several traces in one directory are read alike, too."""

import functools
import json
import pathlib
import re

from tests.ctf import written
from tests.traces import recorded

N_SEEDS = 24
PRETTY = ('-c', 'sink.text.pretty', '--params', 'no-delta=yes,verbose=yes')
DETAILS = ('-c', 'sink.text.details', '--params', 'with-metadata=no,compact=yes')


def without_names(text, traces):
    """Traces have the numbers of their first appearance, and no names: those differ."""
    lines, numbers = [], {}
    for line in text.splitlines():
        # A stream begins with its first message, or before all others.
        if ' Stream beginning' in line or ' Stream end' in line:
            continue
        found = re.search(r'\{(\d+) (\d+ \d+)\}', line)
        if found:
            number = numbers.setdefault(found[1], len(numbers))
            line = line.replace(found[0], f'{{{number} {found[2]}}}', 1)
        line = re.sub(r'within stream "[^"]*"', 'within stream', line)
        lines.append(re.sub(r'in trace "[^"]*"', 'in trace', line).replace(str(traces), ''))
    return lines


@functools.cache
def is_newer(programs):
    """babeltrace2 2.1 or later."""
    version = programs.run(['babeltrace2', '--version']).stdout
    return tuple(map(int, re.search(r'(\d+)\.(\d+)', version).groups())) >= (2, 1)


def as_in_newer(lines):
    """From babeltrace2 2.1 on, its own source sorts the labels of an enumeration, and says nothing of events
    that were discarded before a stream's first packet."""
    begun, kept = set(), []
    for line in lines:
        stream = re.search(r'\{(\d+ \d+ \d+)\} (Packet beginning|Discarded events)', line)
        if stream and stream[2] == 'Packet beginning':
            begun.add(stream[1])
        elif stream and stream[1] not in begun:
            continue
        kept.append(re.sub(r'\{ ("[^"]*"(?:, "[^"]*")+) \}',
                           lambda match: '{ ' + ', '.join(sorted(match[1].split(', '))) + ' }', line))
    return kept


def read(programs, traces, *source):
    """What both sinks print, and the losses that one of them reports. None: an error."""
    out = []
    for sink in (PRETTY, DETAILS):
        result = programs.run(['babeltrace2', f'--plugin-path={programs.plugin_dir}', *source, *sink])
        if result.returncode:
            return None
        out += [without_names(result.stdout, traces)]
    texts = [*out, without_names(result.stderr, traces)]
    return [as_in_newer(text) for text in texts] if is_newer(programs) else texts


def own(programs, traces):
    return read(programs, traces, '-c', 'source.clrsym.ctf', '--params',
                f'all=yes,inputs=["{traces}"]')


def first_difference(got, want):
    if got is None:
        return 'an error'
    return next((pair for lines in zip(got, want) for pair in zip(*lines) if pair[0] != pair[1]),
                'one is shorter')


class Counts:
    def __init__(self):
        self.n_events = self.n_traces = self.n_refused = 0
        self.wrong = []

    def compare(self, programs, name, traces):
        want = read(programs, traces, traces)
        if want is None:  # what babeltrace2 cannot read has no answer to compare with
            self.n_refused += 1
            return None
        got = own(programs, traces)
        self.n_traces += 1
        self.n_events += len(want[0])
        if got != want:
            self.wrong.append((name, first_difference(got, want)))
        return got

    def compare_twin(self, programs, name, trace, text, directory):
        """TEXT is what was read of it as CTF 1.8."""
        twin = own(programs, trace.save(directory / 'trace', True))
        if text:
            self.n_traces += 1
            self.n_events += len(text[0])
        else:  # its times go back where they wrap, as babeltrace2 takes them
            self.n_refused += 1
        if twin != text:
            self.wrong.append((name, first_difference(twin, text or [])))


def in_chunks(trace, directory, rng, is_snapshot):
    """The packets of each stream in three directories, one after the other; of snapshots, each again has
    some that the one before has."""
    for chunk in range(3):
        files = []
        for name, packets in trace.files:
            cuts = [0, *sorted(rng.randint(0, len(packets)) for _ in range(2)), len(packets)]
            first = max(cuts[chunk] - 2, 0) if is_snapshot else cuts[chunk]
            files.append((name, packets[first:cuts[chunk + 1]]))
        trace.save(directory / f'chunk{2 - chunk}', files=files)
    return directory


def check_both(tap, programs, directory):
    """A trace beside what it was converted to: two traces, for babeltrace2 2.1 too."""
    trace = written.Trace(0)
    once = own(programs, trace.save(directory / 'once'))
    trace.save(directory / 'both' / 'ctf1')
    trace.save(directory / 'both' / 'ctf2', True)
    both = own(programs, directory / 'both')
    tap.check(once and both and sorted(both[0]) == sorted(2 * once[0]),
              'a trace beside its CTF 2 twin: both are read')


def check_refused(tap, programs, directory):
    """What CTF 2 has and LTTng does not write, or is damaged: an error that names it, before any event."""
    trace = written.Trace(0)
    text = trace.save(directory / 'refused', True).joinpath('metadata').read_text(encoding='utf-8')
    for name, words, change in (
            ('an extension', 'extension "piano"', lambda fragment: fragment.replace(
                '"version": 2', '"version": 2, "extensions": {"a.b": {"piano": {}}}')),
            ('an extension of a field class', 'extension "flute"', lambda fragment:
             fragment.replace('"type": "structure"',
                              '"type": "structure", "extensions": {"a.b": {"flute": {}}}')),
            *((f'fields of type {kind}', f'fields of type "{kind}"', lambda fragment, kind=kind:
               fragment.replace('"type": "fixed-length-unsigned-integer"', f'"type": "{kind}"'))
              for kind in ('variable-length-unsigned-integer', 'optional')),
            ('a fragment of an unknown type', 'a fragment of type "song"', lambda fragment:
             fragment + '\x1e{"type": "song"}'),
            ('an alias of itself', 'a field class without a type', lambda fragment:
             fragment.replace('\x1e{"type": "trace-class"',
                              '\x1e{"type": "field-class-alias", "name": "a", "field-class": "a"}'
                              '\x1e{"type": "trace-class", "packet-header-field-class": "a"}\x1e'
                              '{"type": "trace-class"', 1))):
        (directory / 'refused' / 'metadata').write_text(change(text), encoding='utf-8')
        result = programs.run(['babeltrace2', f'--plugin-path={programs.plugin_dir}', '-c',
                               'source.clrsym.ctf', '--params',
                               f'all=yes,inputs=["{directory / "refused"}"]'])
        said = ' '.join(result.stderr.split())
        tap.check(result.returncode == 1 and words in said and not result.stdout,
                  f'{name}: refused by name', result.returncode, said[-300:])


BITS = ('preamble', {'version': 2}), ('trace-class', {}), ('data-stream-class', {'id': 0}), (
    'event-record-class', {'id': 0, 'name': 'e', 'data-stream-class-id': 0, 'payload-field-class': {
        'type': 'structure', 'member-classes': [
            {'name': name, 'field-class': {'type': f'fixed-length-{kind}', 'length': length,
                                           'byte-order': order, 'alignment': align}}
            for name, kind, length, order, align in (
                ('yes', 'boolean', 8, 'little-endian', 8), ('no', 'boolean', 3, 'little-endian', 1),
                ('odd', 'boolean', 5, 'little-endian', 1),
                ('few', 'bit-array', 13, 'little-endian', 8),
                ('many', 'bit-array', 64, 'big-endian', 8))]}})


def check_bits(tap, programs, directory):
    """Booleans and bit arrays, which only CTF 2 has. babeltrace2 2.1 reads them, too."""
    trace = directory / 'bits'
    trace.mkdir()
    (trace / 'metadata').write_text(
        ''.join('\x1e' + json.dumps({'type': kind, **content}) for kind, content in BITS))
    (trace / 'stream').write_bytes(bytes.fromhex('80 08 cdfb 0123456789abcdef'))
    text = own(programs, trace)
    want = 'yes = true, no = false, odd = true, few = 0x1BCD, many = 0x123456789ABCDEF'
    tap.check(text and want in text[0][0], 'booleans and bit arrays of CTF 2', text and text[0])
    theirs = read(programs, trace, trace)
    tap.check(theirs in (None, text), 'as babeltrace2 reads them, where it can', theirs, text)


def can_be_divided(trace):
    return trace.uuid and trace.has_instance and all(stream.begin_size == 64
                                                     for stream in trace.streams)


def run(tap, programs, directory, names):
    directory = pathlib.Path(directory)
    single, twins, nested, chunks, snapshots, several = (Counts() for _ in range(6))
    for seed in range(N_SEEDS):
        trace = written.Trace(seed)
        text = single.compare(programs, seed, trace.save(directory / f'{seed}' / 'trace'))
        if text:
            twins.compare_twin(programs, seed, trace, text, directory / f'twin{seed}')
        trace = written.Trace(seed, True)
        text = own(programs, trace.save(directory / f'nested{seed}' / 'trace'))
        nested.compare_twin(programs, seed, trace, text, directory / f'nested_twin{seed}')
        trace = written.Trace(seed)
        if can_be_divided(trace):
            chunks.compare(programs, seed, in_chunks(trace, directory / f'chunks{seed}', trace.rng,
                                                     False))
            snapshots.compare(programs, seed, in_chunks(trace, directory / f'snapshots{seed}',
                                                        trace.rng, True))
    check_both(tap, programs, directory)
    check_refused(tap, programs, directory)
    check_bits(tap, programs, directory)
    for seed in range(N_SEEDS, N_SEEDS + 8):
        for i in range(3):
            written.Trace(10 * seed + i).save(directory / f'several{seed}' / f'{i}')
        several.compare(programs, seed, directory / f'several{seed}')
    for what, counts, least in (
            ('traces', single, N_SEEDS * 3 // 4), ('CTF 2 twins', twins, N_SEEDS * 3 // 4),
            ('CTF 2 twins of traces with references in elements', nested, N_SEEDS * 3 // 4),
            ('rotated sessions', chunks, 5), ('overlapping snapshots', snapshots, 5),
            ('directories of several traces', several, 2)):
        tap.check(not counts.wrong and counts.n_traces >= least and counts.n_events > 20,
                  f'{counts.n_traces} {what}, {counts.n_events} events ({counts.n_refused} '
                  'refused by babeltrace2)', *counts.wrong[:3])


if __name__ == '__main__':
    recorded.main(run)
