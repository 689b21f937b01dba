# SPDX-License-Identifier: MIT
"""`clrsym record` of async methods that await each other. With .NET 11, runtime async methods and state machines:
each sample has the awaiting methods. With .NET 10, samples show that they are missing."""

import contextlib
import json
import os
import pathlib
import re
import time

from tests.live import kept, live, runtimes, test_live_lines, test_record
from tests.perf import perftool
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / 'awaits' / 'Program.cs'
VARIANTS = {'runtime async': ['-features:runtime-async=on'], 'state machines': []}
# Where the program computes -> the methods that await it, as the source has them.
IN_MIDDLE = [(name, 'Outer', 'Main') for name in ('First', 'Second', 'Generic')]
EXPECTED = {'InLeaf': [('Leaf', *names) for names in IN_MIDDLE], 'InMiddle': IN_MIDDLE, 'InOuter': [('Outer', 'Main')]}
COMPUTES = re.compile(r'Awaits\.Program\.(In\w+)\(')
OWN = re.compile(r'Awaits\.Program\.(?:(\w+)[.<(])')
CONTINUED = '[continued after await]'
UNKNOWN = '[caller unknown'
NAMESPACE = ['unshare', '--pid', '--fork', '--mount', '--mount-proc', '--kill-child']
# Events that a program has buffered at its end are lost.
LEAST_KNOWN = 0.9
# On a busy machine a command runs for a moment before its session begins.
LEAST_FROM_START = 0.75
# A method that ends before another method awaits it has no caller: a third of them on a busy machine.
LEAST_WHOLE = 0.5
LEAST_IN_INTERVALS = 0.98


def kinds(stacks, wrong=None):
    """Samples of the program's computations: with all awaiting methods, with fewer, with wrong ones, and those that
    show missing callers. The wrong stacks are appended to WRONG."""
    found = dict.fromkeys(('whole', 'fewer', 'wrong', 'continued'), 0)
    for stack, n in stacks.items():
        frames = stack[::-1]
        leaf = next((i for i, frame in enumerate(frames) if COMPUTES.match(frame)), None)
        if leaf is None:
            continue
        wanted = EXPECTED[COMPUTES.match(frames[leaf])[1]]
        own = []
        for match in map(OWN.match, frames[leaf + 1:]):
            # A method called as a task has a frame of its own.
            if match and match[1] not in own[-1:]:
                own.append(match[1])
        if CONTINUED in frames:
            found['continued'] += n
        elif tuple(own) in wanted:
            found['whole'] += n
        elif any(chain[:len(own)] == tuple(own) for chain in wanted):
            found['fewer'] += n
        elif any(frame.startswith(UNKNOWN) for frame in frames[leaf + 1:]):
            found['continued'] += n
        else:
            found['wrong'] += n
            if wrong is not None:
                wrong.append(';'.join(stack))
    return found


def record(place, *arguments):
    """(exit status, kinds, wrong stacks and messages)"""
    code, _, errors = place.record('-o', 'a.folded', '-o', 'a.html', *kept.OUTPUTS, *arguments)
    stacks = perftool.folded((place.directory / 'a.folded').read_text(encoding='utf-8')) if code == 0 else {}
    wrong = []
    return code, kinds(stacks, wrong), '\n'.join([*wrong, errors])


def read_page(place):
    """The number of samples whose page also has the thread's own stack; the titles of processes."""
    text = (place.directory / 'a.html').read_text(encoding='utf-8')
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    both = 0
    for cells in data['cells']:
        stack = 0
        for step, more, n in zip(*[iter(cells)] * 3):
            stack = more if step else stack + more
            both += n if data['physical'] and data['physical'][stack] else 0
    return both, [title for _, title in data['processes']]


