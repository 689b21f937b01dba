# SPDX-License-Identifier: MIT
"""A process that behaves as a .NET runtime at its diagnostic port, and sends without end.

    fake_flood.py DIRECTORY MODE

MODE: `session`: the session sends while a listing does not end; `listing`: the listing sends
without end; `names`: new provider names in each block; `threads`: new threads begin to compile in
each block; `samples`: samples of the runtime's own sampler without end. `lies` does not flood: its
sampler reports threads that do not exist. Prints its pid.
"""

import contextlib
import os
import pathlib
import struct
import sys
import time

from tests.daemon import fake_runtime
from tests.daemon.fake_runtime import METHOD_LOAD, RUNTIME, method, text

JITTING_STARTED = 145
MANY = 2000
SAMPLER = 'Microsoft-DotNETCore-SampleProfiler'
LYING_THREADS = 1, 2, 2**31 - 1
# Limit of the sent bytes, so that a reader without a limit does not use up the machine's memory.
MOST = 3 << 30


def many_methods(stream):
    """Writes a block with many events, as the runtime sends them in a burst."""
    payload = method(0x7f0000000000, 'Flood' * 20)
    events = bytearray()
    for _ in range(MANY):
        stream.n_events += 1
        event = struct.pack('<IIQQIIQ16x16xI', 1, stream.n_events, os.getpid(), os.getpid(), 0, 0,
                            time.monotonic_ns(), len(payload)) + payload
        events += struct.pack('<I', len(event)) + event + bytes(-len(event) % 4)
    stream.object('EventBlock', 2, struct.pack('<HHQQ', 20, 0, 0, 0) + bytes(events))


def many_names(stream):
    """Writes a block with descriptions of many unknown events."""
    rows = bytearray()
    for _ in range(MANY):
        stream.n_names += 1
        # The ids repeat, so that only the names are new.
        payload = (struct.pack('<I', 10 + stream.n_names % 1000)
                   + text(f'{RUNTIME}{stream.n_names:0200}') + struct.pack('<I', 1) + text('')
                   + struct.pack('<QIII', 0, 0, 5, 0))
        event = struct.pack('<IIQQIIQ16x16xI', 0, 0, 0, 0, 0, 0, 0, len(payload)) + payload
        rows += struct.pack('<I', len(event)) + event + bytes(-len(event) % 4)
    stream.object('MetadataBlock', 2, struct.pack('<HHQQ', 20, 0, 0, 0) + bytes(rows))


def many_threads(stream):
    """Writes a block in which each event has a thread of its own, which begins to compile."""
    events = bytearray()
    payload = (struct.pack('<QQII', 1, 0, 0x06000001, 10) + text('A') + text('B') + text('C')
               + struct.pack('<H', 0))
    for _ in range(MANY):
        stream.n_events += 1
        event = struct.pack('<IIQQIIQ16x16xI', 2, stream.n_events, 1000 + stream.n_events,
                            os.getpid(), 0, 0, time.monotonic_ns(), len(payload)) + payload
        events += struct.pack('<I', len(event)) + event + bytes(-len(event) % 4)
    stream.object('EventBlock', 2, struct.pack('<HHQQ', 20, 0, 0, 0) + bytes(events))


def lying_samples(stream):
    """Writes two rounds of the sampler, with nonexistent threads, and with stacks that were
    never sent."""
    events = bytearray()
    for thread in 2 * LYING_THREADS:
        stream.n_events += 1
        event = struct.pack('<IIQQIIQ16x16xI', 3, stream.n_events, thread, thread, 0, 77, time.monotonic_ns(), 4)
        event += struct.pack('<I', 2)
        events += struct.pack('<I', len(event)) + event + bytes(-len(event) % 4)
    stream.object('EventBlock', 2, struct.pack('<HHQQ', 20, 0, 0, 0) + bytes(events))


FLOODS = {'session': many_methods, 'samples': many_methods, 'listing': many_methods, 'names': many_names,
          'threads': many_threads}


class Flood(fake_runtime.Runtime):
    def __init__(self, directory, mode):
        super().__init__(directory)
        self.mode = mode

    def flood(self, connection, stream, seconds):
        """Sends without end, as fast as the reader reads."""
        deadline, n_sent = time.monotonic() + seconds, 0
        with contextlib.suppress(OSError):
            while n_sent < MOST and time.monotonic() < deadline:
                FLOODS[self.mode](stream)
                sent = stream.take()
                connection.sendall(sent)
                n_sent += len(sent)

    def open(self, connection, payload):
        super().open(connection, payload)
        stream = self.sessions[self.n][1]
        stream.n_names = 0
        if self.mode == 'lies' and text(SAMPLER) in payload:
            stream.describe(3, SAMPLER, 0, 0)
            lying_samples(stream)
            self.send(self.n)
            self.live.add(self.n)
        if self.mode == 'samples' and text(SAMPLER) in payload:
            stream.describe(1, RUNTIME, METHOD_LOAD, 2)
            if os.fork() == 0:
                self.flood(connection, stream, 3600)
                os._exit(0)
        elif self.n == 1 and self.mode in ('names', 'threads'):
            stream.describe(2, RUNTIME, JITTING_STARTED, 1)
            if os.fork() == 0:
                self.flood(connection, stream, 3600)
                os._exit(0)

    def stop(self, connection, session):
        """Stops a session: a ping ends; a listing does not end."""
        stopped, stream = self.sessions[session]
        if session == 2 and self.mode in ('session', 'listing'):
            if os.fork() == 0:
                if self.mode == 'session':
                    self.flood(*self.sessions[1], 3600)
                else:
                    stream.describe(1, RUNTIME + 'Rundown', METHOD_LOAD, 2)
                    self.flood(stopped, stream, 3600)
                os._exit(0)
            # The connection stays open, without a reply.
            self.kept = connection
            return
        super().stop(connection, session)


def main():
    directory = pathlib.Path(sys.argv[1])
    fake_runtime.end_with_parent()
    fake_runtime.map_runtime(directory)
    runtime = Flood(directory, sys.argv[2])
    print(os.getpid(), flush=True)
    runtime.run()


if __name__ == '__main__':
    main()
