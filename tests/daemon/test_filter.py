# SPDX-License-Identifier: MIT
"""`clrsym resolve --filter`: replaces addresses by names, and leaves all other bytes as they
are."""

import os
import random
import re
import select
import subprocess
import sys
import time

from tests.daemon import ingest
from tests.traces import recorded

NS = 10**9
HIGH = 0x7ff36eaa1c70
TOP = 0x7ffffffffff0
LONG = 'Long' * 3000


def history():
    return [ingest.runtime_start(9 * NS),
            ingest.body(10 * NS, HIGH, 'High', signature='void  (int32)'),
            ingest.body(11 * NS, 0x12345678, 'Low'), ingest.body(12 * NS, 0x200, 'Lowest'),
            ingest.body(12 * NS + 1, 0x1000000000, 'Ten'), ingest.body(13 * NS, TOP, 'Last'),
            ingest.body(14 * NS, 0x50000000, 'Evil\x1b[31m'), ingest.body(15 * NS, 0x60000000, LONG),
            ingest.body(20 * NS, 0x9000, 'Old'), ingest.unload(21 * NS, 0x9000, 'Old'),
            ingest.body(22 * NS, 0x9000, 'New', size=32), ingest.unload(24 * NS, 0x9000, 'New', size=32)]


CASES = [
    # input, output
    (b'', b''),
    (b'0x7ff36eaa1c70', b'N.T.High(int)+0x0'),
    (b'at 7ff36eaa1c74\n', b'at N.T.High(int)+0x4\n'),
    (b'(0x7FF36EAA1C7F)', b'(N.T.High(int)+0xf)'),
    (b'0X7ff36eaa1c70 00007ff36eaa1c70 0x00007ff36eaa1c71',
     b'N.T.High(int)+0x0 N.T.High(int)+0x0 N.T.High(int)+0x1'),
    (b'7ff36eaa1c80 7ff36eaa1c6f 0x7ff36eaa1c80', b'7ff36eaa1c80 7ff36eaa1c6f 0x7ff36eaa1c80'),
    (b'12345678', b'N.T.Low()+0x0'),
    (b'1234567', b'1234567'),
    (b'0x200 200 00000200', b'N.T.Lowest()+0x0 200 N.T.Lowest()+0x0'),
    (b'0x 0x0x200 0x200x 0xg x200', b'0x 0x0x200 0x200x 0xg x200'),
    (b'x12345678 12345678x _12345678 12345678_ 12345678', b'x12345678 12345678x _12345678 '
     b'12345678_ N.T.Low()+0x0'),
    (b'\xc3\xa912345678 12345678\xc3\xa9', b'\xc3\xa912345678 12345678\xc3\xa9'),
    (b'7ff36eaa1c70-7ff36eaa1c80,+12345678.', b'N.T.High(int)+0x0-7ff36eaa1c80,+N.T.Low()+0x0.'),
    (b'7ffffffffff1 0x7fffffffffff', b'N.T.Last()+0x1 N.T.Last()+0xf'),
    (b'ffffffffffffffff 0xffffffffffffffff', b'ffffffffffffffff 0xffffffffffffffff'),
    (b'0000000012345678 00000000012345678 0x00000000012345678',
     b'N.T.Low()+0x0 00000000012345678 0x00000000012345678'),
    (b'12345678\r\n\t12345678\0' + b'12345678', b'N.T.Low()+0x0\r\n\tN.T.Low()+0x0\0N.T.Low()+0x0'),
    (b'0x50000000', b'N.T.``Evil\\u{1b}[31m``()+0x0'),
    (b'0x60000004', f'N.T.{LONG}()+0x4'.encode()),
    (b'a' * 300000 + b' 12345678', b'a' * 300000 + b' N.T.Low()+0x0'),
    (b'1' * 300000, b'1' * 300000),
    # Two unloaded bodies: the filter gives no name.
    (b'0x9000', b'0x9000'),
    # One unloaded body: the filter assumes this body.
    (b'0x9010', b'N.T.New()+0x10~'),
]


class Filter:
    def __init__(self, programs, daemon):
        self.command = [programs.clrsym, 'resolve', '--filter', '--socket', str(daemon.query)]
        self.environment = programs.environment

    def run(self, data, *options):
        done = subprocess.run([*self.command, *options], input=data, capture_output=True,
                              check=False, timeout=120, env=self.environment)
        return done.stdout if done.returncode == 0 and not done.stderr else done

    def start(self, *options):
        return subprocess.Popen([*self.command, *options], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, bufsize=0, env=self.environment)


