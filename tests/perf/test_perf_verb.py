# SPDX-License-Identifier: MIT
"""`clrsym perf`: clocks, boots, and which process is which."""

import pathlib
import re
import shutil
import struct
import time

from tests.daemon import ingest
from tests.perf import perftool
from tests.perf.test_perf_trouble import says
from tests.traces import recorded

PID = 13529  # of the recorded process
# The offset from CLOCK_MONOTONIC to the time of day, from the header of the recording.
CLOCK_OFFSET = 1795228331045265000 - 741190938127

USE_CLOCKID = 1 << 25  # flag of perf_event_attr


def change_attr(whole, change):
    """The perf.data with changed attributes of its only event: CHANGE gets (flags, clockid)."""
    copy = bytearray(whole)
    attrs, = struct.unpack_from('<Q', whole, 24)
    flags, clock = change(*struct.unpack_from('<Q', whole, attrs + 40),
                          *struct.unpack_from('<i', whole, attrs + 92))
    struct.pack_into('<Q', copy, attrs + 40, flags)
    struct.pack_into('<i', copy, attrs + 92, clock)
    return bytes(copy)


def names_of(done):
    """Head and index in the stack -> the name of a managed frame."""
    return {(sample.head, i): (frame.symbol, frame.module)
            for sample in perftool.samples(done.stdout)
            for i, frame in enumerate(perftool.frames_of_perf(sample)) if perftool.is_managed(frame)}


def hidden_of(done):
    """Head and index of frames whose method OSR hides."""
    return {(sample.head, i) for sample in perftool.samples(done.stdout)
            for i, frame in enumerate(perftool.frames_of_perf(sample)) if str(frame.symbol).startswith(perftool.OSR_UNKNOWN)}


def check_clock(tap, programs, trace, data, directory):
    """Without the trace's clock, fewer frames have names, but no name is wrong."""
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', trace)
    right, hidden = names_of(done), hidden_of(done)
    own = directory / 'own.data'
    own.write_bytes(change_attr(data.read_bytes(), lambda flags, _: (flags & ~USE_CLOCKID, 0)))
    done = perftool.clrsym_perf(programs, '-i', own, '--trace', trace)
    tap.check(done.returncode == 0 and
              re.search(r"^clrsym: .*own\.data was recorded with perf's own clock, not the trace's: "
                        r'.*To fix that: perf record -k mono -g \.\.\.$', done.stderr, re.M) and
              re.search(r', [1-9]\d* not named because of the clock,', done.stderr),
              "perf's own clock is reported, and the fix", done.stderr)
    shifts = {f'{shift} ms off': perftool.script(
        programs, data, settings=[f'trace={trace}', f'clock={shift * 1000000},1000000000'])
        for shift in (0, 300, -900)}
    for name, done in {"perf's own clock": done, **shifts}.items():
        got = names_of(done)
        # If the method that OSR replaced has no name, its false frame is not recognised.
        wrong = [(key, one, right.get(key)) for key, one in got.items()
                 if one != right.get(key) and key not in hidden]
        tap.check(len(got) > len(right) / 2 and not wrong,
                  f'{name}: {len(got)} of {len(right)} names, none wrong', len(wrong), *wrong[:5])
    raw = directory / 'raw.data'
    raw.write_bytes(change_attr(data.read_bytes(), lambda flags, _: (flags, time.CLOCK_BOOTTIME)))
    done = perftool.clrsym_perf(programs, '-i', raw, '--trace', trace)
    got = names_of(done)
    tap.check(done.returncode == 0 and 'not the trace\'s' in done.stderr and
              '10 ms before and after' in done.stderr and
              len(got) > len(right) * 0.9,
              'another clock with a reference time: compared', done.stderr)


def other_boot(trace, directory):
    """The trace, as if of a boot an hour later: its clock has another offset."""
    copy = directory / 'other-boot'
    shutil.copytree(trace, copy)
    for path in copy.rglob('metadata'):
        content = path.read_bytes()
        offset = re.search(rb'\boffset = (\d+);', content)
        later = str(int(offset[1]) + 3600 * perftool.NS).encode()
        assert len(later) == len(offset[1])
        path.write_bytes(content[:offset.start(1)] + later + content[offset.end(1):])
    return copy


def check_boot(tap, programs, trace, data, directory):
    copy = other_boot(trace, directory)
    says(tap, perftool.clrsym_perf(programs, '-i', data, '--trace', copy),
         r'clrsym: \S+ and the trace are of different machines or boots: '
         r'at 2026-11-21 02:32:11 UTC the clock of the recording showed 741\.190938127, '
         r"that of the trace -?\d+\.\d{9}: give the trace of the same boot, or --force\n",
         'another boot: both times are stated')
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', copy, '--force')
    tap.check(done.returncode == 0 and ' are of different machines or boots: ' in done.stderr and
              'W.HotLoop(int)+0x' in done.stdout, 'another boot, with --force', done.stderr)
    tiered = recorded.unpack(directory, ['tiered'])['tiered']
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', tiered, '--force')
    tap.check(done.returncode == 0 and ' has its code: only its precompiled code' in done.stderr
              and ' managed frames: 0.00% named' in done.stderr,
              'another program, with --force', done.stderr)
    done = perftool.clrsym_perf(programs, '-i', data, '--trace', tiered)
    tap.check(done.returncode == 1 and not done.stdout and
              re.fullmatch(r'clrsym: .* give the trace of the same (run|boot), .*\n', done.stderr),
              'another program', done.stderr)


