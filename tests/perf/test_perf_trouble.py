# SPDX-License-Identifier: MIT
"""`clrsym perf` without any names: missing or broken input, and early ends."""

import gzip
import lzma
import os
import pathlib
import re
import signal
import subprocess
import time

from tests.perf import perftool
from tests.traces import recorded


def says(tap, done, pattern, name, code=1):
    """Checks for an error of one line, without output."""
    return tap.check(done.returncode == code and re.fullmatch(pattern, done.stderr) and
                     not done.stdout, name, done.returncode, done.stderr, done.stdout[:200])


def check_missing(tap, programs, trace, data, directory):
    def run(*arguments, **options):
        return perftool.clrsym_perf(programs, *arguments, **options)

    empty = directory / 'empty'
    empty.mkdir()
    done = run('-i', data, '--trace', trace, env={**perftool.environment(programs), 'PATH': str(empty)})
    tap.check(done.returncode == 0 and 'W.HotLoop' in done.stdout, 'perf need not be installed', done.stderr)
    says(tap, run('-i', data, '--socket', directory / 'none'),
         r'clrsym: no daemon at .*/none: systemctl start clrsymd\.socket, or use --trace PATH\n',
         'no daemon')
    says(tap, run('-i', directory / 'none', '--trace', trace),
         r'clrsym: cannot open the recording .*/none: No such file or directory\n',
         'no recording')
    says(tap, run('-i', '', '--trace', trace), r'clrsym: cannot open the recording "": .*\n', 'no name')
    says(tap, run('-i', empty, '--trace', trace),
         r'clrsym: .*/empty is a directory, not a recording: give a file in it\n', 'a directory')
    named = directory / 'text.clrsym'
    named.write_text('text', encoding='utf-8')
    says(tap, run('-i', named, '-o', directory / 'x.svg'),
         r'clrsym: .*/text\.clrsym has no named samples, .*: record again\n', 'a file of another form')
    named.write_bytes(gzip.compress(b'clrsym samples 9\n' + bytes(100)))
    says(tap, run('-i', named, '-o', directory / 'x.svg'),
         r'clrsym: .*/text\.clrsym was written by another version of clrsym: .*\n', 'of another version')
    for name, content, pattern in (('gzip', gzip.compress(data.read_bytes()[:1000]), 'is compressed by gzip: gunzip it'),
                                   ('xz', lzma.compress(b'x'), 'is compressed by xz: unxz it'),
                                   ('stacks.folded', b'a;b 1\n', 'has folded stacks, which have their names'),
                                   ('program', pathlib.Path('/proc/self/exe').read_bytes()[:100],
                                    'is a program or a library')):
        (directory / name).write_bytes(content)
        says(tap, run('-i', directory / name, '--trace', trace), rf'clrsym: .*/{name} {pattern}.*\n', f'not a recording: {name}')
    says(tap, run('-i', '-', '--trace', trace), r'clrsym: a recording is not read from a pipe.*\n', 'a pipe')
    for name in 'x.htm', 'x.json', 'x.png':
        says(tap, run('-i', data, '--trace', trace, '-o', directory / name),
             rf'clrsym: .*/{name}: its ending names no form: give \.folded, .*\.html, \.clrsym, or \.txt for text; or --format\n',
             f'an output that is {name}')
        tap.check(not (directory / name).exists(), 'nothing is written')
    says(tap, run('-i', data, '--trace', directory / 'none'),
         r'clrsym: .*/none: No such file or directory\n', 'no trace')
    says(tap, run('-i', data, '--trace', trace, '-o', directory / 'none' / 'x.svg'),
         r'(No kallsyms .*\n)?clrsym: .*/none/x\.svg.*: No such file or directory\n',
         'no directory for a graph')
    says(tap, run('-i', data, '--trace', trace, '-o', directory / 'none' / 'x.folded'),
         r'(No kallsyms .*\n)?clrsym: .*/none/x\.folded.*: No such file or directory\n',
         'no directory for folded stacks')
    says(tap, run('-i', data, '--trace', trace, '--event', 'cycles'),
         r'clrsym: no event cycles in .*; it has: cpu-clock \(8213 samples\)\n', 'no such event')
    for arguments, reason in ((['--style', 'long'], r'--style long: not csharp, clr or short'),
                              (['--names', 'long'], r'--names long: not csharp, clr or short'),
                              (['--map', '12'], r'--map 12: not PERFPID=PID or PERFPID=PIDNS:PID'),
                              (['--map', '1=2', '--map', '1=3'],
                               r'--map 1=3: that PERFPID was given before'),
                              (['data'], 'a recording is given by --input; AFTER goes with --diff BEFORE'),
                              (['--diff', 'a'], '--diff BEFORE needs AFTER'),
                              (['--trace', 'a', '--socket', 'b'],
                               'give --socket or --trace, not both')):
        says(tap, run(*arguments), rf'clrsym: {reason}: see clrsym perf --help\n',
             f'usage: {" ".join(arguments)}', 2)


def check_no_daemon(tap, programs, data, directory):
    """No daemon is necessary."""
    environment = {**perftool.environment(programs), 'CLRSYM_SOCKET': str(directory / 'none')}
    done = perftool.clrsym_perf(programs, '-i', data, env=environment)
    tap.check(done.returncode == 0 and 'clrsym: no daemon at ' in done.stderr and
              'only native and precompiled code has names' in done.stderr and done.stdout.count('\n') > 1000,
              'without a daemon it goes on, and says what is missing', done.returncode, done.stderr)


