# SPDX-License-Identifier: MIT
"""`clrsym record` of a program that collects garbage half of its time: collections and pauses in the summary are
those that the program counts itself, and samples show them without symbols of the runtime. With each runtime, for
workstations and for servers. With `--every`, each interval has those of its own time."""

import gzip
import json
import math
import pathlib
import re
import time

from tests.live import kept, runtimes, test_record
from tests.perf import perftool
from tests.traces import recorded

SECONDS = 2
# Threads of the runtime that collect; its others compute during a pause, too.
COLLECTORS = '.NET BGC', '.NET Server GC'
# s: the events of two sessions; and the resolution of a file.
MOST_APART = 0.005
# Of the run with intervals, and of each.
LONGER, INTERVAL = 6, 2
# Without background collection, with it, and with threads for three heaps (numbers are hexadecimal). Where the CPU has a
# large cache, the runtime allocates as much between two collections, and collects nothing in the background.
MODES = {'workstation': {'DOTNET_gcConcurrent': '0'}, 'concurrent': {'DOTNET_gcConcurrent': '1', 'DOTNET_GCgen0size': '1000000'},
         'server': {'DOTNET_gcServer': '1', 'DOTNET_GCHeapCount': '3', 'DOTNET_GCNoAffinitize': '1'}}
# The program's own session, beside the recording's.
OWN_SESSION = {'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x1:4'}
# Reasons of pauses: a collection, and preparing one.
REASONS = 1, 6
SUMMARY = re.compile(r'^clrsym: \d+ garbage collections? \((.*)\): paused for ([\d.]+) (m?s) of [\d.]+ s, at most .* at a time$',
                     re.M)
# Share of the time: the program counts the last collection before its end; and the event of a pause's end comes when
# its thread has a CPU again, later on a busy machine.
MAX_DIFFERENCE, MAX_LONGER = 0.05, 0.15
# Difference of shares of samples, because other programs take CPU time from single threads.
MAX_SHARE_DIFFERENCE = 0.1
# Difference between the shares of collections by samples' stacks and threads, and by the times of events.
MAX_POINTS = 0.02
# ms; a thread that loses its CPU between the events of two sessions has it again by then.
PREEMPTED = 100
# Threads of a server's collector that lose their CPU go on after the pause.
MAX_SERVER_POINTS = 0.04


def share(path):
    """(share of the samples of the program's own threads that are in a collection, all stacks)"""
    stacks = perftool.folded(path.read_text(encoding='utf-8'))
    own = {stack: n for stack, n in stacks.items() if any(frame.startswith('Collect.Program.Main(') for frame in stack)}
    collecting = sum(n for stack, n in own.items() if any(frame.startswith('garbage collection (') for frame in stack))
    return collecting / max(sum(own.values()), 1), stacks


def shares_by_events(path):
    """(samples with the category of collections, samples within the collections that the runtime reports) of all, by a
    profile for Firefox Profiler: a pause stops the program, and what runs then is the collector's, or another thread of the
    runtime; a collection in the background is of the thread that it has for that."""
    profile = json.loads(gzip.decompress(path.read_bytes()))
    names = [category['name'] for category in profile['meta']['categories']]
    samples, pauses, background = [], [], []
    for thread in profile['threads']:
        markers, strings = thread['markers'], thread.get('stringArray') or profile['shared']['stringArray']
        for name, begin, end, data in zip(*(markers[column] for column in ('name', 'startTime', 'endTime', 'data'))):
            if strings[name] == 'Pause':
                pauses.append((begin, end))
            elif strings[name] == 'Garbage collection' and 'background' in data['text']:
                background.append((begin, end))
        samples += [(thread['name'], time, names[thread['stackTable']['category'][stack]])
                    for stack, time in zip(thread['samples']['stack'], thread['samples']['time'])]

    def is_within(name, time):
        if name.startswith('.NET ') and name not in COLLECTORS:
            return False
        return any(begin <= time < end for begin, end in (pauses + background if name == '.NET BGC' else pauses))

    return (sum(category == 'Garbage collection' for _, _, category in samples) / len(samples),
            sum(is_within(name, time) for name, time, _ in samples) / len(samples),
            sorted((begin, end - begin) for begin, end in pauses))


def own_events(place, path):
    """The pauses, (begin, end) in s of CLOCK_MONOTONIC, and the collections, (begin, end, text of a marker), of the
    program's own session. A collection in the background that the end of the program stops has no end."""
    done = place.programs.run([place.programs.clrsym, 'dump', path])
    begun, pauses, collections = {}, [], []
    for event in map(json.loads, done.stdout.splitlines()):
        name, at, fields = event['event'], float(event['time']), event['fields']
        if name.startswith('GCSuspendEEBegin') and fields['Reason'] in REASONS:
            begun[event['tid']] = at
        elif name.startswith('GCRestartEEEnd') and event['tid'] in begun:
            pauses.append((begun.pop(event['tid']), at))
        elif name.startswith('GCStart'):
            begun['number', fields['Count']] = at, f"generation {fields['Depth']}{', background' if fields['Type'] == 1 else ''}"
        elif name.startswith('GCEnd') and ('number', fields['Count']) in begun:
            begin, text = begun.pop(('number', fields['Count']))
            collections.append((begin, at, text))
    endless = [(one[0], math.inf, one[1]) for one in begun.values() if isinstance(one, tuple) and 'background' in one[1]]
    return pauses, collections, endless


