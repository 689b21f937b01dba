# SPDX-License-Identifier: MIT
"""clrsym on a terminal: tables with the terminal's width, and a progress bar while a trace is
read."""

import contextlib
import fcntl
import json
import lzma
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import termios
import time
import unicodedata
import zlib

from tests.daemon import ingest, traceserver
from tests.traces import recorded

NS = 10**9
# Bytes of a .clrsym file before its first record, and the type of a text record.
HEADER, TEXT = 63, 2
MODULE = 0x77000
WIDE = '日本語' * 20
NARROW = 'Generic`2[' + 'System.Collections.' * 8 + 'X]'


def history():
    return [ingest.runtime_start(9 * NS),
            ingest.module_load(9 * NS + 1, MODULE, '/x/A.Module.With.A.Rather.Long.File.Name.dll'),
            ingest.body(10 * NS, 0x1000, 'Short', module=MODULE),
            ingest.body(11 * NS, 0x2000, WIDE), ingest.body(12 * NS, 0x3000, NARROW),
            ingest.body(13 * NS, 0x7ff36eaa1c70, 'e\u0301' * 60, tier=7, module=MODULE)]


class Terminal:
    """Runs programs on a pseudo-terminal."""

    def __init__(self, programs):
        self.programs = programs

    def run(self, arguments, columns, stream='stdout', environment=None, program=None):
        """Returns the status, the output without carriage returns, and the rest."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('4H', 24, columns, 0, 0))
        streams = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, stream: slave}
        with subprocess.Popen([program or self.programs.clrsym, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=streams['stdout'], stderr=streams['stderr'],
                              env=environment or self.programs.environment) as running:
            os.close(slave)
            data = b''
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                data += piece
            rest = running.stdout.read() if stream == 'stderr' else running.stderr.read()
            running.wait(60)
        os.close(master)
        return data.decode().replace('\r\n', '\n'), rest.decode(), running.returncode


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in text)


def check_widths(tap, terminal, programs, daemon):
    command = ['methods', '-p', '100', '--socket', daemon.query]
    whole = programs.run([programs.clrsym, *command]).stdout.splitlines()
    tap.check(max(map(width, whole)) > 150 and not any('...' in line for line in whole) and
              whole[0].split()[-1] == 'METHOD', 'not on a terminal nothing is cut', *whole)
    seen = set()
    for columns in (400, 200, 160, 132, 120, 100, 80, 60, 40, 24):
        text, said, status = terminal.run(command, columns)
        lines = text.splitlines()
        headings = lines[0].split()
        seen.add(len(headings))
        tap.check(status == 0 and not said and len(lines) == len(whole) and
                  all(width(line) <= columns for line in lines) and
                  headings[0] == 'ADDR' and headings[-1] == 'METHOD' and
                  [line.split()[0] for line in lines] == [line.split()[0] for line in whole],
                  f'{columns} columns: {len(headings)} of the table fit', said, *lines)
        if 60 <= columns <= 200:
            tap.check(lines[1].endswith('N.T.Short()') and lines[3].endswith('...'),
                      'and only what is too long is cut', *lines)
    tap.check(len(seen) > 4, 'the narrower, the fewer', seen)
    text, _, _ = terminal.run(command, 400)
    tap.check('A.Module.With.A.Rather.Lo...' in text, 'a long module leaves room for the method', text)
    text, _, _ = terminal.run([*command, '--sort', 'jit'], 60)
    tap.check('JIT-MS' in text, 'what is sorted by is shown', text)
    text, _, _ = terminal.run(command, 0)
    tap.check(all(width(line) <= 80 for line in text.splitlines()), 'a terminal without a width',
              text)
    json_text, _, _ = terminal.run([*command, '--json'], 60)
    tap.check(json_text.splitlines() == programs.run([programs.clrsym, *command, '--json'])
              .stdout.splitlines(), 'JSON is never cut')
    for verb in (['ps'], ['modules'], ['jit'], ['history', '0x3000']):
        text, said, status = terminal.run([*verb, '--socket', daemon.query], 60)
        lines = [line for line in text.splitlines() if not line.startswith('Inlining, tail')]
        tap.check(status == 0 and all(width(line) <= 60 for line in lines), f'{verb[0]} in 60 columns',
                  said, text)


# Reading that is faster has no bar.
BAR_AFTER_S = 0.5
# The program is stopped most of the time, so that the bar appears on any machine.
SLOW = """#!/bin/sh
(while kill -STOP $$; do sleep 0.15; kill -CONT $$; sleep {awake}; done) >/dev/null 2>&1 &
exec {program} "$@"
"""


def check_hints(tap, terminal, programs, daemon):
    """The reason for an empty table follows for people; not in JSON, and not in a file."""
    for arguments, want in (
            (('methods', 'Short'), 'Short: no name matches: a pattern is for the whole name, and * stands for any text'),
            (('versions', 'Short'), 'Short: no code of such a method: a METHOD is Namespace.Type.Method, as clrsym '
                                    'methods lists it'),
            (('history', '0x10'), '0x10: no code is known to have been there: clrsym resolve says why')):
        command = [*arguments, '--socket', daemon.query]
        text, table, status = terminal.run(command, 200, stream='stderr')
        tap.equal((text, table.count('\n'), status), (f'clrsym: {want}\n', 1, 0), f'{arguments[0]} finds nothing')
        tap.equal(terminal.run([*command, '--json'], 200, stream='stderr'), ('', '', 0), 'JSON has no hint')
        tap.equal(programs.run([programs.clrsym, *command]).stderr, '', 'nor has a file')
    text, table, _ = terminal.run(['history', '0x10', '0x1000', '--socket', daemon.query], 200, stream='stderr')
    tap.check(text.startswith('clrsym: 0x10: ') and text.count('\n') == 1 and table.count('\n') == 2,
              'history: one of two has nothing', text, table)


def check_errors(tap, programs, directory):
    """An error message can contain names from other users."""
    hostile = pathlib.Path(directory) / 'a\x1b[31m\u202ename'
    hostile.write_bytes(b'neither')
    for arguments in (('ps', '--trace', hostile), ('perf', '-i', hostile), ('perf', '--diff', hostile, hostile, '-o', 'x.svg'),
                      ('ps', '--socket', hostile)):
        done = programs.run([programs.clrsym, *arguments])
        tap.check(done.returncode == 1 and '\x1b' not in done.stderr and '\u202e' not in done.stderr and
                  'a\\u{1b}[31m\\u{202e}name' in done.stderr, f'{arguments[0]} {arguments[1]}: a printable reason',
                  done.returncode, done.stderr)


def check_json(tap, terminal, programs, directory):
    """In JSON on a terminal, control characters are escaped, with the same meaning."""
    name = 'a\u009b31m\u202eb\u2066c\u061cd\u00e9\u6f22'
    with recorded.Daemon(programs, directory) as daemon, \
            contextlib.closing(ingest.Feeder(daemon.ingest)) as feeder:
        feeder.send(ingest.hello(), ingest.stream_open(), ingest.load(10, 0x1000, name),
                    ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        for arguments in (('methods', '--json', '--all'), ('resolve', '--json', '-p', '100', '0x1000')):
            text, _, status = terminal.run([*arguments, *daemon.source], 200)
            raw = [character for character in '\u009b\u202e\u2066\u061c' if character in text]
            tap.check(status == 0 and not raw and '\u6f22' in text and
                      json.loads(text)['method']['name'] == name,
                      f'{arguments[0]} --json: what a terminal obeys is escaped there', status, text)
            text = programs.run([programs.clrsym, *arguments, *daemon.source]).stdout
            tap.check(name in text, f'{arguments[0]} --json: and is not in a file', text)


def check_inputs(tap, programs, directory):
    """Inputs other than files are refused at once; the command does not wait for the writer of a
    FIFO."""
    fifo = pathlib.Path(directory) / 'fifo'
    os.mkfifo(fifo)
    for arguments in (('perf', '-i', fifo), ('perf', '--diff', fifo, fifo, '-o', 'x.svg'), ('feed', fifo),
                      ('ps', '--trace', fifo), ('save', '--trace', fifo, '-o', 'x'), ('dump', fifo)):
        done = programs.run([programs.clrsym, *arguments], timeout=30)
        tap.check(done.returncode == 1 and str(fifo) in done.stderr and 'not a' in done.stderr,
                  f'{arguments[0]} {arguments[1]}: a FIFO is refused', done.returncode, done.stderr)
    done = programs.run([programs.clrsym, 'record', '-a', '--every', '1s', '--push', 'http://127.0.0.1:9'],
                        env={**programs.environment, 'CLRSYM_PUSH_TOKEN': 'a\r\nX-Scope-OrgID: b'}, timeout=60)
    tap.check(done.returncode == 1 and 'CLRSYM_PUSH_TOKEN has a character' in done.stderr,
              'a token with the end of a line is refused', done.returncode, done.stderr)


def check_saved(tap, programs, directory):
    """A small file that unpacks to gigabytes is refused before it uses the memory."""
    path = pathlib.Path(directory) / 'zeros.clrsym'
    begin = (pathlib.Path(__file__).resolve().parents[1] / 'fuzz/corpus/saved-profile/whole').read_bytes()
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    frame = struct.pack('<II', TEXT, 1 << 16) + bytes(1 << 16)
    with open(path, 'wb') as file:
        file.write(packer.compress(begin[:HEADER]))
        for _ in range(48000):
            file.write(packer.compress(frame))
        file.write(packer.flush())
    # A sanitizer needs much more address space.
    limit = [] if 'LD_PRELOAD' in os.environ else ['prlimit', f'--as={2 << 30}']
    done = programs.run([*limit, programs.clrsym, 'perf', '-i', path, '-o',
                         pathlib.Path(directory) / 'x.svg'], timeout=120)
    tap.check(done.returncode == 1 and 'is damaged' in done.stderr, 'a .clrsym file of zeros is refused',
              done.returncode, done.stderr)


def check_bar(tap, terminal, programs, directory):
    """If reading takes time, the bar appears, grows, fits, and vanishes."""
    trace = traceserver.forge(pathlib.Path(directory) / 'a \x1b big trace', 80, 60000)
    slow = pathlib.Path(directory) / 'slow'
    slow.write_text(SLOW.format(awake=0.002, program=programs.clrsymd), encoding='utf-8')
    slow.chmod(0o755)
    environment = {**programs.environment, 'CLRSYM_DAEMON': str(slow)}
    command = ['ps', '--trace', trace]
    text, rest, status = terminal.run(command, 70, 'stderr', environment)
    bar, _, after = text.rpartition('\r\x1b[K')
    steps = re.findall(r'\rReading ([^\[]*) \[(#*)( *)\] +(\d+)% of ([^\r\x1b]*)\x1b\[K', bar)
    tap.check(status == 1 and not rest and after.startswith('clrsym: ') and after.count('\n') == 1 and
              'not one event of the .NET runtime' in after, 'what went wrong comes after the bar',
              repr(text[-300:]))
    percents = [int(step[3]) for step in steps]
    tap.check(len(steps) >= 2 and percents == sorted(percents) and percents[-1] > percents[0] and
              all(abs(len(step[1]) / (len(step[1]) + len(step[2])) - int(step[3]) / 100) < 0.06
                  for step in steps) and
              ''.join(f'\rReading {s[0]} [{s[1]}{s[2]}] {int(s[3]):3}% of {s[4]}\x1b[K'
                      for s in steps) == bar, f'a bar that grows: {percents}', repr(bar[:300]))
    tap.check(all(len(line) < 70 for line in re.split(r'\r|\x1b\[K', bar)) and
              {step[0] for step in steps} == {'a \\u{1b} big trace'}, 'that fits, and is printable',
              repr(bar[:200]))
    done = programs.run([programs.clrsym, *command])
    tap.check('\r' not in done.stderr and '\x1b' not in done.stderr and done.stderr.count('\n') == 1,
              'without a terminal there is none', done.stderr)
    small = recorded.unpack(directory, ['hello'])['hello']
    for _ in range(5):
        begin = time.monotonic()
        text, rest, status = terminal.run(['ps', '--trace', small], 70, 'stderr')
        is_soon = time.monotonic() - begin < BAR_AFTER_S
        if is_soon:
            break
    tap.check(status == 0 and not (is_soon and text) and rest.lstrip().startswith('PID'),
              'nor for a trace that is soon read', repr(text), rest)


def check_named_bar(tap, terminal, programs, directory):
    """A bar covers both readings of a .nettrace file whose events the daemon has."""
    data = pathlib.Path(__file__).resolve().parents[1] / 'nettrace/data/events/trace.nettrace.xz'
    recording = pathlib.Path(directory) / 'events.nettrace'
    recording.write_bytes(lzma.open(data).read())
    slow = pathlib.Path(directory) / 'slow-report'
    slow.write_text(SLOW.format(awake=0.005, program=programs.clrsym), encoding='utf-8')
    slow.chmod(0o755)
    page = pathlib.Path(directory) / 'events.html'
    command = ['report', recording, '--event', 'alloc', '-o', page]
    with recorded.Daemon(programs, directory) as daemon:
        text, rest, status = terminal.run([*command, *daemon.source], 70, 'stderr', program=slow)
    percents = [int(part) for part in re.findall(r'\rReading events\.nettrace \[#* *\] +(\d+)% of \d+\.\d\skB\x1b\[K', text)]
    _, _, after = text.rpartition('\r\x1b[K')
    # The second reading, which names the samples, is the second half of the bar.
    tap.check(status == 0 and not rest and percents and percents == sorted(percents) and percents[-1] > 50 and
              'Reading' not in after and after.endswith(f'clrsym: the flame graph is in {page}\n'),
              f'a .nettrace file: a bar that grows: {percents}', repr(text[-300:]))


def check_pager(tap, programs, directory, feeder, daemon):
    """A slow pager does not keep the daemon waiting, which would disconnect."""
    feeder.send(*[ingest.body(100 * NS + i, 0x100000 + 32 * i, f'Many{i}') for i in range(20000)],
                ingest.progress(200 * NS), ingest.commit())
    feeder.receive_until(ingest.COMMITTED)
    command = [programs.clrsym, 'methods', '--json', '--socket', str(daemon.query)]
    want = programs.run(command).stdout
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=programs.environment) as program:
        time.sleep(8)
        got = program.stdout.read().decode()
        said = program.stderr.read().decode()
    tap.check(got == want and program.returncode == 0 and len(want) > 5 << 20,
              f'{len(want)} bytes, of which none was read for 8 s', len(got), said)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=programs.environment) as program:
        program.stdout.read(100)
        program.stdout.close()
        said = program.stderr.read()
    tap.check(program.returncode in (1, -signal.SIGPIPE) and not said, 'and one who goes away',
              program.returncode, said)


def run(tap, programs, directory, _):
    terminal = Terminal(programs)
    with recorded.Daemon(programs, directory) as daemon:
        feeder = ingest.Feeder(daemon.ingest)
        feeder.send(ingest.hello(), ingest.stream_open(), *history(), ingest.progress(30 * NS),
                    ingest.commit())
        feeder.receive_until(ingest.COMMITTED)
        check_widths(tap, terminal, programs, daemon)
        check_hints(tap, terminal, programs, daemon)
        check_errors(tap, programs, directory)
        check_pager(tap, programs, directory, feeder, daemon)
        feeder.close()
    tap.equal(daemon.status, 0, 'the daemon ends with exit 0')
    check_json(tap, terminal, programs, directory)
    check_inputs(tap, programs, directory)
    check_saved(tap, programs, directory)
    check_bar(tap, terminal, programs, directory)
    check_named_bar(tap, terminal, programs, directory)


if __name__ == '__main__':
    recorded.main(run)
