# SPDX-License-Identifier: MIT
"""The dump of events with known values: every field of every supported event and version, recorded
by the real session daemon from programs that emit them in the runtime's encodings.

test_provider.py PLUGIN_DIR EMIT_MAIN EMIT_ODD
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import bt2

from tests.provider import cases, events
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 120
CANNOT_RECORD = 77
KEYS = {'event', 'provider', 'time', 'pid_ns', 'pid', 'tid', 'fields'}
# Limit of the bytes that babeltrace2's Python, which is slow, compares; the dump is compared for
# longer blobs, too.
LONG_BLOB = 1000
# Other recordings: buffers, contexts.
VARIANTS = (
    ('pid',),
    ('pid', 'vpid', 'vtid', 'pid_ns'),
    ('uid', 'vpid'),
    ('uid', 'vtid', 'procname', 'pid_ns'),
    ('uid',),
)
NOT_DECODED = re.compile(r'(\S+): (\d+) of (\d+) events not decoded')


class Recording:
    """A trace of programs (from cases.PROGRAMS), and the emissions into it."""

    def __init__(self, directory, emitters, *options):
        self.programs = list(emitters)
        self.begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = subprocess.run([HERE / 'record', *options, directory, *emitters.values()],
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
        self.end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if done.returncode == CANNOT_RECORD:
            print('1..0 # SKIP no mount namespace to record in')
            sys.exit(0)
        if done.returncode != 0:
            sys.exit(f'recording failed: exit code {done.returncode}')
        self.trace = pathlib.Path(directory) / 'trace'
        self.processes = json.loads((self.trace.parent / 'processes.json').read_text())
        # (pid, emission) in order
        self.emitted = [(pid, emission)
                        for program, pid in zip(self.programs, self.processes['pids'])
                        for emission in cases.PROGRAMS[program]()]

    def with_outcome(self, *outcomes):
        return [(pid, emission) for pid, emission in self.emitted if emission.outcome in outcomes]

    def count_by_name(self, *outcomes):
        return collections.Counter(emission.event.full_name for _, emission in self.emitted
                                   if emission.outcome in outcomes)


def dump(plugin_dir, trace):
    """Returns (exit code, lines, stderr)."""
    output = trace.parent / 'dump.jsonl'
    done = subprocess.run(
        ['babeltrace2', f'--plugin-path={plugin_dir}', trace, '-c', 'sink.clrsym.dump',
         '-p', f'output="{output}"'],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
    lines = output.read_bytes().split(b'\n') if output.exists() else [b'']
    return done.returncode, lines, done.stderr.decode('utf-8', 'replace')


def parse(line):
    """Parses a JSON object; refuses repeated keys and NaN."""
    def pairs(items):
        keys = [key for key, _ in items]
        if len(set(keys)) != len(keys):
            raise ValueError(f'a key twice: {keys}')
        return dict(items)

    def constant(text):
        raise ValueError(text)

    return json.loads(line.decode('utf-8'), object_pairs_hook=pairs, parse_constant=constant)


def same(got, want):
    """Compares values and JSON types: 1 is neither 1.0 nor true."""
    if type(got) is not type(want):
        return False
    if isinstance(got, dict):
        return got.keys() == want.keys() and all(same(got[key], want[key]) for key in got)
    if isinstance(got, list):
        return len(got) == len(want) and all(map(same, got, want))
    return got == want


def time_ns(text):
    whole, fraction = re.fullmatch(r'(0|[1-9]\d*)\.(\d{9})', text).groups()
    return int(whole) * 10**9 + int(fraction)


def ctf_value(kind, got):
    if kind == 'string':
        return str(got).encode('utf-8', 'surrogateescape')
    if kind == 'i8[]':
        return bytes(int(element) & 0xff for element in got)
    if kind == 'u32[]':
        return b''.join(int(element).to_bytes(4, 'little') for element in got)
    return float(got) if kind == 'f64' else int(got)


def is_as_emitted(event, emission):
    """Returns whether the recorded event has the emitted values. Strings must be UTF-8 for
    python3-bt2."""
    if event.name != emission.event.full_name:
        return False
    payload = event.payload_field
    for name, kind, value in emission.ctf:
        if kind == 'string':
            if not value or not value.isascii():
                continue  # bt2 keeps older text in an empty string
        elif kind.endswith('[]') and len(value) > LONG_BLOB:
            if len(payload[name]) != len(value):
                return False
            continue
        if ctf_value(kind, payload[name]) != value:
            return False
    return True


def check_recording(tap, recording):
    """Checks the recording with babeltrace2's own reader, so that a fault of the provider does
    not count as the dump's."""
    wrong, n = [], 0
    for message in bt2.TraceCollectionMessageIterator(str(recording.trace)):
        if isinstance(message, (bt2._DiscardedEventsMessageConst,  # pylint: disable=W0212
                                bt2._DiscardedPacketsMessageConst)):  # pylint: disable=W0212
            wrong.append(f'lost: {message.count}')
        if not isinstance(message, bt2._EventMessageConst):  # pylint: disable=W0212
            continue
        if n < len(recording.emitted):
            emission = recording.emitted[n][1]
            if not is_as_emitted(message.event, emission):
                wrong.append(f'{n}: {message.event.name} is not {emission.event.full_name}')
        n += 1
    tap.equal(n, len(recording.emitted), 'the recording has each emission')
    tap.check(not wrong, 'the recording has them in order, as emitted', *wrong)


