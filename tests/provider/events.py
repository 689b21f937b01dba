# SPDX-License-Identifier: MIT
"""The emissions of the test provider, and the expected results: the single source of both.

The layouts are from the manifest (ClrEtwAll.man), and are independent of the event table of
src/event, which they test. An event with at most nine fields and no array is plain, one CTF field
for each; any other event is packed into one blob, as by the generator of the runtime's LTTng
provider (genLttngProvider.py). The values are derived from the names: all are known, all differ,
and every bit of every width is used.
"""

import hashlib
import struct
import uuid
from dataclasses import dataclass

RUNTIME = 'DotNETRuntime'
RUNDOWN = 'DotNETRuntimeRundown'
PRIVATE = 'DotNETRuntimePrivate'
OTHER = 'clrsym_test_other'

MAX_PLAIN_FIELDS = 9
FLAG_JIT_HELPER = 0x10

INTEGERS = {'u8': '<B', 'u16': '<H', 'u32': '<I', 'u64': '<Q', 'bool': '<I'}
ELEMENTS = {'u64[]': '<Q', 'u32[]': '<I', 'u8[]': '<B', 'il[]': '<i'}
COUNTS = ('TypeParameterCount', 'CountOfMapEntries', 'DataSize', 'Count')
TYPE_NUMBERS = {'TypeID': 'u64', 'ModuleID': 'u64', 'TypeNameID': 'u32', 'Flags': 'u32',
                'CorElementType': 'u8'}

# Field types: numbers; bool (4 bytes); guid; w (UTF-16 in a blob), a (8-bit), both CTF strings when
# plain; arrays, counted by the nearest of COUNTS before them; il[] is signed; types[] are the rows
# of BulkType, with the numbers above, a name and u64[].
ID = 'MethodID:u64 ModuleID:u64'
EXTENT = 'MethodStartAddress:u64 MethodSize:u32 MethodToken:u32 MethodFlags:u32'
NAMES = 'MethodNamespace:w MethodName:w MethodSignature:w'
CLR = 'ClrInstanceID:u16'
METHOD = f'{ID} {EXTENT}'
METHOD_1 = f'{METHOD} {CLR}'
METHOD_2 = f'{METHOD_1} ReJITID:u64'
VERBOSE = f'{METHOD} {NAMES}'
VERBOSE_1 = f'{VERBOSE} {CLR}'
VERBOSE_2 = f'{VERBOSE_1} ReJITID:u64'
JITTING = f'{ID} MethodToken:u32 MethodILSize:u32 {NAMES}'
COMPILED = ('MethodBeingCompiledNamespace:w MethodBeingCompiledName:w '
            'MethodBeingCompiledNameSignature:w')
INLINE = (f'{COMPILED} InlinerNamespace:w InlinerName:w InlinerNameSignature:w '
          'InlineeNamespace:w InlineeName:w InlineeNameSignature:w')
TAIL = (f'{COMPILED} CallerNamespace:w CallerName:w CallerNameSignature:w '
        'CalleeNamespace:w CalleeName:w CalleeNameSignature:w TailPrefix:bool')
MAP = ('MethodID:u64 ReJITID:u64 MethodExtent:u8 CountOfMapEntries:u16 ILOffsets:il[] '
       f'NativeOffsets:u32[] {CLR}')
MAP_1 = f'{MAP} ILVersionID:u64'
PATHS = 'ModuleFlags:u32 Reserved1:u32 ModuleILPath:w ModuleNativePath:w'
MODULE = f'ModuleID:u64 AssemblyID:u64 {PATHS}'
MODULE_1 = f'{MODULE} {CLR}'
MODULE_2 = (f'{MODULE_1} ManagedPdbSignature:guid ManagedPdbAge:u32 ManagedPdbBuildPath:w '
            'NativePdbSignature:guid NativePdbAge:u32 NativePdbBuildPath:w')
