# SPDX-License-Identifier: MIT
"""The frames of arm64 methods from their machine code, compared with the compiler's unwind data for
the same methods of System.Private.CoreLib ("ARM64 exception handling", Microsoft): at each
instruction of each prolog and epilog, and between them.

test_code_frames.py CODE_FRAMES: the program that reads machine code
"""

import collections
import struct
import subprocess
import sys

from tests.oracle import nuget
from tests.traces.recorded import Tap

IMAGE = 'runtimes/linux-arm64/lib/net10.0/System.Private.CoreLib.dll'
RUNTIME_FUNCTIONS = 102
FP, LR, SAVED = 29, 30, range(19, 31)
# Unwind codes: mask and value of the first byte, size in bytes, and name.
CODES = [(0xe0, 0x00, 1, 'alloc'), (0xe0, 0x20, 1, 'r19r20_x'), (0xc0, 0x40, 1, 'fplr'), (0xc0, 0x80, 1, 'fplr_x'),
         (0xf8, 0xc0, 2, 'alloc'), (0xfc, 0xc8, 2, 'regp'), (0xfc, 0xcc, 2, 'regp_x'), (0xfc, 0xd0, 2, 'reg'),
         (0xfe, 0xd4, 2, 'reg_x'), (0xfe, 0xd6, 2, 'lrpair'), (0xfe, 0xd8, 2, 'fregp'), (0xfe, 0xda, 2, 'fregp_x'),
         (0xfe, 0xdc, 2, 'freg'), (0xff, 0xde, 2, 'freg_x'), (0xff, 0xe0, 4, 'alloc'), (0xff, 0xe1, 1, 'set_fp'),
         (0xff, 0xe2, 2, 'add_fp'), (0xff, 0xe3, 1, 'nop'), (0xff, 0xe4, 1, 'end'), (0xff, 0xe5, 1, 'end_c'),
         (0xff, 0xe6, 1, 'next')]


