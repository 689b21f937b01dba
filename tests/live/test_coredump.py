# SPDX-License-Identifier: MIT
"""clrsym-coredump: the entry of systemd-coredump of a .NET program, in a journal file that systemd's own tools wrote and
read, becomes a second entry with the named stacks."""

import lzma
import os
import pathlib
import re
import socket
import struct
import subprocess
import time

from tests.live import live, runtimes, test_record, test_stack
from tests.traces import recorded

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / 'systemd/clrsym-coredump'
WRITER = pathlib.Path('/lib/systemd/systemd-journal-remote')
INSTALLED = pathlib.Path('/usr/bin/coredumpctl')
CRASH = 'fc2e22bc6ee647b6b90729ab34a250b1'
INVOCATION = '0123456789abcdef0123456789abcdef'
FEW = 3
RUNTIME = re.compile('libcoreclr|doublemapper')
# Of /proc/PID/maps, systemd 252 has the first page, in which no library is.
N_MAPS = 4074
NT_FILE, PT_NOTE, ET_CORE, EM_X86_64 = 0x46494c45, 4, 4, 62


def coredumpctl(directory):
    """systemd's own; None: it is not to be had. Its package would change how all programs of the machine crash
    (kernel.core_pattern, fs.suid_dumpable), so that it is not installed, but unpacked."""
    if INSTALLED.exists():
        return INSTALLED
    subprocess.run(['apt-get', 'download', '-q', 'systemd-coredump'], cwd=directory, check=False, capture_output=True)
    for package in directory.glob('systemd-coredump_*.deb'):
        live.run('dpkg-deb', '-x', package, directory / 'systemd-coredump')
        return directory / 'systemd-coredump/usr/bin/coredumpctl'
    return None


def native_core(path):
    """A core file whose only mapped file is /bin/sleep."""
    files = struct.pack('<QQQQQ', 1, 4096, 0x400000, 0x401000, 0) + b'/bin/sleep\0'
    note = struct.pack('<III', 5, len(files), NT_FILE) + b'CORE\0\0\0\0' + files
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', ET_CORE, EM_X86_64, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    path.write_bytes(header + struct.pack('<IIQQQQQQ', PT_NOTE, 0, 120, 0, 0, len(note), 0, 4) + note)
    return path


def packed(path):
    to = path.with_suffix('.xz')
    to.write_bytes(lzma.compress(path.read_bytes(), preset=0))
    return to


def write_journal(path, fields):
    """A journal file with one entry, as systemd's export format has it."""
    boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip().replace('-', '')
    text = f'__REALTIME_TIMESTAMP={time.time_ns() // 1000}\n__MONOTONIC_TIMESTAMP={time.monotonic_ns() // 1000}\n_BOOT_ID={boot}\n'.encode()
    for name, value in fields.items():
        data = value.encode()
        text += name.encode() + b'\n' + struct.pack('<Q', len(data)) + data + b'\n'
    subprocess.run([WRITER, '-o', path, '-'], input=text + b'\n', check=True, capture_output=True)


def read_message(data):
    """The fields of a message to journald."""
    fields = {}
    while data:
        name, _, rest = data.partition(b'\n')
        length = struct.unpack_from('<Q', rest)[0]
        fields[name.decode()] = rest[8:8 + length].decode()
        data = rest[8 + length + 1:]
    return fields


def entry(tap, place, fields, *options):
    """(status, fields of the second entry or None, output) of the program with a journal that has the first one."""
    directory = place.directory / f'journal-{tap.n}'
    directory.mkdir()
    write_journal(directory / 'test.journal', fields)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journald:
        journald.bind(str(directory / 'socket'))
        journald.setblocking(False)
        done = subprocess.run([PROGRAM, '--clrsym', place.programs.clrsym, '--journal', directory / 'test.journal',
                               '--socket', directory / 'socket', *options, f'_SYSTEMD_INVOCATION_ID={INVOCATION}'],
                              env=place.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=live.TIMEOUT, check=False)
        try:
            message = read_message(journald.recv(1 << 20))
        except BlockingIOError:
            message = None
    return done.returncode, message, done.stdout


