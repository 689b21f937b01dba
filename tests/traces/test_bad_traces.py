# SPDX-License-Identifier: MIT
"""A file that is not a trace, a trace without .NET, a damaged trace: exit status 1, and one line with the reason."""

import os
import pathlib
import resource
import shutil
import signal
import struct

from tests.traces import recorded

NOBODY = 65534
CTF_MAGIC = 0xc1fc1fc1
METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; byte_order = le;
    uuid = "5a1e4c66-8f0e-4e53-9d7b-2f1c3a4b5d6e";
    packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
clock { name = "monotonic"; freq = 1000000000; offset = 0; };
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := timestamp_t;
stream {
    id = 0;
    event.header := struct { uint32_t id; timestamp_t timestamp; };
    event.context := struct {
        integer { size = 32; align = 8; signed = true; } _vpid;
        integer { size = 32; align = 8; signed = true; } _vtid;
    };
    packet.context := struct {
        uint64_t content_size; uint64_t packet_size;
        timestamp_t timestamp_begin; timestamp_t timestamp_end;
    };
};
event { id = 0; stream_id = 0; name = "shop:sale"; fields := struct { uint32_t _amount; }; };
'''


def forge(directory, n_events=3):
    """A valid CTF trace of a program without .NET."""
    os.makedirs(directory)
    (directory / 'metadata').write_text(METADATA, encoding='ascii')
    events = b''.join(struct.pack('<IQiiI', 0, 1000 + i, 4711, 4711, i) for i in range(n_events))
    header = struct.pack('<I16sI', CTF_MAGIC,
                         bytes.fromhex('5a1e4c668f0e4e539d7b2f1c3a4b5d6e'), 0)
    size = 8 * (len(header) + 32 + len(events))
    context = struct.pack('<QQQQ', size, size, 1000, 1000 + n_events)
    (directory / 'stream').write_bytes(header + context + events)
    return directory


def forge_length(directory, n_elements):
    """A trace of one event, with an array whose length is N_ELEMENTS."""
    forge(directory, 1)
    metadata, stream = directory / 'metadata', directory / 'stream'
    metadata.write_text(METADATA.replace('struct { uint32_t _amount; }',
                                         'struct { uint32_t _n; uint8_t _items[_n]; }'),
                        encoding='ascii')
    data = bytearray(stream.read_bytes())
    data[-4:] = struct.pack('<I', n_elements)
    size = 8 * (len(data) + n_elements)
    data[24:40] = struct.pack('<QQ', size, size)
    stream.write_bytes(data)
    os.truncate(stream, size // 8)  # a hole
    return directory


def check_length(tap, programs, directory):
    """A forged length in a trace costs no memory."""
    trace = forge_length(pathlib.Path(directory) / 'length', 300_000_000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = programs.run([programs.clrsym, 'ps', '--trace', trace])
    check_clear(tap, done, 'a forged length', str(trace))
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    tap.check(before < largest * 2 and largest < 300_000,
              f'a forged length: {largest // 1024} MiB in the largest process', done.stderr)


def check_clear(tap, done, name, *words):
    """One line names the problem; no crash, no answer."""
    missing = [word for word in words if word not in done.stderr]
    tap.check(done.returncode == 1 and not missing and not done.stdout and
              done.stderr.startswith('clrsym: ') and done.stderr.count('\n') == 1 and
              done.stderr.endswith('\n'), name, f'exit {done.returncode}, lacks {missing}',
              done.stderr, done.stdout)


def check_all_verbs(tap, programs, trace, name, *words, **options):
    for verb, text in (('resolve', '1 1000\n'), ('methods', None), ('ps', None)):
        done = programs.run([programs.clrsym, verb, '--trace', trace], text=text, **options)
        check_clear(tap, done, f'clrsym {verb}: {name}', *words)


def check_babeltrace(tap, programs, trace, name, directory):
    """The sinks alone: babeltrace2 fails without a crash, except for crashes that babeltrace2 2.1 has with any
    sink."""
    alone = programs.babeltrace(trace, '-c', 'sink.utils.dummy').returncode
    want = 1 if name != 'metadata: empty' or alone != -signal.SIGABRT else alone
    done = programs.dump(trace, os.path.join(directory, 'dump'))
    tap.check(done.returncode == want and done.stderr, f'dump: {name}', done.returncode, done.stderr)
    with recorded.Daemon(programs, directory) as daemon:
        done = programs.feed(trace, daemon.ingest)
        tap.check(done.returncode == want and done.stderr, f'feed: {name}', done.returncode,
                  done.stderr)
        tap.equal(daemon.process.poll(), None, f'feed: {name}: the daemon lives')


def check_truncated(tap, programs, trace, directory):
    """A truncated stream file: the remaining part is not used."""
    for share in (0.999, 0.6, 0.01):
        copy = pathlib.Path(directory) / f'cut-{share}'
        shutil.copytree(trace, copy)
        stream, = copy.rglob('ch_0')
        os.truncate(stream, int(stream.stat().st_size * share))
        name = f'a stream file cut to {share:.1%}'
        check_all_verbs(tap, programs, copy, name, str(copy))
        check_babeltrace(tap, programs, copy, name, directory)


def check_garbage(tap, programs, trace, directory):
    for name, content in (('empty', b''), ('garbage', bytes(range(256)) * 64),
                          ('text that is not TSDL', b'/* CTF 1.8 */\nthis is not it\n')):
        copy = pathlib.Path(directory) / f'metadata-{name[:4]}'
        shutil.copytree(trace, copy)
        metadata, = copy.rglob('metadata')
        metadata.write_bytes(content)
        check_all_verbs(tap, programs, copy, f'metadata: {name}', str(copy))
        check_babeltrace(tap, programs, copy, f'metadata: {name}', directory)


def check_unreadable(tap, programs, trace, directory):
    """A directory of another user. Only root can test that, because it needs another user."""
    os.chmod(trace, 0o700)
    command = [programs.clrsym, 'methods', '--trace', trace]
    if os.getuid() != 0 or not shutil.which('setpriv'):
        tap.skip('a directory that may not be read', 'needs root and setpriv')
        return
    nobody = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    # The user nobody may not read every home: copy the programs to a readable place.
    if programs.run([*nobody, programs.clrsym, '--version']).returncode != 0:
        tap.skip('a directory that may not be read', 'the build is not for others to run')
        return
    done = programs.run([*nobody, *command], cwd='/')
    check_clear(tap, done, 'a directory that may not be read', str(trace), 'ermission denied')


def run(tap, programs, directory, names):
    # With sanitizers: leaks of babeltrace2 after a refusal are recognised by whole stacks, which are slow to walk.
    if 'ASAN_OPTIONS' in programs.environment:
        programs.environment['ASAN_OPTIONS'] += ':fast_unwind_on_malloc=0'
    trace = recorded.unpack(directory, ['tiered'])['tiered']
    root = pathlib.Path(directory)
    empty = root / 'empty'
    empty.mkdir()
    plain = root / 'plain-file'
    plain.write_text('text\n', encoding='ascii')
    check_all_verbs(tap, programs, root / 'missing', 'a missing directory', str(root / 'missing'),
                    'o such file or directory')
    check_all_verbs(tap, programs, empty, 'an empty directory', str(empty))
    check_all_verbs(tap, programs, plain, 'a plain file', str(plain))
    check_truncated(tap, programs, trace, directory)
    check_garbage(tap, programs, trace, directory)
    for n_events in (3, 0):
        name = f'a trace with {n_events} events of something else'
        forged = forge(root / f'forged-{n_events}', n_events)
        counted = programs.babeltrace(forged, '-c', 'sink.utils.counter', '-p', 'step=+0')
        tap.check(counted.returncode == 0 and f' {n_events} Event messages' in counted.stdout,
                  f'babeltrace2 reads {name}', counted.stderr)
        check_all_verbs(tap, programs, forged, name, str(forged), 'clrsym session start')
    check_unreadable(tap, programs, trace, directory)
    # A sanitizer needs memory of its own.
    if 'ASAN_OPTIONS' not in programs.environment:
        check_length(tap, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
