# SPDX-License-Identifier: MIT
"""A recording that the recorder of `dotnet-trace collect-linux` makes of a program that uses memory for one method
after the other: every event against TraceEvent; the names in the report against the program's own account."""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from tests.bench import record_tools
from tests.live import collect_linux, live
from tests.oracle import traceevent
from tests.profile import readers
from tests.traces import recorded


# The program's own limit, s: it is ended before.
SECONDS = 600
# Methods that end while it is recorded. 50 of them are made at a time; then their memory is used again.
N_METHODS = 200
SYSTEM, EVENTS = 'Universal.System', 'Universal.Events'
IDS = ('ExistingProcess', 'ProcessCreate', 'ProcessExit', 'ProcessMapping', 'ProcessSymbol',
       'ProcessMappingMetadata')
MARK = '[by the recorder]'
SEVERAL = '[unknown: several names by the recorder]'


def record(directory):
    """(the file, the program's account, its main thread)"""
    assembly = live.build(directory / 'app')
    path, account = directory / 'a.nettrace', directory / 'account'
    environment = collect_linux.events_environment(directory / 'events.nettrace')
    with open(account, 'wb') as output, live.child(['dotnet', assembly, 'reuse', SECONDS], stdin=subprocess.DEVNULL,
                                                   stdout=output, env=environment) as program:
        live.wait_for('the first methods', lambda: n_methods(account), program)
        with collect_linux.recording(path, '--on-cpu', '--pid', program.pid):
            enough = n_methods(account) + N_METHODS
            live.wait_for('more methods', lambda: n_methods(account) >= enough, program)
    return path, account, program.pid


def n_methods(account):
    return account.read_text(encoding='utf-8').count('SPAN ')


def key_of(name, time_ns, pid, tid, fields):
    return name, time_ns, pid, tid or 0, tuple(sorted(fields.items()))


def as_numbers(fields):
    return {name: int(value, 16) if isinstance(value, str) and value.startswith('0x') else value
            for name, value in fields.items()}


def check_events(tap, programs, path, directory):
    """The dump, event by event."""
    command = [*traceevent.build(directory), '--universal']
    theirs = collections.Counter()
    for event in next(traceevent.read(command, [path])):
        name = IDS[event['id']] if event['provider'] == SYSTEM else event['name'].split('/')[0]
        theirs[key_of(name, event['time'], event['pid'], event['tid'], event['fields'])] += 1
    ours = collections.Counter()
    kinds = collections.Counter()
    for event in dump(programs, path):
        ours[key_of(event['event'], int(event['time'].replace('.', '')), event['pid'], event['tid'],
                    as_numbers(event['fields']))] += 1
        kinds[event['event']] += 1
    left, more = theirs - ours, ours - theirs
    wanted = 'cpu', 'ProcessMapping', 'ProcessMappingMetadata', 'ProcessSymbol'
    tap.check(not left and not more and all(kinds[name] for name in wanted),
              f'{sum(ours.values())} events as TraceEvent reads them: {dict(kinds)}',
              *[f'TraceEvent only: {key}' for key in list(left)[:4]], *[f'dump only: {key}' for key in list(more)[:4]])
    return kinds


def dump(programs, path):
    done = programs.run([programs.clrsym, 'dump', path])
    return map(json.loads, done.stdout.splitlines())


def spans(account):
    """Of the recorder's clock."""
    ahead = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    # The last line may be cut.
    words = (line.split() for line in account.read_text(encoding='utf-8').splitlines()[:-1])
    return sorted((int(row[1]) + ahead, int(row[2]) + ahead, row[3]) for row in words if row[:1] == ['SPAN'])


