# SPDX-License-Identifier: MIT
"""A minimal client of a .NET runtime's diagnostic port, to check `clrsym attach` by independent means."""

import glob
import socket
import struct
import threading

MAGIC = b'DOTNET_IPC_V1\0'
EVENTPIPE, PROCESS, SERVER = 2, 4, 0xFF
STOP_TRACING, COLLECT_TRACING_2 = 1, 3
RESUME_RUNTIME, ENABLE_PERF_MAP, DISABLE_PERF_MAP = 1, 5, 6
PERF_MAP_ONLY = 3  # the map, no jitdump
RUNTIME = 'Microsoft-Windows-DotNETRuntime'
PATIENCE = 30


def string(text):
    return struct.pack('<I', len(text) + 1) + text.encode('utf-16-le') + b'\0\0'


def collect_tracing_2(keywords, level, has_rundown, provider=RUNTIME):
    return (struct.pack('<IIBI', 1, 1, has_rundown, 1) +
            struct.pack('<QI', keywords, level) + string(provider) + struct.pack('<I', 0))


class Port:
    """The port of one process, by the pid in its own namespace."""

    def __init__(self, pid, directory, start='*'):
        """START: if the pid was reused, the start of this process in ticks."""
        self.path, = glob.glob(f'{directory}/dotnet-diagnostic-{pid}-{start}-socket')

    def call(self, command_set, command, payload=b''):
        """Returns (connection, answer); fails with the runtime's message."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(self.path)
        connection.sendall(MAGIC + struct.pack('<HBBH', 20 + len(payload), command_set, command, 0)
                           + payload)
        header = connection.recv(20, socket.MSG_WAITALL)
        magic, size, answer_set, answer, _ = struct.unpack('<14sHBBH', header)
        body = connection.recv(size - 20, socket.MSG_WAITALL) if size > 20 else b''
        if magic != MAGIC or (answer_set, answer) != (SERVER, 0):
            raise RuntimeError(f'command {command_set}.{command}: {answer:#x} {body.hex()}')
        return connection, body

    def command(self, command_set, command, payload=b''):
        connection, body = self.call(command_set, command, payload)
        connection.close()
        return body

    def resume(self):
        """Resumes a program that waits for it."""
        self.command(PROCESS, RESUME_RUNTIME)

    def enable_perf_map(self):
        """Writes present and future code to /tmp/perf-PID.map, in the process's file system."""
        self.command(PROCESS, ENABLE_PERF_MAP, struct.pack('<I', PERF_MAP_ONLY))

    def disable_perf_map(self):
        """Flushes the file: .NET 11 keeps the last kilobytes until then."""
        self.command(PROCESS, DISABLE_PERF_MAP)


class Session:
    """An EventPipe session whose events are discarded."""

    def __init__(self, port, keywords, level, has_rundown, provider=RUNTIME):
        self.port = port
        self.connection, body = port.call(EVENTPIPE, COLLECT_TRACING_2,
                                          collect_tracing_2(keywords, level, has_rundown, provider))
        self.id, = struct.unpack('<Q', body)
        self.n_bytes = 0
        self.connection.settimeout(None)
        self.reader = threading.Thread(target=self.drain)
        self.reader.start()

    def drain(self):
        buffer = bytearray(1 << 16)
        while n := self.connection.recv_into(buffer):
            self.n_bytes += n

    def stop(self):
        self.port.command(EVENTPIPE, STOP_TRACING, struct.pack('<Q', self.id))
        self.reader.join(PATIENCE)
        self.connection.close()