class Image:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        pe, = struct.unpack_from('<I', self.bytes, 0x3c)
        count, size = struct.unpack_from('<H12xH', self.bytes, pe + 6)
        self.sections = [struct.unpack_from('<IIII', self.bytes, pe + 24 + size + 40 * i + 8) for i in range(count)]
        header, = struct.unpack_from('<I', self.bytes, pe + 24 + 112 + 14 * 8)
        native, = struct.unpack_from('<I', self.bytes, self.offset(header) + 64)
        at = self.offset(native)
        assert self.bytes[at:at + 4] == b'RTR\0'
        self.tables = {kind: (address, size) for kind, address, size in
                       struct.iter_unpack('<III', self.bytes[at + 16:at + 16 + 12 * self.word(at + 12)])}

    def word(self, at):
        return struct.unpack_from('<I', self.bytes, at)[0]

    def offset(self, address):
        for size, begin, n, at in self.sections:
            if begin <= address < begin + max(size, n):
                return address - begin + at
        raise ValueError(address)

    def functions(self):
        """Yields (offset of the code, offset of its unwind data)."""
        address, size = self.tables[RUNTIME_FUNCTIONS]
        at = self.offset(address)
        for begin, unwind in struct.iter_unpack('<II', self.bytes[at:at + size // 8 * 8]):
            if begin != 0xffffffff:
                yield self.offset(begin), self.offset(unwind)


def code_of(data, at):
    """Returns the size of a code in bytes, and its action."""
    n, name = next((n, name) for mask, bits, n, name in CODES if data[at] & mask == bits)
    value = int.from_bytes(data[at:at + n], 'big')
    low6, low5 = value & 63, value & 31
    match name:
        case 'alloc':
            code = name, (value & ((1 << (5, 11, 0, 24)[n - 1]) - 1)) * 16
        case 'r19r20_x':
            code = 'save', -low5 * 8, 0, [19, 20]
        case 'fplr':
            code = 'save', 0, low6 * 8, [FP, LR]
        case 'fplr_x':
            code = 'save', -(low6 + 1) * 8, 0, [FP, LR]
        case 'regp' | 'regp_x':
            first = 19 + (value >> 6 & 15)
            code = save(name, low6, [first, first + 1])
        case 'reg':
            code = save(name, low6, [19 + (value >> 6 & 15)])
        case 'reg_x':
            code = save(name, low5, [19 + (value >> 5 & 15)])
        case 'lrpair':
            code = save(name, low6, [19 + 2 * (value >> 6 & 7), LR])
        case 'fregp' | 'fregp_x' | 'freg':
            code = save(name, low6, [])
        case 'freg_x':
            code = save(name, low5, [])
        case 'set_fp':
            code = 'set_fp', 0
        case 'add_fp':
            code = 'set_fp', (value & 255) * 8
        case _:
            code = name,
    return n, code


def save(name, z, registers):
    return ('save', -(z + 1) * 8, 0, registers) if name.endswith('_x') else ('save', 0, z * 8, registers)


def codes_from(data, at):
    """Returns the codes up to the end of the sequence, in the order of an epilog, which is the
    reverse of the prolog's."""
    found = []
    while True:
        n, code = code_of(data, at)
        if code[0] in ('end', 'end_c'):
            return found
        found.append(code)
        at += n


def state(prolog):
    """Returns the state after these codes, in the order of a prolog: the depth, the registers'
    places from the CFA, and the place of x29."""
    depth, places, pointer, last = 0, {}, None, ('save', 0, 0, [])
    for code in prolog:
        if code[0] == 'next':
            code = 'save', 0, last[2] + 16, [register + 2 for register in last[3]]
        if code[0] == 'alloc':
            depth += code[1]
        elif code[0] == 'save':
            depth, last = depth - code[1], code
            places |= {register: code[2] + 8 * i - depth for i, register in enumerate(code[3])}
        elif code[0] == 'set_fp':
            pointer = depth - code[1]
        else:
            assert code[0] == 'nop', code
    return depth, places, pointer


def texts(depth, places, pointer):
    """Returns the CFA relative to sp, and relative to x29 once x29 belongs to the method."""
    saved = ' '.join(str(places.get(register, '-')) for register in SAVED)
    return {f'sp{depth:+} {saved}', *([] if pointer is None else [f'x29{pointer:+} {saved}'])}


def questions(image, begin, unwind):
    """Returns (offset in the method, right answer, place) of a function; and its length."""
    data, header = image.bytes, image.word(unwind)
    n, n_scopes, n_words, at = (header & 0x3ffff) * 4, header >> 22 & 31, header >> 27, unwind + 4
    is_single = header >> 21 & 1
    if not n_scopes and not n_words:
        n_scopes, n_words, at = image.word(at) & 0xffff, image.word(at) >> 16 & 255, at + 4
    scopes = [] if is_single else [image.word(at + 4 * i) for i in range(n_scopes)]
    codes = at + 4 * len(scopes)
    prolog = codes_from(data, codes)[::-1]
    found = []
    if not any(code[0] == 'set_fp' for code in prolog):
        return n, found
    whole = texts(*state(prolog))
    for k in range(len(prolog) + 1):
        found.append((4 * k, texts(*state(prolog[:k])), 'begin'))
    if is_single:
        last = codes_from(data, codes + n_scopes)
        epilogs = [(n - 4 * (len(last) + 1), last)]
    else:
        epilogs = [((scope & 0x3ffff) * 4, codes_from(data, codes + (scope >> 22))) for scope in scopes]
    ends = {start + 4 * k for start, last in epilogs for k in range(len(last) + 1)}
    for start, last in epilogs:
        if start > 4 * len(prolog) and start - 4 not in ends:
            found.append((start - 4, whole, 'between'))
        for k in range(len(last) + 1):
            # Until x29 is restored, the rules of the whole frame are valid, too.
            is_whole = not any(FP in code[3] for code in last[:k] if code[0] == 'save')
            found.append((start + 4 * k, texts(*state(last[k:][::-1])) | (whole if is_whole else set()), 'end'))
    return n, found


def main():
    tap = Tap()
    try:
        pack, = nuget.restore([nuget.ARM64_RUNTIME])
    except RuntimeError as error:
        tap.skip('the runtime for arm64', f'it is not to be had: {str(error).splitlines()[-1]}')
        return tap.finish()
    image = Image(pack / IMAGE)
    asked = [(begin, n, *row) for begin, unwind in image.functions() for n, rows in [questions(image, begin, unwind)]
             for row in rows]
    answers = subprocess.run([sys.argv[1], pack / IMAGE], input='\n'.join(f'{b} {n} {at}' for b, n, at, _, _ in asked),
                             capture_output=True, text=True, check=True).stdout.splitlines()
    counts, wrong = collections.Counter(), collections.defaultdict(list)
    for (begin, n, at, want, where), answer in zip(asked, answers):
        counts[where] += 1
        if answer not in want:
            wrong[where].append((begin, n, at, want, answer))
    tap.check(len(answers) == len(asked), 'each place has an answer')
    for where, n in counts.items():
        tap.check(n > 30000 and not wrong[where], f'{where}: {n} places, {len(wrong[where])} wrong', *wrong[where][:5])
    return tap.finish()


if __name__ == '__main__':
    sys.exit(main())