def check_cases(tap, filter_):
    for data, want in CASES:
        got = filter_.run(data, '-p', '100')
        tap.equal(got if len(want) < 1000 else got == want, want if len(want) < 1000 else True,
                  f'{data[:60]!r}')
    everything = b'\n'.join(data for data, _ in CASES)
    want = b'\n'.join(out for _, out in CASES)
    tap.check(filter_.run(everything, '-p', '100') == want, 'all of it in one go')
    for time, want in (('20.5', b'N.T.Old()+0x0'), ('21.5', b'0x9000'), ('22', b'0x9000'),
                       ('23.0', b'N.T.New()+0x0'), ('99.0', b'0x9000')):
        tap.equal(filter_.run(b'0x9000', '-p', '100', '-t', time), want, f'0x9000 at {time}')
    tap.equal(filter_.run(b'0x9004 12345678\n', '-p', '0:100', '-t', '23.0'),
              b'N.T.New()+0x4 N.T.Low()+0x0\n', 'with a pid namespace')
    tap.equal(filter_.run(b'0x12345678\n', '-p', '7'), b'0x12345678\n', 'of an unknown process')
    tap.equal(filter_.run(b'0x12345678\n'), b'N.T.Low()+0x0\n',
              'without a PID, of the one process that there is')


def named(data):
    """Returns the expected output for DATA, computed differently; only for addresses of the body
    Low."""
    def name(match):
        word = match[0]
        digits = word[2:] if word[:2] in (b'0x', b'0X') else word if len(word) >= 8 else b''
        if not re.fullmatch(rb'[0-9a-fA-F]{1,16}', digits):
            return word
        offset = int(digits, 16) - 0x12345678
        return b'N.T.Low()+0x%x' % offset if 0 <= offset < 16 else word
    return re.sub(rb'[0-9A-Za-z_\x80-\xff]+', name, data)


def check_garbage(tap, filter_):
    """Megabytes of random bytes, with addresses at random places."""
    generator = random.Random(20)
    for seed, alphabet in ((1, bytes(range(256))), (2, b' \n'), (3, b'0123456789abcdefx \n'),
                           (4, bytes(range(128, 256)) + b' ')):
        generator.seed(seed)
        parts = []
        for _ in range(20000):
            parts.append(bytes(generator.choices(alphabet, k=generator.randrange(200))))
            parts.append(b'%s%s%x%s' % (generator.choice([b'', b' ', b'(']),
                                        generator.choice([b'', b'0x']),
                                        0x12345678 + generator.randrange(-4, 20),
                                        generator.choice([b'', b' ', b'\0', b'\n'])))
        data = b''.join(parts)
        want = named(data)
        got = filter_.run(data, '-p', '100')
        tap.check(got == want and want.count(b'N.T.Low') > 500,
                  f'{len(data)} bytes with {want.count(b"N.T.Low")} names',
                  len(got) if isinstance(got, bytes) else got)


def read_some(stream, seconds):
    data = b''
    while select.select([stream], [], [], seconds)[0]:
        piece = os.read(stream.fileno(), 65536)
        data += piece
        if not piece or data.endswith(b'\n'):
            break
    return data


def check_interactive(tap, filter_):
    """Complete words are named at once; the filter waits for the rest of half a word."""
    with filter_.start('-p', '100') as program:
        for data, want in ((b'one 12345678 two\n', b'one N.T.Low()+0x0 two\n'),
                           (b'again 0x200\n', b'again N.T.Lowest()+0x0\n')):
            program.stdin.write(data)
            tap.equal(read_some(program.stdout, 20), want, f'a line: {data!r}')
        program.stdin.write(b'prompt> 1234')
        tap.equal(read_some(program.stdout, 0.5), b'prompt> ', 'a line that has not ended')
        program.stdin.write(b'5678')
        tap.equal(read_some(program.stdout, 0.2), b'', 'nor has its last word')
        program.stdin.write(b'\n')
        tap.equal(read_some(program.stdout, 20), b'N.T.Low()+0x0\n', 'now it has')
        program.stdin.write(b'x' * 40)
        tap.equal(read_some(program.stdout, 0.5), b'x' * 40, 'a word that is too long for one')
        program.stdin.write(b'x 12345679')
        program.stdin.close()
        tap.equal(program.stdout.read(), b'x N.T.Low()+0x1', 'the last word ends with the input')
        tap.equal(program.wait(20), 0, 'exit 0')


