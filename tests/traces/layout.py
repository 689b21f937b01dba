# SPDX-License-Identifier: MIT
"""The layout of the runtime's events, for tests.

It was transcribed from the runtime's manifest a second time, independently of src/event/event.c; only tests read
it. Both must agree on every byte of the recorded traces. Fields are in manifest order. Types: u8 .. u64, bool (4
bytes), guid, W (UTF-16LE up to NUL), A (8 bit up to NUL), i32[COUNT], u32[COUNT], u64[COUNT] with the name of the
field that counts; type[COUNT]: rows of TYPE, each with its name and its type arguments."""

import struct
import uuid

METHOD = ('MethodID u64, ModuleID u64, MethodStartAddress u64, MethodSize u32, MethodToken u32,'
          'MethodFlags u32')
NAMES = 'MethodNamespace W, MethodName W, MethodSignature W'
CLR = 'ClrInstanceID u16'
REJIT = 'ReJITID u64'
MODULE = ('ModuleID u64, AssemblyID u64, ModuleFlags u32, Reserved1 u32, ModuleILPath W,'
          'ModuleNativePath W')
DOMAIN_MODULE = ('ModuleID u64, AssemblyID u64, AppDomainID u64, ModuleFlags u32, Reserved1 u32,'
                 'ModuleILPath W, ModuleNativePath W')
PDB = ('ManagedPdbSignature guid, ManagedPdbAge u32, ManagedPdbBuildPath W,'
       'NativePdbSignature guid, NativePdbAge u32, NativePdbBuildPath W')
ASSEMBLY = 'AssemblyID u64, AppDomainID u64, AssemblyFlags u32, FullyQualifiedAssemblyName W'
ASSEMBLY_V1 = ('AssemblyID u64, AppDomainID u64, BindingID u64, AssemblyFlags u32,'
               'FullyQualifiedAssemblyName W, ClrInstanceID u16')
APP_DOMAIN = 'AppDomainID u64, AppDomainFlags u32, AppDomainName W'
APP_DOMAIN_V1 = APP_DOMAIN + ', AppDomainIndex u32, ClrInstanceID u16'
RANGE = 'ClrInstanceID u16, ModuleID u64, RangeBegin u32, RangeSize u32, RangeType u8'
IL_MAP = ('MethodID u64, ReJITID u64, MethodExtent u8, CountOfMapEntries u16,'
          'ILOffsets i32[CountOfMapEntries], NativeOffsets u32[CountOfMapEntries],'
          'ClrInstanceID u16')
RUNTIME = ('ClrInstanceID u16, Sku u16, BclMajorVersion u16, BclMinorVersion u16,'
           'BclBuildNumber u16, BclQfeNumber u16, VMMajorVersion u16, VMMinorVersion u16,'
           'VMBuildNumber u16, VMQfeNumber u16, StartupFlags u32, StartupMode u8, CommandLine W,'
           'ComObjectGuid guid, RuntimeDllPath W')
JITTING = 'MethodID u64, ModuleID u64, MethodToken u32, MethodILSize u32'


def triple(*subjects):
    """The three name fields of each method in an event of inlining or a tail call."""
    return ', '.join(f'{subject}Namespace W, {subject}Name W, {subject}NameSignature W'
                     for subject in subjects)


INLINING = triple('MethodBeingCompiled', 'Inliner', 'Inlinee')
TAIL_CALL = triple('MethodBeingCompiled', 'Caller', 'Callee')


def versions(name, *parts):
    """NAME, NAME_V1 ...: each version appends one part to the previous one."""
    return {(f'{name}_V{i}' if i else name): ', '.join(parts[:i + 1])
            for i in range(len(parts))}


