# SPDX-License-Identifier: MIT
"""COUNT small processes that behave as .NET runtimes at their diagnostic ports, in a directory:
each has one method, which computes now and then; a session reports the method.

    fake_runtime.py DIRECTORY COUNT

Prints a line for each process: its pid, and the address of its method, in hex.
"""

import contextlib
import ctypes
import mmap
import os
import pathlib
import select
import signal
import socket
import struct
import sys
import time

METHOD_LOAD, METHOD_DC_END, DC_END_COMPLETE, DC_END_INIT = 143, 144, 146, 148
RUNTIME = 'Microsoft-Windows-DotNETRuntime'
MAGIC = b'DOTNET_IPC_V1\0'
STOP_TRACING, GET_PROCESS_INFO_2 = 0x0201, 0x0404
# loop: pause; dec %edi; jnz loop, in a frame of its own.
CODE = bytes.fromhex('554889e5' + 'f390ffcf75fa' + '5dc3')
N_LOOPS = 20000
# Seconds between two computations.
PAUSE = 0.1
PR_SET_PDEATHSIG = 1


def text(value):
    return value.encode('utf-16-le') + b'\0\0'


def named(value):
    return struct.pack('<I', len(value)) + value.encode()


class Stream:
    """A nettrace stream of version 4, in the order in which it is written."""

    def __init__(self):
        self.n_taken = 0
        self.bytes = b'Nettrace' + named('!FastSerialization.1')
        now = time.gmtime()
        self.object('Trace', 4, struct.pack(
            '<8HQQ4I', now.tm_year, now.tm_mon, 0, now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec,
            0, time.monotonic_ns(), 10**9, 8, os.getpid(), 1, 0))
        self.n_events = 0

    def object(self, name, version, content):
        self.bytes += b'\5\5\1' + struct.pack('<II', version, version) + named(name)
        self.bytes += b'\6'
        if name != 'Trace':
            self.bytes += struct.pack('<I', len(content))
            self.bytes += bytes(-(self.n_taken + len(self.bytes)) % 4)
        self.bytes += content + b'\6'

    def block(self, name, metadata, payload, when):
        sequence = 0 if name == 'MetadataBlock' else self.n_events
        event = struct.pack('<IIQQIIQ16x16xI', metadata, sequence, os.getpid(), os.getpid(), 0, 0,
                            when, len(payload)) + payload
        event += bytes(-(len(event) + 4) % 4)
        self.object(name, 2, struct.pack('<HHQQ', 20, 0, when, when)
                    + struct.pack('<I', len(event)) + event)

    def describe(self, metadata, provider, event, version):
        self.block('MetadataBlock', 0, struct.pack('<I', metadata) + text(provider)
                   + struct.pack('<I', event) + text('') + struct.pack('<QIII', 0, version, 5, 0),
                   time.monotonic_ns())

    def event(self, metadata, payload):
        self.n_events += 1
        self.block('EventBlock', metadata, payload, time.monotonic_ns())

    def point(self):
        """Appends a sequence point: no older event follows."""
        self.object('SPBlock', 2, struct.pack('<QIQI', time.monotonic_ns(), 1, os.getpid(),
                                              self.n_events))

    def end(self):
        self.bytes += b'\1'

    def take(self):
        taken, self.bytes = self.bytes, b''
        self.n_taken += len(taken)
        return taken


def method(start, name):
    """Returns the payload of MethodLoadVerbose_V2 and MethodDCEndVerbose_V2."""
    return (struct.pack('<QQQIII', start + 1, 0, start, len(CODE), 0x06000001, 8 | 3 << 7)
            + text('Fake.Program') + text(name) + text('void  ()') + struct.pack('<HQ', 0, 0))


