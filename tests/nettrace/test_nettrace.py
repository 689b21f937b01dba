# SPDX-License-Identifier: MIT
"""Recorded sessions of EventPipe, compared with LTTng traces of the same runs and the runtimes'
perf maps.

The program of each recording ran once; both sources recorded from its first instruction on.
"""

import collections
import json
import lzma
import pathlib
import re
import struct
import tarfile

from tests.traces import recorded, test_feed

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / 'data'
TWINS = ('gen', 'lib', 'stacks', 'lossy')
GAP = '(discarded events)'
# Members that differ in time between the sources, or that only one source has.
DIFFERENT = ('pid_ns', 'horizon', 'epoch', 'loaded', 'unloaded', 'since', 'jit_ms')
NS = 10**9


def ns(text):
    seconds, fraction = text.split('.')
    return int(seconds) * NS + int(fraction)


class Recording:
    """One run, unpacked into a directory of its own."""

    def __init__(self, name, directory):
        self.directory = pathlib.Path(directory) / name
        self.directory.mkdir()
        for packed in (DATA / name).glob('*.nettrace.xz'):
            (self.directory / packed.stem).write_bytes(lzma.open(packed).read())
        self.trace = self.directory / 'trace.nettrace'
        self.rundown = self.directory / 'rundown.nettrace'
        self.twin = self.directory / 'twin'
        if (DATA / name / 'trace.tar.xz').exists():
            with tarfile.open(DATA / name / 'trace.tar.xz') as archive:
                archive.extractall(self.twin)
        perf_map = DATA / name / 'perf.map.xz'
        self.perf_map = lzma.open(perf_map, 'rt', encoding='utf-8', errors='replace').read() \
            if perf_map.exists() else ''


class Event:
    """An event of a dump. Its key has all members in which the sources must agree: every field,
    and the thread."""

    def __init__(self, line):
        values = json.loads(line)
        self.name = values['event']
        self.time = ns(values['time'])
        del values['time'], values['pid_ns']
        self.key = json.dumps(values)


def dump(programs, *paths):
    """Returns the events of all paths, and the gaps: (begin, end, count)."""
    events, gaps = [], []
    for path in paths:
        done = programs.run([programs.clrsym, 'dump', path])
        if done.returncode:
            raise RuntimeError(done.stderr)
        for line in done.stdout.splitlines():
            if line.startswith(f'{{"event":"{GAP}"'):
                values = json.loads(line)
                gaps.append((ns(values['begin']), ns(values['end']), values['count']))
            else:
                events.append(Event(line))
    return events, gaps


def times_by_key(events):
    times = collections.defaultdict(list)
    for event in events:
        times[event.key].append(event.time)
    return times


def only_in(these, those):
    """Returns the events that only THESE have: the latest ones with their key."""
    more, others = [], times_by_key(those)
    for event in sorted(these, key=lambda event: event.time):
        if others[event.key]:
            others[event.key].pop()
        else:
            more.append(event)
    return more


def process_of(programs, path):
    return json.loads(programs.ask(('--trace', path), 'ps')[0])


