# SPDX-License-Identifier: MIT
"""The reader of src/ctf prints what babeltrace2's source and sink.clrsym.dump print of the same trace:
every .NET event with its time, process and fields, and every loss, in the same order. CTF 2 is
compared with a dump that babeltrace2 2.1 made. Damaged traces end in an error, never in a crash."""

import lzma
import os
import pathlib
import random
import resource
import shutil
import subprocess
import tarfile
import tempfile

from tests.traces import recorded

DATA = pathlib.Path(__file__).resolve().parent / 'data'
SEED = 8
# Changed copies of a trace that one program reads.
N_AT_ONCE = 100
# Bytes that a reader of a trace of a few KiB may allocate.
MEMORY = 96 << 20
SMALL = 'le-natural-compact'
# babeltrace2's sink refuses it, because nothing says which process its events are of.
WITHOUT_PROCESS = 'no-context'


def unpack(archive, directory):
    with tarfile.open(archive) as file:
        file.extractall(directory)
    return directory


def dump(programs, trace):
    return programs.run([programs.ctf_dump, trace])


class Variants:
    """Copies of a trace of which one file is changed, read by one program: it takes longer to start than
    to read. Whatever was not changed has the same inode."""

    def __init__(self, programs, directory, trace, limits=None):
        """LIMITS is called in the program before it begins."""
        self.programs, self.trace, self.limits = programs, trace, limits
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.names, self.wrong = [], []
        self.n = 0

    def add(self, file, data, name):
        """FILE, of the trace, has DATA instead; NAME is what it is reported as."""
        copy = self.directory / str(len(self.names))
        for path in self.trace.rglob('*'):
            target = copy / path.relative_to(self.trace)
            if path.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if path == file:
                target.write_bytes(data)
            else:
                os.link(path, target)
        self.names.append(name)
        if len(self.names) == N_AT_ONCE:
            self.read()

    def read(self):
        """Reads those that were added since the last time: each ends, or has an error."""
        copies = [self.directory / str(i) for i in range(len(self.names))]
        result = self.programs.run([self.programs.ctf_dump, '--each', *copies],
                                   preexec_fn=self.limits)
        lines = result.stdout.splitlines()
        if result.returncode or len(lines) != len(copies):
            self.wrong.append((self.names[min(len(lines), len(copies) - 1)], result.returncode,
                               result.stderr[-500:]))
        self.wrong += [name for name, line in zip(self.names, lines) if not line]
        self.n += len(copies)
        self.names = []
        for copy in copies:
            shutil.rmtree(copy)


def check_equal(tap, programs, name, trace, stored):
    ours = dump(programs, trace)
    text = ours.stdout
    if stored.exists():
        want, by = lzma.open(stored, 'rt', encoding='utf-8').read(), 'babeltrace2 2.1'
        text = recorded.without_later(ours.stdout)
    else:
        result = programs.babeltrace(trace, '-c', 'sink.clrsym.dump')
        want, by = result.stdout, 'babeltrace2'
    lines = (text.splitlines(), want.splitlines())
    first = next((i for i, pair in enumerate(zip(*lines)) if pair[0] != pair[1]), None)
    tap.check(ours.returncode == 0 and text == want,
              f'{name}: {len(lines[1])} lines are equal to those of {by}', ours.stderr[:300],
              len(lines[0]), first, lines[0][first][:300] if first is not None else '')


def stream_files(trace):
    return sorted(path for path in trace.rglob('*')
                  if path.is_file() and path.name != 'metadata' and path.parent.name != 'index')


def check_damaged(tap, programs, directory, trace):
    """Cuts, bytes that are flipped, and zeros: an error with the file's name, or what can be read."""
    rng = random.Random(SEED)
    for name, change in (
            ('a stream file without its last 40 bytes', lambda data: data[:-40]),
            ('zeros after the last packet', lambda data: data + bytes(4096)),
            ('a wrong magic number', lambda data: b'\0' + data[1:]),
            ('a packet of another trace', lambda data: data[:5] + b'\xee' + data[6:])):
        copy = shutil.copytree(trace, directory / 'damaged')
        file = max(stream_files(copy), key=lambda path: path.stat().st_size)
        file.write_bytes(change(file.read_bytes()))
        result = dump(programs, copy)
        tap.check(result.returncode == 1 and result.stdout == '' and str(file) in result.stderr,
                  f'{name}: an error before any event', result.returncode, result.stderr[:300])
        shutil.rmtree(copy)
    variants = Variants(programs, directory, trace)
    files = [*stream_files(trace), *trace.rglob('metadata')]
    for number in range(150):
        file = rng.choice(files)
        data = bytearray(file.read_bytes())
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(min(len(data), 70000))] ^= 1 << rng.randrange(8)
        variants.add(file, data, (file.name, number))
    variants.read()
    tap.check(variants.n == 150 and not variants.wrong,
              f'150 traces with flipped bits (seed {SEED}): no crash', variants.wrong[:3])


