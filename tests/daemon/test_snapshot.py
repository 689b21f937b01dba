# SPDX-License-Identifier: MIT
"""Snapshots: a snapshot gives all contents of its trace, or none."""

import gzip
import os
import pathlib
import random
import resource
import shutil
import struct
import time

from tests.daemon import ingest, traceserver
from tests.daemon.traceserver import INTERFACE, TraceServer
from tests.traces import recorded

TRACES = ('tiered', 'collectible', 'emit', 'lossy', 'lateattach', 'perpid', 'pidns', 'perf')
SMALL = 'tiered'
# Random changes; each starts a sanitized program. fuzz-snapshot makes more changes.
N_FLIPS, N_CUTS = (250, 60) if recorded.IS_FULL else (80, 20)
NOBODY = 65534
# Minimum ratio of processor times: reading a trace with babeltrace2 to opening its snapshot.
FASTER = 3


def frames_of(snapshot):
    """Returns the unpacked frames of a snapshot."""
    return gzip.decompress(snapshot.read_bytes().partition(b'\n')[2])


def error_of(programs, path, *options, **more):
    with TraceServer(programs, path, *options, **more) as server:
        return server.error()


def timed_answers(programs, path, rows, *options):
    """Returns (replies, seconds until the trace was read)."""
    begin = time.monotonic()
    with TraceServer(programs, path, *options) as server:
        reply = server.read()
        seconds = time.monotonic() - begin
        if not reply or 'error' in reply:
            raise RuntimeError(f'{path}: {reply}')
        return traceserver.answers(server, rows), seconds


def check_same(tap, programs, directory, name, trace):
    """Saves and opens a snapshot: the answers are the trace's, byte for byte. Returns (snapshot,
    replies)."""
    rows = recorded.Truth(name).rows('probes.tsv')
    snapshot = pathlib.Path(directory) / f'{name}.snapshot'
    want, reading = timed_answers(programs, trace, rows)
    saved, saving = timed_answers(programs, trace, rows, '--save', snapshot)
    tap.check(saved == want, f'{name}: answers while a snapshot is saved')
    got, opening = timed_answers(programs, snapshot, rows)
    tap.check(got == want, f'{name}: {len(rows)} probes, all bodies and processes are the same '
              'from the snapshot')
    again = snapshot.with_suffix('.again')
    got, _ = timed_answers(programs, snapshot, rows, '--save', again)
    tap.check(got == want and frames_of(again) == frames_of(snapshot),
              f'{name}: a snapshot of the snapshot')
    size, total = snapshot.stat().st_size, traceserver.stream_bytes(trace)
    tap.note(f'{name}: {total} bytes, snapshot {size} ({total / size:.1f} times less); read in '
             f'{reading * 1000:.0f} ms, with saving {saving * 1000:.0f} ms, opened in '
             f'{opening * 1000:.0f} ms ({reading / opening:.1f} times faster)')
    return snapshot, want