DOMAIN_MODULE = f'ModuleID:u64 AssemblyID:u64 AppDomainID:u64 {PATHS}'
RANGE = f'{CLR} ModuleID:u64 RangeBegin:u32 RangeSize:u32 RangeType:u8'
ASSEMBLY = 'AssemblyID:u64 AppDomainID:u64 AssemblyFlags:u32 FullyQualifiedAssemblyName:w'
ASSEMBLY_1 = ('AssemblyID:u64 AppDomainID:u64 BindingID:u64 AssemblyFlags:u32 '
              f'FullyQualifiedAssemblyName:w {CLR}')
DOMAIN = 'AppDomainID:u64 AppDomainFlags:u32 AppDomainName:w'
DOMAIN_1 = f'{DOMAIN} AppDomainIndex:u32 {CLR}'
INFORMATION = (f'{CLR} Sku:u16 BclMajorVersion:u16 BclMinorVersion:u16 BclBuildNumber:u16 '
               'BclQfeNumber:u16 VMMajorVersion:u16 VMMinorVersion:u16 VMBuildNumber:u16 '
               'VMQfeNumber:u16 StartupFlags:u32 StartupMode:u8 CommandLine:w ComObjectGuid:guid '
               'RuntimeDllPath:w')
STUB = (f'{CLR} ModuleID:u64 StubMethodID:u64 StubFlags:u32 ManagedInteropMethodToken:u32 '
        'ManagedInteropMethodNamespace:w ManagedInteropMethodName:w '
        'ManagedInteropMethodSignature:w NativeMethodSignature:w StubMethodSignature:w '
        'StubMethodILCode:w')

