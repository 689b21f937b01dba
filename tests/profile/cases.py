# SPDX-License-Identifier: MIT
"""Profiles for the tests, and their text form for profile-tool."""

import dataclasses
import functools
import random

HOSTILE = [
    '<script>alert(1)</script>', '"><img src=x onerror=alert(2)>', "' onload='alert(3)",
    "a']]>b", '</title></svg><script>alert(4)</script>', '--><!--', '</script><script>alert(5)//', '</script x', '<!-- <script x',
    '{{script}}', '{{data}}', 'x;y\nz\t', '\x1b[31mred\x07', '\u202eevil', '&lt;b&gt;&amp;',
    '__proto__', 'constructor', '`${alert(6)}`', 'javascript:alert(7)', 'Worker 3', 'Worker 3.5',
    'ends with ', '\u65e5\u672c\u8a9e.\u540d\u524d()', '\U0001f600.Smile()', 'operator ()(int)',
    'A.B..ctor(int)', '\\u003cscript>', '%s%n', 'a' * 3000, '()', '<>', '...', '.', ')', '>',
]
TIERS = ['QuickJitted', 'OptimizedTier1', 'OptimizedTier1OSR', 'InstrumentedTier', 'ReadyToRun',
         None, '<b>tier</b>']


@dataclasses.dataclass(frozen=True)
class Frame:
    name: str
    kind: str = 'managed'
    tier: str = None
    module: str = None
    is_marked: bool = False
    file: str = ''
    line: int = 0
    checksum: str = ''


@dataclasses.dataclass(frozen=True)
class Sample:
    frames: tuple  # leaf first
    comm: str = 'app'
    pid: int = 100
    tid: int = 100
    time: int = 0
    period: int = 1
    physical: tuple = None  # the thread's own stack; None: FRAMES


@functools.cache
def escape(text):
    """Escapes the ends of fields, and non-ASCII characters, with a backslash."""
    return ''.join(chr(byte) if 0x20 <= byte < 0x7f and byte != 0x5c else f'\\{byte:03o}'
                   for byte in (text if isinstance(text, bytes) else text.encode()))


def text(samples, commands=None, markers=()):
    """COMMANDS: pid -> command line. MARKERS: (kind, pid, tid, begin, end, text)."""
    numbers, lines = {}, [f'P\t{pid}\t{command}' for pid, command in (commands or {}).items()]
    lines += ['\t'.join(map(str, ('M', *marker))) for marker in markers]
    stacks = {}  # keyed by the tuple, because a search for an equal tuple is slow
    for sample in samples:
        for frame in () if id(sample.frames) in stacks and not sample.physical else sample.frames + (sample.physical or ()):
            if frame not in numbers:
                numbers[frame] = str(len(numbers))
                lines.append('\t'.join(['F', frame.kind, escape(frame.tier or '-'),
                                        str(int(frame.is_marked)), escape(frame.module or '-'),
                                        escape(frame.name), escape(frame.file),
                                        str(frame.line), escape(frame.checksum)]))
        if id(sample.frames) not in stacks:
            stacks[id(sample.frames)] = ','.join(numbers[frame] for frame in sample.frames)
        lines.append('\t'.join(['S', escape(sample.comm), str(sample.pid), str(sample.tid),
                                str(sample.time), str(sample.period),
                                stacks[id(sample.frames)],
                                *([','.join(numbers[frame] for frame in sample.physical)] if sample.physical else [])]))
    return ''.join(line + '\n' for line in lines).encode()


def program():
    """Returns the samples of a program with a known graph: 1,000 samples, three quarters of them
    in Main."""
    main = Frame('App.Program.Main(string[])', tier='QuickJitted', module='App.dll')
    work = [Frame('App.Worker.Run(System.Collections.Generic.List<int>)', tier=tier,
                  module='App.dll', is_marked=mark)
            for tier, mark in (('QuickJitted', False), ('OptimizedTier1', False),
                               ('OptimizedTier1', True))]
    parse = Frame('System.Text.Json.JsonSerializer.Deserialize<App.Order>(string)',
                  tier='ReadyToRun', module='System.Text.Json.dll')
    native = Frame('memcpy', 'native', module='/usr/lib/libc.so.6')
    kernel = Frame('do_syscall_64', 'kernel', module='[kernel.kallsyms]')
    stacks = [((work[0], main), 'app', 100, 100), ((work[1], main), 'app', 100, 350),
              ((work[2], main), 'app', 100, 50), ((native, work[1], main), 'app', 100, 100),
              ((parse, main), 'app', 100, 150), ((kernel, native), 'pool', 101, 200),
              ((Frame('', 'unknown'),), 'pool', 101, 30), ((), 'pool', 102, 20)]
    samples = []
    for frames, comm, tid, n in stacks:
        samples += [Sample(frames, comm, 100, tid, period=1000000)] * n
    random.Random(1).shuffle(samples)
    return [dataclasses.replace(sample, time=10**12 + i * 10**6)
            for i, sample in enumerate(samples)]


def hostile(seed, n_samples=2000):
    """Returns samples with hostile names, modules, tiers and threads."""
    choose = random.Random(seed)
    frames = [Frame(name, kind, choose.choice(TIERS) if kind == 'managed' else None,
                    choose.choice([None, 'a.dll', *HOSTILE]), choose.random() < .2)
              for name in HOSTILE for kind in ('managed', 'native', 'kernel', 'unknown')]
    samples = []
    for _ in range(n_samples):
        stack, at = [], 0
        for _ in range(choose.randrange(12)):
            at = (at * 7 + choose.choice([1, 1, 1, 2, 30])) % len(frames)
            stack.append(frames[at])
        samples.append(Sample(tuple(reversed(stack)), choose.choice(['main', *HOSTILE]), 10,
                              10 + choose.randrange(4), choose.randrange(10**9),
                              choose.randrange(10**6)))
    return samples
