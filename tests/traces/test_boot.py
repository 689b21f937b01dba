# SPDX-License-Identifier: MIT
"""Which traces are of this machine's present boot: by LTTng's boot id, also after a change of the clock."""

import pathlib
import socket
import struct
import threading
import time
import uuid

from tests.daemon import ingest
from tests.traces import recorded, test_bad_traces

HOUR = 3600 * 10**9
BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
OTHER = str(uuid.UUID(int=4711))
HOST = socket.gethostname()


def forge(directory, hostname, clock_uuid, step):
    """A trace of HOSTNAME whose clock was changed by STEP ns after the session began."""
    test_bad_traces.forge(directory)
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns() - step
    known = f'uuid = "{clock_uuid}"; ' if clock_uuid else ''
    text = test_bad_traces.METADATA.replace(
        'freq = 1000000000; offset = 0;', f'{known}freq = 1000000000; offset = {offset};')
    (directory / 'metadata').write_text(
        text + f'env {{ hostname = "{hostname}"; domain = "ust"; }};\n', encoding='ascii')
    return directory


class FakeDaemon:
    """Accepts one feeder, and keeps its first STREAM_OPEN."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen()
        self.opened = None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        feeder = ingest.Feeder.__new__(ingest.Feeder)
        feeder.socket, _ = self.listener.accept()
        feeder.socket.settimeout(20)
        feeder.input = b''
        while (got := feeder.receive()) is not None:
            kind, payload = got
            if kind == ingest.HELLO:
                feeder.send(ingest.hello(), ingest.frame(ingest.GO))
            elif kind == ingest.STREAM_OPEN:
                self.opened = payload
                feeder.send(ingest.frame(ingest.ACK, struct.pack('<IQ', 0, 0)))
            elif kind == ingest.COMMIT:
                feeder.send(ingest.frame(ingest.COMMITTED))

    def boot_id(self):
        """The second string of STREAM_OPEN."""
        self.thread.join(20)
        at = 4 + 16 + 8 + 8 + 1 + 4 + 4
        at += 4 + struct.unpack_from('<I', self.opened, at)[0]
        n, = struct.unpack_from('<I', self.opened, at)
        return self.opened[at + 4:at + 4 + n].decode()


def run(tap, programs, directory, names):
    for name, hostname, clock_uuid, step, is_ours, warns in (
            ('this boot', HOST, BOOT, 0, True, False),
            ('this boot, the clock was set forward', HOST, BOOT, HOUR, True, True),
            ('this boot, the clock was set back', HOST, BOOT, -HOUR, True, True),
            ('another boot', HOST, OTHER, 0, False, False),
            ('another boot, another time', HOST, OTHER, HOUR, False, False),
            ('a boot that is not known, and the same time', HOST, '', 0, True, False),
            ('a boot that is not known, and another time', HOST, '', HOUR, False, False),
            ('another machine', 'elsewhere', BOOT, 0, False, False)):
        root = pathlib.Path(directory) / name.replace(' ', '-')
        root.mkdir()
        trace = forge(root / 'trace', hostname, clock_uuid, step)
        daemon = FakeDaemon(root / 'ingest')
        done = programs.feed(trace, root / 'ingest')
        tap.equal((done.returncode, daemon.boot_id()), (0, BOOT if is_ours else ''), name)
        tap.check(('clock was set' in done.stderr) == warns, f'{name}: a warning', done.stderr)


if __name__ == '__main__':
    recorded.main(run)