def expected_head(recording, pid, emission, contexts):
    return {'event': emission.shown_name(), 'provider': emission.event.provider, 'pid': pid,
            'pid_ns': recording.processes['pid_ns'] if 'pid_ns' in contexts else 0,
            'tid': pid if 'vtid' in contexts else None}


def check_lines(tap, recording, lines, contexts, label):
    """Compares each line with its emission; one result for each event class."""
    tap.check(lines.pop() == b'' and all(lines), f'{label}the dump ends with a whole line')
    records = [parse(line) for line in lines]
    wanted = recording.with_outcome(events.RECORD, events.AS_EARLIER)
    names = [f'{record.get("provider")}:{record["event"]}' for record in records]
    order = [f'{emission.event.provider}:{emission.shown_name()}' for _, emission in wanted]
    at = next((i for i, pair in enumerate(zip(names, order)) if pair[0] != pair[1]), None)
    if not tap.check(names == order, f'{label}one line for each of {len(order)} records, in order',
                     f'{len(names)} lines, first difference at {at}',
                     names[at or 0:][:5], order[at or 0:][:5]):
        return

    wrong, heads = collections.defaultdict(list), []
    last = recording.begin
    for record, (pid, emission) in zip(records, wanted):
        differences = wrong[f'{emission.event.provider}:{emission.shown_name()}']
        shown = emission.shown()
        if not same(record['fields'], shown):
            differences.append({
                name: (record['fields'].get(name, 'missing'), shown.get(name, 'too much'))
                for name in record['fields'].keys() | shown.keys()
                if not same(record['fields'].get(name), shown.get(name))})
        head = {key: value for key, value in record.items() if key not in ('fields', 'time')}
        if record.keys() != KEYS or not same(
                head, expected_head(recording, pid, emission, contexts)):
            heads.append(head)
        now = time_ns(record['time'])
        if not last <= now <= recording.end:
            heads.append(f'{record["time"]} after {last}, recording ended at {recording.end}')
        last = now
    tap.check(not heads, f'{label}process and time of each', *heads)

    if label:
        tap.check(not any(wrong.values()), f'{label}every field of each', *filter(
            None, wrong.values()))
        return
    classes = collections.Counter(order)
    for name, differences in wrong.items():
        tap.check(not differences, f'{name}: {classes[name]} records, every field', *differences)
    unseen = {event.full_name for event in events.READ_EVENTS.values()} - classes.keys()
    tap.check(not unseen, f'{len(classes)} event classes, all that are read', *unseen)


def check_stderr(tap, recording, stderr):
    """Errors are counted by name; an event without a row is counted, and named once."""
    errors, totals = collections.Counter(), {}
    for name, n, total in NOT_DECODED.findall(stderr):
        errors[name] += int(n)
        totals[name] = int(total)
    tap.equal(dict(errors), dict(recording.count_by_name(events.ERROR)),
              'what was not decoded is counted')
    every = recording.count_by_name(events.RECORD, events.ERROR)
    tap.equal(totals, {name: every[name] for name in errors}, 'of how many')

    skipped = recording.count_by_name(events.SKIPPED, events.AS_EARLIER)
    for name, n in skipped.items():
        about = [line for line in stderr.splitlines() if re.search(rf'\b{name}(?!\w)', line)]
        tap.check(len(about) == 1 and re.search(rf'(?<!\w){n}(?!\w)', about[0]),
                  f'{name} is named once, with its count {n}', *about)
    others = [line for line in stderr.splitlines()
              if not any(f'{name}:' in line for name in (*errors, *skipped))]
    tap.equal(others, [], 'nothing else is reported')


def test_values(tap, plugin_dir, directory, emitters):
    recording = Recording(directory, emitters)
    check_recording(tap, recording)
    status, lines, stderr = dump(plugin_dir, recording.trace)
    tap.equal(status, 0, 'dump succeeds')
    check_lines(tap, recording, lines, ('vpid', 'vtid', 'pid_ns'), '')
    check_stderr(tap, recording, stderr)


def test_variant(tap, plugin_dir, directory, emitters, buffers, contexts):
    label = f'per-{buffers.upper()} buffers, contexts {" ".join(contexts) or "none"}: '
    recording = Recording(directory, emitters, f'--buffers={buffers}',
                          f'--contexts={",".join(contexts)}')
    status, lines, stderr = dump(plugin_dir, recording.trace)
    if buffers == 'uid' and 'vpid' not in contexts:
        tap.check(status != 0, f'{label}refused')
        tap.check(recorded.says_add_context(stderr), f'{label}the message names what to do', stderr)
        tap.equal(lines, [b''], f'{label}not one record')
    else:
        tap.equal(status, 0, f'{label}dump succeeds')
        check_lines(tap, recording, lines, contexts, label)


def main():
    plugin_dir, main_program, odd_program = sys.argv[1:]
    emitters = {'main': main_program, 'odd': odd_program}
    tap = recorded.Tap()
    with tempfile.TemporaryDirectory(prefix='clrsym-provider-') as directory:
        test_values(tap, plugin_dir, os.path.join(directory, 'all'), emitters)
        for i, (buffers, *contexts) in enumerate(VARIANTS):
            test_variant(tap, plugin_dir, os.path.join(directory, str(i)),
                         {'odd': odd_program}, buffers, contexts)
    tap.finish()


if __name__ == '__main__':
    main()