LAYOUTS = {
    RUNTIME: {
        'GCStart_V2': f'Count:u32 Depth:u32 Reason:u32 Type:u32 {CLR} ClientSequenceNumber:u64',
        'GCEnd_V1': f'Count:u32 Depth:u32 {CLR}',
        'GCRestartEEEnd_V1': CLR,
        'GCRestartEEBegin_V1': CLR,
        'GCSuspendEEEnd_V1': CLR,
        'GCSuspendEEBegin_V1': f'Reason:u32 Count:u32 {CLR}',
        'BulkType': f'Count:u32 {CLR} Values:types[]',
        'MethodDetails': 'MethodID:u64 TypeID:u64 MethodToken:u32 TypeParameterCount:u32 '
                         'LoaderModuleID:u64 TypeParameters:u64[]',
        'ILStubGenerated': STUB,
        'DCStartCompleteV2': '',
        'DCEndCompleteV2': '',
        'MethodDCStartV2': METHOD,
        'MethodDCEndV2': METHOD,
        'MethodDCStartVerboseV2': VERBOSE,
        'MethodDCEndVerboseV2': VERBOSE,
        'MethodLoad': METHOD,
        'MethodLoad_V1': METHOD_1,
        'MethodLoad_V2': METHOD_2,
        'MethodUnload': METHOD,
        'MethodUnload_V1': METHOD_1,
        'MethodUnload_V2': METHOD_2,
        'MethodLoadVerbose': VERBOSE,
        'MethodLoadVerbose_V1': VERBOSE_1,
        'MethodLoadVerbose_V2': VERBOSE_2,
        'MethodUnloadVerbose': VERBOSE,
        'MethodUnloadVerbose_V1': VERBOSE_1,
        'MethodUnloadVerbose_V2': VERBOSE_2,
        'MethodJittingStarted': JITTING,
        'MethodJittingStarted_V1': f'{JITTING} {CLR}',
        'MethodJitMemoryAllocatedForCode':
            f'{ID} JitHotCodeRequestSize:u64 JitRODataRequestSize:u64 '
            f'AllocatedSizeForJitCode:u64 JitAllocFlag:u32 {CLR}',
        'ModuleDCStartV2': MODULE,
        'ModuleDCEndV2': MODULE,
        'DomainModuleLoad': DOMAIN_MODULE,
        'DomainModuleLoad_V1': f'{DOMAIN_MODULE} {CLR}',
        'ModuleLoad': MODULE,
        'ModuleLoad_V1': MODULE_1,
        'ModuleLoad_V2': MODULE_2,
        'ModuleUnload': MODULE,
        'ModuleUnload_V1': MODULE_1,
        'ModuleUnload_V2': MODULE_2,
        'AssemblyLoad': ASSEMBLY,
        'AssemblyLoad_V1': ASSEMBLY_1,
        'AssemblyUnload': ASSEMBLY,
        'AssemblyUnload_V1': ASSEMBLY_1,
        'AppDomainLoad': DOMAIN,
        'AppDomainLoad_V1': DOMAIN_1,
        'AppDomainUnload': DOMAIN,
        'AppDomainUnload_V1': DOMAIN_1,
        'ModuleRangeLoad': RANGE,
        'R2RGetEntryPoint': f'MethodID:u64 {NAMES} EntryPoint:u64 {CLR}',
        'R2RGetEntryPointStart': f'MethodID:u64 {CLR}',
        'MethodJitInliningSucceeded': f'{INLINE} {CLR}',
        'MethodJitInliningFailedAnsi': f'{INLINE} FailAlways:bool FailReason:a {CLR}',
        'RuntimeInformationStart': INFORMATION,
        'MethodJitTailCallSucceeded': f'{TAIL} TailCallType:u32 {CLR}',
        'MethodJitTailCallFailedAnsi': f'{TAIL} FailReason:a {CLR}',
        'MethodILToNativeMap': MAP,
        'MethodILToNativeMap_V1': MAP_1,
        'MethodJitTailCallFailed': f'{TAIL} FailReason:w {CLR}',
        'MethodJitInliningFailed': f'{INLINE} FailAlways:bool FailReason:w {CLR}',
        'TieredCompilationSettings': f'{CLR} Flags:u32',
        'TieredCompilationPause': CLR,
        'TieredCompilationResume': f'{CLR} NewMethodCount:u32',
        'TieredCompilationBackgroundJitStart': f'{CLR} PendingMethodCount:u32',
        'TieredCompilationBackgroundJitStop':
            f'{CLR} PendingMethodCount:u32 JittedMethodCount:u32',
    },
    RUNDOWN: {
        'MethodDCStart': METHOD,
        'MethodDCStart_V1': METHOD_1,
        'MethodDCStart_V2': METHOD_2,
        'MethodDCEnd': METHOD,
        'MethodDCEnd_V1': METHOD_1,
        'MethodDCEnd_V2': METHOD_2,
        'MethodDCStartVerbose': VERBOSE,
        'MethodDCStartVerbose_V1': VERBOSE_1,
        'MethodDCStartVerbose_V2': VERBOSE_2,
        'MethodDCEndVerbose': VERBOSE,
        'MethodDCEndVerbose_V1': VERBOSE_1,
        'MethodDCEndVerbose_V2': VERBOSE_2,
        'DCStartComplete': '',
        'DCStartComplete_V1': CLR,
        'DCEndComplete': '',
        'DCEndComplete_V1': CLR,
        'DCStartInit': '',
        'DCStartInit_V1': CLR,
        'DCEndInit': '',
        'DCEndInit_V1': CLR,
        'MethodDCStartILToNativeMap': MAP,
        'MethodDCStartILToNativeMap_V1': MAP_1,
        'MethodDCEndILToNativeMap': MAP,
        'MethodDCEndILToNativeMap_V1': MAP_1,
        'DomainModuleDCStart': DOMAIN_MODULE,
        'DomainModuleDCStart_V1': f'{DOMAIN_MODULE} {CLR}',
        'DomainModuleDCEnd': DOMAIN_MODULE,
        'DomainModuleDCEnd_V1': f'{DOMAIN_MODULE} {CLR}',
        'ModuleDCStart': MODULE,
        'ModuleDCStart_V1': MODULE_1,
        'ModuleDCStart_V2': MODULE_2,
        'ModuleDCEnd': MODULE,
        'ModuleDCEnd_V1': MODULE_1,
        'ModuleDCEnd_V2': MODULE_2,
        'AssemblyDCStart': ASSEMBLY,
        'AssemblyDCStart_V1': ASSEMBLY_1,
        'AssemblyDCEnd': ASSEMBLY,
        'AssemblyDCEnd_V1': ASSEMBLY_1,
        'AppDomainDCStart': DOMAIN,
        'AppDomainDCStart_V1': DOMAIN_1,
        'AppDomainDCEnd': DOMAIN,
        'AppDomainDCEnd_V1': DOMAIN_1,
        'ModuleRangeDCStart': RANGE,
        'ModuleRangeDCEnd': RANGE,
        'RuntimeInformationDCStart': INFORMATION,
        'TieredCompilationSettingsDCStart': f'{CLR} Flags:u32',
    },
    PRIVATE: {
        'JittedMethodRichDebugInfo': f'{CLR} MethodID:u64 ReJITID:u64 ILVersionID:u64 '
                                     'ChunkFlags:u32 DataSize:u32 Data:u8[]',
    },
}

