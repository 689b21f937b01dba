# SPDX-License-Identifier: MIT
"""`clrsym perf` of a .nettrace file: the samples of the runtime's sampler, in every form, without perf.
tests/oracle compares their stacks and names with TraceEvent's."""

import json
import lzma
import pathlib
import re

from tests.perf import perftool
from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parents[1] / 'nettrace' / 'data'
# The counts of tests/oracle.
N_SAMPLES, N_FRAMES = 1351, 2859
# Counted by the program of the recording `events` itself: see tests/nettrace/README.md.
ALLOCATED = {'P.Large();new System.Byte[]': 300_024_024, 'P.Small();new System.Int32[]': 128_000_000,
             'P.Text();string.Ctor(char, int);new System.String': 102_400_000}
ALL_ALLOCATED, WAITED, CONTENTIONS, EXCEPTIONS = 531_075_712, 1_000_926_900, 7, 50
# Allocations are sampled at random: a method's bytes deviate by 2 or 3 %.
DEVIATION = 0.06
WHAT = 'by the runtime: managed frames only, of every thread, at safe points'


# The noun in messages for a file's extension.
NOUNS = {'.folded': 'folded stacks are', '.html': 'flame graph is', '.svg': 'flame graph is', '.txt': 'text is',
         '.speedscope.json': 'profile is', '.pb.gz': 'profile is', '.otlp.gz': 'OTLP profile is',
         '.firefox.json.gz': 'profile for Firefox Profiler is', '.clrsym': 'named samples are'}


class Files:
    """Unpacked recordings, and outputs."""

    def __init__(self, programs, directory):
        self.programs, self.directory = programs, directory
        self.sampled = self.unpack('sampled/trace')
        self.rundown = self.unpack('sampled/rundown')
        self.events = self.unpack('events/trace')
        self.other = self.unpack('gen/trace')
        # A PATH without perf.
        self.empty = directory / 'empty'
        self.empty.mkdir()

    def unpack(self, name):
        path = self.directory / f'{name.replace("/", "-")}.nettrace'
        path.write_bytes(lzma.open(DATA / f'{name}.nettrace.xz').read())
        return path

    def perf(self, *arguments, **options):
        environment = {**perftool.environment(self.programs), 'PATH': str(self.empty),
                       'CLRSYM_DLFILTER': '/nowhere.so', **options}
        return perftool.clrsym_perf(self.programs, *arguments, env=environment)


def check_named(tap, files):
    done = files.perf('-i', files.sampled)
    tap.check(done.returncode == 0 and f'clrsym: {N_SAMPLES} samples, {N_FRAMES} managed frames: 23.08% named '
              f'(660 of 660 jitted, 0 of 0 precompiled; 0 marked ~), 2199 unknown' in done.stderr and
              'has no list of the code that was there before (rundown): give --trace' in done.stderr,
              'without a rundown: what was loaded since, and what to do', done.stderr)
    done = files.perf('-i', files.sampled, '--trace', files.rundown)
    tap.check(done.returncode == 0 and f'{N_FRAMES} managed frames: 100.00% named (2546 of 2546 jitted, 313 of 313 '
              'precompiled; 0 marked ~)' in done.stderr and 'give --trace' not in done.stderr,
              'with a rundown of the same process: all', done.stderr)
    tap.check(re.search(r'^process 18521 18521  5369\.532295005: +1 dotnet-sample: \n'
                        r'\t +7f7892a93fba W\.HotLoop\(int\)\+0x1a \(\S*\.dll\)\n'
                        r'\t +7f7892a91c68 W\.Main\(string\[\]\)\+0x\w+ \(\S*\.dll\)\n$', done.stdout, re.M),
              'text as perf script prints it', done.stdout[:500])
    tap.equal(done.stdout.count('[native code, or waiting]'),
              sum('[native code, or waiting]' in text.split('\n')[1]
                  for text in done.stdout.strip().split('\n\n')),
              'a thread outside of managed code has that as its leaf')


