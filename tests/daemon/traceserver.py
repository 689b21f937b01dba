# SPDX-License-Identifier: MIT
"""`clrsymd --trace` at the other end of a socket pair, for its tests."""

import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time

from tests.traces.calls import BATCH, Calls, INTERFACE, batches

READ_TRACE = json.dumps({'method': f'{INTERFACE}.ReadTrace', 'more': True}).encode() + b'\0'
CTF_MAGIC = 0xc1fc1fc1
# Bytes before the text in a packet of metadata.
METADATA_HEADER = 37
# An event class with fields that are nested too deeply for clrsym's own reader.
UNKNOWN = ('event { id = 60000; stream_id = 0; name = "shop:sale"; fields := ' +
           40 * 'struct { ' + 'integer { size = 8; } v; ' + 39 * '} v; ' + '}; };\n')
UUID = bytes.fromhex('5a1e4c668f0e4e539d7b2f1c3a4b5d6e')
METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; byte_order = le;
    uuid = "5a1e4c66-8f0e-4e53-9d7b-2f1c3a4b5d6e";
    packet.header := struct {
        uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id;
    };
};
clock { name = "monotonic"; freq = 1000000000; offset = 0; };
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := timestamp_t;
stream {
    id = 0;
    event.header := struct { uint32_t id; timestamp_t timestamp; };
    event.context := struct { integer { size = 32; align = 8; signed = true; } _vpid; };
    packet.context := struct {
        timestamp_t timestamp_begin; timestamp_t timestamp_end;
        uint64_t content_size; uint64_t packet_size;
    };
};
event { id = 0; stream_id = 0; name = "shop:sale"; fields := struct { uint32_t _amount; }; };
'''


def forge(directory, n_files, n_events):
    """Writes a trace whose only stream is split into files as with --tracefile-size; it has no
    .NET events."""
    directory = pathlib.Path(directory)
    directory.mkdir()
    (directory / 'metadata').write_text(METADATA, encoding='ascii')
    for number in range(n_files):
        begin = 1000 + number * n_events
        events = b''.join(struct.pack('<IQiI', 0, begin + i, 4711, i) for i in range(n_events))
        header = struct.pack('<I16sIQ', CTF_MAGIC, UUID, 0, 0)
        size = 8 * (len(header) + 32 + len(events))
        (directory / f'ch_0_{number}').write_bytes(
            header + struct.pack('<QQQQ', begin, begin + n_events - 1, size, size) + events)
    return directory


def metadata_text(path):
    """Returns the TSDL text of a metadata file in packets."""
    data, text = path.read_bytes(), b''
    while data:
        content, size = struct.unpack_from('<II', data, 24)
        text += data[METADATA_HEADER:content // 8]
        data = data[size // 8:]
    return text.decode('ascii')


def make_unknown(trace):
    """Gives a copy of a trace metadata that babeltrace2 can read and clrsym's reader cannot."""
    for path in pathlib.Path(trace).rglob('metadata'):
        path.write_text('/* CTF 1.8 */\n' + metadata_text(path) + UNKNOWN, encoding='ascii')
    return trace


def stream_bytes(trace):
    """Returns the total size of the stream files of a directory's traces."""
    return sum(path.stat().st_size for metadata in pathlib.Path(trace).rglob('metadata')
               for path in metadata.parent.iterdir()
               if path.is_file() and path.name != 'metadata' and path.name[0] != '.')


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f'/proc/{pid}/task/{pid}/children')
                .read_text(encoding='ascii').split()]
    except FileNotFoundError:
        return []


def wait_for(condition, seconds=120):
    """Returns the result of CONDITION once it is true, or the last result after SECONDS."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return value


class TraceServer(Calls):
    """A trace server and its client. OPTIONS go to clrsymd; WRAP precedes its command. ALSO:
    sockets whose other ends are the client's further connections."""

    def __init__(self, programs, trace, *options, wrap=(), timeout=300, also=(), **more):
        ours, other = socket.socketpair()
        super().__init__(ours)
        self.socket.settimeout(timeout)
        if 'send_buffer' in more:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, more.pop('send_buffer'))
        self.progress = []
        with other:
            self.process = subprocess.Popen(
                [str(word) for word in (*wrap, programs.clrsymd, '--trace', trace, *options,
                                        '--fd', other.fileno(),
                                        *[f'--fd={one.fileno()}' for one in also])],
                pass_fds=[one.fileno() for one in (other, *also)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                **{'env': programs.environment, **more})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def read(self, send=True):
        """Reads until the trace is read. Returns the last reply of ReadTrace; earlier replies
        are in progress."""
        if send:
            self.send(READ_TRACE)
        while (reply := self.reply()) and reply.get('continues'):
            self.progress.append(reply['parameters'])
        return reply

    def error(self):
        """Returns the error of the trace; None if the trace was read, or if the server exited
        without a message."""
        reply = self.read()
        if not reply or reply.get('error') != f'{INTERFACE}.TraceUnreadable':
            return None
        return reply['parameters']['message']

    def end(self, kill=None):
        """Disconnects, or sends the signal KILL; returns the exit status, and keeps the server's
        last messages."""
        if kill:
            self.process.send_signal(kill)
        else:
            self.socket.close()
        try:
            self.said = self.process.communicate(timeout=60)[1].decode()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.said = 'it did not end'
            self.process.communicate()
            return None
        except ValueError:  # the server has exited before
            pass
        self.socket.close()
        return self.process.returncode


def sample_calls(rows, batch=BATCH):
    """Returns calls whose replies contain the whole trace: its probes, and every list."""
    for queries in batches(rows, batch):
        yield 'Resolve', {'queries': queries}
    yield 'ListProcesses', {}
    yield 'ListMethods', {'all': True}
    yield 'Status', {}


def answers(server, rows):
    """Returns the bytes of all replies."""
    return [server.ask(method, **parameters) for method, parameters in sample_calls(rows)]


def fake_babeltrace(directory, script):
    """Creates a directory for $PATH with a babeltrace2 that runs SCRIPT."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    fake = directory / 'babeltrace2'
    fake.write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]}\n{script}\n', encoding='ascii')
    fake.chmod(0o755)
    return str(directory)


def is_running(pid):
    """Returns whether the process runs; a zombie does not."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as stat:
            return stat.read().rpartition(')')[2].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