def packet_ends(data):
    """Where the packets of an LTTng stream end: bytes 56 to 63 of each are its size in bits."""
    ends = [0]
    while ends[-1] < len(data):
        ends.append(ends[-1] + int.from_bytes(data[ends[-1] + 56:ends[-1] + 64], 'little') // 8)
    return ends[1:]


def check_growing(tap, programs, directory, trace):
    """A file that grows while it is read: what was whole when it was opened is read, no more and no
    less. One that ends inside a packet, or is cut meanwhile, is an error that names the packet."""
    copy = shutil.copytree(trace, directory / 'growing')
    file = max(stream_files(copy), key=lambda path: path.stat().st_size)
    whole = file.read_bytes()
    ends = packet_ends(whole)
    full, before, wrong = dump(programs, copy).stdout.splitlines(), [], []
    for end in ends[:-1:len(ends) // 8]:
        file.write_bytes(whole[:end])
        result = dump(programs, copy)
        lines = result.stdout.splitlines()
        if result.returncode or len(lines) <= len(before) or not is_part(before, lines) or \
                not is_part(lines, full):
            wrong.append((end, result.returncode, result.stderr[:300]))
        before = lines
        file.write_bytes(whole[:end + 100])
        result = dump(programs, copy)
        if result.returncode != 1 or f'{file}: packet at byte {end}: ' not in result.stderr:
            wrong.append((end + 100, result.returncode, result.stderr[:300]))
    tap.check(len(before) > 100 and not wrong, f'a file of {len(ends)} packets, more and more of '
              'them: what is whole is read, what is not is an error', len(before), wrong[:3])
    for name, at_first, then, code, words in (
            ('grows', ends[-2], whole, 0, ''),
            ('grows by a piece of a packet', ends[-2], whole[:-40], 0, ''),
            ('is cut', len(whole), whole[:ends[0]], 1, str(file))):
        file.write_bytes(whole[:at_first])
        want = dump(programs, copy).stdout
        with subprocess.Popen([programs.ctf_dump, copy], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, bufsize=0,
                              env=programs.environment) as process:
            # It has opened the trace, and waits for somebody to read more than a pipe has room for.
            got = process.stdout.read(1)
            with open(file, 'r+b') as stream:
                stream.write(then)
                stream.truncate(len(then))
            rest, errors = process.communicate(timeout=recorded.TIMEOUT)
        got = (got + rest).decode()
        is_same = got == want if not code else is_part(got.splitlines(), want.splitlines())
        tap.check(process.returncode == code and is_same and words in errors.decode(),
                  f'a file that {name} while it is read', process.returncode, errors[:300],
                  len(got), len(want))
    shutil.rmtree(copy)


def is_part(lines, whole):
    """True if LINES are some of WHOLE, in the same order."""
    rest = iter(whole)
    return all(line in rest for line in lines)


def check_every_byte(tap, programs, directory, trace):
    """Each byte of a small trace changed, and each file cut at each byte: events and an end, or an error;
    never more time or memory than the trace is worth."""
    # Sanitized programs take longer, and terabytes of addresses.
    step, limits = (11, None) if 'LD_PRELOAD' in programs.environment else (1, limit_memory)
    variants = Variants(programs, directory, trace, limits)
    for file in (max(stream_files(trace), key=lambda path: path.stat().st_size),
                 next(trace.rglob('metadata'))):
        whole = file.read_bytes()
        for at in range(0, len(whole), step):
            changed = (whole[at] ^ 0xff, whole[at] ^ 1) if file.name != 'metadata' else \
                (whole[at] ^ 1,)
            for data in (*(whole[:at] + bytes([byte]) + whole[at + 1:] for byte in changed),
                         whole[:at]):
                variants.add(file, data, (file.name, at))
    variants.read()
    tap.check(variants.n > 800 and not variants.wrong,
              f'{variants.n} traces with a changed byte, or cut: no crash, and an end',
              variants.wrong[:3])


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def check_indexes(tap, programs, directory, trace):
    """Index files are not believed: without them, and with lies in them, the trace is the same."""
    want = dump(programs, trace)
    for name, change in (
            ('none', lambda path: path.unlink()),
            ('cut', lambda path: path.write_bytes(path.read_bytes()[:-40])),
            ('lies', lambda path: path.write_bytes(path.read_bytes()[:24] + b'\x7f' * 144))):
        copy = shutil.copytree(trace, directory / 'indexes')
        indexes = list(copy.rglob('*.idx'))
        for index in indexes:
            change(index)
        got = dump(programs, copy)
        tap.check(indexes and got.returncode == 0 and got.stdout == want.stdout,
                  f'index files: {name}', got.stderr[:300])
        shutil.rmtree(copy)


def check_empty(tap, programs, directory):
    for name, make, words in (
            ('no trace', lambda path: None, 'metadata'),
            ('empty metadata', lambda path: (path / 'metadata').touch(), 'empty'),
            ('metadata of something else',
             lambda path: (path / 'metadata').write_text('hello, world'), 'line 1')):
        path = directory / 'empty'
        path.mkdir()
        make(path)
        result = dump(programs, path)
        tap.check(result.returncode == 1 and words in result.stderr, f'{name}: an error',
                  result.returncode, result.stderr[:300])
        shutil.rmtree(path)


def run(tap, programs, directory, names):
    directory, (programs.ctf_dump,) = pathlib.Path(directory), names
    traces = recorded.unpack(directory, [name for name in recorded.USUAL if name != recorded.REFUSED])
    for name, trace in traces.items():
        check_equal(tap, programs, name, trace, directory / 'none')
    for entry in sorted(DATA.iterdir()):
        trace = unpack(entry / 'trace.tar.xz', directory / 'ctf' / entry.name)
        if entry.name == WITHOUT_PROCESS:
            tap.equal(dump(programs, trace).returncode, 0, f'{entry.name}: is read')
        else:
            check_equal(tap, programs, entry.name, trace, entry / 'dump.xz')
    check_damaged(tap, programs, directory, traces['generics'])
    check_damaged(tap, programs, directory, directory / 'ctf' / 'lttng216-n2')
    check_growing(tap, programs, directory, traces['lossy'])
    check_every_byte(tap, programs, directory, directory / 'ctf' / SMALL)
    check_indexes(tap, programs, directory, directory / 'ctf' / 'lttng216-n2')
    check_empty(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
