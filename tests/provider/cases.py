# SPDX-License-Identifier: MIT
"""The emissions of the two test programs, in order.

`main` has every event with known values, then the special cases; `odd` has events with known names
and other CTF fields. The test and the generator of the programs read the same lists.
"""

import struct

from tests.provider.events import (ALL_EVENTS, AS_EARLIER, COUNTS, ELEMENTS, ERROR, Emission, FLAG_JIT_HELPER,
                                   FOREIGN_EVENTS, IGNORED, INTEGERS, LATER, READ_EVENTS, RUNDOWN, RUNTIME, SKIPPED,
                                   UNREAD_EVENTS, blob_of, plain_ctf, values_make)


# UTF-16 as the runtime may have it, well-formed or not.
STRINGS = (
    '𝄞',  # one pair
    'a𝄞b\U0010ffff\U00010000',  # pairs, the last and the first
    '\ud834',  # a high half, alone
    '\udd1e',  # a low half, alone
    'end \ud834',
    'mid \ud834 dle',
    '\udd1e\ud834',  # a pair in the wrong order
    '\ud834\ud834\udd1e',  # a half before a pair
    '\udbff\udfff\udfff',  # a half after a pair
    '\x7f\x80\u07ff\u0800\ud7ff\ue000\ufffd\uffff',  # where UTF-8 grows, and around the surrogates
    '\ufeffmark',
    '\x01\x02\x08\t\n\x0b\x0c\r\x1b\x1f "\\/ \u2028\u2029',  # characters that JSON escapes, or should
    '日本語メソッド',
    'System.Collections.Generic.Dictionary`2[System.__Canon,System.__Canon]+<>c__DisplayClass',
)
# 8-bit strings: bytes that are not UTF-8, in the form of Python's surrogateescape.
BYTES = tuple(text.decode('utf-8', 'surrogateescape') for text in (
    b'\xff',
    b'bad \xfe\xff end',
    b'cut \xe2\x82',  # a sequence that lacks its last byte
    b'\xc0\x80',  # overlong
    b'\xed\xa0\x80',  # a surrogate
    b'\xf4\x90\x80\x80',  # beyond U+10FFFF
    b'\x80 \xbf',
))
WELL_FORMED = tuple(text for text in STRINGS if text.isprintable() or '\ud7ff' in text)
HUGE = 60_000
SPECIAL_OFFSETS = (-1, -2, -3, 0, 1, -2**31, 2**31 - 1)


def event(provider, name):
    return ALL_EVENTS[provider, name]


def emit(provider, name, outcome='record', **changes):
    emitted = event(provider, name)
    return Emission(emitted, values_make(emitted, **changes), outcome)


def all_ones(emitted):
    """All bits of all numbers set; arrays of one such element; strings at the end of Unicode."""
    values = values_make(emitted, n_elements=1)
    for name, kind in emitted.fields:
        if kind in ELEMENTS:
            ones = b'\xff' * struct.calcsize(ELEMENTS[kind])
            values[name] = [struct.unpack(ELEMENTS[kind], ones)[0]]
        elif kind in INTEGERS and name not in COUNTS:
            values[name] = (1 << 8 * struct.calcsize(INTEGERS[kind])) - 1
        elif kind == 'guid':
            values[name] = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        elif kind in ('w', 'a'):
            values[name] = '\U0010ffff\uffff' if kind == 'w' else '~'
    return Emission(emitted, values)


def all_zero(emitted):
    """All numbers 0, no elements and no texts: an empty plain string follows a non-empty one."""
    values = values_make(emitted, n_elements=0)
    for name, kind in emitted.fields:
        if kind in INTEGERS:
            values[name] = 0
        elif kind == 'guid':
            values[name] = '00000000-0000-0000-0000-000000000000'
        elif kind in ('w', 'a'):
            values[name] = ''
    return Emission(emitted, values)


def every_event():
    """Three rounds through all classes, so that a value that remains from the round before is
    seen."""
    for make in (lambda e: Emission(e, values_make(e)), all_ones, all_zero):
        yield from (make(emitted) for emitted in READ_EVENTS.values())