DOTNET_RUNTIME = {
    **versions('MethodLoad', METHOD, CLR, REJIT),
    **versions('MethodUnload', METHOD, CLR, REJIT),
    **versions('MethodLoadVerbose', f'{METHOD}, {NAMES}', CLR, REJIT),
    **versions('MethodUnloadVerbose', f'{METHOD}, {NAMES}', CLR, REJIT),
    **versions('MethodJittingStarted', f'{JITTING}, {NAMES}', CLR),
    'MethodJitMemoryAllocatedForCode':
        'MethodID u64, ModuleID u64, JitHotCodeRequestSize u64, JitRODataRequestSize u64,'
        'AllocatedSizeForJitCode u64, JitAllocFlag u32, ClrInstanceID u16',
    'GCStart_V2': 'Count u32, Depth u32, Reason u32, Type u32, ClrInstanceID u16, ClientSequenceNumber u64',
    'GCEnd_V1': 'Count u32, Depth u32, ClrInstanceID u16',
    'GCSuspendEEBegin_V1': 'Reason u32, Count u32, ClrInstanceID u16',
    'GCSuspendEEEnd_V1': CLR, 'GCRestartEEBegin_V1': CLR, 'GCRestartEEEnd_V1': CLR,
    'BulkType': 'Count u32, ClrInstanceID u16, Values type[Count]',
    'MethodDetails':
        'MethodID u64, TypeID u64, MethodToken u32, TypeParameterCount u32, LoaderModuleID u64,'
        'TypeParameters u64[TypeParameterCount]',
    'R2RGetEntryPoint': f'MethodID u64, {NAMES}, EntryPoint u64, ClrInstanceID u16',
    'R2RGetEntryPointStart': 'MethodID u64, ClrInstanceID u16',
    'MethodJitInliningSucceeded': f'{INLINING}, {CLR}',
    'MethodJitInliningFailed': f'{INLINING}, FailAlways bool, FailReason W, {CLR}',
    'MethodJitInliningFailedAnsi': f'{INLINING}, FailAlways bool, FailReason A, {CLR}',
    'MethodJitTailCallSucceeded': f'{TAIL_CALL}, TailPrefix bool, TailCallType u32, {CLR}',
    'MethodJitTailCallFailed': f'{TAIL_CALL}, TailPrefix bool, FailReason W, {CLR}',
    'MethodJitTailCallFailedAnsi': f'{TAIL_CALL}, TailPrefix bool, FailReason A, {CLR}',
    **versions('MethodILToNativeMap', IL_MAP, 'ILVersionID u64'),
    'TieredCompilationSettings': 'ClrInstanceID u16, Flags u32',
    'TieredCompilationPause': CLR,
    'TieredCompilationResume': 'ClrInstanceID u16, NewMethodCount u32',
    'TieredCompilationBackgroundJitStart': 'ClrInstanceID u16, PendingMethodCount u32',
    'TieredCompilationBackgroundJitStop':
        'ClrInstanceID u16, PendingMethodCount u32, JittedMethodCount u32',
    'AppDomainLoad': APP_DOMAIN, 'AppDomainLoad_V1': APP_DOMAIN_V1,
    'AppDomainUnload': APP_DOMAIN, 'AppDomainUnload_V1': APP_DOMAIN_V1,
    'AssemblyLoad': ASSEMBLY, 'AssemblyLoad_V1': ASSEMBLY_V1,
    'AssemblyUnload': ASSEMBLY, 'AssemblyUnload_V1': ASSEMBLY_V1,
    **versions('ModuleLoad', MODULE, CLR, PDB),
    **versions('ModuleUnload', MODULE, CLR, PDB),
    **versions('DomainModuleLoad', DOMAIN_MODULE, CLR),
    'ModuleRangeLoad': RANGE,
    'RuntimeInformationStart': RUNTIME,
    'ILStubGenerated':
        'ClrInstanceID u16, ModuleID u64, StubMethodID u64, StubFlags u32,'
        'ManagedInteropMethodToken u32, ManagedInteropMethodNamespace W,'
        'ManagedInteropMethodName W, ManagedInteropMethodSignature W, NativeMethodSignature W,'
        'StubMethodSignature W, StubMethodILCode W',
    'MethodDCStartV2': METHOD, 'MethodDCEndV2': METHOD,
    'MethodDCStartVerboseV2': f'{METHOD}, {NAMES}', 'MethodDCEndVerboseV2': f'{METHOD}, {NAMES}',
    'ModuleDCStartV2': MODULE, 'ModuleDCEndV2': MODULE,
    'DCStartCompleteV2': '', 'DCEndCompleteV2': '',
}

DOTNET_RUNTIME_RUNDOWN = {
    **{name: fields for edge in ('DCStart', 'DCEnd') for name, fields in {
        **versions('Method' + edge, METHOD, CLR, REJIT),
        **versions('Method' + edge + 'Verbose', f'{METHOD}, {NAMES}', CLR, REJIT),
        **versions('Method' + edge + 'ILToNativeMap', IL_MAP, 'ILVersionID u64'),
        **versions(edge + 'Init', '', CLR),
        **versions(edge + 'Complete', '', CLR),
        **versions('DomainModule' + edge, DOMAIN_MODULE, CLR),
        **versions('Module' + edge, MODULE, CLR, PDB),
        'Assembly' + edge: ASSEMBLY, 'Assembly' + edge + '_V1': ASSEMBLY_V1,
        'AppDomain' + edge: APP_DOMAIN, 'AppDomain' + edge + '_V1': APP_DOMAIN_V1,
        'ModuleRange' + edge: RANGE,
    }.items()},
    'RuntimeInformationDCStart': RUNTIME,
    'TieredCompilationSettingsDCStart': 'ClrInstanceID u16, Flags u32',
}


