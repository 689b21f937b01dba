# SPDX-License-Identifier: MIT
"""The ingest protocol in Python: the frames that a feeder sends, and the replies."""

import socket
import struct

HELLO, STREAM_OPEN, RECORD, GAP, PROGRESS, STREAM_CLOSE, COMMIT, REPORT, \
    PROCESS_GAP = range(1, 10)
ACK, COMMITTED, HOLD, GO, ERROR = range(64, 69)
VERSION = 1
NO_UID = 0xffffffff


def frame(kind, payload=b''):
    return struct.pack('<IHH', len(payload), kind, 0) + payload


def string(text):
    data = text.encode()
    return struct.pack('<I', len(data)) + data


def hello(version=VERSION):
    return frame(HELLO, struct.pack('<I', version) + string('test'))


def stream_open(number=0, stream_id=0, uuid=b'0123456789abcdef', uid=NO_UID, scheme=1, pid=0,
                boot=''):
    """Returns STREAM_OPEN. BOOT: the machine's boot id, for a trace of this boot. Scheme 2 is
    per-PID buffers, of PID."""
    return frame(STREAM_OPEN,
                 struct.pack('<I16sQQBIi', number, uuid, 0, stream_id, scheme, uid, pid)
                 + string('host') + string(boot) + string('monotonic') + struct.pack('<q', 0))


def runtime_start(time, pid=100, stream=0):
    """Returns RuntimeInformationStart of 10.0.12, the first event of the process."""
    head = struct.pack('<IQQiiBBH', stream, time, 0, pid, pid, 0, 0, 187)
    return frame(RECORD, head + struct.pack('<10HIB', 0, 1, 10, 0, 12, 0, 10, 0, 12, 0, 0, 0)
                 + string('app') + bytes(16) + string('/lib/libcoreclr.so'))


def load(time, start, name='Main', pid=100, stream=0):
    """Returns MethodLoadVerbose_V1 of 16 bytes at START."""
    head = struct.pack('<IQQiiBBH', stream, time, 0, pid, pid, 0, 1, 143)
    return frame(RECORD, head + struct.pack('<QQQIII', start + 1, 0, start, 16, 0x06000001, 0x188)
                 + string('N.T') + string(name) + string('()') + struct.pack('<H', 0))


def record(time, event, payload, version=0, pid=100, pid_ns=0, stream=0, provider=0):
    """Returns a record of provider DotNETRuntime; provider 1 is DotNETRuntimeRundown."""
    head = struct.pack('<IQQiiBBH', stream, time, pid_ns, pid, pid, provider, version, event)
    return frame(RECORD, head + payload)


def tier_flags(tier):
    """Returns the MethodFlags of jitted code of the tier, by the runtime's number."""
    return 8 | tier << 7


def body(time, start, name='Main', *, event=143, method=None, size=16, tier=3, rejit=0, module=0,
         signature='void  ()', **record_options):
    """Returns MethodLoadVerbose_V2; event 144 is the unload."""
    return record(time, event, struct.pack('<QQQIII', start + 1 if method is None else method,
                                           module, start, size, 0x06000001, tier_flags(tier))
                  + string('N.T') + string(name) + string(signature)
                  + struct.pack('<HQ', 0, rejit), version=2, **record_options)


def unload(time, start, name='Main', **options):
    return body(time, start, name, event=144, **options)


def rundown(time, start, name='Main', **options):
    """Returns MethodDCEndVerbose_V2."""
    return body(time, start, name, event=144, provider=1, **options)


def r2r_entry(time, entry, name='Main', method=1, **record_options):
    """Returns R2RGetEntryPoint."""
    return record(time, 159, struct.pack('<Q', method) + string('N.T') + string(name)
                  + string('void  ()') + struct.pack('<QH', entry, 0), **record_options)


def domain_unload(time, **record_options):
    """Returns AppDomainUnload_V1: the process exits."""
    return record(time, 157, struct.pack('<QI', 1, 0) + string('app') + struct.pack('<IH', 0, 0),
                  version=1, **record_options)


def jitting(time, method, name='Main', **record_options):
    """Returns MethodJittingStarted_V1."""
    return record(time, 145, struct.pack('<QQII', method, 0, 0x06000001, 100) + string('N.T')
                  + string(name) + string('void  ()') + struct.pack('<H', 0), version=1,
                  **record_options)


def stub_generated(time, method, name='Call', name_space='N.T', module=0, flags=0,
                   **record_options):
    """Returns ILStubGenerated: METHOD is the id of the stub, NAME is its target."""
    return record(time, 88, struct.pack('<HQQII', 0, module, method, flags, 0x06000002)
                  + string(name_space) + string(name) + string('int32(string)')
                  + string('unmanaged') + string('managed') + string('ret'), **record_options)