def strings():
    for text in STRINGS:
        yield emit(RUNTIME, 'MethodLoadVerbose_V1', MethodName=text)
        yield emit(RUNTIME, 'MethodLoadVerbose_V1', MethodNamespace=text, MethodName='',
                   MethodSignature=text + text)
        yield emit(RUNDOWN, 'RuntimeInformationDCStart', CommandLine=text, RuntimeDllPath=text)
    for text in BYTES:
        yield emit(RUNTIME, 'MethodJitInliningFailedAnsi', FailReason=text)
        yield emit(RUNTIME, 'MethodJittingStarted_V1', MethodName=text)
    for text in WELL_FORMED:
        yield emit(RUNTIME, 'MethodJittingStarted_V1', MethodName=text, MethodNamespace='',
                   MethodSignature=text)
        yield emit(RUNTIME, 'MethodJitTailCallFailedAnsi', FailReason=text)
        yield emit(RUNDOWN, 'AppDomainDCEnd', AppDomainName=text)
    # Empty and non-empty texts alternate, in one class and in each place.
    for texts in (('', 'b', 'c'), ('a', '', 'c'), ('a', 'b', ''), ('', '', ''), ('longer', '', '')):
        names = dict(zip(('MethodNamespace', 'MethodName', 'MethodSignature'), texts))
        yield emit(RUNTIME, 'R2RGetEntryPoint', **names)
        yield emit(RUNTIME, 'MethodDCEndVerboseV2', **names)
        yield emit(RUNTIME, 'MethodUnloadVerbose_V2', **names)
    yield emit(RUNTIME, 'MethodLoadVerbose_V2', MethodName='n' * HUGE)
    yield emit(RUNTIME, 'MethodLoadVerbose_V2', MethodSignature='日' * HUGE)
    yield emit(RUNTIME, 'MethodJittingStarted_V1', MethodName='é' * HUGE)


def helpers():
    """Events of stub helpers: namespace and signature are NULL and take no bytes, or they are
    there."""
    for provider, name in ((RUNTIME, 'MethodLoadVerbose_V1'), (RUNTIME, 'MethodLoadVerbose_V2'),
                           (RUNTIME, 'MethodUnloadVerbose_V1'),
                           (RUNDOWN, 'MethodDCEndVerbose_V1')):
        for flags in (FLAG_JIT_HELPER, FLAG_JIT_HELPER | 0x8):
            yield emit(provider, name, MethodFlags=flags, ModuleID=0, MethodNamespace=None,
                       MethodName='JIT_WriteBarrier', MethodSignature=None)
            yield emit(provider, name, MethodFlags=flags, ModuleID=0, MethodNamespace=None,
                       MethodName='', MethodSignature=None)
        yield emit(provider, name, MethodFlags=FLAG_JIT_HELPER, MethodName='JIT_New')
        yield emit(provider, name, MethodFlags=FLAG_JIT_HELPER, MethodNamespace='',
                   MethodName='JIT_New', MethodSignature='')
        # In other events than a helper's, NULL strings are missing bytes.
        yield emit(provider, name, ERROR, MethodFlags=0x8, MethodNamespace=None,
                   MethodSignature=None)


def arrays():
    for name in ('MethodILToNativeMap', 'MethodILToNativeMap_V1'):
        for n in (0, 1, 7000):
            offsets = [SPECIAL_OFFSETS[i] if i < len(SPECIAL_OFFSETS) else i * 3 for i in range(n)]
            yield emit(RUNTIME, name, CountOfMapEntries=n, ILOffsets=offsets,
                       NativeOffsets=[(i * 0x9e3779b1) & 0xffffffff for i in range(n)])
    for n in (0, 1, 300):
        yield emit(RUNTIME, 'MethodDetails', TypeParameterCount=n,
                   TypeParameters=[(i * 0x9e3779b97f4a7c15) & (2**64 - 1) for i in range(n)])
    bulk = event(RUNTIME, 'BulkType')
    for n in (0, 1, 300):
        yield Emission(bulk, values_make(bulk, n_elements=n))
    yield emit(RUNDOWN, 'MethodDCEndILToNativeMap_V1', CountOfMapEntries=7, ILOffsets=list(
        SPECIAL_OFFSETS), NativeOffsets=[0xffffffff, 0, 1, 2, 3, 4, 0x80000000])