def check_foreign(tap, programs, data, directory):
    """Another user's file is read with --force only, as by perf."""
    if os.geteuid() != 0:
        tap.skip("another user's file", 'it takes root to make one')
        return
    foreign = directory / 'foreign.data'
    foreign.write_bytes(data.read_bytes())
    os.chown(foreign, 65534, 65534)
    environment = {**perftool.environment(programs), 'CLRSYM_SOCKET': str(directory / 'none')}
    refused = perftool.clrsym_perf(programs, '-i', foreign, env=environment)
    forced = perftool.clrsym_perf(programs, '-i', foreign, '-f', env=environment)
    tap.check(refused.returncode == 1 and 'belongs to another user' in refused.stderr, "another user's file is refused",
              refused.stderr)
    tap.check(forced.returncode == 0 and forced.stdout.count('\n') > 1000, 'but not with --force', forced.stderr)


def check_broken(tap, programs, trace, data, directory):
    whole = data.read_bytes()
    path = directory / 'broken.data'
    path.write_bytes(b'')
    says(tap, perftool.clrsym_perf(programs, '-i', path, '--trace', trace),
         r'clrsym: .*/broken\.data is empty: record again\n', 'a recording that is empty')
    for name, content, reason in (('text', b'hello, hello, hello\n', 'it is not a perf.data file'),
                                  ('zeros', bytes(4096), 'it is not a perf.data file'),
                                  ('cut in its header', whole[:60], 'it is not a perf.data file'),
                                  ('overwritten', whole[:70000] + bytes(200000) + whole[270000:],
                                   'one of its records has no valid size')):
        path.write_bytes(content)
        output = directory / 'broken.folded'
        done = perftool.clrsym_perf(programs, '-i', path, '--trace', trace, '-o', output)
        tap.check(done.returncode == 1 and
                  re.match(rf'clrsym: cannot read the recording .*broken\.data: {reason}', done.stderr) and
                  done.stderr.count('\n') == 1 and not output.exists(),
                  f'a recording that is {name}', done.returncode, done.stderr)
    path.write_bytes(whole[:300000])
    done = perftool.clrsym_perf(programs, '-i', path, '--trace', trace)
    tap.check(done.returncode == 0 and 'broken.data is truncated: its last samples are missing' in done.stderr and
              'W.HotLoop' in done.stdout, 'a recording that is cut: its samples are not lost', done.stderr)
    left = [path.name for path in directory.iterdir() if 'broken.folded' in path.name]
    tap.check(not left, 'no half a file is left', *left)


def check_ends(tap, programs, trace, data, directory):
    """After an interrupt, or if the reader of its output ends, it leaves no files."""
    temporary = directory / 'tmp'
    temporary.mkdir()
    environment = {**perftool.environment(programs), 'TMPDIR': str(temporary)}
    output = directory / 'interrupted.folded'
    codes = set()
    for delay in (0.05, 0.3, 0.7, 1.1):
        process = subprocess.Popen([programs.clrsym, 'perf', '-i', data, '--trace', trace, '-o',
                                    output], env=environment, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGTERM)
        codes.add(process.wait(60))
        left = list(temporary.iterdir()) + list(directory.glob('*interrupted.folded*.*'))
        tap.check(not left, f'ended after {delay} s, it leaves nothing', *left)
    tap.check(codes <= {0, -signal.SIGTERM} and -signal.SIGTERM in codes, 'ended by the signal',
              codes)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([programs.clrsym, 'perf', '-i', data, '--trace', trace], stdout=writer,
                          stderr=subprocess.PIPE, env=environment, check=False, timeout=60,
                          restore_signals=True)
    os.close(writer)
    tap.check(b'clrsym:' not in done.stderr and not list(temporary.iterdir()),
              'a reader that went away is not spoken of', done.stderr)
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([programs.clrsym, 'perf', '-i', data, '--trace', trace], stdout=full,
                              stderr=subprocess.PIPE, env=environment, check=False, timeout=60)
    tap.check(done.returncode == 1 and b'No space left on device' in done.stderr,
              'a full disk', done.stderr)
    outputs = [temporary / name for name in ('a.folded', 'a.svg')]
    done = subprocess.run([programs.clrsym, 'perf', '-i', data, '--trace', trace, '-o', outputs[0], '-o', '/dev/full',
                           '-o', '/nowhere/a.html', '-o', outputs[1]], capture_output=True, env=environment,
                          check=False, timeout=60)
    tap.check(done.returncode == 1 and b'/dev/full' in done.stderr and b'/nowhere/a.html' in done.stderr and
              all(path.stat().st_size > 1000 for path in outputs),
              'the other outputs are written, and each that is not is named', done.stderr)
    for path in outputs:
        path.unlink()


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('perf', reason)
        return
    directory = pathlib.Path(directory)
    trace, data, snapshot = perftool.unpack(programs, directory)
    check_missing(tap, programs, snapshot, data, directory)
    check_no_daemon(tap, programs, data, directory)
    check_foreign(tap, programs, data, directory)
    check_broken(tap, programs, snapshot, data, directory)
    check_ends(tap, programs, trace, data, directory)


if __name__ == '__main__':
    recorded.main(run)