def stub(time, start, method, kind='PInvoke', event=143, module=0, **record_options):
    """Returns MethodLoadVerbose_V1 of a stub; event 144 is the unload."""
    return record(time, event, struct.pack('<QQQIII', method, module, start, 16, 0, 0x109)
                  + string('dynamicClass') + string('IL_STUB_' + kind)
                  + string('int32  (class System.String)') + struct.pack('<H', 0), version=1,
                  **record_options)


def il_map(time, method, rejit, il_version, **record_options):
    """Returns MethodILToNativeMap_V1 with one entry."""
    return record(time, 190, struct.pack('<QQBH', method, rejit, 0, 1) + struct.pack('<Ii', 1, 0)
                  + struct.pack('<II', 1, 0) + struct.pack('<HQ', 0, il_version), version=1,
                  **record_options)


def inline_tree(time, method, inlined, **record_options):
    """Returns JittedMethodRichDebugInfo: INLINED is inlined into METHOD from the first byte on,
    where METHOD calls it at IL offset 5."""
    block = (struct.pack('<II', 2, 1) + struct.pack('<QIII', method, 0xffffffff, 1, 0)
             + struct.pack('<QIII', inlined, 5, 0, 0) + struct.pack('<IIIB', 3, 1, 0, 0))
    return record(time, 189, struct.pack('<HQQQII', 0, method, 0, 0, 1 << 31, len(block))
                  + struct.pack('<I', len(block)) + block, provider=2, **record_options)


def method_details(time, method, module, **record_options):
    """Returns BulkType with a type of MODULE, and MethodDetails of a method of this type."""
    types = struct.pack('<QQIIB', 0x70, module, 0x02000007, 0, 0x12) + struct.pack('<HI', 0, 0)
    return (record(time, 15, struct.pack('<IHI', 1, 0, len(types)) + types, **record_options)
            + record(time, 72, struct.pack('<QQIIQI', method, 0x70, 0x06000008, 0, module, 0), **record_options))


def module_load(time, module, path, event=152, native='', **record_options):
    """Returns ModuleLoad_V1; event 153 is the unload."""
    return record(time, event, struct.pack('<QQII', module, 1, 0, 0) + string(path) + string(native)
                  + struct.pack('<H', 0), version=1, **record_options)


def assembly_load(time, assembly, name, binding=0, **record_options):
    """Returns AssemblyLoad_V1."""
    return record(time, 154, struct.pack('<QQQI', assembly, 2, binding, 0) + string(name) +
                  struct.pack('<H', 0), version=1, **record_options)


def tiered_settings(time, flags, **record_options):
    """Returns TieredCompilationSettings."""
    return record(time, 280, struct.pack('<HI', 0, flags), **record_options)


def inlining(time, reason=None, **record_options):
    """Returns MethodJitInliningSucceeded, or Failed with a reason."""
    names = string('N') * 9
    if reason is None:
        return record(time, 185, names + struct.pack('<H', 0), **record_options)
    return record(time, 192, names + bytes(1) + string(reason) + struct.pack('<H', 0),
                  **record_options)


def progress(time, stream=0):
    return frame(PROGRESS, struct.pack('<IQ', stream, time))


def gap(begin, end, stream=0, count=1):
    """Returns GAP: COUNT events were lost."""
    return frame(GAP, struct.pack('<IBQQQ', stream, 0, begin, end, count))


def process_gap(begin, end, pid=100, pid_ns=0):
    """Returns a process gap; END None: the gap is open."""
    return frame(PROCESS_GAP, struct.pack('<QiQQ', pid_ns, pid, begin,
                                          2**64 - 1 if end is None else end))


def commit():
    return frame(COMMIT)


class Feeder:
    """A connection to the ingest socket."""

    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.input = b''

    def send(self, *frames):
        self.socket.sendall(b''.join(frames))

    def receive(self):
        """Returns the next frame as (type, payload); None at the end."""
        while True:
            if len(self.input) >= 8:
                n, kind, _ = struct.unpack_from('<IHH', self.input)
                if len(self.input) >= 8 + n:
                    payload, self.input = self.input[8:8 + n], self.input[8 + n:]
                    return kind, payload
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:  # the daemon disconnected without reading our last bytes
                data = b''
            if not data:
                return None
            self.input += data

    def receive_until(self, kind):
        """Receives frames up to one of the given type. Returns their types; raises at the end of
        the stream."""
        kinds = []
        while not kinds or kinds[-1] != kind:
            got = self.receive()
            if got is None:
                raise EOFError(f'hung up after {kinds}')
            kinds.append(got[0])
        return kinds

    def close(self):
        self.socket.close()