def read_window(path, ahead):
    """The samples, (time, thread, whether it is in a collection), and the markers, (begin, end, name, text), of an
    interval, in s of CLOCK_MONOTONIC. AHEAD: s of the clock of the file."""
    profile = json.loads(gzip.decompress(path.read_bytes()))
    start, names = profile['meta']['startTime'] / 1000 - ahead, [category['name'] for category in profile['meta']['categories']]
    samples, markers = [], []
    for thread in profile['threads']:
        strings = thread.get('stringArray') or profile['shared']['stringArray']
        samples += [(start + at / 1000, thread['name'], names[thread['stackTable']['category'][stack]] == 'Garbage collection')
                    for stack, at in zip(thread['samples']['stack'], thread['samples']['time'])]
        markers += [(start + begin / 1000, start + end / 1000, strings[name], data['text']) for name, begin, end, data in
                    zip(*(thread['markers'][column] for column in ('name', 'startTime', 'endTime', 'data')))]
    return sorted(samples), markers


def found_at(spans, time):
    """What each span that has TIME has besides its begin and its end."""
    return {span[2:] for span in spans if span[0] <= time < span[1]}


def unmatched(some, others):
    """Those of SOME for which OTHERS have none with the same text and times; very short ones can be at a border."""
    return [one for one in some if one[1] - one[0] > 2 * MOST_APART and not any(
        one[2] == other[2] and abs(one[0] - other[0]) < MOST_APART and abs(one[1] - other[1]) < MOST_APART for other in others)]


def without_preempted(compared):
    """COMPARED, (time in s, whether the sample is in a collection, whether it is by the events), without the longest run of
    differences: once, a thread can lose its CPU between its events of two sessions."""
    runs, longest = [[]], []
    for one in compared:
        if one[1] != one[2]:
            runs[-1].append(one)
        elif runs[-1]:
            runs.append([])
    for run in runs:
        if len(run) > len(longest) and run[-1][0] - run[0][0] < PREEMPTED / 1000:
            longest = run
    return [one for one in compared if one not in longest]


def check_window(tap, what, window, events, border):
    """A sample is in a collection if the program's own session has one then, on its thread; and the collections at each
    sample are those. BORDER: the end of the interval before. Returns the end of this one."""
    samples, markers = window
    pauses, collections, endless = events
    shown = [(begin, end, text) for begin, end, name, text in markers if name == 'Garbage collection']
    background = endless + [one for one in collections if 'background' in one[2]]
    limit = max(MAX_POINTS * len(samples), 2)
    for kind, is_collector in (('the program', False), ("the collector's thread", True)):
        # Other threads of the runtime compute while the program is stopped.
        spans = pauses + (background if is_collector else [])
        compared = without_preempted([(time, is_collecting, bool(found_at(spans, time))) for time, name, is_collecting in samples
                                      if (name == '.NET BGC' if is_collector else not name.startswith('.NET '))])
        got, want = (sum(one[i] for one in compared) for i in (1, 2))
        tap.check(abs(got - want) <= limit, f'{what}: the share of {kind} that collects: {want} of {len(compared)} samples', got)
    differing = [time for time, _, _ in samples if found_at(shown, time) != found_at(collections, time)]
    tap.check(len(differing) <= limit, f'{what}: the collections at each sample', differing[:5], shown, collections)
    # A file has the time from its first sample on.
    begin, end = max(samples[0][0], border), samples[-1][0]
    outside = [marker for marker in markers if marker[0] < begin - MOST_APART or marker[1] > end + MOST_APART]
    tap.equal(outside, [], f'{what}: {len(markers)} markers, all within its time')
    want = sorted((max(left, begin), min(right, end), text) for left, right, text in collections if left < end and right > begin)
    got = sorted(one for one in shown if one[1] > begin)
    missing, others = unmatched(want, got), unmatched(got, want)
    tap.check(not missing and not others, f'{what}: its {len(want)} collections, cut at its borders', missing, others)
    return end


