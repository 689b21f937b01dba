# SPDX-License-Identifier: MIT
"""filter.clrsym.names on a trace of the kernel with callstacks, as LTTng wrote it: nothing but the names is new, they are
those of `clrsym resolve` at the time of each event, and those that the program itself tells of that time."""

import bisect
import lzma
import pathlib
import re
import tarfile

from tests.ctf import test_filter
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / 'kernel'
FIELD = 'callstack_user_clr_debug_info'
ADDED = re.compile(f', {FIELD} = \\[(?:{test_filter.ELEMENT.pattern})* \\]')
EVENT = re.compile(r'\[0*(\d+)\] .* \{ vpid = (\d+), vtid = (\d+), _callstack_user_length = \d+, callstack_user = \[(.*?)\], ')
CYCLES = ['-c', 'sink.text.pretty', '-p', 'clock-cycles=true']
KINDS = 'sched_switch', 'timer_hrtimer_expire_entry', 'syscall_entry_futex', 'syscall_exit_read', 'syscall_entry_write'


class Sample:
    """Of an event, as test_filter.resolved() reads it."""

    def __init__(self, line):
        time, pid, tid, chain = EVENT.match(line).groups()
        self.time, self.pid, self.tid = int(time), int(pid), int(tid)
        self.user = [int(address, 16) for address in re.findall('= (0x[0-9A-F]+)', chain)]
        self.ip = self.user[0] if self.user else 0


class Spans:
    """Which method the main thread was in, at which times."""

    def __init__(self, text):
        self.rows = sorted((int(begin), int(end), name) for kind, begin, end, name in
                           (line.split(maxsplit=3) for line in text.splitlines()) if kind == 'SPAN')

    def find(self, time):
        at = bisect.bisect(self.rows, (time, 1 << 64, '')) - 1
        return self.rows[at][2] if at >= 0 and time <= self.rows[at][1] else None


def check_resolved(tap, programs, source, samples, names):
    answers = test_filter.resolved(programs, source, samples)
    wrong = [(i, want, got) for i, sample in enumerate(samples)
             if (want := test_filter.wanted(answers, i, sample)) != (got := names[i])]
    n = sum(bool(func) for funcs in names for func in funcs)
    tap.check(not wrong and n > len(samples), f'{n} names in {len(samples)} events are those of resolve', len(wrong), *wrong[:2])


def check_spans(tap, spans, samples, names):
    """The address at which the timer, or another thread, interrupted the program's method."""
    right, wrong = [], []
    for sample, funcs in zip(samples, names):
        method = spans.find(sample.time) if sample.tid == sample.pid else None
        if method and any(funcs):
            (right if funcs[0].startswith(f'dynamicClass.{method}(') else wrong).append((sample.time, method, funcs))
    methods = {method for _, method, _ in right}
    tap.check(not wrong and len(right) > 500 and len(methods) > 10,
              f'{len(right)} events in {len(methods)} dynamic methods, as the program has them', *wrong[:3])


def paired(lines, names):
    """name -> (ms, funcs that are not empty) of each system call, the slowest first"""
    begun, calls = {}, []
    for line, funcs in zip(lines, names):
        sample, (kind, name) = Sample(line), re.search(r' (?:syscall_(entry|exit)_)?(\w+): \{', line).groups()
        if kind == 'entry':
            begun[sample.tid] = sample.time, name, [func for func in funcs if func]
        elif kind == 'exit' and sample.tid in begun:
            begin, entered, funcs = begun.pop(sample.tid)
            if entered == name:
                calls.append((sample.time - begin, begin, name, funcs))
    return [(f'{took / 1e6:.3f}', name, funcs) for took, _, name, funcs in sorted(calls, reverse=True)]


def check_example(tap, programs, trace, runtime, lines, names):
    """The example that pairs the entries and the exits of system calls."""
    done = programs.run(['/usr/bin/python3', '-B', test_filter.EXAMPLE, trace, f'trace={runtime}'],
                        env={**programs.environment, 'BABELTRACE_PLUGIN_PATH': str(programs.plugin_dir)})
    got = []
    for line in done.stdout.splitlines():
        if head := re.fullmatch(r'([\d.]+) ms  (\w+)  at [\d.]+, thread \d+ of process \d+', line):
            got.append((*head.groups(), []))
        else:
            got[-1][2].append(line.removeprefix(' ' * 8).split('  ')[0])
    want = paired(lines, names)
    tap.check(got == want[:10] and len(want) > 100 and any(funcs for _, _, funcs in got),
              f'the slowest of {len(want)} system calls, with their methods', done.stderr[-500:], *zip(got, want))


def run(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    with tarfile.open(DATA / 'trace.tar.xz') as archive:
        archive.extractall(directory / 'trace')
    runtime = directory / 'runtime.nettrace'
    runtime.write_bytes(lzma.open(DATA / 'runtime.nettrace.xz').read())
    trace = directory / 'trace'
    plain = test_filter.graph(programs, trace, *CYCLES).stdout.splitlines()
    result = test_filter.graph(programs, trace, *test_filter.names(trace=str(runtime), lines=False), *CYCLES)
    named = result.stdout.splitlines()
    tap.check(result.returncode == 0 and all(any(f' {kind}: ' in line for line in plain) for kind in KINDS), 'events of the kernel',
              len(plain), result.stderr[-500:])
    tap.check(named != plain and [ADDED.sub('', line) for line in named] == plain, 'nothing is new but the names', len(plain), len(named))
    samples = [Sample(line) for line in named]
    names = [[func for _, func, _ in test_filter.sequence(line, FIELD)] for line in named]
    check_resolved(tap, programs, ['--trace', str(runtime)], samples, names)
    check_example(tap, programs, trace, runtime, named, names)
    check_spans(tap, Spans(lzma.open(DATA / 'output.xz', 'rt', encoding='utf-8').read()), samples, names)


if __name__ == '__main__':
    recorded.main(run)
