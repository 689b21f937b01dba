# SPDX-License-Identifier: MIT
"""`clrsym record --every`: each interval becomes a file or an upload, whatever the store answers."""

import collections
import os
import re
import signal
import subprocess
import time

from tests.live import live, runtimes, store, test_record
from tests.profile import messages, readers
from tests.traces import recorded, repeated

END = re.compile(r'(\d+) profiles for the store: (\d+) sent, (\d+) refused, (\d+) without an answer, '
                 r'(\d+) not sent; 0 intervals lost')
# Groups of END. A recording fails if the store refused all profiles; an unanswered one may have been stored.
REFUSED, UNCLEAR = 3, 4


def busy(seconds):
    """A program that computes."""
    return ['sh', '-c', 'end=$(($(date +%s) + $0)); while [ $(date +%s) -lt $end ]; do '
            'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done', str(seconds)]


class KeptParts(repeated.Repeated):
    """Hard links to the last versions of a recording's parts, which it removes."""

    PAUSE = 0.005

    def __init__(self, place):
        super().__init__()
        self.temporary, self.directory = place.temporary, place.directory / 'kept'
        self.directory.mkdir()

    def step(self):
        for path in self.temporary.glob('*/part.*'):
            # Samples of other processes are removed in a new file, which replaces the part.
            if '-' in path.name:
                continue
            kept = self.directory / path.name
            try:
                if kept.exists() and kept.stat().st_ino == path.stat().st_ino:
                    continue
                link = self.directory / f'{path.name}.new'
                os.link(path, link)
                link.rename(kept)
            except FileNotFoundError:
                # The part was removed or replaced.
                continue


def count_by_perf(kept):
    """Samples in all parts, counted by perf."""
    return sum(1 for path in kept.directory.iterdir()
               for event in subprocess.run(['perf', 'script', '-i', path, '-F', 'event'], check=True,
                                           capture_output=True, text=True).stdout.split()
               if not event.startswith('clrsym-stacks'))


def check_labels(tap, profiles):
    tap.check(all(not labels for profile in profiles for _, _, labels in profile.samples),
              'no sample has a label, which would be a series')
    tap.check(all(profile.types[0] == ('samples', 'count') and profile.period_type
                  for profile in profiles), 'and each has its types')


def test_store(tap, place, command):
    """A .NET program: each sample that perf has arrives once."""
    there = store.Store()
    with there.running() as url, KeptParts(place) as kept:
        with place.recording('-d', 8, '--every', '2s', '--push', url + '/', '--', 'sh', '-c',
                             f'exec {" ".join(map(str, command))} busy >/dev/null',
                             CLRSYM_PUSH_TOKEN='secret') as process:
            errors = process.stderr.read()
            code = process.wait()
    ends = END.search(errors)
    profiles = [readers.Pprof(one.file()) for one in there.received]
    tap.check(code == 128 + signal.SIGTERM and ends and
              ends.groups() == (ends[1], ends[1], '0', '0', '0') and
              int(ends[1]) == len(profiles) > 0, 'all profiles are sent', code, errors)
    tap.equal(sum(values[0] for profile in profiles for _, values, _ in profile.samples),
              count_by_perf(kept), 'with as many samples as perf counts')
    # A short-lived process may have no name yet; on a busy machine, the host has loaded no program in the first interval.
    tap.equal({(one.labels['name'], one.labels['process'], one.labels['host'])
               for one in there.received if one.labels['process'] not in ('unknown', 'dotnet')},
              {('clrsym-live', 'clrsym-live', os.uname().nodename)}, 'in the series of the program')
    names = {name for profile in profiles for stack, _, _ in profile.samples for name, _ in stack}
    tap.check('Live.Program.Main(string[])' in names, 'with its methods', sorted(names)[:20])
    check_labels(tap, profiles)
    tap.equal((there.tokens, {one.form for one in there.received}),
              ({'Bearer secret'}, {'profile'}), 'as Pyroscope takes it, with the token')
    spans = [one.span for one in there.received]
    tap.check(all(begin < end < time.time() + 2 for begin, end in spans) and spans == sorted(spans),
              'in their order', spans)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_parca(tap, place, _):
    """Runs until Ctrl-C."""
    there = store.Store()
    with there.running() as url:
        with place.recording('--every', 1, '--push', f'{url}/api/profiles/writeraw', '--',
                             *busy(100)) as process:
            live.wait_for('a profile', lambda: there.received, process)
            os.killpg(process.pid, signal.SIGINT)
            errors = process.stderr.read()
            tap.check(process.wait() == 128 + signal.SIGINT and END.search(errors),
                      'Ctrl-C: what was recorded is sent', process.returncode, errors)
    tap.check(there.received and
              all(one.form == 'parca' and one.labels['__name__'] == 'process_cpu'
                  and readers.Pprof(one.file()).samples for one in there.received),
              'as Parca takes it', len(there.received))