def check_forms(tap, files):
    names = {ending: files.directory / f'sampled{ending}'
             for ending in ('.folded', '.html', '.svg', '.speedscope.json', '.pb.gz', '.clrsym')}
    outputs = [word for path in names.values() for word in ('-o', path)]
    done = files.perf('-i', files.sampled, '--trace', files.rundown, *outputs)
    tap.check(done.returncode == 0 and all(path.stat().st_size for path in names.values()),
              'all forms at once', done.stderr)
    folded = dict(line.rsplit(' ', 1) for line in names['.folded'].read_text(encoding='utf-8').splitlines())
    tap.equal(sum(map(int, folded.values())), N_SAMPLES, 'folded stacks have each sample')
    tap.equal(folded['process_18521;W.Main(string[]);W.HotLoop(int)'], '546', 'the hot loop is hot')
    for ending in '.svg', '.html':
        tap.check(WHAT in names[ending].read_text(encoding='utf-8'), f'{ending} shows what they are')
    again = files.directory / 'again.html'
    done = files.perf('-i', names['.clrsym'], '-o', again)
    tap.check(done.returncode == 0 and WHAT in again.read_text(encoding='utf-8'),
              'kept named samples do, too', done.stderr)
    for options in ([], ['--annotate']):
        kept, direct = files.directory / 'kept.folded', files.directory / 'direct.folded'
        files.perf('-i', files.sampled, '--trace', files.rundown, '-o', direct, *options)
        done = files.perf('-i', names['.clrsym'], '-o', kept, *options)
        tap.check(done.returncode == 0 and sorted(kept.read_text(encoding='utf-8').splitlines()) ==
                  sorted(direct.read_text(encoding='utf-8').splitlines()),
                  f'folded stacks of kept samples are the same {options}', done.stderr)
    done = files.perf('-i', names['.clrsym'])
    tap.check(done.returncode == 1 and '.folded' in done.stderr and done.stderr.count('\n') == 1,
              'but text needs addresses', done.stderr)
    change = files.directory / 'diff.html'
    done = files.perf('--diff', files.sampled, files.sampled, '--trace', files.rundown, '-o', change)
    tap.check(done.returncode == 0 and change.stat().st_size, 'they can be compared', done.stderr)
    tap.equal(said_files(done), [f'clrsym: the flame graph is in {change}'], 'the comparison is named')
    done = files.perf('--diff', files.sampled, files.sampled, '-o', change, '--summary')
    tap.check(done.returncode == 2 and 'has no --summary' in done.stderr, 'a comparison has no summary', done.returncode,
              done.stderr)


def said_files(done):
    """The messages with names of files."""
    return [line for line in done.stderr.splitlines() if re.search(r'^clrsym: the [^.]*? (is|are) in ', line)]


def check_said(tap, files):
    """A message names each written file, and no other; standard output has only an output."""
    names = [files.directory / f'said{ending}' for ending in NOUNS]
    words = [word for path in names for word in ('-o', path)]
    # Text is written first.
    order = sorted(NOUNS.items(), key=lambda row: row[0] != '.txt')
    said = [f'clrsym: the {noun} in {files.directory}/said{ending}' for ending, noun in order]
    summary = files.perf('-i', files.sampled, '--summary')
    done = files.perf('-i', files.sampled, *words)
    tap.equal((done.returncode, done.stdout, said_files(done)), (0, '', said), 'each written file is named')
    done = files.perf('-i', files.sampled, '--summary', *words)
    tap.equal((done.stdout, said_files(done)), (summary.stdout, said), 'and the summary is there all the same')
    kept = files.directory / 'said.clrsym'
    others = [word for path in names if path.suffix not in ('.txt', '.clrsym') for word in ('-o', path)]
    done = files.perf('-i', kept, '--summary', *others)
    tap.equal((done.stdout, said_files(done)), (summary.stdout, [line for line in said if '.txt' not in line and
                                                                 '.clrsym' not in line]), 'of saved samples, too')
    folded = files.perf('-i', files.sampled, '--format', 'folded')
    both = files.directory / 'both.folded'
    done = files.perf('-i', files.sampled, '--summary', '-o', '-', '-o', both, '--format', 'folded')
    tap.check(done.stdout == folded.stdout and summary.stdout in done.stderr and
              said_files(done) == [f'clrsym: the folded stacks are in {both}'] and not said_files(folded),
              'the standard output is not named, and the summary is not in it', done.stderr)
    done = files.perf('-i', files.sampled, '-o', files.directory / 'no' / 'x.svg', '-o', both)
    tap.check(done.returncode == 1 and said_files(done) == [f'clrsym: the folded stacks are in {both}'],
              'a file that cannot be written is not named', done.stderr)


def folded_counts(text):
    return {stack: int(count) for stack, count in (line.rsplit(' ', 1) for line in text.splitlines())}