def processor_seconds(function):
    """Returns the processor time of FUNCTION, with its child processes."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    function()
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(end, name) - getattr(begin, name) for name in ('ru_utime', 'ru_stime'))


def open_once(programs, path):
    with TraceServer(programs, path) as server:
        server.read()


def check_fast(tap, programs, trace, snapshot):
    """Opening a snapshot is faster than reading the trace with babeltrace2. Processor time does
    not depend on other programs."""
    reading = processor_seconds(lambda: programs.babeltrace(trace, '-o', 'dummy'))
    openings = [processor_seconds(lambda: open_once(programs, snapshot)) for _ in range(3)]
    opening = min(openings)
    tap.check(reading > FASTER * opening, f'{recorded.LARGEST}: opening takes {opening * 1000:.0f} ms, reading '
              f'{reading * 1000:.0f} ms', reading, openings)


def check_refused(tap, programs, path, name, *words, options=()):
    message = error_of(programs, path, *options)
    missing = [word for word in (str(path), *words) if word not in (message or '')]
    tap.check(message and not missing and '\n' not in message, name, missing, message)


def check_headers(tap, programs, directory, snapshot):
    data = snapshot.read_bytes()
    line, _, frames = data.partition(b'\n')
    words = line.split(b' ')
    copy = pathlib.Path(directory) / 'copy'
    tap.check(words[0] == b'clrsym-snapshot' and len(words) == 4, 'the first line', line)

    for number in (0, 2, 10, 4294967295):
        copy.write_bytes(b' '.join((words[0], str(number).encode(), b'9.9 and=more')) + b'\n' + frames)
        check_refused(tap, programs, copy, f'a snapshot of format {number}',
                      *([f'a snapshot of format {number}, this clrsym reads 1: make it again with '
                         'clrsym snapshot'] if number else []))
    for name, content in (
            ('nothing', b''), ('a line without its end', line), ('a line and nothing more', line + b'\n'),
            ('another line', b'clrsym-shapshot' + data[15:]), ('no line', frames),
            ('words missing', words[0] + b' 1\n' + frames),
            ('an odd word', line[:-2] + b'maybe\n' + frames),
            ('a line that never ends', b'clrsym-snapshot 1 ' + b'x' * 100000)):
        copy.write_bytes(content)
        check_refused(tap, programs, copy, f'a file with {name}')
    copy.write_bytes(line.replace(words[2], b'9.9.9') + b'\n' + frames)
    tap.equal(error_of(programs, copy), None, 'a snapshot of another version with this format')
    for name, more in (('a byte', b'\0'), ('another snapshot', data), ('its frames again', frames)):
        copy.write_bytes(data + more)
        check_refused(tap, programs, copy, f'a snapshot followed by {name}', 'damaged')

    raw = gzip.decompress(frames)
    n, kind = struct.unpack_from('<IH', raw)
    tap.equal(kind, ingest.HELLO, 'what is in it begins with HELLO')
    for name, content, words in (
            ('no frames at all', b'', ('clrsym session start',)),
            ('a greeting only', raw[:8 + n], ('clrsym session start',)),
            ('no greeting', raw[8 + n:], ('damaged',)),
            ('another greeting', ingest.hello(version=9) + raw[8 + n:], ('damaged',)),
            ('frames of nonsense', raw[:8 + n] + b'\xff' * 1000, ('damaged',)),
            ('a batch of nonsense', raw[:8 + n] + ingest.frame(ingest.RECORD, b'?') +
             ingest.frame(ingest.COMMIT), ('damaged',))):
        copy.write_bytes(line + b'\n' + gzip.compress(content))
        check_refused(tap, programs, copy, f'a snapshot with {name}', *words)

    check_refused(tap, programs, snapshot, 'a snapshot without the events that are asked for',
                  'JIT', options=('--jit-events',))
    copy.write_bytes(line.replace(b'jit=no', b'jit=yes') + b'\n' + frames)
    tap.equal(error_of(programs, copy, '--jit-events'), None, 'and one with them')
    other = pathlib.Path(directory) / 'with-jit'
    error_of(programs, copy, '--save', other)
    tap.check(other.read_bytes().partition(b'\n')[0].endswith(b' jit=yes'),
              'a snapshot of that has them too')


def check_damage(tap, programs, directory, snapshot, rows, want):
    """Truncated anywhere or with a flipped bit: all answers, or none."""
    data = snapshot.read_bytes()
    n_line = data.index(b'\n') + 1
    copy = pathlib.Path(directory) / 'damaged'
    random_of_ours = random.Random(7)
    cuts = {*range(n_line + 20), *range(len(data) - 20, len(data)),
            *(random_of_ours.randrange(len(data)) for _ in range(N_CUTS))}
    wrong = []
    for n in sorted(cuts):
        copy.write_bytes(data[:n])
        message = error_of(programs, copy)
        if not message or str(copy) not in message or \
                (n >= n_line and 'truncated' not in message):
            wrong.append((n, message))
    tap.check(not wrong, f'cut to {len(cuts)} lengths: never answered, always reported', *wrong[:5])

    flips = [*range(8 * n_line), *(8 * (n_line + i) + bit for i in range(10) for bit in range(8)),
             *(random_of_ours.randrange(8 * len(data)) for _ in range(N_FLIPS)),
             *(8 * (len(data) - 8) + bit for bit in range(64))]
    refused, wrong = 0, []
    for bit in flips:
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        copy.write_bytes(damaged)
        with TraceServer(programs, copy) as server:
            reply = server.read()
            if reply and reply.get('error') == f'{INTERFACE}.TraceUnreadable' and \
                    str(copy) in reply['parameters']['message']:
                refused += 1
            elif not reply or 'error' in reply or traceserver.answers(server, rows) != want:
                wrong.append((bit, reply))
    tap.check(not wrong and refused > 0.8 * (len(flips) - 8 * n_line),
              f'{len(flips)} bits turned over: {refused} refused, the others answered as ever',
              *wrong[:5])


def check_save_errors(tap, programs, directory, trace, snapshot):
    place = pathlib.Path(directory) / 'place'
    place.mkdir()
    (place / 'directory').mkdir()
    os.mkfifo(place / 'pipe')
    for target, words in (
            (place / 'missing' / 'file', ('o such file',)), (place / 'directory', ('directory',)),
            (place / 'pipe', ('not a regular file',)), ('/dev/null', ('not a regular file',)),
            (next(trace.rglob('metadata')).parent / 'snapshot', ('metadata',)),
            (place / ('x' * 300), ('too long',))):
        for source in (trace, snapshot):
            message = error_of(programs, source, '--save', target)
            missing = [word for word in (str(target), *words) if word not in (message or '')]
            tap.check(message and not missing, f'--save {str(target)[-30:]} of {source.name}',
                      missing, message)
    tap.equal(sorted(path.name for path in place.iterdir()), ['directory', 'pipe'],
              'nothing is left of that')
    tap.check(not list(trace.rglob('.clrsym*')) and not list(trace.rglob('snapshot')),
              'nor beside the trace')

    old = place / 'old'
    old.write_bytes(b'precious')
    foreign = traceserver.forge(os.path.join(directory, 'foreign'), 1, 3)
    for source, name in ((foreign, 'a trace of something else'), (place / 'none', 'no trace')):
        error_of(programs, source, '--save', old)
        tap.equal((old.read_bytes(), sorted(place.iterdir())),
                  (b'precious', sorted((old, place / 'directory', place / 'pipe'))),
                  f'{name}: what was there is left alone')
    tap.equal((error_of(programs, trace, '--save', old), error_of(programs, old)), (None, None),
              'an older file is replaced by a whole one')
    frames = frames_of(old)
    tap.equal((error_of(programs, old, '--save', old), frames_of(old) == frames), (None, True),
              'a snapshot over itself')
    old.unlink()
    os.umask(0o027)
    tap.equal((error_of(programs, trace, '--save', old), oct(old.stat().st_mode & 0o777)),
              (None, '0o640'), 'its mode is the usual one')
    os.umask(0o022)
    old.unlink()
    with TraceServer(programs, trace, '--save', 'old', cwd=place) as server:
        tap.check('error' not in server.read() and old.exists(), 'a name without a directory')
    old.unlink()

    for limit in (10, 40000):
        message = error_of(programs, trace, '--save', old, wrap=('prlimit', f'--fsize={limit}'))
        tap.check(message and str(old) in message and 'too large' in message and not old.exists() and
                  len(list(place.iterdir())) == 2, f'files of {limit} bytes at most', message)


def check_full_disk(tap, programs, directory, trace):
    """Needs a file system of its own, in a mount namespace."""
    place = pathlib.Path(directory) / 'disk'
    listing = pathlib.Path(directory) / 'listing'
    place.mkdir()
    script = (f'mount -t tmpfs -o size=$1 tmpfs {place} && shift && cp /dev/null {place}/other && '
              f'{{ "$@"; status=$?; ls -A {place} >{listing}; exit $status; }}')
    unshare = ['unshare', '--mount', *([] if os.getuid() == 0 else ['--map-root-user'])]
    if programs.run([*unshare, 'mount', '-t', 'tmpfs', 'tmpfs', place]).returncode != 0:
        tap.skip('a full disk', 'no private mounts here')
        return
    for size, name in (('4k', 'a full disk'), ('32k', 'one that becomes full')):
        with TraceServer(programs, trace, '--save', place / 'snapshot',
                         wrap=[*unshare, 'sh', '-c', script, 'sh', size]) as server:
            message = server.error()
            status = server.end()
        tap.check(message and str(place / 'snapshot') in message and 'No space left' in message and
                  status == 1, name, message, status, server.said)
        tap.equal(listing.read_text(encoding='utf-8'), 'other\n', f'{name}: nothing is left on it')

    os.chmod(place, 0o755)
    nobody = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    if os.getuid() != 0 or not shutil.which('setpriv') or \
            programs.run([*nobody, programs.clrsymd, '--version']).returncode != 0:
        tap.skip('a directory that may not be written', 'needs root, setpriv and a build for all')
        return
    copy = pathlib.Path(directory) / 'for-all'
    shutil.copytree(trace, copy)
    for path in (copy, *copy.rglob('*')):
        path.chmod(0o755)
    message = error_of(programs, copy, '--save', place / 'snapshot', wrap=nobody, cwd='/')
    tap.check(message and str(place / 'snapshot') in message and 'ermission denied' in message,
              'a directory that may not be written', message)


def run(tap, programs, directory, names):
    traces = recorded.unpack(directory, [name for name in TRACES if name in names])
    snapshots = {}
    for name, trace in traces.items():
        snapshots[name], _ = check_same(tap, programs, directory, name, trace)
    if recorded.LARGEST in names:
        check_fast(tap, programs, traces[recorded.LARGEST], snapshots[recorded.LARGEST])
    if SMALL not in names:
        return
    small, rows = snapshots[SMALL], recorded.Truth(SMALL).rows('probes.tsv')[:100]
    check_headers(tap, programs, directory, small)
    replies, _ = timed_answers(programs, small, rows)
    check_damage(tap, programs, directory, small, rows, replies)
    check_save_errors(tap, programs, directory, traces[SMALL], small)
    check_full_disk(tap, programs, directory, traces[SMALL])


if __name__ == '__main__':
    recorded.main(run)
