# SPDX-License-Identifier: MIT
"""Frames a second through perf's filter and by `clrsym report`, against plain `perf script` on the same recording; and the
time from a recording of 5 MB and its trace to a flame graph. Runs alternate, so both see the same
machine. Asserts no time."""

import pathlib
import statistics
import struct

from tests.bench import measure
from tests.perf import perftool
from tests.traces import recorded

N_RUNS = 7
WANTED = 5 << 20

SAMPLE = 9  # PERF_RECORD_SAMPLE
# Header of a perf.data: where its data are.
DATA_OFFSET, DATA_SIZE = 40, 48


def events(data):
    """(type, bytes) of each."""
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from('<IHH', data, at)
        yield kind, data[at:at + size]
        at += size


def enlarge(path, times):
    """The recording with each sample so many times: they are of one time, and perf sorts by it."""
    content = path.read_bytes()
    offset, size = struct.unpack_from('<QQ', content, DATA_OFFSET)
    more = b''.join(event * (times if kind == SAMPLE else 1)
                    for kind, event in events(content[offset:offset + size]))
    n_features = 256 // 8
    header = bytearray(content[:offset])
    struct.pack_into('<Q', header, DATA_SIZE, len(more))
    tail = bytearray(content[offset + size:])
    n_sections = sum(bin(byte).count('1') for byte in header[72:72 + n_features])
    # The features follow the data, each with its position.
    for i in range(n_sections):
        place, = struct.unpack_from('<Q', tail, 16 * i)
        struct.pack_into('<Q', tail, 16 * i, place + len(more) - size)
    bigger = path.with_name(f'{times}-times.data')
    bigger.write_bytes(header + more + tail)
    bigger.chmod(0o600)
    return bigger


def alternate(programs, commands):
    costs = [[] for _ in commands]
    for _ in range(N_RUNS):
        for command, found in zip(commands, costs):
            found.append(measure.run(command, environment=perftool.environment(programs)))
    return [measure.median(found) for found in costs]


def script(data, *arguments):
    return ['perf', '--no-pager', 'script', '-i', data, *arguments]


def bench_frames(tap, programs, data, trace):
    n_frames = sum(line.startswith('\t') for line in
                   programs.run(script(data, '--ns')).stdout.split('\n'))
    # Nothing more comes: what is later than the trace is not waited for.
    filtered = ['--dlfilter', perftool.filter_path(programs), '--dlarg', 'wait=0', '--dlarg']
    with recorded.Daemon(programs, data.parent) as daemon:
        programs.feed(trace, daemon.ingest)
        names = ['perf script', 'the filter: text', 'the filter: folded', 'report: text', 'report: folded']
        report = [programs.clrsym, 'report', '-i', data, '--socket', daemon.query, '--format']
        costs = alternate(programs, [
            script(data, '--ns'),
            script(data, *filtered, f'socket={daemon.query}'),
            script(data, *filtered, f'socket={daemon.query}', '--dlarg', 'format=folded'),
            [*report, 'text'], [*report, 'folded']])
    for name, cost in zip(names, costs):
        tap.note(f'{name}: {n_frames / cost.wall / 1e6:.2f} million frames a second, '
                 f'{cost.wall * 1000:.0f} ms, {cost.cpu * 1000:.0f} ms CPU')
    plain = costs[0]
    shares = ', '.join(f'{name} {cost.wall / plain.wall:.2f} x ({cost.cpu / plain.cpu:.2f} x CPU)'
                       for name, cost in list(zip(names, costs))[1:])
    tap.check(n_frames > 500000, f'{n_frames} frames, against plain perf script: {shares}')


def bench_svg(tap, programs, data, trace, snapshot, directory):
    rows = []
    graph = pathlib.Path(directory) / 'graph.svg'
    for name, source in (('the trace', trace), ('a snapshot of it', snapshot)):
        command = [programs.clrsym, 'perf', '-i', data, '--trace', source, '-o', graph]
        walls = [measure.run(command, environment=perftool.environment(programs)).wall
                 for _ in range(N_RUNS)]
        rows.append(f'{statistics.median(walls):.2f} s with {name}')
    tap.check(graph.stat().st_size > 10000,
              f'{data.stat().st_size / 2**20:.1f} MB of recording to an .svg of '
              f'{graph.stat().st_size / 2**20:.1f} MB: {", ".join(rows)}')


def run(tap, programs, directory, _):
    reason = perftool.missing(programs)
    if reason:
        tap.skip('perf', reason)
        return
    trace = recorded.unpack(directory, ['perf'])['perf']
    snapshot = pathlib.Path(directory) / 'snapshot'
    programs.run([programs.clrsym, 'save', '--trace', trace, '-o', snapshot])
    data = perftool.unpack_recording(directory)
    times = -(-WANTED // data.stat().st_size)
    bigger = enlarge(data, times)
    bench_frames(tap, programs, bigger, trace)
    bench_svg(tap, programs, bigger, trace, snapshot, directory)


if __name__ == '__main__':
    recorded.main(run)