def check(tap, place, what, *arguments, least=LEAST_FROM_START):
    """Returns the messages. LEAST: the share of continued methods whose chains are known."""
    code, found, errors = record(place, *arguments)
    n = sum(found.values())
    tap.check(code == 0 and n > 50 and found['wrong'] == 0 and found['whole'] >= LEAST_WHOLE * n and
              found['whole'] + found['fewer'] >= least * n, f'{what}: {found}', errors)
    counts = re.search(r'^clrsym: (\d+) samples are of methods that continue after an await, (\d+) of them with', errors, re.M)
    tap.check(counts and int(counts[2]) >= least * int(counts[1]), f'{what}: the summary has both', errors)
    if code == 0:
        kept.check(tap, place, what, errors, 'physical')
    both, titles = read_page(place) if code == 0 else (0, [])
    tap.check(any(re.search(r'dotnet.* .*awaits\d\.dll', title) for title in titles), f'{what}: the page has the command line', titles)
    tap.check(counts and int(counts[2]) <= both <= int(counts[1]), f'{what}: the page has both stacks of {both} samples', errors)
    return errors


def check_namespace(tap, place, what, command):
    """Processes and threads have other ids than perf's, and have ended before they are named."""
    if os.geteuid():
        tap.skip(what, 'only root makes a pid namespace')
        return
    errors = check(tap, place, what, '--', *NAMESPACE, *command, '2500', 'events')
    counts = re.search(r'^clrsym: (\d+) samples in the JIT, (\d+) of them with the method', errors, re.M)
    before = re.search(r'(\d+) samples in the JIT are from times at which their process was not attached', errors)
    n = int(counts[1]) - (int(before[1]) if before else 0) if counts else 0
    tap.check(n > 10 and int(counts[2]) >= LEAST_KNOWN * n, f'{what}: what the JIT compiles is known', errors)


def check_apart(tap, place, what, is_marked, *arguments):
    """Without chains."""
    code, found, errors = record(place, *arguments)
    n = sum(found.values())
    marked = found['continued'] >= LEAST_KNOWN * n if is_marked else not found['continued']
    tap.check(code == 0 and n > 50 and marked and found['whole'] <= 0.1 * n, f'{what}: {found}', errors)
    tap.check(('samples are of methods that continue after an await, without' in errors) == is_marked,
              f'{what}: the summary', errors)


def check_pid(tap, place, what, command):
    with live.child([*command, '8000'], env=place.environment) as process:
        live.wait_for('its port', lambda: any(place.temporary.glob('dotnet-diagnostic-*')), process)
        pid = next(place.temporary.glob('dotnet-diagnostic-*')).name.split('-')[2]
        check(tap, place, f'{what}: -p', '-d', 2, '-p', pid, least=LEAST_KNOWN)


def check_every(tap, place, what, *arguments):
    """Each interval has its chains, although the log is removed while it is read."""
    sizes = []
    with place.recording('--every', 2, '-d', 11, '--format', 'folded', '-o', 'parts', *arguments) as process:
        while process.poll() is None:
            with contextlib.suppress(OSError):
                sizes.append(sum(path.stat().st_size for path in place.temporary.glob('clrsym-record*/**/async/*')))
            time.sleep(0.2)
        errors = process.stderr.read()
    parts = [kinds(perftool.folded(path.read_text(encoding='utf-8'))) for path in sorted((place.directory / 'parts').iterdir())]
    counts = re.search(r'^clrsym: (\d+) samples are of methods that continue after an await, (\d+) of them with', errors, re.M)
    tap.check(len(parts) >= 4 and not any(part['wrong'] for part in parts), f'{what}: intervals: {parts}', errors)
    n = sum(sum(part.values()) for part in parts[1:])
    whole = sum(part['whole'] for part in parts[1:])
    known = whole if 'runtime async' in what else whole + sum(part['fewer'] for part in parts[1:])
    tap.check(n > 100 and known >= LEAST_IN_INTERVALS * n and whole >= LEAST_WHOLE * n,
              f'{what}: intervals after the first: {whole} of {n} are whole, {known} known')
    tap.check(counts and int(counts[2]) >= LEAST_KNOWN * int(counts[1]), f'{what}: intervals: the summary has both', errors)
    tap.check(0 < max(sizes) < 4 << 20, f'{what}: intervals: the log has {max(sizes)} bytes at most, and {sizes[-3:]} at last')