def cut(provider, name, **changes):
    """The blob at every length below its own, and with surplus bytes."""
    emitted = event(provider, name)
    values = values_make(emitted, n_elements=2, **changes)
    blob = blob_of(emitted, values)
    yield Emission(emitted, values)
    for n in range(len(blob)):
        yield Emission(emitted, values, ERROR, blob=blob[:n])
    for tail in (b'\0', b'\0\0', b'\xff' * 8, blob):
        yield Emission(emitted, values, ERROR, blob=blob + tail)
    # The decoder recovers.
    yield Emission(emitted, values)


def lying():
    """`length` differs from the number of bytes; counts exceed the elements."""
    emitted = event(RUNTIME, 'MethodLoadVerbose_V1')
    values = values_make(emitted)
    size = len(blob_of(emitted, values))
    for length in (0, 1, size - 1, size + 1, 2 * size, 2**31, 2**32 - 1):
        yield Emission(emitted, values, ERROR, length=length)
    for name, field, counts in (
            ('MethodILToNativeMap_V1', 'CountOfMapEntries', (0, 1, 2, 4, 0xffff)),
            ('BulkType', 'Count', (0, 2, 4, 2**31, 2**32 - 1)),
            ('MethodDetails', 'TypeParameterCount', (0, 2, 4, 0x20000000, 2**31, 2**32 - 1))):
        emitted = event(RUNTIME, name)
        values = values_make(emitted, n_elements=3)
        for count in counts:
            lie = blob_of(emitted, {**values, field: count})
            yield Emission(emitted, values, ERROR, blob=lie)
    # A string without its NUL; it is the last field, so that no other field can be the fault.
    emitted = event(RUNTIME, 'RuntimeInformationStart')
    values = values_make(emitted)
    blob = blob_of(emitted, values)
    yield Emission(emitted, values, ERROR, blob=blob[:-2])
    yield Emission(emitted, values, ERROR, blob=blob[:-1])
    # The length of one version under the name of another.
    for name, other in (('MethodLoadVerbose_V1', 'MethodLoadVerbose_V2'),
                        ('MethodLoadVerbose_V2', 'MethodLoadVerbose_V1')):
        values = values_make(event(RUNTIME, 'MethodLoadVerbose_V2'))
        yield Emission(event(RUNTIME, name), values, ERROR,
                       blob=blob_of(event(RUNTIME, other), values))


def main_emissions():
    yield from every_event()
    yield from strings()
    yield from helpers()
    yield from arrays()
    for emitted in UNREAD_EVENTS.values():
        yield Emission(emitted, values_make(emitted), AS_EARLIER if emitted.full_name in LATER else SKIPPED)
    yield emit(RUNTIME, 'ModuleLoad_V3', AS_EARLIER, ModuleILPath='')
    for emitted in FOREIGN_EVENTS.values():
        yield Emission(emitted, values_make(emitted), IGNORED)
    yield from cut(RUNTIME, 'MethodLoadVerbose_V1', MethodNamespace='Ns', MethodName='Näme',
                   MethodSignature='void  ()')
    yield from cut(RUNTIME, 'MethodILToNativeMap_V1')
    yield from cut(RUNDOWN, 'ModuleDCEnd_V2', ModuleILPath='/a/b.dll', ModuleNativePath='',
                   ManagedPdbBuildPath='b.pdb', NativePdbBuildPath='')
    yield from cut(RUNTIME, 'MethodJitTailCallFailedAnsi', **{
        name: name[:3] for name, kind in event(RUNTIME, 'MethodJitTailCallFailedAnsi').fields
        if kind in ('w', 'a')})
    yield from lying()
    # One of each event again, after all the errors.
    for emitted in READ_EVENTS.values():
        yield Emission(emitted, values_make(emitted, n_elements=1))


