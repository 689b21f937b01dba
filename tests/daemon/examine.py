# SPDX-License-Identifier: MIT
"""Runs `clrsym doctor` for its tests, hides files for a while, and starts processes that pretend
to be .NET processes."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

from tests.live import live


# Maps files, acts on its environment, changes its root directory, and waits.
FAKE = '''
import ctypes, mmap, os, socket, struct, sys, threading, time
libc = ctypes.CDLL(None)
kept = [mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ) for path in sys.argv[2:]]
if os.environ.get('LISTEN'):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f'{os.environ["TMPDIR"]}/dotnet-diagnostic-{os.getpid()}-1-socket')
    listener.listen()
def packed(text):
    return struct.pack('<I', len(text) + 1) + (text + chr(0)).encode('utf-16-le')
def answer(version):
    payload = struct.pack('<Q16s', os.getpid(), b'') + b''.join(map(packed, ('c', 'Linux', 'x64', 'e', version)))
    reply = b'DOTNET_IPC_V1' + struct.pack('<BHBBH', 0, 20 + len(payload), 255, 0, 0) + payload
    while True:
        client, _ = listener.accept()
        client.recv(20)
        client.sendall(reply if version != 'strange' else b'x' * 20)
        client.close()
# The codec is in a file, which another root directory lacks.
packed('')
if os.environ.get('VERSION'):
    threading.Thread(target=answer, args=[os.environ['VERSION']], daemon=True).start()
if os.environ.get('SCRIBBLE'):
    first = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, 'environ')[0]
    text = b'TMPDIR=/\\x1b[31m\\xff\\xfe\\n'
    ctypes.memmove(first, text + b'=' * 64, len(text) + 64)
if os.environ.get('STRETCH'):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.sbrk.restype = ctypes.c_void_p
    size = 3 << 30
    start = libc.mmap(None, size, 1, 0x4022, -1, 0)
    stat = [int(word) for word in open('/proc/self/stat').read().rsplit(')', 1)[1].split()[1:]]
    at = lambda number: stat[number - 4]
    words = [at(26), at(27), at(45), at(46), at(47), libc.sbrk(0), at(28), at(48), at(49), start,
             start + size, 0]
    layout = (ctypes.c_uint64 * 13)(*words, 0xffffffff << 32)
    if libc.prctl(35, 14, ctypes.byref(layout), ctypes.sizeof(layout), 0) != 0:
        sys.exit('not allowed')
if sys.argv[1]:
    os.chroot(sys.argv[1])
print('READY', flush=True)
time.sleep(1000)
'''


class Doctor:
    """`clrsym doctor` and its findings."""

    def __init__(self, programs, directory):
        self.programs, self.directory = programs, pathlib.Path(directory)
        self.environment = {**programs.environment,
                            'CLRSYM_SESSIONS': str(self.directory / 'place'),
                            'PATH': f'{pathlib.Path(programs.clrsym).parent}:{os.environ["PATH"]}'}
        self.socket = self.directory / 'no-daemon'

    def call(self, *arguments, before=(), **environment):
        return self.programs.run([*before, self.programs.clrsym, 'doctor', '--socket', self.socket,
                                  *arguments], env={**self.environment, **environment})

    def findings(self, *arguments, **options):
        done = self.call('--json', *arguments, **options)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        found = {row['check']: row for row in rows}
        stopping = [row for row in rows if row['status'] in ('problem', 'unknown')]
        if done.stderr or done.returncode != (1 if stopping else 0):
            raise RuntimeError(f'exit {done.returncode}: {done.stderr}{done.stdout}')
        return found

    def expect(self, tap, check, status, text, what, *arguments, mend=None, **options):
        row = self.findings(*arguments, **options).get(check)
        tap.check(row and row['status'] == status and text in row['text'] and
                  (mend is None or mend in (row['fix'] or '')), f'{check}: {what}', row)
        return row

    def run_mend(self, row):
        done = subprocess.run(['sh', '-c', row['fix']], env={**self.environment, 'CLRSYM_SOCKET': str(self.socket)},
                              text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{row["fix"]}: {done.stdout}{done.stderr}')


@contextlib.contextmanager
def hidden(*paths, by='/dev/null'):
    for path in paths:
        subprocess.run(['mount', '--bind', by, path], check=True)
    try:
        yield
    finally:
        for path in paths:
            subprocess.run(['umount', path], check=True)


def libraries(name):
    found = subprocess.run(['find', '/usr/lib', '-name', name], capture_output=True, text=True,
                           check=False).stdout.split()
    return [os.path.realpath(path) for path in found]


@contextlib.contextmanager
def fake(*files, root='', before=(), forks=False, **environment):
    """Starts a process that has FILES mapped."""
    command = [*before, sys.executable, '-c', FAKE, str(root), *map(str, files)]
    # unshare waits for its child, and ends only with the child.
    with live.child(command, signal.SIGKILL if forks else signal.SIGTERM, stdout=subprocess.PIPE,
                    env={'PATH': os.environ['PATH'], **environment}) as process:
        if process.stdout.readline() != b'READY\n':
            raise RuntimeError(f'{command}: exit {process.wait()}')
        pid = process.pid
        if forks:
            children = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
            pid, = map(int, children.read_text().split())
        yield pid