# Events of the runtime's providers without a row: they are counted and named.
UNREAD = {
    RUNTIME: {
        'GCTriggered_V1': f'Reason:u32 {CLR}',
        # See LATER.
        'ModuleLoad_V3': f'{MODULE_2} Tail:u64',
        # Names whose begin or end is that of a supported event.
        'MethodLoadVerbose_V3': f'{VERBOSE_2} Tail:u64',
        'MethodLoad_V10': METHOD_1,
        'ModuleDCEnd_V2': MODULE_2,
    },
    RUNDOWN: {
        'ModuleDCEnd_V3': f'{MODULE_2} Tail:u64',
        'MethodLoad_V1': METHOD_1,
    },
}

# An event of UNREAD -> the earlier version that replaces it. Its last field is the additional one.
LATER = {
    f'{RUNTIME}:ModuleLoad_V3': 'ModuleLoad_V2',
    f'{RUNTIME}:MethodLoadVerbose_V3': 'MethodLoadVerbose_V2',
    f'{RUNDOWN}:ModuleDCEnd_V3': 'ModuleDCEnd_V2',
}

# An event of a provider other than .NET's, with the name and layout of a supported event.
FOREIGN = {OTHER: {'MethodLoad_V1': METHOD_1}}


@dataclass(frozen=True)
class Event:
    """An event class of the provider: fields are (name, type) pairs in manifest order."""
    provider: str
    name: str
    fields: tuple
    is_packed: bool

    @property
    def full_name(self):
        return f'{self.provider}:{self.name}'


def event_make(provider, name, layout):
    fields = tuple(tuple(item.split(':')) for item in layout.split())
    has_array = any(kind.endswith('[]') for _, kind in fields)
    return Event(provider, name, fields, len(fields) > MAX_PLAIN_FIELDS or has_array)


def events_of(layouts):
    return {(provider, name): event_make(provider, name, layout)
            for provider, names in layouts.items() for name, layout in names.items()}


READ_EVENTS = events_of(LAYOUTS)
UNREAD_EVENTS = events_of(UNREAD)
FOREIGN_EVENTS = events_of(FOREIGN)
ALL_EVENTS = {**READ_EVENTS, **UNREAD_EVENTS, **FOREIGN_EVENTS}

# Results of an emission in the dump.
RECORD = 'record'  # a line
ERROR = 'error'  # no line; counted as not decoded
SKIPPED = 'skipped'  # no line; counted as not read
AS_EARLIER = 'as earlier'  # a line, by an earlier version; counted as not read
IGNORED = 'ignored'  # no line, no message


@dataclass
class Emission:
    """One call of a tracepoint, and its expected result."""
    event: Event
    values: dict
    outcome: str = RECORD
    # Only packed events: bytes and length in the place of the right ones.
    blob: bytes = None
    length: int = None
    # CTF fields (name, CTF type, value) in the place of the event's.
    ctf: tuple = None

    def __post_init__(self):
        if self.ctf is None and self.event.is_packed:
            blob = blob_of(self.event, self.values) if self.blob is None else self.blob
            length = len(blob) if self.length is None else self.length
            self.ctf = (('length', 'u32', length), ('__data__', 'i8[]', blob))
        elif self.ctf is None:
            self.ctf = plain_ctf(self.event, self.values)

    def shown(self):
        fields = self.event.fields[:-1] if self.outcome == AS_EARLIER else self.event.fields
        return {name: value_shown(kind, self.values[name]) for name, kind in fields}

    def shown_name(self):
        return LATER[self.event.full_name] if self.outcome == AS_EARLIER else self.event.name