DOTNET_RUNTIME_PRIVATE = {
    'JittedMethodRichDebugInfo':
        'ClrInstanceID u16, MethodID u64, ReJITID u64, ILVersionID u64, ChunkFlags u32,'
        'DataSize u32, Data u8[DataSize]',
}


def parse_fields(text):
    return [tuple(field.split()) for field in text.split(',') if field.strip()]


# LTTng event name -> [(field name, type)]: exactly the events of LTTng with a row in clrsym.
LAYOUT = {f'{provider}:{name}': parse_fields(fields)
          for provider, rows in (('DotNETRuntime', DOTNET_RUNTIME),
                                 ('DotNETRuntimeRundown', DOTNET_RUNTIME_RUNDOWN),
                                 ('DotNETRuntimePrivate', DOTNET_RUNTIME_PRIVATE))
          for name, fields in rows.items()}

TYPE = struct.Struct('<QQIIB')
TYPE_FIELDS = {'TypeID': 'u64', 'ModuleID': 'u64', 'TypeNameID': 'u32', 'Flags': 'u32',
               'CorElementType': 'u8'}
SCALARS = {'u8': '<B', 'u16': '<H', 'u32': '<I', 'u64': '<Q', 'i32': '<i'}


def hexadecimal(number):
    return f'0x{number:x}'


def shown(kind, number):
    """A number as `sink.clrsym.dump` prints it: 64 bits as hexadecimal text, others unchanged."""
    return hexadecimal(number) if kind == 'u64' else number


def wide_text(data):
    """UTF-16LE; each unpaired surrogate becomes one U+FFFD."""
    try:
        return data.decode('utf-16-le')
    except UnicodeDecodeError:
        text = data.decode('utf-16-le', 'surrogatepass')
    return ''.join('\N{REPLACEMENT CHARACTER}' if '\ud800' <= c <= '\udfff' else c for c in text)


def unpack_type(take, take_wide):
    fields = {name: shown(kind, number)
              for (name, kind), number in zip(TYPE_FIELDS.items(), TYPE.unpack(take(TYPE.size)))}
    fields['Name'] = take_wide()
    count, = struct.unpack('<I', take(4))
    arguments = struct.unpack(f'<{count}Q', take(8 * count))
    return {**fields, 'TypeParameters': [hexadecimal(argument) for argument in arguments]}


def unpack_blob(event_name, blob):
    """All fields of a packed event. Raises ValueError if the bytes are too few or too many."""
    fields, position = {}, 0

    def take(size):
        nonlocal position
        if position + size > len(blob):
            raise ValueError(f'{event_name}: {size} bytes wanted at {position} of {len(blob)}')
        position += size
        return blob[position - size:position]

    def take_wide():
        end = blob.find(b'\0\0', position)
        while end >= 0 and (end - position) % 2:  # of two code units
            end = blob.find(b'\0\0', end + 1)
        if end < 0:
            end = len(blob) - (len(blob) - position) % 2
        value = wide_text(take(end - position))
        take(2)
        return value

    for name, kind in LAYOUT[event_name]:
        if kind in SCALARS:
            value = shown(kind, struct.unpack(SCALARS[kind], take(int(kind[1:]) // 8))[0])
        elif kind == 'bool':
            value = struct.unpack('<I', take(4))[0] != 0
        elif kind == 'guid':
            value = str(uuid.UUID(bytes_le=bytes(take(16))))
        elif kind == 'W':
            value = take_wide()
        elif kind == 'A':
            value = take(blob.index(0, position) - position).decode('utf-8', 'replace')
            take(1)
        elif kind.startswith('type['):
            value = [unpack_type(take, take_wide) for _ in range(fields[kind[5:-1]])]
        else:
            element, count = kind.rstrip(']').split('[')
            size = int(element[1:]) // 8
            raw = take(size * fields[count])
            value = [shown(element, v[0]) for v in struct.iter_unpack(SCALARS[element], raw)]
        fields[name] = value
    if position != len(blob):
        raise ValueError(f'{event_name}: {len(blob) - position} bytes left over')
    return fields