class Runtime:
    def __init__(self, directory):
        ticks = pathlib.Path('/proc/self/stat').read_text(encoding='ascii').rpartition(')')[2].split()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / f'dotnet-diagnostic-{os.getpid()}-{ticks[19]}-socket'))
        self.listener.listen(50)
        self.code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.code.write(CODE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.code))
        self.compute = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(self.start)
        # Id -> (connection, Stream); ids of the sessions with events, which are no listings.
        self.sessions, self.live, self.n = {}, set(), 0

    def name(self):
        return f'Of{os.getpid()}'

    def reply(self, connection, payload):
        connection.sendall(MAGIC + struct.pack('<H', 20 + len(payload)) + b'\xff\0\0\0' + payload)

    def send(self, session):
        connection, stream = self.sessions[session]
        with contextlib.suppress(OSError):
            connection.sendall(stream.take())

    def open(self, connection, request):
        self.n += 1
        self.reply(connection, struct.pack('<Q', self.n))
        stream = Stream()
        self.sessions[self.n] = connection, stream
        # All other sessions are listings; they are written when they are stopped.
        if text(RUNTIME) in request:
            self.live.add(self.n)
            stream.describe(1, RUNTIME, METHOD_LOAD, 2)
            stream.event(1, method(self.start, self.name()))
            stream.point()
            self.send(self.n)

    def stop(self, connection, session):
        stopped, stream = self.sessions[session]
        if session not in self.live:
            stream.describe(1, RUNTIME + 'Rundown', METHOD_DC_END, 2)
            stream.describe(3, RUNTIME + 'Rundown', DC_END_INIT, 1)
            stream.event(3, struct.pack('<H', 0))
            # The listing of a real runtime has hundreds of events, some from before the session.
            for i in range(8):
                stream.event(1, method(self.start + i * len(CODE), f'Of{os.getpid()}_{i}' if i else
                                       self.name()))
            stream.describe(2, RUNTIME + 'Rundown', DC_END_COMPLETE, 1)
            stream.event(2, struct.pack('<H', 0))
        stream.point()
        stream.end()
        self.send(session)
        stopped.close()
        del self.sessions[session]
        self.live.discard(session)
        for live in self.live:
            # A reader handles a sequence point only when more data follows.
            self.sessions[live][1].point()
            self.sessions[live][1].point()
            self.send(live)
        self.reply(connection, struct.pack('<Q', session))

    def serve(self, connection):
        header = connection.recv(20, socket.MSG_WAITALL)
        if len(header) < 20:
            return
        payload = connection.recv(struct.unpack('<H', header[14:16])[0] - 20, socket.MSG_WAITALL)
        command = header[16] << 8 | header[17]
        if command == GET_PROCESS_INFO_2:
            version = text('10.0.0')
            self.reply(connection, struct.pack('<Q', os.getpid()) + bytes(16)
                       + 4 * (struct.pack('<I', 1) + bytes(2))
                       + struct.pack('<I', len(version) // 2) + version)
        elif command == STOP_TRACING:
            self.stop(connection, struct.unpack('<Q', payload)[0])
        else:
            self.open(connection, payload)

    def run(self):
        while True:
            if select.select([self.listener], [], [], PAUSE)[0]:
                with contextlib.suppress(OSError):  # the reader may have exited
                    self.serve(self.listener.accept()[0])
            self.compute(N_LOOPS)


def end_with_parent():
    """Makes the kernel end this process at the end of its parent, such as a test that is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def map_runtime(directory):
    """Maps a file with the name of the runtime's library, by which clrsym recognises a .NET
    process; the file stays mapped."""
    library = directory / 'libcoreclr.so'
    library.write_bytes(bytes(4096))
    with open(library, 'rb') as file:
        map_runtime.kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def main():
    directory, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    end_with_parent()
    map_runtime(directory)
    reader, writer = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            end_with_parent()
            runtime = Runtime(directory)
            os.write(writer, f'{os.getpid()} {runtime.start:#x}\n'.encode())
            os.close(writer)
            runtime.run()
    os.close(writer)
    with open(reader, encoding='ascii') as lines:
        for _ in range(count):
            print(lines.readline(), end='', flush=True)
    while True:
        time.sleep(600)


if __name__ == '__main__':
    main()