def changed(provider, name, outcome, change):
    """An emission with other plain CTF fields: CHANGE is a function from list to list."""
    emitted = event(provider, name)
    values = values_make(emitted)
    return Emission(emitted, values, outcome, ctf=tuple(change(list(plain_ctf(emitted, values)))))


def retyped(provider, name, field, kind, value, outcome=ERROR):
    return changed(provider, name, outcome, lambda fields: [
        (field, kind, value) if entry[0] == field else entry for entry in fields])


def odd_emissions():
    """Known names, other CTF fields. Each is an event class, so each name comes once."""
    # The other encoding of the same event is valid, too.
    for name in ('MethodLoad', 'TieredCompilationPause', 'AppDomainUnload_V1'):
        emitted = event(RUNTIME, name)
        values = values_make(emitted)
        blob = blob_of(emitted, values)
        yield Emission(emitted, values, ctf=(('length', 'u32', len(blob)),
                                             ('__data__', 'i8[]', blob)))
    yield changed(RUNTIME, 'MethodLoadVerbose_V1', 'record', lambda fields: fields)

    yield retyped(RUNTIME, 'MethodLoad_V1', 'MethodID', 'string', b'0x7f0012345678')
    yield retyped(RUNTIME, 'MethodLoad_V2', 'MethodSize', 'f64', 64.0)
    # The value would fit only without its upper half.
    yield retyped(RUNTIME, 'MethodUnload', 'MethodSize', 'u64', 2**32 + 64)
    yield retyped(RUNTIME, 'MethodJittingStarted_V1', 'MethodName', 'u32', 7)
    yield retyped(RUNTIME, 'ModuleLoad', 'ModuleILPath', 'i8[]', b'/a/b.dll')
    yield retyped(RUNTIME, 'R2RGetEntryPoint', 'EntryPoint', 'i8[]', b'12345678')
    yield changed(RUNTIME, 'MethodUnload_V1', ERROR, lambda fields: fields[:-1])
    yield changed(RUNTIME, 'MethodUnload_V2', ERROR, lambda fields: fields + [('More', 'u32', 1)])
    yield changed(RUNTIME, 'AppDomainLoad', ERROR,
                  lambda fields: fields[:-1] + [('Name', 'string', b'clrhost')])
    yield changed(RUNTIME, 'R2RGetEntryPointStart', ERROR, lambda fields: [])
    yield changed(RUNTIME, 'DCStartCompleteV2', ERROR, lambda fields: [('ClrInstanceID', 'u16', 0)])

    def packed(name, change):
        emitted = event(RUNTIME, name)
        values = values_make(emitted)
        blob = blob_of(emitted, values)
        return Emission(emitted, values, ERROR, ctf=tuple(change(blob)))

    yield packed('MethodUnloadVerbose_V1', lambda blob: (
        ('length', 'u32', len(blob)), ('__data__', 'u32[]', blob[:len(blob) // 4 * 4])))
    yield packed('MethodLoadVerbose_V2', lambda blob: (
        ('length', 'u32', len(blob)), ('__data__', 'string', b'text')))
    yield packed('ModuleLoad_V2', lambda blob: (
        ('length', 'string', b'9'), ('__data__', 'i8[]', blob)))
    yield packed('ModuleUnload_V2', lambda blob: (('__data__', 'i8[]', blob),))
    yield packed('MethodDetails', lambda blob: (('length', 'u32', len(blob)),))
    yield packed('MethodILToNativeMap', lambda blob: (
        ('length', 'u32', len(blob)), ('__data__', 'i8[]', blob), ('More', 'u32', 1)))
    # A valid event last.
    yield emit(RUNTIME, 'MethodILToNativeMap_V1')


PROGRAMS = {'main': main_emissions, 'odd': odd_emissions}