def check_names(tap, programs, path, account, main, kinds, directory):
    done = programs.run([programs.clrsym, 'report', path, '--explain'])
    text = directory / 'a.txt'
    text.write_text(done.stdout, encoding='utf-8')
    heads = sum(bool(record_tools.HEADER.match(line)) for line in done.stdout.splitlines())
    tap.equal(heads, kinds['cpu'], 'a sample for each event')
    frames = [frame for _, stack in record_tools.script_samples(text, main) for frame in stack]
    reuse = [frame for frame in frames if record_tools.METHOD.search(frame)]
    tap.check(reuse and all(MARK in frame and frame.endswith('{recorder}') for frame in reuse),
              f'{len(reuse)} frames of methods in reused memory have the mark', *reuse[:3])
    several = [frame for frame in frames if SEVERAL in frame]
    tap.check(several and not any(record_tools.METHOD.search(frame) for frame in several),
              f'{len(several)} frames of which the recorder has several names have none', *several[:3])
    right, wrong, missing = record_tools.judge(record_tools.script_samples(text, main), spans(account))
    tap.check(right > 0 and missing > 0,
              f'samples of known methods: {right} right, {wrong} wrong though marked, {missing} without a name')
    images = [frame for frame in frames if frame.endswith('{image}')]
    named = re.search(r'(\d+) of (\d+) precompiled', done.stderr)
    tap.check(images and named and 10 * int(named[1]) > 8 * int(named[2]) and
              any(' System.' in frame for frame in images),
              f'{len(images)} precompiled frames are named by images', done.stderr)
    sources = collections.Counter(re.search(r'\{([^}]*)\}$', frame)[1] for frame in frames)
    tap.check(sources['ELF symbol'] and sources['kernel symbol'],
              f'native code and kernel code have names: {dict(sources)}')


def check_events_name(tap, programs, path, account, main, directory):
    """The events of the program name its code at the time of the sample, whatever the recorder has."""
    done = programs.run([programs.clrsym, 'report', path, '--trace', directory / 'events.nettrace', '--explain'])
    text = directory / 'events.txt'
    text.write_text(done.stdout, encoding='utf-8')
    right, wrong, missing = record_tools.judge(record_tools.script_samples(text, main), spans(account))
    tap.check(wrong == 0 and right > missing and done.stdout.count('{event}') > right,
              f'with the events of the program: {right} right, {wrong} wrong, {missing} without a name', done.stderr)


def check_outputs(tap, programs, path, kinds, main, directory):
    made = [directory / f'a{ending}' for ending in ('.folded', '.html', '.pb.gz', '.firefox.json.gz', '.otlp.gz')]
    programs.run([programs.clrsym, 'report', path, *[word for name in made for word in ('-o', name)]])
    lines = made[0].read_text(encoding='utf-8').splitlines()
    n_samples = sum(int(line.rsplit(' ', 1)[1]) for line in lines)
    tap.check(all(name.stat().st_size for name in made) and n_samples == kinds['cpu'],
              f'every form has the {n_samples} samples')
    otlp = readers.Otlp(gzip.decompress(made[-1].read_bytes()))
    tap.check(otlp.type == ('cpu', 'nanoseconds') and otlp.period and
              sum(value for _, value, _ in otlp.samples) == n_samples * otlp.period,
              f'so has OTLP, {otlp.period} ns each', otlp.type)
    tap.equal({attributes['process.pid'] for _, _, attributes in otlp.samples if attributes['process.pid'] > 0}, {main},
              'of the process that was recorded')


def check_damage(tap, programs, path, directory):
    whole = path.read_bytes()
    for name, bytes_of, words in (('truncated', whole[:len(whole) // 2], 'is truncated'),
                                  ('damaged', whole[:-60] + b'\xff' * 56 + whole[-4:], 'damaged at byte')):
        cut = directory / f'{name}.nettrace'
        cut.write_bytes(bytes_of)
        done = subprocess.run([programs.clrsym, 'report', cut], capture_output=True, text=True, check=False,
                              env=programs.environment)
        tap.check(words in done.stderr, f'a {name} file: {words}', done.stderr)


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    with live.machine(is_shared=False):
        path, account, main = record(directory)
    kinds = check_events(tap, programs, path, directory)
    check_names(tap, programs, path, account, main, kinds, directory)
    check_events_name(tap, programs, path, account, main, directory)
    check_outputs(tap, programs, path, kinds, main, directory)
    check_damage(tap, programs, path, directory)


if __name__ == '__main__':
    why = live.no_dotnet() or collect_linux.missing()
    if why and os.environ.get('CI'):
        print(f'Bail out! {why}')
        sys.exit(1)
    live.run_or_skip(why, lambda: recorded.main(run))
