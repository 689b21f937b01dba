# SPDX-License-Identifier: MIT
"""bpftrace's stacks of a .NET program: by `clrsym resolve --filter`, native frames included, and by the perf map that
`clrsym perfmap --follow` keeps. bpftrace's own symbols of native code are compared with ours."""

import os
import pathlib
import re
import shutil
import subprocess

from tests.live import attached, live, runtimes
from tests.live.test_eventpipe import DirectFeed, attach, end_holder
from tests.live.test_kept_map import entries, following
from tests.traces import recorded

ADDRESS = re.compile(r'\b0x[0-9a-f]{8,16}\b')
# A frame of ustack(perf): the address, and what bpftrace has there.
FRAME = re.compile(r'\s+([0-9a-f]+) (\S.*)\+(\d+) \(/\S+\)')
OURS = re.compile(r'\s+(\S.*)\+0x([0-9a-f]+) (\S.*)\+(\d+) \(/\S+\)')


def missing():
    """Why bpftrace cannot be used here, or None."""
    if not shutil.which('bpftrace'):
        return 'no bpftrace on PATH'
    return None if os.geteuid() == 0 else 'bpftrace needs root'


def refusal():
    """Why this kernel runs no program of bpftrace, or None. No package changes that."""
    done = subprocess.run(['bpftrace', '-e', 'BEGIN { exit(); }'], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def stacks(program, mode):
    """What bpftrace prints of a second: to find its own names takes it longer."""
    script = f'profile:hz:99 /pid == {program.pid}/ {{ @[ustack{mode}] = count(); }} interval:s:1 {{ exit(); }}'
    return subprocess.run(['bpftrace', '-e', script], capture_output=True, text=True, check=True,
                          timeout=live.TIMEOUT).stdout


def check_filter(tap, feed, program, what):
    raw = stacks(program, '(perf, 24)')
    named = feed.clrsym('resolve', *feed.daemon.source, '--filter', '-p', str(program.pid), text=raw).stdout
    before, after = len(ADDRESS.findall(raw)), len(ADDRESS.findall(named))
    # Stubs that the runtime makes have no name.
    tap.check(before > 100 and after < before / 20 and len(re.findall(r'\tLive\.\w+.*\(.*\)\+0x', named)) > 20,
              f'{what}: of {before} addresses without a name {after} are left', named[:2000])
    tap.check('[libcoreclr.so]+0x' in named or 'coreclr' in named, f'{what}: native frames are among the names', named[:2000])
    n, differences = 0, []
    for old, new in zip(raw.splitlines(), named.splitlines()):
        theirs, ours = FRAME.fullmatch(old), OURS.fullmatch(new)
        if theirs:
            n += 1
            # A function can have several names, but begins at one address.
            if not ours or int(ours[2], 16) != int(theirs[3]):
                differences.append((old, new))
    # On a busy machine the program gets few samples.
    tap.check(n > 5 and not differences, f'{what}: {n} native frames have the symbol of bpftrace', len(differences),
              *differences[:5])


def check_map(tap, feed, program, what):
    """bpftrace reads the map by itself."""
    with following(feed, program) as (process, errors):
        live.wait_for('the file', lambda: 'is kept current' in errors(), process)
        path = pathlib.Path(f'/proc/{program.pid}/root/tmp/perf-{program.vpid}.map')
        text = stacks(program, '(24)')
        names = {symbol for _, symbol in entries(path.read_text(encoding='utf-8'))[0].values()}
    found = re.findall(r'^ +(Live\..*)\+\d+$', text, re.MULTILINE)
    tap.check(len(found) > 20 and set(found) & names, f'{what}: bpftrace names {len(found)} frames by the kept perf map', text[:2000])
    tap.check(not path.exists(), f'{what}: and the file goes with clrsym', errors())


def test(tap, programs, directory, _):
    if reason := refusal():
        tap.check(reason, f'this kernel permits no BPF: tests/daemon/test_filter.py has recorded stacks: {reason}')
        return
    directory = pathlib.Path(directory)
    os.environ['CLRSYM_HOLDER'] = programs.environment['CLRSYM_HOLDER'] = str(directory / 'holder')
    feed = DirectFeed(programs, directory)
    with feed.running():
        programs.environment['CLRSYM_INGEST'] = str(feed.daemon.ingest)
        for version, command in runtimes.commands(tap, __file__, directory):
            program = attached.Busy(command, directory / f'run-{version}')
            with program.running(DOTNET_LTTng='0'):
                attach(feed, program)
                check_filter(tap, feed, program, f'.NET {version}')
                check_map(tap, feed, program, f'.NET {version}')
        end_holder()


if __name__ == '__main__':
    live.run_or_skip(live.no_dotnet() or missing(), lambda: recorded.main(test))