def test_program(tap, place, pid, maps, createdump):
    core = place.directory / 'core'
    live.run(createdump, '--normal', '-f', core, pid)
    # As systemd has it from the kernel.
    second = core.stat().st_mtime_ns // 1_000_000_000
    fields = {'MESSAGE_ID': CRASH, '_SYSTEMD_INVOCATION_ID': INVOCATION, 'COREDUMP_PID': str(pid), 'COREDUMP_UID': '0',
              'COREDUMP_SIGNAL_NAME': 'SIGABRT', 'COREDUMP_TIMESTAMP': str(second * 1_000_000), 'COREDUMP_COMM': 'dotnet',
              'COREDUMP_PROC_MAPS': maps}
    few = ''.join(line for line in maps.splitlines(True) if not RUNTIME.search(line))[:N_MAPS]
    for path, has in (packed(core), maps), (core, maps), (packed(core), few), (core, few):
        fields |= {'COREDUMP_FILENAME': str(path), 'COREDUMP_PROC_MAPS': has}
        what = f'{path.name}, {len(has)} bytes of its maps'
        code, message, output = entry(tap, place, fields)
        text = (message or {}).get('MESSAGE', '')
        tap.check(code == 0 and text.count('Stacks.Program.WaitInner()') == 1 and f'process {pid} (dotnet)' in text,
                  f'{what}: the entry has the named stacks', code, output, text)
        tap.check(message and all(message.get(name) == value for name, value in fields.items()
                                  if name.startswith('COREDUMP_') and name != 'COREDUMP_PROC_MAPS') and message['MESSAGE_ID'] != CRASH,
                  f'{what}: and the fields of the first entry', message)
    fields['COREDUMP_FILENAME'] = str(packed(core))
    teller = place.directory / 'teller'
    teller.write_text('#!/bin/sh\nexec stat -c %.6Y "$2"\n', encoding='ascii')
    teller.chmod(0o755)
    code, message, output = entry(tap, place, fields, '--clrsym', teller)
    tap.check(code == 0 and message['MESSAGE'].splitlines()[-1] == f'{second}.999999',
              'methods that were compiled in the second of the crash: it is asked about the end of the second', code, output, message)
    code, message, output = entry(tap, place, fields, '--max-size', '1')
    tap.check(code == 1 and message is None and 'coredumpctl' in output, 'a core file that unpacks to more than may be', code, output)
    for gone in 'gone.xz', 'gone':
        code, message, output = entry(tap, place, {**fields, 'COREDUMP_FILENAME': str(place.directory / gone)})
        tap.check(code == 1 and message is None and output, f'a core file that is gone: {gone}', code, output)
    native = native_core(place.directory / 'native')
    fields['COREDUMP_PROC_MAPS'] = '00400000-00401000 r-xp 0 0:0 0 /bin/sleep\n'
    for path in packed(native), native:
        code, message, output = entry(tap, place, {**fields, 'COREDUMP_FILENAME': str(path)})
        tap.check(code == 0 and message is None and 'not a .NET process' in output, f'{path.name}: a native program has no second entry',
                  code, output)
    for what, data in ('empty', b''), ('short', native.read_bytes()[:100]), ('no notes', native.read_bytes()[:64] + bytes(64)):
        broken = place.directory / 'broken'
        broken.write_bytes(data)
        for path in packed(broken), broken:
            code, message, output = entry(tap, place, {**fields, 'COREDUMP_FILENAME': str(path)})
            tap.check(code == 1 and message is None and 'the core file' in output, f'{path.name}, {what}: an error', code, output)
    fields |= {'COREDUMP_FILENAME': str(core), '_SYSTEMD_INVOCATION_ID': INVOCATION[::-1]}
    code, message, output = entry(tap, place, fields)
    tap.check(code == 1 and message is None and 'the journal has no crash' in output, 'a crash that is not in the journal', code, output)


def test(tap, programs, directory, _):
    directory = pathlib.Path(directory)
    unpacker = coredumpctl(directory)
    if not unpacker or not WRITER.exists():
        tap.skip('crashes', 'no coredumpctl, or no systemd-journal-remote')
        return
    for version, command in runtimes.commands(tap, __file__, directory, 'stacks', 'clrsym-stacks'):
        place = test_record.Place(programs, directory, f'place-{version}')
        with recorded.Daemon(programs, place.directory) as daemon:
            place.environment |= {'CLRSYM_HOLDER': str(place.directory / 'holder'), 'CLRSYM_INGEST': str(daemon.ingest),
                                  'CLRSYM_SOCKET': str(daemon.query),
                                  'PATH': f'{unpacker.parent}:{os.environ["PATH"]}'}
            with test_stack.started(place, command, FEW) as process:
                program = test_stack.Program(process)
                live.run(place.programs.clrsym, 'attach', process.pid, *daemon.source, env=place.environment)
                maps = pathlib.Path(f'/proc/{process.pid}/maps').read_text(encoding='utf-8')
                library = next(line.split()[-1] for line in maps.splitlines() if line.endswith('/libcoreclr.so'))
                createdump = pathlib.Path(library).with_name('createdump')
                if os.access(createdump, os.X_OK):
                    test_program(tap, place, process.pid, maps, createdump)
                else:
                    tap.skip('crashes', f'{createdump} cannot be executed')
                tap.equal(program.end(), 0, 'the program ends as ever')


if __name__ == '__main__':
    recorded.main(test)