def test_windows(tap, place, command, what):
    own = place.directory / 'windows.nettrace'
    code, output, errors = place.record('-F', 997, '--every', INTERVAL, '-o', 'windows', '--format', 'firefox', '--', *command,
                                        LONGER, **MODES['concurrent'], **OWN_SESSION, DOTNET_EventPipeOutputPath=str(own))
    summary = SUMMARY.search(errors)
    if not tap.check(code == 0 and summary, f'{what}: its collections are in the last lines', code, output, errors):
        return
    got = [int(found[1]) if (found := re.search(rf'(\d+) of generation {i}\b', summary[1])) else 0 for i in range(3)]
    tap.equal(got, list(map(int, output.split()[:3])), f'{what}: as many as the program counts')
    ahead = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
    windows = [read_window(path, ahead) for path in sorted((place.directory / 'windows').iterdir())]
    events = _, collections, _ = own_events(place, own)
    tap.check(len(windows) > 2 and len(collections) > 2, f'{what}: {len(windows)} intervals', collections)
    border = 0
    for number, window in enumerate(windows):
        border = check_window(tap, f'{what}, {number}', window, events, border)
    # The first ones can be from before the program was attached.
    begin = windows[0][0][0][0]
    tap.check(all(any(text == one[2] and left < one[1] and right > one[0] for _, markers in windows
                      for left, right, _, text in markers) for one in collections if one[0] > begin) and
              any('background' in one[2] for one in collections), f'{what}: no collection is lost', collections)
    tap.check(any(name == 'Compilation' for _, markers in windows for _, _, name, _ in markers) and
              'samples in the JIT' in errors, f'{what}: and they have compilations', errors)
    tap.equal(place.left(), ([], []), f'{what}: nothing is left')


def check_own_session(tap, place, what, path, pauses):
    """PAUSES (begin, length in ms) equal those of the program's own session: the same threads pause as long."""
    done = place.programs.run([place.programs.clrsym, 'dump', path])
    begun, own = {}, []
    for event in map(json.loads, done.stdout.splitlines()):
        if event['event'].startswith('GCSuspendEEBegin') and event['fields']['Reason'] in REASONS:
            begun[event['tid']] = float(event['time'])
        elif event['event'].startswith('GCRestartEEEnd') and event['tid'] in begun:
            begin = begun.pop(event['tid'])
            own.append((begin, (float(event['time']) - begin) * 1000))
    own.sort()
    # The program is attached while it starts, so its first pauses can be missing.
    own = own[len(own) - len(pauses):]
    # Each session gets its events at its own times, one after the other. Once, another thread can run in between.
    *differences, greatest = sorted(abs(one[1] - other[1]) for one, other in zip(own, pauses)) or [0]
    paused = sum(length for _, length in own)
    tap.check(len(own) == len(pauses) > 1 and sum(differences) <= MAX_POINTS * paused and greatest < PREEMPTED,
              f'{what}: {len(pauses)} pauses are those of its own session', done.stderr, own, pauses)


def test_mode(tap, place, command, what, mode):
    name = f'{mode}.folded'
    own = place.directory / f'{mode}.nettrace'
    code, output, errors = place.record('-F', 499, '-o', name, *kept.OUTPUTS, '--', *command, SECONDS, **MODES[mode],
                                        **OWN_SESSION, DOTNET_EventPipeOutputPath=str(own))
    summary = SUMMARY.search(errors)
    if not tap.check(code == 0 and summary, f'{what}: its collections are in the summary', code, output, errors):
        return
    *want, paused, elapsed, background = map(float, output.split())
    got = [int(found[1]) if (found := re.search(rf'(\d+) of generation {i}\b', summary[1])) else 0 for i in range(3)]
    tap.equal(got, want, f'{what}: as many as the program counts')
    seconds = float(summary[2]) / (1000 if summary[3] == 'ms' else 1)
    tap.check(-MAX_DIFFERENCE * elapsed <= seconds - paused <= MAX_LONGER * elapsed, f'{what}: it was paused for as long', seconds, paused, elapsed)
    tap.check('2 induced' in summary[1] and ('in the background' in summary[1]) == (background > 0),
              f'{what}: why, and how', summary[1])
    kept.check(tap, place, what, errors, 'markers')
    collecting, within, pauses = shares_by_events(place.directory / 'kept.firefox.json.gz')
    limit = MAX_SERVER_POINTS if mode == 'server' else MAX_POINTS
    tap.check(collecting > 0.05 and abs(collecting - within) <= limit,
              f'{what}: the share of collections is that by the events', collecting, within)
    check_own_session(tap, place, what, own, pauses)
    of_samples, stacks = share(place.directory / name)
    if mode == 'workstation':
        tap.check(abs(of_samples - paused / elapsed) <= MAX_SHARE_DIFFERENCE and of_samples > 0.05,
                  f'{what}: the share of the samples', of_samples, paused / elapsed)
        below = {stack[i + 1] for stack in stacks for i, frame in enumerate(stack[:-1])
                 if frame.startswith('garbage collection (')}
        tap.check('[libcoreclr.so]' in below, f'{what}: above the frames of the runtime', below)
    if mode == 'server':
        threads = {frame for stack in stacks if stack[0] == '.NET Server GC' for frame in stack}
        tap.check(any(frame.startswith('garbage collection (generation ') for frame in threads),
                  f"{what}: on the collector's threads", sorted(threads)[:20])


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    for version, command in runtimes.commands(tap, __file__, directory, 'collect', 'clrsym-collect'):
        place = test_record.Place(programs, directory, f'place-{version}')
        for mode in MODES:
            test_mode(tap, place, command, f'.NET {version}, {mode}', mode)
        test_windows(tap, place, command, f'.NET {version}, intervals')


if __name__ == '__main__':
    if test_record.missing():
        print(f'1..0 # SKIP {test_record.missing()}')
    else:
        recorded.main(test)
