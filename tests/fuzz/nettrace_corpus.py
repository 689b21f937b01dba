# SPDX-License-Identifier: MIT
"""Initial inputs of the fuzz target nettrace."""

import struct

from tests.fuzz.inputs import write


def varints(*values):
    out = bytearray()
    for value in values:
        while value >= 128:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def nettrace_event(flags, *numbers, payload=b''):
    return bytes((flags,)) + varints(*numbers) + payload


def nettrace_objects(*objects):
    """Returns a stream of version 4: (name, content)."""
    out = b'Nettrace' + struct.pack('<I', 20) + b'!FastSerialization.1'
    for name, content in objects:
        is_block = name != b'Trace'
        out += b'\5\5\1' + struct.pack('<III', 2 if is_block else 4, 4, len(name)) + name + b'\6'
        if is_block:
            out += struct.pack('<I', len(content))
            out += bytes(-len(out) % 4)
        out += content + b'\6'
    return out


def make():
    """Two events of one thread, and one of another thread, in versions 4 and 6; then faults."""
    block = struct.pack('<HHQQ', 20, 1, 0, 2**64 - 1)
    time = struct.pack('<8HQQI', 2026, 11, 0, 22, 6, 3, 8, 71, 1000, 10**9, 8)
    head = time + struct.pack('<III', 4711, 2, 0)
    wide = 'Microsoft-Windows-DotNETRuntime\0'.encode('utf-16-le')
    row = struct.pack('<I', 1) + wide + struct.pack('<IHQIII', 160, 0, 0, 0, 4, 0)
    metadata = block + nettrace_event(0x80, 0, len(row), payload=row)
    value = struct.pack('<QH', 77, 0)
    events = (block + nettrace_event(0xcf, 1, 0, 7, 2**32 - 1, 7, 1, 2000, 10, payload=value)
              + nettrace_event(0, 5, payload=value)
              + nettrace_event(0x87, 1, 2**32 - 2, 8, 0, 8, 2**64 - 3, 10, payload=value))
    point = struct.pack('<QIQIQI', 3000, 2, 7, 4, 8, 1)
    whole = (b'Trace', head), (b'MetadataBlock', metadata), (b'EventBlock', events), (b'SPBlock', point)
    write('nettrace', 'version-4', bytes(2) + nettrace_objects(*whole) + b'\1')
    write('nettrace', 'byte-by-byte', b'\0\1' + nettrace_objects(*whole) + b'\1')
    write('nettrace', 'no-end', bytes(2) + nettrace_objects(*whole[:3]))
    write('nettrace', 'no-metadata', bytes(2) + nettrace_objects(whole[0], whole[2], whole[3]))
    write('nettrace', 'no-header', bytes(2) + nettrace_objects(*whole[1:]))
    write('nettrace', 'many-threads', bytes(2) + nettrace_objects(*whole[:2], (b'EventBlock', block + b''.join(
        nettrace_event(0x03, 1, 0, i, 0, 1) for i in range(9000)))))
    text = b'\x1fMicrosoft-Windows-DotNETRuntime'
    rows = varints(1) + text + varints(142) + b'\1X' + struct.pack('<H', 0) + struct.pack('<HBB', 2, 9, 2)
    blocks = ((1, time + struct.pack('<I', 1) + b'\x09ProcessId\x0242'),
              (3, struct.pack('<HH', 0, len(rows)) + rows),
              (6, struct.pack('<H', 7) + varints(7) + b'\2\x2a\3\x2b\1\0'),
              (2, block + nettrace_event(0xdf, 1, 0, 7, 0, 7, 0, 2000, 0, 46, payload=bytes(46))),
              (7, varints(7, 3)), (4, struct.pack('<QII', 3000, 3, 1) + varints(7, 9)), (0, b''))
    write('nettrace', 'version-6', b'\1\0' + b''.join(
        struct.pack('<BH', kind, len(content)) + content for kind, content in blocks))
    universal_inputs(time, block)


def universal_row(number, provider, event, name, *fields):
    text = [varints(len(word)) + word for word in (provider, name, *fields)]
    row = varints(number) + text[0] + varints(event) + text[1] + struct.pack('<H', len(fields))
    row += b''.join(struct.pack('<H', len(field) + 1) + field + b'\x15' for field in text[2:]) + bytes(2)
    return struct.pack('<H', len(row)) + row


def universal_inputs(time, block):
    """A process with a mapping and a name in it, and a sample, in the form of dotnet-trace
    collect-linux."""
    rows = bytes(2) + b''.join((
        universal_row(1, b'Universal.Events', 1, b'cpu', b'Value'),
        universal_row(2, b'Universal.System', 0, b'ExistingProcess', b'NamespaceId', b'Name', b'NamespaceName'),
        universal_row(3, b'Universal.System', 3, b'ProcessMapping', b'Id', b'StartAddress', b'EndAddress',
                      b'FileOffset', b'FileName', b'MetadataId'),
        universal_row(4, b'Universal.System', 4, b'ProcessSymbol', b'Id', b'MappingId', b'StartAddress',
                      b'EndAddress', b'Name'),
        universal_row(5, b'Universal.System', 9, b'Later', b'Id')))

    def event(number, payload, stack=0):
        return nettrace_event(0xdf, number, 0, 0, 1, 1, stack, 2000, 0, len(payload), payload=payload)

    events = b''.join((
        event(2, varints(7) + b'\3\0app\0\0'), event(3, varints(1, 4096, 8191, 0) + b'\2\0/a' + varints(0)),
        event(4, varints(0, 1, 4096, 4200) + b'\1\0M'), event(1, b'\1', 1), event(5, b'\1')))
    blocks = ((1, time + bytes(4)), (3, rows), (4, struct.pack('<QII', 1000, 1, 0)),
              (5, struct.pack('<IIIQQ', 1, 1, 16, 4100, 2**64 - 4096)),
              (6, struct.pack('<H', 5) + b'\1\2\7\3\7'), (2, block + events), (0, b''))
    write('nettrace', 'universal', b'\1\0' + b''.join(
        struct.pack('<BH', kind, len(content)) + content for kind, content in blocks))
    write('collect', 'whole', b'Nettrace' + struct.pack('<III', 0, 6, 0) + b''.join(
        struct.pack('<I', len(content) | kind << 24) + content for kind, content in blocks))
