# SPDX-License-Identifier: MIT
"""perf, its filter of the build tree, and parsers of the output of `perf script` and the filter."""

import collections
import functools
import pathlib
import re
import shutil
import subprocess

from tests.traces import recorded

NS = 10**9
# Stands for a caller that frame pointers do not show.
OSR_UNKNOWN = '[caller unknown: OSR]'
# Frames without an address in perf's chain.
ADDED = {name + '+0x0' for name in (OSR_UNKNOWN, '[caller unknown: no frame pointer]', '[truncated]', '[no caller]')}

Sample = collections.namedtuple('Sample', 'head frames')
# SYMBOL includes the offset, None: no symbol. TAIL: text after the module.
Frame = collections.namedtuple('Frame', 'address symbol module tail')

HEAD = re.compile(r'(?P<comm>.*?) +(?P<tid>-?\d+) +(?:\[\d+\] +)?(?P<s>\d+)\.(?P<ns>\d{9}): +(?P<period>\d+) +'
                  r'(?P<event>\S+): ?$')
FRAME = re.compile(r'\t *([0-9a-f]+) (.*) \(((?:[^()]|\([^()]*\))*)\)(| \[\w+\]| ~| \[\w+\] ~)$')


def missing(programs):
    """Why perf's filter cannot be tested here, or None."""
    if not shutil.which('perf'):
        return 'no perf on PATH'
    return None if filter_path(programs).exists() else 'built without perf/perf_dlfilter.h'


def filter_path(programs):
    return pathlib.Path(programs.plugin_dir) / 'perf' / 'dlfilter-clrsym.so'


def environment(programs):
    return {**programs.environment, 'CLRSYM_DAEMON': programs.clrsymd}


def script(programs, data, *arguments, settings=None, **options):
    """`perf script`, through the filter if SETTINGS (a list) is given."""
    command = ['perf', '--no-pager', 'script', '-i', data, *arguments]
    if settings is not None:
        command += ['--dlfilter', filter_path(programs)]
        for setting in settings:
            command += ['--dlarg', setting]
    return programs.run(command, env=environment(programs), **options)


def without_linkage(text):
    """Removes the names of linkage tables, which perf knows in few libraries only, and of the vDSO, which perf
    knows only if ~/.debug has it from an earlier recording."""
    text = re.sub(r'( [0-9a-f]+ )\S+ \(\[vdso\]\)', r'\1[unknown] ([vdso])', text)
    return re.sub(r'( [0-9a-f]+ )(?:operator )?\S*@plt\+0x[0-9a-f]+ \(', r'\1[unknown] (', text)


def clrsym_perf(programs, *arguments, **options):
    return programs.run([programs.clrsym, 'perf', *arguments],
                        **{'env': environment(programs), **options})


@functools.cache
def frame_of(line):
    """Cached, because most lines of a recording repeat."""
    address, symbol, module, tail = FRAME.fullmatch(line).groups()
    return Frame(int(address, 16), None if symbol == '[unknown]' else symbol, module, tail)


def samples(text):
    """A list of Samples from the output of perf script or the filter."""
    found, head, frames = [], None, []
    for line in text.split('\n'):
        if line.startswith('\t'):
            frames.append(frame_of(line))
        elif line:
            head = line
        elif head is not None:
            found.append(Sample(head, frames))
            head, frames = None, []
    return found


def frames_of_perf(sample):
    """Removes the added frames: unknown callers whose callee perf lacks, too, and the roots of incomplete stacks."""
    return [frame for frame in sample.frames if frame.address or frame.symbol not in ADDED]


def is_managed(frame):
    """True for a frame named by the filter: its module is a file's name, or the name of an assembly without a file."""
    return frame.symbol is not None and '/' not in frame.module and frame.module[0] != '['


def is_kernel(address):
    return bool(address >> 63)


def looked_up(addresses):
    """The address that perf looks up for each frame: after a change from kernel to user, and at the leaf, the
    address itself; else one in the call before the return address."""
    found = []
    for i, address in enumerate(addresses):
        exact = i == 0 or is_kernel(addresses[i - 1]) != is_kernel(address)
        found.append(address if exact else max(address - 1, 0))
    return found


def folded(text):
    """Folded stacks as a Counter, by tuple of names."""
    counter = collections.Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(' ', 1)
        counter[tuple(stack.split(';'))] += int(count)
    return counter


def unpack_recording(directory):
    """The perf.data of trace perf."""
    path = pathlib.Path(directory) / 'perf.data'
    with open(path, 'wb') as out:
        subprocess.run(['xz', '-dc', recorded.DATA / 'perf' / 'perf.data.xz'], stdout=out,
                       check=True)
    path.chmod(0o600)
    return path


def unpack(programs, directory):
    """The trace perf, its perf.data, and a snapshot of the trace, which loads faster."""
    trace = recorded.unpack(directory, ['perf'])['perf']
    snapshot = pathlib.Path(directory) / 'snapshot'
    programs.run([programs.clrsym, 'save', '--trace', trace, '-o', snapshot])
    return trace, unpack_recording(directory), snapshot