def check_events(tap, files):
    """Allocations, waits for locks, and exceptions, which have their own stacks."""
    def folded(event, *arguments):
        return folded_counts(files.perf('-i', files.events, '--event', event, '--format', 'folded', *arguments).stdout)

    counts = folded('alloc')
    for method, n_bytes in ALLOCATED.items():
        ours = sum(count for stack, count in counts.items() if stack.endswith(f';P.Main();{method}'))
        tap.check(abs(ours / n_bytes - 1) < DEVIATION, f'{method}: {ours} of {n_bytes} bytes')
    tap.check(abs(sum(counts.values()) / ALL_ALLOCATED - 1) < 0.02,
              f'all: {sum(counts.values())} of {ALL_ALLOCATED} bytes, each counted once', *list(counts)[:3])
    counts = folded('contention')
    tap.check(abs(sum(counts.values()) / WAITED - 1) < 0.01 and
              all(';P.Hold();System.Threading.Monitor.Enter(' in stack for stack in counts),
              f'{sum(counts.values())} of {WAITED} ns were waited for the lock, where it is taken', *counts)
    counts = folded('exception')
    tap.equal({stack.rsplit(';', 1)[1]: count for stack, count in counts.items() if ';P.Throw(int);' in stack},
              {'throw System.InvalidOperationException': EXCEPTIONS // 2, 'throw System.ArgumentException': EXCEPTIONS // 2},
              'exceptions by type, where they are thrown')
    done = files.perf('-i', files.events)
    tap.check(done.returncode == 1 and re.search(rf'sampler, but alloc \(\d+ samples\), contention \({CONTENTIONS} samples\), '
                                                 rf'exception \({EXCEPTIONS} samples\): choose with --event\n$', done.stderr),
              'without --event: what there is to choose', done.stderr)


def check_event_forms(tap, files):
    kept, html, svg, scope = (files.directory / f'alloc{ending}' for ending in
                              ('.clrsym', '.html', '.svg', '.speedscope.json'))
    outputs = [word for path in (kept, html, svg, scope) for word in ('-o', path)]
    done = files.perf('-i', files.events, '--event', 'alloc', '--summary', *outputs)
    tap.check(done.returncode == 0 and re.search(r'^53\d,\d{3},\d{3} bytes of alloc in \d+ thread', done.stdout, re.M) and
              'BY ITS OWN BYTES' in done.stdout and re.search(r'^ *56\.\d % +56\.\d % +new System\.Byte\[\]', done.stdout, re.M),
              'the summary counts bytes', done.stdout + done.stderr)
    tap.check(' bytes of alloc' in html.read_text(encoding='utf-8') and
              re.search(r'\d bytes \(', svg.read_text(encoding='utf-8')) and
              all(profile['unit'] == 'bytes' for profile in json.loads(scope.read_text(encoding='utf-8'))['profiles']),
              'pictures, too')
    again = files.perf('-i', kept, '--summary')
    tap.equal(again.stdout, done.stdout, 'kept samples have the same weights')


def check_refused(tap, files):
    done = files.perf('-i', files.other)
    tap.check(done.returncode == 1 and not done.stdout and
              re.fullmatch(r'clrsym: \S+ has no samples of the runtime\'s sampler: record it with .*\n', done.stderr),
              'a session without samples', done.stderr)
    done = files.perf('-i', files.sampled, '--event', 'cycles')
    tap.check(done.returncode == 1 and f'it has: dotnet-sample ({N_SAMPLES} samples)' in done.stderr, 'another event',
              done.stderr)
    cut = files.directory / 'cut.nettrace'
    whole = files.sampled.read_bytes()
    cut.write_bytes(whole[:len(whole) * 95 // 100])
    done = files.perf('-i', cut)
    found = re.search(r'^clrsym: (\d+) samples', done.stderr, re.M)
    tap.check(done.returncode == 0 and found and 0 < int(found[1]) < N_SAMPLES,
              'a file that is cut off has samples up to there', done.stderr)
    damaged = bytearray(whole)
    damaged[40:44] = b'\xff' * 4
    cut.write_bytes(damaged)
    done = files.perf('-i', cut)
    tap.check(done.returncode == 1 and re.fullmatch(r'clrsym: \S+cut\.nettrace: .*\n', done.stderr), 'a damaged file',
              done.stderr)
    done = files.perf('-i', files.sampled, '-o', '/dev/full')
    tap.check(done.returncode == 1 and 'No space left on device' in done.stderr, 'a full disk', done.stderr)


def run(tap, programs, directory, _):
    files = Files(programs, pathlib.Path(directory))
    check_named(tap, files)
    check_forms(tap, files)
    check_said(tap, files)
    check_events(tap, files)
    check_event_forms(tap, files)
    check_refused(tap, files)


if __name__ == '__main__':
    recorded.main(run)
