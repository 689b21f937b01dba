# SPDX-License-Identifier: MIT
"""`clrsym record` of a program that collects garbage half of its time: the collections and pauses that the summary
has are those that the program counts itself, and the samples show them without symbols of the runtime. With each
runtime, for workstations and for servers."""

import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ('traces', 'daemon', 'perf', 'profile')]

import kept  # pylint: disable=wrong-import-position
import perftool  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position
import runtimes  # pylint: disable=wrong-import-position
import test_record  # pylint: disable=wrong-import-position

SECONDS = 2
# Without the background, with it, and with a thread for each of three heaps (numbers are hexadecimal).
MODES = {'workstation': {'DOTNET_gcConcurrent': '0'}, 'concurrent': {'DOTNET_gcConcurrent': '1'},
         'server': {'DOTNET_gcServer': '1', 'DOTNET_GCHeapCount': '3', 'DOTNET_GCNoAffinitize': '1'}}
# A session of the program itself, besides that of the recording.
OWN_SESSION = {'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x1:4'}
# Reasons of pauses: a collection, and preparing one.
REASONS = 1, 6
SUMMARY = re.compile(r'^clrsym: \d+ garbage collections? \((.*)\): paused for ([\d.]+) (m?s) of [\d.]+ s, at most .* at a time$',
                     re.M)
# A share of the time: the last collection ends after the program has counted it.
MAX_DIFFERENCE = 0.05
# Shares of samples differ: other programs on the machine take time from the one thread or the other.
MAX_SHARE_DIFFERENCE = 0.1
# Of the share of collections, by the samples' stacks and threads, and by the times of the runtime's events.
MAX_POINTS = 0.02


def share(path):
    """(share of the samples of the program's own threads that are in a collection, all stacks)"""
    stacks = perftool.folded(path.read_text(encoding='utf-8'))
    own = {stack: n for stack, n in stacks.items() if any(frame.startswith('Collect.Program.Main(') for frame in stack)}
    collecting = sum(n for stack, n in own.items() if any(frame.startswith('garbage collection (') for frame in stack))
    return collecting / max(sum(own.values()), 1), stacks


def shares_by_events(path):
    """(samples with the category of collections, samples within the collections that the runtime reports) of all, by a
    profile for Firefox Profiler: a pause stops the program, and what runs then is the collector's; a collection in the
    background is of the thread that it has for that."""
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
        return any(begin <= time < end for begin, end in (pauses + background if name == '.NET BGC' else pauses))

    return (sum(category == 'Garbage collection' for _, _, category in samples) / len(samples),
            sum(is_within(name, time) for name, time, _ in samples) / len(samples),
            sorted((begin, end - begin) for begin, end in pauses))


def check_own_session(tap, place, what, path, pauses):
    """The PAUSES (begin, length in ms) are those of the program's own session: the same threads pause it for as long."""
    done = place.programs.run([place.programs.clrsym, 'dump', path])
    begun, own = {}, []
    for event in map(json.loads, done.stdout.splitlines()):
        if event['event'].startswith('GCSuspendEEBegin') and event['fields']['Reason'] in REASONS:
            begun[event['tid']] = float(event['time'])
        elif event['event'].startswith('GCRestartEEEnd') and event['tid'] in begun:
            begin = begun.pop(event['tid'])
            own.append((begin, (float(event['time']) - begin) * 1000))
    own.sort()
    # The program is attached while it starts: its first pauses can be missing.
    own = own[len(own) - len(pauses):]
    # Each session has the times at which it got the events: one is after the other.
    difference, paused = sum(abs(one[1] - other[1]) for one, other in zip(own, pauses)), sum(length for _, length in own)
    tap.check(len(own) == len(pauses) > 1 and difference <= MAX_POINTS * paused,
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
    tap.check(abs(seconds - paused) <= MAX_DIFFERENCE * elapsed, f'{what}: it was paused for as long', seconds, paused)
    tap.check('2 induced' in summary[1] and ('in the background' in summary[1]) == (background > 0),
              f'{what}: why, and how', summary[1])
    kept.check(tap, place, what, errors, 'markers')
    collecting, within, pauses = shares_by_events(place.directory / 'kept.firefox.json.gz')
    tap.check(collecting > 0.05 and abs(collecting - within) <= MAX_POINTS,
              f'{what}: the share of collections is that by the events', collecting, within)
    check_own_session(tap, place, what, own, pauses)
    of_samples, stacks = share(place.directory / name)
    if mode == 'workstation':
        tap.check(abs(of_samples - paused / elapsed) <= MAX_SHARE_DIFFERENCE and of_samples > 0.15,
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


if __name__ == '__main__':
    if test_record.missing():
        print(f'1..0 # SKIP {test_record.missing()}')
    else:
        recorded.main(test)