def check_every_way(tap, place, what, command):
    """As a command, whose threads have small buffers; or as a process, with buffers that fill slowly. By frame
    pointers, callers of methods without a frame are known for runtime async only."""
    if 'runtime async' in what:
        check_every(tap, place, what, '--', *command, '20000', 'events')
        return
    with live.child([*command, '30000'], env={**place.environment, 'DOTNET_JITMinOpts': '1'}) as process:
        # A killed program leaves its port.
        live.wait_for('its port', lambda: any(place.temporary.glob(f'dotnet-diagnostic-{process.pid}-*')), process)
        check_every(tap, place, what, '-p', process.pid)


def check_dump(tap, place, what, command):
    """Addresses of chains belong to the program's methods, by events in the same file."""
    path = place.directory / 'async.nettrace'
    live.run(*command, '1500', env={
        **place.environment, 'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeOutputPath': path,
        'DOTNET_EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x20000220b8:5,'
                                  'System.Runtime.CompilerServices.AsyncProfilerEventSource:0x3ffff:5'})
    done = place.programs.run([place.programs.clrsym, 'dump', path])
    records = [record for record in map(json.loads, done.stdout.splitlines()) if record['event'] == 'AsyncEvents']
    buffers = [record['fields']['Data'] for record in records]
    events = [event for buffer in buffers for event in buffer['events']]
    tap.check(done.returncode == 0 and not any('damaged' in buffer for buffer in buffers) and len(events) > 100,
              f'{what}: dump: {len(events)} sub-events', done.stderr)
    frames = {frame for event in events if event['event'].startswith('Resume') for frame in event.get('frames', [])} - {'0x0'}
    done = place.programs.run([place.programs.clrsym, 'resolve', '--json', '--trace', path, '--pid',
                                records[0]['pid'], *sorted(frames)])
    names = [json.loads(line).get('symbol') or '' for line in done.stdout.splitlines()]
    own = [name for name in names if name.startswith('Awaits.Program')]
    tap.check(len(names) == len(frames) > 3 and len(own) >= 0.5 * len(names), f'{what}: dump: {len(own)} of {len(names)} '
              'frames are the methods of the program', names, done.stderr)


def build(directory, runtime):
    """Yields (variant, assembly)."""
    directory.mkdir()
    compiler = test_live_lines.Compiler(directory, runtime)
    config = {'runtimeOptions': {'framework': {'name': 'Microsoft.NETCore.App', 'version': runtimes.version_of(runtime)},
                                 'configProperties': {'System.Globalization.Invariant': True}}}
    for i, (variant, options) in enumerate(VARIANTS.items()):
        if options and runtime != runtimes.NEWEST:
            continue
        compiler.compile(f'awaits{i}.dll', SOURCE, '-optimize+', *options)
        (directory / f'awaits{i}.runtimeconfig.json').write_text(json.dumps(config))
        yield variant, directory / f'awaits{i}.dll'


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version in runtimes.of_test(__file__):
        try:
            host = runtimes.host(directory / f'host-{version}', version)
            assemblies = dict(build(directory / f'build-{version}', version))
        except RuntimeError as error:
            tap.skip(f'.NET {version}', str(error).splitlines()[-1])
            continue
        for variant, assembly in assemblies.items():
            place = test_record.Place(programs, directory, f'place-{version}-{assembly.stem}')
            command = ['/usr/bin/env', f'DOTNET_ROOT={pathlib.Path(host).parent}', host, assembly]
            what = f'.NET {version}, {variant}'
            if version == runtimes.NEWEST:
                check(tap, place, what, '--', *command, '2500', 'events')
                check_pid(tap, place, what, command)
                check_namespace(tap, place, f'{what}: in another pid namespace', command)
                check_every_way(tap, place, what, command)
                check_apart(tap, place, f'{what}: physical', False, '--stacks', 'physical', '--', *command, '1500')
                check_dump(tap, place, what, command)
            else:
                check_apart(tap, place, what, True, '--', *command, '1500')
            tap.equal(place.left(), ([], []), 'nothing is left')


if __name__ == '__main__':
    recorded.main(test)