def check_events(tap, programs, name, recording):
    """The two sources have the same events with the same fields; LTTng's time is later, never
    earlier."""
    paths = [path for path in (recording.trace, recording.rundown) if path.exists()]
    events, gaps = dump(programs, *paths)
    twins, _ = dump(programs, recording.twin)
    more = [event.name for event in only_in(events, twins)]
    tap.equal(more, [], f'{name}: {len(events)} events, and each is in the LTTng trace')
    horizon = ns(process_of(programs, recording.trace)['horizon'])
    missing = only_in(twins, events)
    # LTTng continues after the end of the session. A loss that is after the end only by LTTng's
    # later time does not count.
    during = [event for event in missing if event.time <= horizon]
    tap.note(f'{name}: {len(missing)} only in the LTTng trace, {len(missing) - len(during)} of them after '
             'the end of the session')
    uncovered = [f'{event.name} {event.time}' for event in during
                 if not any(begin <= event.time <= end for begin, end, _ in gaps)]
    tap.equal(uncovered, [], f'{name}: what is missing before that is in a reported gap')
    if name == 'lossy':
        tap.equal((len(gaps), sum(count for _, _, count in gaps)), (5, 41872), 'lossy: the losses are exact')
        tap.check(len(during) > 20000, 'lossy: most is missing', len(during))
    else:
        tap.equal((gaps, during), ([], []), f'{name}: nothing is lost')
        ours, theirs = times_by_key(events), times_by_key(twins)
        late = [late - early for key, times in ours.items()
                for early, late in zip(sorted(times), sorted(theirs[key]))]
        tap.check(min(late) >= 0 and sorted(late)[len(late) // 2] < 10_000,
                  f'{name}: LTTng is later, in the middle by less than 10 us', min(late), max(late))
    return horizon


def body_row(body):
    """Returns all members of a body except its times, which are a little later in LTTng's trace."""
    row = {key: value for key, value in body.items() if key not in DIFFERENT}
    return json.dumps(row)


def check_bodies(tap, programs, name, recording, horizon):
    """Bodies, versions, tiers and sizes are equal; lives differ only by the difference of the
    sources' times."""
    ours, theirs = ([body for body in programs.bodies(('--trace', path)) if body['source'] == 'load']
                    for path in (recording.trace, recording.twin))
    tail = [body for body in theirs if ns(body['loaded']) > horizon]
    theirs = [body for body in theirs if ns(body['loaded']) <= horizon]
    tap.same_rows([body_row(body) for body in ours], [body_row(body) for body in theirs],
                  f'{name}: jitted bodies; {len(tail)} more after the end of the session')
    lives = {}
    for side, bodies in enumerate((ours, theirs)):
        for body in sorted(bodies, key=lambda body: body['loaded']):
            lives.setdefault(body_row(body), ([], []))[side].append(body)
    wrong = [key for key, (first, second) in lives.items() for one, other in zip(first, second)
             if not 0 <= ns(other['loaded']) - ns(one['loaded']) < NS // 10]
    tap.equal(wrong[:3], [], f'{name}: the loads are at the same times')
    return ours


def check_addresses(tap, programs, name, recording, bodies, horizon):
    """Answers for the middle of each body's life, with IL offset, are equal."""
    questions = []
    for body in bodies:
        end = min(ns(body['unloaded']) if body['unloaded'] else horizon, horizon)
        middle = (ns(body['loaded']) + end) // 2
        for offset in (0, body['size'] // 3, body['size'] - 1):
            questions.append(f'{body["pid"]} {int(body["start"], 16) + offset:#x} '
                             f'{middle // NS}.{middle % NS:09}')
    text = '\n'.join(questions) + '\n'
    answers = [[strip(line) for line in programs.answers(('--trace', path), text)]
               for path in (recording.trace, recording.twin)]
    different = [pair for pair in zip(*answers) if pair[0] != pair[1]]
    n_il = sum('"il_offset":' in line and '"il_offset":null' not in line for line in answers[0])
    tap.check(not different and len(answers[0]) == len(questions),
              f'{name}: {len(questions)} addresses have the same answers', *different[:2])
    tap.check(n_il > len(questions) / 2, f'{name}: {n_il} of them have an IL offset')


def strip(line):
    """Removes the members that differ between the sources."""
    answer = json.loads(line)
    return json.dumps({key: value for key, value in answer.items() if key not in DIFFERENT})


def check_modules(tap, programs, name, recording, horizon):
    """Loaded modules. A module without a path is named only by code after the end of the
    session."""
    at = (ns(process_of(programs, recording.trace)['since']) + horizon) // 2
    modules = [[(module['id'], module['path']) for module in map(json.loads, programs.ask(
        ('--trace', path), 'modules', '--at', f'{at // NS}.{at % NS:09}')) if module['path']]
               for path in (recording.trace, recording.twin)]
    tap.check(modules[0] and sorted(modules[0]) == sorted(modules[1]),
              f'{name}: the {len(modules[0])} modules in the middle of the run are the same', modules)


def check_later(tap, programs, directory):
    """Events of a future runtime: a later version of a method event is read as the last known
    version, and counted."""
    (directory := pathlib.Path(directory) / 'later').mkdir()
    recording = Recording('gen', directory)
    path = recording.directory / 'rundown.nettrace'
    before = programs.ask(['--trace', path], 'methods')
    content = path.read_bytes()
    provider = 'Microsoft-Windows-DotNETRuntime'.encode('utf-16-le')
    row = re.compile(b'(' + re.escape(provider) + rb'(?:R\0u\0n\0d\0o\0w\0n\0)?\0\0' + struct.pack('<I', 144)
                     + rb'(?:[^\0]\0)*\0\0.{8})' + struct.pack('<I', 2), re.S)
    changed, n = row.subn(lambda found: found[1] + struct.pack('<I', 3), content)
    path.write_bytes(changed)
    after = programs.ask(['--trace', path], 'methods')
    tap.check(n and len(before) > 100 and after == before, 'events of a later version are read', n, len(before),
              len(after))
    done = programs.run([programs.clrsym, 'dump', '-v', path])
    tap.check('of a later version than clrsym knows' in done.stderr, 'and counted', done.stderr)
    command = [programs.clrsym, 'ps', '--trace', path]
    quiet, loud = programs.run(command), programs.run([*command, '-v'])
    tap.check('later version' not in quiet.stderr and loud.stdout == quiet.stdout and
              re.search(r'^clrsym: .*: \d+ events are of a later version', loud.stderr), '-v reports them', loud.stderr)


def check_perf_map(tap, name, recording, bodies, n_unknown):
    """Each line of a jitted method is a body with the same start and size."""
    known = {(int(body['start'], 16), body['size']) for body in bodies}
    lines = [line for line in recording.perf_map.splitlines() if line.endswith(']')
             and not line.endswith('[PreJIT]')]
    missing = [line for line in lines
               if tuple(int(word, 16) for word in line.split()[:2]) not in known]
    tap.check(len(lines) > 50 and len(missing) <= n_unknown,
              f'{name}: {len(lines) - len(missing)} of {len(lines)} lines of the perf map are bodies',
              f'{len(missing)} are missing', *missing[:5])


def check_twin(tap, programs, name, recording):
    horizon = check_events(tap, programs, name, recording)
    if name == 'lossy':
        return
    bodies = check_bodies(tap, programs, name, recording, horizon)
    check_addresses(tap, programs, name, recording, bodies, horizon)
    check_modules(tap, programs, name, recording, horizon)
    # The perf map also has methods that were compiled after the end of the session.
    tail = [body for body in programs.bodies(('--trace', recording.twin))
            if body['source'] == 'load' and ns(body['loaded']) > horizon]
    check_perf_map(tap, name, recording, bodies, len(tail))


def check_attached(tap, programs, recording):
    """A session that began 2 s after the start of the program, and its listing."""
    bodies = programs.bodies(('--trace', recording.trace)) + programs.bodies(('--trace', recording.rundown))
    # 39 methods were compiled in the last moment, and 5 dynamic methods were unloaded before.
    check_perf_map(tap, 'attached', recording, bodies, 44)
    process = process_of(programs, recording.trace)
    tap.equal((process['pid'], process['from_start']), (1, False), 'attached: the pid in its own namespace')


def check_arm64(tap, programs, recording):
    """A program on arm64, attached after its start. The program printed addresses in code that
    it made and unloaded."""
    bodies = programs.bodies(('--trace', recording.trace))
    check_perf_map(tap, 'arm64', recording, bodies, 0)
    pid = process_of(programs, recording.trace)['pid']
    lines = lzma.open(DATA / 'arm64/codes.xz', 'rt', encoding='utf-8').read().splitlines()
    codes = [line.split(' ')[1:] for line in lines if line.startswith('CODE ')]
    answers = list(map(json.loads, programs.answers(('--trace', recording.trace), ''.join(
        f'{pid} {address} {int(moment) // NS}.{int(moment) % NS:09}\n' for moment, address, _, _ in codes))))
    wrong = [pair for pair in zip(codes, answers)
             if pair[1]['status'] != 'ok' or pair[1]['method']['name'] != pair[0][3]]
    tap.check(len(answers) == len(codes) > 2000 and not wrong,
              f'arm64: each of {len(codes)} addresses is named as the program named it', len(wrong), *wrong[:2])


def check_listed(tap, programs, recording):
    """.NET 8, with stacks; the listing is at the end of the same file, as dotnet-trace writes
    it."""
    process = process_of(programs, recording.trace)
    bodies = programs.bodies(('--trace', recording.trace))
    sources = collections.Counter(body['source'] for body in bodies)
    tap.check(process['runtime'].startswith('8.') and sources['load'] > 1000 and sources['rundown'] > 500,
              'listed: loads and the rundown', process, sources)
    unloaded = {(body['start'], body['symbol']) for body in bodies if body['unloaded']}
    again = [body for body in bodies if body['source'] == 'rundown' and (body['start'], body['symbol']) in unloaded]
    tap.equal(again, [], 'listed: what the runtime unloaded at its end is not there a second time')
    for verb in ('modules', 'assemblies'):
        rows = [json.loads(line) for line in programs.ask(('--trace', recording.trace), verb, '--all')]
        ids = {row['id'] for row in rows}
        tap.check(len(ids) > 5 and len(rows) == len(ids), f'listed: nor are its {verb}', len(rows), len(ids))
    tap.check(not [row for row in rows if not row['name'] or not row['unloaded']], 'listed: all have an end', rows)


def check_save(tap, programs, recording):
    """The snapshot has the same bodies, gaps and horizon."""
    snapshot = recording.directory / 'snapshot'
    done = programs.run([programs.clrsym, 'save', '--trace', recording.trace, '-o', snapshot])
    tap.equal((done.returncode, done.stderr), (0, ''), 'lossy: save')
    for verb in ('ps', 'status', 'modules'):
        ours, theirs = ([strip(line) for line in programs.ask(('--trace', path), verb)]
                        for path in (recording.trace, snapshot))
        tap.equal(ours, theirs, f'lossy: {verb} of the snapshot')
    tap.same_rows(programs.ask(('--trace', recording.trace), 'methods', '--all'),
                  programs.ask(('--trace', snapshot), 'methods', '--all'), 'lossy: bodies of the snapshot')


def check_cut(tap, programs, recording):
    """Truncated files, as from a killed process or a partial copy."""
    whole = recording.trace.read_bytes()
    bodies = len(programs.bodies(('--trace', recording.trace)))
    for share in (0.2, 0.9, 1):
        cut = recording.directory / f'cut-{share}'
        cut.write_bytes(whole[:int(len(whole) * share) - 1])
        _, gaps = dump(programs, cut)
        rest = len(programs.bodies(('--trace', cut)))
        # Without a gap, if the last event of a piece vouches for all events before it.
        tap.check(0 < rest <= bodies and len(gaps) <= 1 and all(gap[2] is None for gap in gaps) and
                  (share < 1 or gaps), f'gen: cut to {share:.0%}: {rest} of {bodies} bodies', gaps)


def check_bad(tap, programs, recording):
    """The error is one line that names the fault."""
    whole = recording.trace.read_bytes()
    for name, data, word in (
            ('head', whole[:20], 'not one event'),
            ('insertion', whole[:5000] + b'x' + whole[5000:], 'damaged at byte'),
            ('omission', whole[:len(whole) // 2] + whole[len(whole) // 2 + 100:], 'damaged at byte'),
            ('version', whole[:35] + whole[35:].replace(b'\4\0\0\0\4\0\0\0', b'\7\0\0\0\7\0\0\0', 1),
             'nettrace of version 7')):
        path = recording.directory / f'bad-{name}'
        path.write_bytes(data)
        for verb in (('ps', '--trace', path), ('dump', path)):
            done = programs.run([programs.clrsym, *verb])
            tap.check(done.returncode == 1 and done.stderr.startswith(f'clrsym: {path}: ') and
                      word in done.stderr and done.stderr.count('\n') == 1,
                      f'{verb[0]} of a bad {name}: {done.stderr[-60:].strip()}', done.stderr)


def feed_command(programs, path, socket):
    return [programs.clrsym, 'feed', '--socket', str(socket), str(path)]


def lists(programs, source):
    """Returns all lists of the processes, without epochs."""
    return [strip_epoch(line) for verb in (['ps'], ['modules'], ['methods', '--all'])
            for line in programs.ask(source, *verb)]


def strip_epoch(line):
    return json.dumps({**json.loads(line), 'epoch': None})


def check_fed(tap, programs, directory, recordings):
    """The daemon gives the answers of --trace, also after it got the same file a second time."""
    paths = [recordings[name].trace for name in ('gen', 'listed', 'lossy', 'stacks')]
    want = [line for path in paths for line in lists(programs, ('--trace', path))]
    with recorded.Daemon(programs, directory) as daemon:
        for path in (*paths, *paths):
            done = programs.run(feed_command(programs, path, daemon.ingest))
            tap.check(done.returncode == 0 and ' events of .NET code; ' in done.stderr, 'fed', done.stderr)
            counts = [int(word) for word in done.stderr.splitlines()[0].split() if word.isdigit()]
            tap.check(counts[0] > 1000 and (counts[1] in (0, counts[0])), 'fed: whole', done.stderr)
        tap.same_rows(lists(programs, daemon.source), want, 'fed: the lists are those of --trace')
        tap.check(counts[0] == counts[1], 'fed again: the daemon had all', counts)


def check_interrupted(tap, programs, directory, recording):
    """A killed feeder, and then the whole file."""
    want = lists(programs, ('--trace', recording.trace))
    for limit in (500, 100_000, 400_000):
        with recorded.Daemon(programs, directory) as daemon:
            proxy = test_feed.Proxy(daemon, limit)
            status = proxy.feed(programs, feed_command(programs, recording.trace, proxy.path))
            tap.check(proxy.was_cut and status != 0, f'listed: the feeder ends after {limit} bytes', status)
            done = programs.run(feed_command(programs, recording.trace, daemon.ingest))
            tap.equal(done.returncode, 0, 'listed: and again')
            tap.same_rows(lists(programs, daemon.source), want, 'listed: nothing is missing, or twice')


def check_not_fed(tap, programs, directory, recording):
    """The error is one line that says what to do."""
    text = pathlib.Path(directory) / 'text'
    text.write_text('not a recording', encoding='utf-8')
    missing, empty = pathlib.Path(directory) / 'missing', pathlib.Path(directory) / 'empty'
    empty.mkdir()
    with recorded.Daemon(programs, directory) as daemon:
        for path, socket, word in ((text, daemon.ingest, 'or a .nettrace file'),
                                   (missing, daemon.ingest, 'No such file'),
                                   (empty, daemon.ingest, '"metadata"'),
                                   (recording.trace, missing, 'start clrsymd'),
                                   (recording.trace, daemon.query, 'daemon at')):
            done = programs.run(feed_command(programs, path, socket))
            tap.check(done.returncode == 1 and word in done.stderr and done.stderr.count('\n') == 1,
                      f'not fed: {done.stderr[-70:].strip()}', done.stderr)
        tap.equal(programs.ask(daemon.source, 'ps'), [], 'not fed: the daemon has nothing')


def run(tap, programs, directory, _):
    recordings = {name: Recording(name, directory) for name in (*TWINS, 'arm64', 'attached', 'listed')}
    for name in TWINS:
        check_twin(tap, programs, name, recordings[name])
    check_attached(tap, programs, recordings['attached'])
    check_arm64(tap, programs, recordings['arm64'])
    check_listed(tap, programs, recordings['listed'])
    check_save(tap, programs, recordings['lossy'])
    check_later(tap, programs, directory)
    check_cut(tap, programs, recordings['gen'])
    check_bad(tap, programs, recordings['gen'])
    check_fed(tap, programs, directory, recordings)
    check_interrupted(tap, programs, directory, recordings['listed'])
    check_not_fed(tap, programs, directory, recordings['gen'])


if __name__ == '__main__':
    recorded.main(run)