def test_otlp(tap, place, _):
    """A collector of OpenTelemetry that rejects the second profile with a success status."""
    rejected = messages.CLASSES['otlp.ExportProfilesServiceResponse'](
        partial_success={'rejected_profiles': 1, 'error_message': 'too old'})
    there = store.Store(lambda n: (200, {}, rejected.SerializeToString()) if n == 1 else 200)
    with there.running() as url:
        code, _, errors = place.record('-d', 5, '--every', 1, '--push', f'{url}/v1development/profiles', '--', *busy(100))
    ends = END.search(errors)
    profiles = [one.otlp for one in there.received if one.form == 'otlp']
    tap.check(code == 128 + signal.SIGTERM and ends and len(profiles) >= 3 and 'has rejected the profile: too old' in errors,
              'a collector of OpenTelemetry, and what it rejects', code, errors)
    tap.check(len(profiles) == len(there.received) and
              all(profile.type[1] in ('nanoseconds', 'count') and profile.samples and profile.time > 10**18
                  for profile in profiles), 'its profiles')
    tap.equal({profile.resource['host.name'] for profile in profiles}, {os.uname().nodename}, 'their host')
    tap.check(any('service.name' in profile.resource for profile in profiles), 'and program',
              [profile.resource for profile in profiles])


def test_away(tap, place, _):
    """Nothing listens at first; then the store fails once."""
    there = store.Store(lambda n: 503 if n == 0 else 200)
    port, = live.free_ports(1)
    with place.recording('--every', 1, '--push', f'http://127.0.0.1:{port}', '--',
                         *busy(8)) as process:
        first = next(line for line in process.stderr if 'onnect' in line)
        with there.running(port):
            errors = first + process.stderr.read()
    ends = END.search(errors)
    bodies = collections.Counter(one.profile for one, status in
                                 zip(there.received, there.statuses) if status == 200)
    tap.check(ends and int(ends[1]) == int(ends[2]) == len(bodies) > 1,
              'what waited is sent when the store is there', errors)
    tap.check(set(bodies.values()) == {1} and there.received[0].profile in bodies,
              'each once, but what failed again', there.statuses)
    tap.check(errors.count('status 503') == 1,
              'the user reads of it once', errors)