def plain_ctf(event, values):
    """Strings are UTF-8; surrogateescape gives bytes that are not UTF-8."""
    return tuple((name, 'string', values[name].encode('utf-8', 'surrogateescape'))
                 if kind in ('w', 'a') else (name, kind, values[name])
                 for name, kind in event.fields)


def type_packed(row):
    numbers = b''.join(struct.pack(INTEGERS[kind], row[name])
                       for name, kind in TYPE_NUMBERS.items())
    arguments = row['TypeParameters']
    return (numbers + value_packed('w', row['Name']) + struct.pack('<I', len(arguments)) +
            value_packed('u64[]', arguments))


def value_packed(kind, value):
    """None is the NULL string of the runtime's helper events, which takes no bytes."""
    if kind in INTEGERS:
        return struct.pack(INTEGERS[kind], value)
    if kind in ELEMENTS:
        return b''.join(struct.pack(ELEMENTS[kind], element) for element in value)
    if kind == 'types[]':
        return b''.join(map(type_packed, value))
    if kind == 'guid':
        return uuid.UUID(value).bytes_le
    if value is None:
        return b''
    if kind == 'w':
        return (value + '\0').encode('utf-16-le', 'surrogatepass')
    return value.encode('utf-8', 'surrogateescape') + b'\0'


def blob_of(event, values):
    return b''.join(value_packed(kind, values[name]) for name, kind in event.fields)


def value_shown(kind, value):
    """Returns the JSON value that the dump must show."""
    if kind == 'u64':
        return hex(value)
    if kind == 'u64[]':
        return [hex(element) for element in value]
    if kind == 'types[]':
        kinds = {**TYPE_NUMBERS, 'Name': 'w', 'TypeParameters': 'u64[]'}
        return [{name: value_shown(kinds[name], number) for name, number in row.items()}
                for row in value]
    if kind == 'bool':
        return value != 0
    if kind in ('w', 'a'):
        # U+FFFD stands for each unpaired surrogate, and for each byte that is not UTF-8, which
        # surrogateescape turns into a surrogate, too.
        return (value or '').encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace')
    return value


def digest(*parts):
    return hashlib.sha256(':'.join(map(str, parts)).encode()).digest()


def type_make(event, i):
    bits = digest(event.name, 'type', i)
    return {**{name: struct.unpack_from(INTEGERS[kind], bits, 8 * at)[0] & (2**63 - 1)
               for at, (name, kind) in enumerate(list(TYPE_NUMBERS.items())[:-1])},
            'CorElementType': 0x12, 'Name': 'größer 日本 𝄞' if i % 3 == 2 else '',
            'TypeParameters': [i * 0x123456789abcd] * min(i, 5)}


def value_make(event, name, kind, n_elements):
    """Returns a value that is unique to the field of the event."""
    bits = digest(event.provider, event.name, name)
    if name in COUNTS:
        return n_elements
    if kind == 'bool':
        return bits[0] & 1
    if kind in INTEGERS:
        value = struct.unpack_from(INTEGERS[kind], bits)[0]
        # Helper events are a case of their own.
        return value & ~FLAG_JIT_HELPER if name == 'MethodFlags' else value
    if kind == 'types[]':
        return [type_make(event, i) for i in range(n_elements)]
    if kind in ELEMENTS:
        return [struct.unpack_from(ELEMENTS[kind], digest(event.name, name, i))[0]
                for i in range(n_elements)]
    if kind == 'guid':
        return str(uuid.UUID(bytes=bits[:16]))
    text = f'{event.name}.{name} {bits[:3].hex()}'
    return text if kind == 'a' else f'{text} größer 日本 𝄞'


def values_make(event, n_elements=3, **changes):
    values = {name: value_make(event, name, kind, n_elements) for name, kind in event.fields}
    unknown = set(changes) - set(values)
    assert not unknown, f'{event.full_name} has no {unknown}'
    values.update(changes)
    return values