def feed_twins(daemon, addresses, processes):
    """Feeds several processes with code at the same addresses."""
    feeder = ingest.Feeder(daemon.ingest)
    feeder.send(ingest.hello(), ingest.stream_open()[:-8] + struct.pack('<q', CLOCK_OFFSET))
    for pid_ns, pid in processes:
        feeder.send(*(ingest.body(700 * perftool.NS, address & ~15, f'M{pid_ns}', pid=pid,
                                  pid_ns=pid_ns) for address in addresses))
    feeder.send(ingest.progress(800 * perftool.NS), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    feeder.close()


def jitted_addresses(programs, data):
    done = perftool.script(programs, data)
    truth = [chain for chain in recorded.Truth('perf').text('samples.tsv').splitlines()]
    samples = perftool.samples(done.stdout)
    found = set()
    for sample, line in zip(samples, truth):
        chain = [int(address, 16) for address in line.split('\t')[3].split(',')]
        for frame, address in zip(sample.frames, perftool.looked_up(chain)):
            if 'doublemapper' in frame.module:
                found.add(address & ~15)
    return sorted(found)


def check_processes(tap, programs, data, directory):
    addresses = jitted_addresses(programs, data)

    def run(daemon, *arguments):
        return perftool.clrsym_perf(programs, '-i', data, '--names', 'clr', *daemon.source,
                                    *arguments)

    def counts(done):
        return {name: done.stdout.count(f'N.T.{name}()+0x') for name in ('M1', 'M2', 'M3')}

    with recorded.Daemon(programs, directory) as daemon:
        feed_twins(daemon, addresses, [(1, 50)])
        done = run(daemon)
        tap.check(done.returncode == 0 and counts(done)['M1'] > 12000,
                  'a process in another namespace is found by where its code is', done.stderr)
        feed_twins(daemon, addresses[:len(addresses) // 10], [(2, 60)])
        done = run(daemon)
        tap.check(counts(done)['M1'] > 12000 and not counts(done)['M2'],
                  'one that has a tenth of its addresses is another one', done.stderr)
    with recorded.Daemon(programs, directory) as daemon:
        feed_twins(daemon, addresses, [(1, 50), (2, PID), (3, 70)])
        says(tap, run(daemon),
             rf'clrsym: process {PID} \(dotnet\) of the recording could be any of 3 of the trace: '
             rf'1:50 \(since 700\.000\) 2:{PID} \(since 700\.000\) 3:70 \(since 700\.000\): '
             rf'choose one with --map {PID}=NS:PID\n', 'processes with the same layout: the choices')
        for pid_ns, pid in ((1, 50), (2, PID), (3, 70)):
            done = run(daemon, '--map', f'{PID}={pid_ns}:{pid}')
            names = [name for name, n in counts(done).items() if n]
            tap.equal((done.returncode, names), (0, [f'M{pid_ns}']), f'--map {PID}={pid_ns}:{pid}')
        done = run(daemon, '--map', f'{PID}=70')
        tap.equal([name for name, n in counts(done).items() if n], ['M3'], f'--map {PID}=70')
        done = run(daemon, '--map', f'{PID}=4:70')
        tap.check(done.returncode == 0 and ' of unknown processes' in done.stderr and
                  not any(counts(done).values()), '--map to none', done.stderr)


# First and last second of all samples.
FIRST, LAST = 741 * perftool.NS, 747 * perftool.NS
DOUBTS = [
    # (case, the event fed for each address, share of the jitted frames with its name, share of them with a mark)
    ('code that lives', lambda start: [ingest.body(700 * perftool.NS, start, pid=PID)], 'all', 'none'),
    ('code in a gap', lambda start: [ingest.body(700 * perftool.NS, start, pid=PID),
                                     ingest.gap(FIRST, LAST)], 'all', 'all'),
    ('code that was unloaded long before', lambda start: [
        ingest.body(700 * perftool.NS, start, pid=PID),
        ingest.unload(710 * perftool.NS, start, pid=PID)],
     'none', 'none'),
    ('code that is loaded long after', lambda start: [
        ingest.body(750 * perftool.NS, start, pid=PID)], 'none', 'none'),
]


def check_doubts(tap, programs, data, directory):
    addresses = jitted_addresses(programs, data)
    for what, feed, named, marked in DOUBTS:
        with recorded.Daemon(programs, directory) as daemon:
            feeder = ingest.Feeder(daemon.ingest)
            feeder.send(ingest.hello(),
                        ingest.stream_open()[:-8] + struct.pack('<q', CLOCK_OFFSET),
                        ingest.runtime_start(600 * perftool.NS, pid=PID))
            for address in addresses:
                feeder.send(*feed(address))
            feeder.send(ingest.progress(800 * perftool.NS), ingest.commit())
            feeder.receive_until(ingest.COMMITTED)
            feeder.close()
            done = perftool.clrsym_perf(programs, '-i', data, *daemon.source)
        frames = [frame for sample in perftool.samples(done.stdout) for frame in sample.frames
                  if 'doublemapper' in frame.module or (frame.symbol or '').startswith('N.T.')]
        counts = {'all': len(frames), 'none': 0}
        got = (sum(frame.symbol is not None for frame in frames),
               sum(frame.tail == ' ~' for frame in frames))
        tap.check(len(frames) > 12000 and got == (counts[named], counts[marked]),
                  f'{what}: {named} of {len(frames)} frames named, {marked} marked', got,
                  done.stderr)


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('perf', reason)
        return
    directory = pathlib.Path(directory)
    trace, data, snapshot = perftool.unpack(programs, directory)
    check_clock(tap, programs, snapshot, data, directory)
    check_boot(tap, programs, trace, data, directory)
    check_processes(tap, programs, data, directory)
    check_doubts(tap, programs, data, directory)


if __name__ == '__main__':
    recorded.main(run)