def check_several(tap, programs, filter_, feeder):
    feeder.send(ingest.runtime_start(40 * NS, pid=200), ingest.progress(50 * NS), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    done = filter_.run(b'0x12345678')
    tap.check(not isinstance(done, bytes) and done.returncode == 1 and not done.stdout and
              b'give --pid' in done.stderr and done.stderr.count(b'\n') == 1,
              'of several processes one must be named', done)
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([*filter_.command, '-p', '100'], input=b'text\n' * 50000, stdout=full,
                              stderr=subprocess.PIPE, check=False, timeout=60,
                              env=programs.environment)
    tap.check(done.returncode == 1 and b'No space left' in done.stderr, 'on a full disk', done)


# Prints addresses of functions of the C library, and an address that is not code.
NATIVE = '''
import ctypes, sys
names = ['qsort', 'printf', 'strtoul']
for name in names:
    print(hex(ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value))
print(hex(ctypes.addressof(ctypes.create_string_buffer(8))), flush=True)
sys.stdin.read()
'''
# Formats of a stack in bpftrace: the default mode, and perf mode.
STACKS = (b'@[\n    %s\n    %s\n    main+12\n]: 7\n', b'@[\n\t%s %s ([unknown])\n]: 7\n')


def check_native(tap, filter_, feeder):
    """Native code of a running process: native symbols replace addresses without a managed body."""
    with subprocess.Popen([sys.executable, '-c', NATIVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        lines = [process.stdout.readline().strip() for _ in range(4)]
        *functions, nothing = [int(line, 16) for line in lines]
        pid = str(process.pid)
        now = '--wait=0'
        for number, want in zip(functions, (b'qsort', b'printf', b'strtoul')):
            got = filter_.run(b'%x %#x\n' % (number, number + 1), now, '-p', pid)
            tap.check(isinstance(got, bytes) and re.fullmatch(rb'(\w*%s\w*)\+0x0 \1\+0x1\n' % want, got),
                      f'native code: {want.decode()}', got)
        qsort = filter_.run(b'0x%x' % functions[0], now, '-p', pid)
        tap.equal(filter_.run(b'%#x' % nothing, now, '-p', pid), b'%#x' % nothing, 'what is no code is copied')
        pid_ns = os.stat('/proc/self/ns/pid').st_ino
        jitted = 0x7ff000000000
        feeder.send(ingest.body(time.monotonic_ns(), jitted, 'Jitted', pid=process.pid, pid_ns=pid_ns), ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        for stack in STACKS:
            got = filter_.run(stack % (b'%#x' % (jitted + 2), b'%#x' % functions[0]), now, '-p', f'{pid_ns}:{pid}')
            tap.equal(got, stack % (b'N.T.Jitted()+0x2', qsort), 'a stack of both, as bpftrace prints it')
        tap.equal(filter_.run(b'%#x' % functions[0], now, '-p', pid, '-t', 'now'), b'%#x' % functions[0],
                  'native code has no names at a time')
        with filter_.start(now, '-p', pid) as program:
            program.stdin.write(b'%x\n' % functions[0])
            tap.equal(read_some(program.stdout, 20), qsort + b'\n', 'while the process runs')
            process.stdin.close()
            process.wait(20)
            program.stdin.write(b'%x\n' % functions[0])
            tap.equal(read_some(program.stdout, 20), qsort + b'\n', 'and after its end what was mapped last')
            program.stdin.close()
            tap.equal(program.wait(20), 0, 'exit 0')
        tap.equal(filter_.run(b'%#x' % functions[0], now, '-p', pid), b'%#x' % functions[0], 'a process that has ended')


def run(tap, programs, directory, _):
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), *history(), ingest.progress(30 * NS),
                    ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        filter_ = Filter(programs, daemon)
        check_cases(tap, filter_)
        check_garbage(tap, filter_)
        check_interactive(tap, filter_)
        check_several(tap, programs, filter_, feeder)
        check_native(tap, filter_, feeder)
        feeder.close()
    tap.equal(daemon.status, 0, 'the daemon ends with exit 0')


if __name__ == '__main__':
    recorded.main(run)