def test_trouble(tap, place, _):
    """Refused and possibly stored profiles are not retried."""
    elsewhere = {'Location': 'https://elsewhere/ingest?x'}
    for answer, group, words in (((400, {}, 'no such tenant'), REFUSED, ': no such tenant'),
                                 (504, UNCLEAR, 'status 504'), (401, REFUSED, 'CLRSYM_PUSH_TOKEN'),
                                 ((302, elsewhere, ''), REFUSED, 'if https://elsewhere/ingest is the')):
        there = store.Store(lambda n, answer=answer: answer)
        with there.running() as url:
            code, _, errors = place.record('--every', 1, '--push', url, '--', *busy(2))
        ends = END.search(errors)
        bodies = [one.profile for one in there.received]
        tap.check(code == (group == REFUSED) and ends and int(ends[group]) >= 1 and int(ends[2]) == 0 and
                  len(bodies) == len(set(bodies)) > 0, f'a store that answers {answer}', errors)
        tap.check(errors.count(words) == 1, 'the user reads of it once', errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_hang(tap, place, _):
    """Ctrl-C ends the request, too."""
    there = store.Store(lambda n: 'hang')
    with there.running() as url:
        with place.recording('--every', 1, '--push', url, '--', *busy(100)) as process:
            live.wait_for('a request', lambda: there.received, process)
            begin = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            errors = process.stderr.read()
            seconds = time.monotonic() - begin
    ends = END.search(errors)
    tap.check(seconds < 15 and ends and ends.group(2, 4) == ('0', '1') and
              "no answer until the recording's end" in errors,
              'a store that never answers: Ctrl-C ends it soon', seconds, errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_endless(tap, place, _):
    """An endless answer counts as an answer."""
    there = store.Store(lambda n: 'endless')
    with there.running() as url:
        code, _, errors = place.record('--every', 1, '--push', url, '--', *busy(4))
    ends = END.search(errors)
    tap.check(code == 0 and ends and int(ends[1]) == int(ends[2]) == len(there.received) > 1,
              'an answer without an end: the status counts', errors)


def test_patience(tap, place, _):
    """The store's Retry-After is obeyed."""
    there = store.Store(lambda n: 200 if n else (429, {'Retry-After': '4'}, ''))
    with there.running() as url:
        code, _, errors = place.record('--every', 1, '--push', url, '--', *busy(8))
    ends = END.search(errors)
    tap.check(code == 0 and ends and int(ends[1]) == int(ends[2]) > 0 and
              there.times[1] - there.times[0] > 3.5, 'Retry-After', there.times, errors)


def test_files(tap, place, _):
    with KeptParts(place) as kept:
        code, _, errors = place.record('--every', 1, '-o', 'profiles', '--', *busy(5))
    files = sorted((place.directory / 'profiles').iterdir())
    profiles = [readers.Pprof(path) for path in files]
    tap.check(code == 0 and len(files) > 1 and f'{len(files)} profiles written' in errors,
              'a file for each interval', code, errors)
    tap.equal(sum(values[0] for profile in profiles for _, values, _ in profile.samples),
              count_by_perf(kept), 'with as many samples as perf counts')
    tap.equal(place.left(), ([], []), 'nothing else is left')


def test_directory(tap, place, _):
    """The output directory is removed meanwhile, and then replaced by a file, which stays."""
    code, _, errors = place.record('--every', 1, '-o', 'profiles', '--', 'sh', '-c',
                                   'rmdir profiles; exec "$@"', 'sh', *busy(4))
    files = list((place.directory / 'profiles').iterdir())
    tap.check(code == 0 and files and f'{len(files)} profiles written;' in errors,
              'a directory that is removed is made again', code, errors)
    code, _, errors = place.record('--every', 1, '-o', 'other', '--', 'sh', '-c',
                                   'rmdir other; touch other; exec "$@"', 'sh', *busy(2))
    tap.check(code == 1 and 'cannot make the directory other: ' in errors and
              re.search(r'0 profiles written, [1-9]\d* could not be;', errors),
              'nothing could be written', code, errors)
    code, _, errors = place.record('-p', 2**31 - 1, '--every', 1, '-o', 'profiles')
    tap.check(code == 1 and errors.count('\n') == 1, 'nothing is counted if nothing began', errors)


def test_dying(tap, place, _):
    """perf dies in each interval, as with a full disk."""
    programs = place.directory / 'bin'
    programs.mkdir()
    perf = subprocess.run(['which', 'perf'], check=True, capture_output=True, text=True).stdout.strip()
    (programs / 'perf').write_text('#!/bin/sh\n[ "$1" = record ] && '
                                   f'exec timeout --foreground -s KILL 4 {perf} "$@"\nexec {perf} "$@"\n',
                                   encoding='utf-8')
    (programs / 'perf').chmod(0o755)
    with live.machine(is_shared=False):
        code, _, errors = place.record('-a', '-F', 49, '-d', 11.8, '--every', 6, '-o', 'profiles',
                                       PATH=f'{programs}:{os.environ["PATH"]}')
    tap.check(code == 1 and 'perf has ended by itself; it is started again' in errors and
              'no interval could be recorded' in errors, 'perf dies in each interval', code, errors)
    tap.equal(place.left(), ([], []), 'nothing is left')


def test_usage(tap, place, _):
    for arguments in (['--push', 'http://h'], ['--every', 1], ['--every', 0, '-o', 'x'],
                      ['--every', 1, '--push', 'localhost:4040'],
                      ['--every', 1, '--push', 'http://h', '-o', 'x'],
                      *(['--every', 1, '-o', name] for name in ('a.folded', 'a.pb.gz', 'a.clrsym', '-', ''))):
        code, _, errors = place.record(*arguments, '--', 'true')
        tap.check(code == 2 and errors, f'wrong usage: {arguments}', code, errors)
    for name, value, words in (('--every', '1e9', 'from 1 to 86400'), ('--duration', '0', 'above 0'),
                               ('--freq', '1e9', 'from 1 to 1000000'), ('--freq', '', '--freq "": '),
                               ('--symbols', '', 'not a directory')):
        code, _, errors = place.record(name, value, '--', 'true')
        tap.check(code == 2 and words in errors, f'wrong usage: {name} {value}', code, errors)
    code, _, errors = place.record('--duration', 7 * 86400, '--', 'true')
    tap.check(code in (0, 1) and '--duration' not in errors, 'a recording of a week', code, errors)


def test(tap, programs, directory, _):
    for _, command, place in runtimes.runs(tap, __file__, directory):
        for part in (test_store, test_parca, test_otlp, test_away, test_trouble, test_hang, test_endless,
                     test_patience, test_files, test_directory, test_dying,
                     test_usage):
            part(tap, test_record.Place(programs, place, part.__name__), command)


if __name__ == '__main__':
    if test_record.missing():
        print(f'1..0 # SKIP {test_record.missing()}')
    else:
        recorded.main(test)
