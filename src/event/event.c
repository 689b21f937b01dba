/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include <assert.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

static const char *const PROVIDER_NAMES[_PROVIDER_MAX] = {
        [PROVIDER_RUNTIME] = "DotNETRuntime",
        [PROVIDER_RUNDOWN] = "DotNETRuntimeRundown",
        [PROVIDER_PRIVATE] = "DotNETRuntimePrivate",
        [PROVIDER_ASYNC] = "AsyncProfiler",
        [PROVIDER_UNIVERSAL_SYSTEM] = "Universal.System",
        [PROVIDER_UNIVERSAL_EVENTS] = "Universal.Events",
};

static const char *const FIELD_NAMES[_FIELD_NAME_MAX] = {
#define FIELD(name) #name,
#include "event/field-names.inc"
#undef FIELD
};

/* A field; an array, which another field counts; a field that has a role. */
#define F(name, type)                                                                              \
        {                                                                                          \
                FIELD_##name, FIELD_TYPE_##type, .count = _FIELD_NAME_MAX                          \
        }
#define A(name, type, counted_by)                                                                  \
        {                                                                                          \
                FIELD_##name, FIELD_TYPE_##type, .count = FIELD_##counted_by                       \
        }
#define R(name, type, field_role)                                                                  \
        {                                                                                          \
                FIELD_##name, FIELD_TYPE_##type, .count = _FIELD_NAME_MAX,                         \
                                                 .role = FIELD_ROLE_##field_role                   \
        }

/*
 * Field lists. A later version of an event has the fields of the version before and, except for
 * assemblies, appends to them; the suffix of a list is the first version that has it.
 */
#define METHOD_V0                                                                                  \
        F(MethodID, U64), F(ModuleID, U64), F(MethodStartAddress, U64), F(MethodSize, U32),        \
                F(MethodToken, U32), F(MethodFlags, U32)
#define METHOD_V1 METHOD_V0, F(ClrInstanceID, U16)
#define METHOD_V2 METHOD_V1, F(ReJITID, U64)
static const Field method_v0[] = {METHOD_V0};
static const Field method_v1[] = {METHOD_V1};
static const Field method_v2[] = {METHOD_V2};

/* The strings of a JIT helper's event are NULL, except its name. */
#define METHOD_VERBOSE_V0                                                                          \
        F(MethodID, U64), F(ModuleID, U64), F(MethodStartAddress, U64), F(MethodSize, U32),        \
                F(MethodToken, U32), R(MethodFlags, U32, METHOD_FLAGS),                            \
                R(MethodNamespace, WSTRING, NULL_IN_HELPERS), F(MethodName, WSTRING),              \
                R(MethodSignature, WSTRING, NULL_IN_HELPERS)
#define METHOD_VERBOSE_V1 METHOD_VERBOSE_V0, F(ClrInstanceID, U16)
#define METHOD_VERBOSE_V2 METHOD_VERBOSE_V1, F(ReJITID, U64)
static const Field method_verbose_v0[] = {METHOD_VERBOSE_V0};
static const Field method_verbose_v1[] = {METHOD_VERBOSE_V1};
static const Field method_verbose_v2[] = {METHOD_VERBOSE_V2};

#define JITTING_STARTED_V0                                                                         \
        F(MethodID, U64), F(ModuleID, U64), F(MethodToken, U32), F(MethodILSize, U32),             \
                F(MethodNamespace, WSTRING), F(MethodName, WSTRING), F(MethodSignature, WSTRING)
static const Field jitting_started_v0[] = {JITTING_STARTED_V0};
static const Field jitting_started_v1[] = {JITTING_STARTED_V0, F(ClrInstanceID, U16)};

static const Field jit_memory[] = {
        F(MethodID, U64),
        F(ModuleID, U64),
        F(JitHotCodeRequestSize, U64),
        F(JitRODataRequestSize, U64),
        F(AllocatedSizeForJitCode, U64),
        F(JitAllocFlag, U32),
        F(ClrInstanceID, U16),
};

static const Field bulk_type[] = {
        F(Count, U32),
        F(ClrInstanceID, U16),
        A(Values, TYPE_LIST, Count),
};

static const Field method_details[] = {
        F(MethodID, U64),       F(TypeID, U64),
        F(MethodToken, U32),    F(TypeParameterCount, U32),
        F(LoaderModuleID, U64), A(TypeParameters, U64_ARRAY, TypeParameterCount),
};

static const Field r2r_entry[] = {
        F(MethodID, U64),       F(MethodNamespace, WSTRING),
        F(MethodName, WSTRING), F(MethodSignature, WSTRING),
        F(EntryPoint, U64),     F(ClrInstanceID, U16),
};

static const Field r2r_entry_start[] = {
        F(MethodID, U64),
        F(ClrInstanceID, U16),
};

/* The JIT's decision about one call: the method being compiled, then caller and callee. */
#define METHOD_NAMED(prefix)                                                                       \
        F(prefix##Namespace, WSTRING), F(prefix##Name, WSTRING), F(prefix##NameSignature, WSTRING)
#define INLINING METHOD_NAMED(MethodBeingCompiled), METHOD_NAMED(Inliner), METHOD_NAMED(Inlinee)
#define TAIL_CALL                                                                                  \
        METHOD_NAMED(MethodBeingCompiled), METHOD_NAMED(Caller), METHOD_NAMED(Callee),             \
                F(TailPrefix, BOOL)
#define INLINING_FAILED(string)                                                                    \
        INLINING, F(FailAlways, BOOL), F(FailReason, string), F(ClrInstanceID, U16)
#define TAIL_CALL_FAILED(string) TAIL_CALL, F(FailReason, string), F(ClrInstanceID, U16)
static const Field inlining[] = {INLINING, F(ClrInstanceID, U16)};
static const Field inlining_failed[] = {INLINING_FAILED(WSTRING)};
static const Field inlining_failed_ansi[] = {INLINING_FAILED(ASTRING)};
static const Field tail_call[] = {TAIL_CALL, F(TailCallType, U32), F(ClrInstanceID, U16)};
static const Field tail_call_failed[] = {TAIL_CALL_FAILED(WSTRING)};
static const Field tail_call_failed_ansi[] = {TAIL_CALL_FAILED(ASTRING)};

#define IL_MAP_V0                                                                                  \
        F(MethodID, U64), F(ReJITID, U64), F(MethodExtent, U8), F(CountOfMapEntries, U16),         \
                A(ILOffsets, IL_OFFSETS, CountOfMapEntries),                                       \
                A(NativeOffsets, U32_ARRAY, CountOfMapEntries), F(ClrInstanceID, U16)
static const Field il_map_v0[] = {IL_MAP_V0};
static const Field il_map_v1[] = {IL_MAP_V0, F(ILVersionID, U64)};

/*
 * The methods inlined into one body, and their places, in numbered chunks. The last chunk has bit
 * 31 of its number.
 */
static const Field rich_debug_info[] = {
        F(ClrInstanceID, U16),       F(MethodID, U64),   F(ReJITID, U64),
        F(ILVersionID, U64),         F(ChunkFlags, U32), F(DataSize, U32),
        A(Data, U8_ARRAY, DataSize),
};

#define MODULE_V0                                                                                  \
        F(ModuleID, U64), F(AssemblyID, U64), F(ModuleFlags, U32), F(Reserved1, U32),              \
                F(ModuleILPath, WSTRING), F(ModuleNativePath, WSTRING)
#define MODULE_V1 MODULE_V0, F(ClrInstanceID, U16)
#define MODULE_V2                                                                                  \
        MODULE_V1, F(ManagedPdbSignature, GUID), F(ManagedPdbAge, U32),                            \
                F(ManagedPdbBuildPath, WSTRING), F(NativePdbSignature, GUID),                      \
                F(NativePdbAge, U32), F(NativePdbBuildPath, WSTRING)
static const Field module_v0[] = {MODULE_V0};
static const Field module_v1[] = {MODULE_V1};
static const Field module_v2[] = {MODULE_V2};

#define DOMAIN_MODULE_V0                                                                           \
        F(ModuleID, U64), F(AssemblyID, U64), F(AppDomainID, U64), F(ModuleFlags, U32),            \
                F(Reserved1, U32), F(ModuleILPath, WSTRING), F(ModuleNativePath, WSTRING)
static const Field domain_module_v0[] = {DOMAIN_MODULE_V0};
static const Field domain_module_v1[] = {DOMAIN_MODULE_V0, F(ClrInstanceID, U16)};

static const Field module_range[] = {
        F(ClrInstanceID, U16), F(ModuleID, U64), F(RangeBegin, U32),
        F(RangeSize, U32),     F(RangeType, U8),
};

/* Version 1 inserts a field in the middle. */
static const Field assembly_v0[] = {
        F(AssemblyID, U64),
        F(AppDomainID, U64),
        F(AssemblyFlags, U32),
        F(FullyQualifiedAssemblyName, WSTRING),
};

static const Field assembly_v1[] = {
        F(AssemblyID, U64),
        F(AppDomainID, U64),
        F(BindingID, U64),
        F(AssemblyFlags, U32),
        F(FullyQualifiedAssemblyName, WSTRING),
        F(ClrInstanceID, U16),
};

#define APP_DOMAIN_V0 F(AppDomainID, U64), F(AppDomainFlags, U32), F(AppDomainName, WSTRING)
static const Field app_domain_v0[] = {APP_DOMAIN_V0};
static const Field app_domain_v1[] = {APP_DOMAIN_V0, F(AppDomainIndex, U32), F(ClrInstanceID, U16)};

static const Field runtime_information[] = {
        F(ClrInstanceID, U16),      F(Sku, U16),
        F(BclMajorVersion, U16),    F(BclMinorVersion, U16),
        F(BclBuildNumber, U16),     F(BclQfeNumber, U16),
        F(VMMajorVersion, U16),     F(VMMinorVersion, U16),
        F(VMBuildNumber, U16),      F(VMQfeNumber, U16),
        F(StartupFlags, U32),       F(StartupMode, U8),
        F(CommandLine, WSTRING),    F(ComObjectGuid, GUID),
        F(RuntimeDllPath, WSTRING),
};

static const Field il_stub_generated[] = {
        F(ClrInstanceID, U16),
        F(ModuleID, U64),
        F(StubMethodID, U64),
        F(StubFlags, U32),
        F(ManagedInteropMethodToken, U32),
        F(ManagedInteropMethodNamespace, WSTRING),
        F(ManagedInteropMethodName, WSTRING),
        F(ManagedInteropMethodSignature, WSTRING),
        F(NativeMethodSignature, WSTRING),
        F(StubMethodSignature, WSTRING),
        F(StubMethodILCode, WSTRING),
};

static const Field tiered_settings[] = {
        F(ClrInstanceID, U16),
        F(Flags, U32),
};

static const Field tiered_resume[] = {
        F(ClrInstanceID, U16),
        F(NewMethodCount, U32),
};

static const Field background_jit_start[] = {
        F(ClrInstanceID, U16),
        F(PendingMethodCount, U32),
};

static const Field background_jit_stop[] = {
        F(ClrInstanceID, U16),
        F(PendingMethodCount, U32),
        F(JittedMethodCount, U32),
};

static const Field instance_v1[] = {
        F(ClrInstanceID, U16),
};

static const Field gc_start[] = {
        F(Count, U32), F(Depth, U32),         F(Reason, U32),
        F(Type, U32),  F(ClrInstanceID, U16), F(ClientSequenceNumber, U64),
};

static const Field gc_end[] = {F(Count, U32), F(Depth, U32), F(ClrInstanceID, U16)};

/* See event/async-events.h. */
static const Field async_events[] = {
        F(DataSize, U32),
        {FIELD_Data, FIELD_TYPE_U8_ARRAY, FIELD_DataSize, FIELD_ROLE_ASYNC_EVENTS}};
static const Field gc_suspend[] = {F(Reason, U32), F(Count, U32), F(ClrInstanceID, U16)};

/* Above the ids of all events in the table. */
#define N_IDS 512

/* Source of the layouts: UniversalProviders.md of microsoft/perfview. */
static const Field universal_process[] = {
        F(NamespaceId, U32),
        F(Name, ASTRING),
        F(NamespaceName, ASTRING),
};

static const Field universal_mapping[] = {
        F(Id, U32),         F(StartAddress, U64), F(EndAddress, U64),
        F(FileOffset, U64), F(FileName, ASTRING), F(MetadataId, U32),
};

static const Field universal_symbol[] = {
        F(Id, U32), F(MappingId, U32), F(StartAddress, U64), F(EndAddress, U64), F(Name, ASTRING),
};

static const Field universal_metadata[] = {
        F(Id, U32),
        F(SymbolMetadata, ASTRING),
        F(VersionMetadata, ASTRING),
};

static const Field universal_sample[] = {F(Value, U32)};

#define E(provider, id, version, kind, name, fields)                                               \
        {                                                                                          \
                PROVIDER_##provider, id, version, EVENT_KIND_##kind, name, fields,                 \
                        G_N_ELEMENTS(fields)                                                       \
        }
/* An event without fields. */
#define E0(provider, id, version, kind, name)                                                      \
        {                                                                                          \
                PROVIDER_##provider, id, version, EVENT_KIND_##kind, name, NULL, 0                 \
        }

/* Sorted by (provider, id, version): event_by_id() needs the rows of an event to be adjacent. */
const Event event_table[] = {
        E(RUNTIME, 1, 2, SHOWN, "GCStart_V2", gc_start),
        E(RUNTIME, 2, 1, SHOWN, "GCEnd_V1", gc_end),
        E(RUNTIME, 3, 1, SHOWN, "GCRestartEEEnd_V1", instance_v1),
        E(RUNTIME, 7, 1, SHOWN, "GCRestartEEBegin_V1", instance_v1),
        E(RUNTIME, 8, 1, SHOWN, "GCSuspendEEEnd_V1", instance_v1),
        E(RUNTIME, 9, 1, SHOWN, "GCSuspendEEBegin_V1", gc_suspend),
        E(RUNTIME, 15, 0, TYPES, "BulkType", bulk_type),
        E(RUNTIME, 72, 0, METHOD_DETAILS, "MethodDetails", method_details),
        E(RUNTIME, 88, 0, STUB, "ILStubGenerated", il_stub_generated),
        E0(RUNTIME, 135, 0, SHOWN, "DCStartCompleteV2"),
        E0(RUNTIME, 136, 0, RUNDOWN_COMPLETE, "DCEndCompleteV2"),
        E(RUNTIME, 137, 0, METHOD_RUNDOWN, "MethodDCStartV2", method_v0),
        E(RUNTIME, 138, 0, METHOD_RUNDOWN, "MethodDCEndV2", method_v0),
        E(RUNTIME, 139, 0, METHOD_RUNDOWN, "MethodDCStartVerboseV2", method_verbose_v0),
        E(RUNTIME, 140, 0, METHOD_RUNDOWN, "MethodDCEndVerboseV2", method_verbose_v0),
        E(RUNTIME, 141, 0, METHOD_LOAD, "MethodLoad", method_v0),
        E(RUNTIME, 141, 1, METHOD_LOAD, "MethodLoad_V1", method_v1),
        E(RUNTIME, 141, 2, METHOD_LOAD, "MethodLoad_V2", method_v2),
        E(RUNTIME, 142, 0, METHOD_UNLOAD, "MethodUnload", method_v0),
        E(RUNTIME, 142, 1, METHOD_UNLOAD, "MethodUnload_V1", method_v1),
        E(RUNTIME, 142, 2, METHOD_UNLOAD, "MethodUnload_V2", method_v2),
        E(RUNTIME, 143, 0, METHOD_LOAD, "MethodLoadVerbose", method_verbose_v0),
        E(RUNTIME, 143, 1, METHOD_LOAD, "MethodLoadVerbose_V1", method_verbose_v1),
        E(RUNTIME, 143, 2, METHOD_LOAD, "MethodLoadVerbose_V2", method_verbose_v2),
        E(RUNTIME, 144, 0, METHOD_UNLOAD, "MethodUnloadVerbose", method_verbose_v0),
        E(RUNTIME, 144, 1, METHOD_UNLOAD, "MethodUnloadVerbose_V1", method_verbose_v1),
        E(RUNTIME, 144, 2, METHOD_UNLOAD, "MethodUnloadVerbose_V2", method_verbose_v2),
        E(RUNTIME, 145, 0, JITTING_STARTED, "MethodJittingStarted", jitting_started_v0),
        E(RUNTIME, 145, 1, JITTING_STARTED, "MethodJittingStarted_V1", jitting_started_v1),
        E(RUNTIME, 146, 0, SHOWN, "MethodJitMemoryAllocatedForCode", jit_memory),
        E(RUNTIME, 149, 0, MODULE_RUNDOWN, "ModuleDCStartV2", module_v0),
        E(RUNTIME, 150, 0, MODULE_RUNDOWN, "ModuleDCEndV2", module_v0),
        E(RUNTIME, 151, 0, MODULE_RUNDOWN, "DomainModuleLoad", domain_module_v0),
        E(RUNTIME, 151, 1, MODULE_RUNDOWN, "DomainModuleLoad_V1", domain_module_v1),
        E(RUNTIME, 152, 0, MODULE_LOAD, "ModuleLoad", module_v0),
        E(RUNTIME, 152, 1, MODULE_LOAD, "ModuleLoad_V1", module_v1),
        E(RUNTIME, 152, 2, MODULE_LOAD, "ModuleLoad_V2", module_v2),
        E(RUNTIME, 153, 0, MODULE_UNLOAD, "ModuleUnload", module_v0),
        E(RUNTIME, 153, 1, MODULE_UNLOAD, "ModuleUnload_V1", module_v1),
        E(RUNTIME, 153, 2, MODULE_UNLOAD, "ModuleUnload_V2", module_v2),
        E(RUNTIME, 154, 0, ASSEMBLY_LOAD, "AssemblyLoad", assembly_v0),
        E(RUNTIME, 154, 1, ASSEMBLY_LOAD, "AssemblyLoad_V1", assembly_v1),
        E(RUNTIME, 155, 0, ASSEMBLY_UNLOAD, "AssemblyUnload", assembly_v0),
        E(RUNTIME, 155, 1, ASSEMBLY_UNLOAD, "AssemblyUnload_V1", assembly_v1),
        E(RUNTIME, 156, 0, SHOWN, "AppDomainLoad", app_domain_v0),
        E(RUNTIME, 156, 1, SHOWN, "AppDomainLoad_V1", app_domain_v1),
        E(RUNTIME, 157, 0, APP_DOMAIN_UNLOAD, "AppDomainUnload", app_domain_v0),
        E(RUNTIME, 157, 1, APP_DOMAIN_UNLOAD, "AppDomainUnload_V1", app_domain_v1),
        E(RUNTIME, 158, 0, SHOWN, "ModuleRangeLoad", module_range),
        E(RUNTIME, 159, 0, R2R_ENTRY, "R2RGetEntryPoint", r2r_entry),
        E(RUNTIME, 160, 0, JIT_LOOKUP, "R2RGetEntryPointStart", r2r_entry_start),
        E(RUNTIME, 185, 0, JIT_INLINED, "MethodJitInliningSucceeded", inlining),
        E(RUNTIME, 186, 0, JIT_NOT_INLINED, "MethodJitInliningFailedAnsi", inlining_failed_ansi),
        E(RUNTIME, 187, 0, RUNTIME_START, "RuntimeInformationStart", runtime_information),
        E(RUNTIME, 188, 0, JIT_TAIL_CALL, "MethodJitTailCallSucceeded", tail_call),
        E(RUNTIME, 189, 0, JIT_NO_TAIL_CALL, "MethodJitTailCallFailedAnsi", tail_call_failed_ansi),
        E(RUNTIME, 190, 0, IL_MAP, "MethodILToNativeMap", il_map_v0),
        E(RUNTIME, 190, 1, IL_MAP, "MethodILToNativeMap_V1", il_map_v1),
        E(RUNTIME, 191, 0, JIT_NO_TAIL_CALL, "MethodJitTailCallFailed", tail_call_failed),
        E(RUNTIME, 192, 0, JIT_NOT_INLINED, "MethodJitInliningFailed", inlining_failed),
        E(RUNTIME, 280, 0, TIERED_SETTINGS, "TieredCompilationSettings", tiered_settings),
        E(RUNTIME, 281, 0, JIT_PAUSE, "TieredCompilationPause", instance_v1),
        E(RUNTIME, 282, 0, JIT_RESUME, "TieredCompilationResume", tiered_resume),
        E(RUNTIME, 283, 0, JIT_BACKGROUND_START, "TieredCompilationBackgroundJitStart",
          background_jit_start),
        E(RUNTIME, 284, 0, JIT_BACKGROUND_STOP, "TieredCompilationBackgroundJitStop",
          background_jit_stop),
        E(RUNDOWN, 141, 0, METHOD_RUNDOWN, "MethodDCStart", method_v0),
        E(RUNDOWN, 141, 1, METHOD_RUNDOWN, "MethodDCStart_V1", method_v1),
        E(RUNDOWN, 141, 2, METHOD_RUNDOWN, "MethodDCStart_V2", method_v2),
        E(RUNDOWN, 142, 0, METHOD_RUNDOWN, "MethodDCEnd", method_v0),
        E(RUNDOWN, 142, 1, METHOD_RUNDOWN, "MethodDCEnd_V1", method_v1),
        E(RUNDOWN, 142, 2, METHOD_RUNDOWN, "MethodDCEnd_V2", method_v2),
        E(RUNDOWN, 143, 0, METHOD_RUNDOWN, "MethodDCStartVerbose", method_verbose_v0),
        E(RUNDOWN, 143, 1, METHOD_RUNDOWN, "MethodDCStartVerbose_V1", method_verbose_v1),
        E(RUNDOWN, 143, 2, METHOD_RUNDOWN, "MethodDCStartVerbose_V2", method_verbose_v2),
        E(RUNDOWN, 144, 0, METHOD_RUNDOWN, "MethodDCEndVerbose", method_verbose_v0),
        E(RUNDOWN, 144, 1, METHOD_RUNDOWN, "MethodDCEndVerbose_V1", method_verbose_v1),
        E(RUNDOWN, 144, 2, METHOD_RUNDOWN, "MethodDCEndVerbose_V2", method_verbose_v2),
        E0(RUNDOWN, 145, 0, SHOWN, "DCStartComplete"),
        E(RUNDOWN, 145, 1, SHOWN, "DCStartComplete_V1", instance_v1),
        E0(RUNDOWN, 146, 0, RUNDOWN_COMPLETE, "DCEndComplete"),
        E(RUNDOWN, 146, 1, RUNDOWN_COMPLETE, "DCEndComplete_V1", instance_v1),
        E0(RUNDOWN, 147, 0, SHOWN, "DCStartInit"),
        E(RUNDOWN, 147, 1, SHOWN, "DCStartInit_V1", instance_v1),
        E0(RUNDOWN, 148, 0, RUNDOWN_INIT, "DCEndInit"),
        E(RUNDOWN, 148, 1, RUNDOWN_INIT, "DCEndInit_V1", instance_v1),
        E(RUNDOWN, 149, 0, IL_MAP, "MethodDCStartILToNativeMap", il_map_v0),
        E(RUNDOWN, 149, 1, IL_MAP, "MethodDCStartILToNativeMap_V1", il_map_v1),
        E(RUNDOWN, 150, 0, IL_MAP, "MethodDCEndILToNativeMap", il_map_v0),
        E(RUNDOWN, 150, 1, IL_MAP, "MethodDCEndILToNativeMap_V1", il_map_v1),
        E(RUNDOWN, 151, 0, MODULE_RUNDOWN, "DomainModuleDCStart", domain_module_v0),
        E(RUNDOWN, 151, 1, MODULE_RUNDOWN, "DomainModuleDCStart_V1", domain_module_v1),
        E(RUNDOWN, 152, 0, MODULE_RUNDOWN, "DomainModuleDCEnd", domain_module_v0),
        E(RUNDOWN, 152, 1, MODULE_RUNDOWN, "DomainModuleDCEnd_V1", domain_module_v1),
        E(RUNDOWN, 153, 0, MODULE_RUNDOWN, "ModuleDCStart", module_v0),
        E(RUNDOWN, 153, 1, MODULE_RUNDOWN, "ModuleDCStart_V1", module_v1),
        E(RUNDOWN, 153, 2, MODULE_RUNDOWN, "ModuleDCStart_V2", module_v2),
        E(RUNDOWN, 154, 0, MODULE_RUNDOWN, "ModuleDCEnd", module_v0),
        E(RUNDOWN, 154, 1, MODULE_RUNDOWN, "ModuleDCEnd_V1", module_v1),
        E(RUNDOWN, 154, 2, MODULE_RUNDOWN, "ModuleDCEnd_V2", module_v2),
        E(RUNDOWN, 155, 0, ASSEMBLY_RUNDOWN, "AssemblyDCStart", assembly_v0),
        E(RUNDOWN, 155, 1, ASSEMBLY_RUNDOWN, "AssemblyDCStart_V1", assembly_v1),
        E(RUNDOWN, 156, 0, ASSEMBLY_RUNDOWN, "AssemblyDCEnd", assembly_v0),
        E(RUNDOWN, 156, 1, ASSEMBLY_RUNDOWN, "AssemblyDCEnd_V1", assembly_v1),
        E(RUNDOWN, 157, 0, SHOWN, "AppDomainDCStart", app_domain_v0),
        E(RUNDOWN, 157, 1, SHOWN, "AppDomainDCStart_V1", app_domain_v1),
        E(RUNDOWN, 158, 0, SHOWN, "AppDomainDCEnd", app_domain_v0),
        E(RUNDOWN, 158, 1, SHOWN, "AppDomainDCEnd_V1", app_domain_v1),
        E(RUNDOWN, 160, 0, SHOWN, "ModuleRangeDCStart", module_range),
        E(RUNDOWN, 161, 0, SHOWN, "ModuleRangeDCEnd", module_range),
        E(RUNDOWN, 187, 0, RUNTIME_RUNDOWN, "RuntimeInformationDCStart", runtime_information),
        E(RUNDOWN, 280, 0, TIERED_SETTINGS, "TieredCompilationSettingsDCStart", tiered_settings),
        E(PRIVATE, 189, 0, INLINE_TREE, "JittedMethodRichDebugInfo", rich_debug_info),
        E(ASYNC, 1, 1, SHOWN, "AsyncEvents", async_events),
        E(UNIVERSAL_SYSTEM, 0, 0, SHOWN, "ExistingProcess", universal_process),
        E(UNIVERSAL_SYSTEM, 1, 0, SHOWN, "ProcessCreate", universal_process),
        E0(UNIVERSAL_SYSTEM, 2, 0, SHOWN, "ProcessExit"),
        E(UNIVERSAL_SYSTEM, 3, 0, SHOWN, "ProcessMapping", universal_mapping),
        E(UNIVERSAL_SYSTEM, 4, 0, SHOWN, "ProcessSymbol", universal_symbol),
        E(UNIVERSAL_SYSTEM, 5, 0, SHOWN, "ProcessMappingMetadata", universal_metadata),
        E(UNIVERSAL_EVENTS, 1, 0, SHOWN, "cpu", universal_sample),
        E(UNIVERSAL_EVENTS, 2, 0, SHOWN, "cswitch", universal_sample),
};

const size_t n_event_table = G_N_ELEMENTS(event_table);

const char *provider_name(Provider provider)
{
        return PROVIDER_NAMES[provider];
}

const char *field_name(FieldName name)
{
        return FIELD_NAMES[name];
}

bool event_name_is_dotnet(const char *lttng_name)
{
        return g_str_has_prefix(lttng_name, "DotNETRuntime");
}

/* Splits an LTTng name into provider and event name; NULL: no provider of the table. */
static const char *event_take_provider(const char *lttng_name, Provider *ret_provider)
{
        const char *colon = strchr(lttng_name, ':');
        const size_t n = colon ? (size_t)(colon - lttng_name) : 0;
        size_t provider;

        for (provider = 0; colon && provider < G_N_ELEMENTS(PROVIDER_NAMES); provider++)
                if (strlen(PROVIDER_NAMES[provider]) == n &&
                    !memcmp(PROVIDER_NAMES[provider], lttng_name, n)) {
                        *ret_provider = (Provider)provider;
                        return colon + 1;
                }
        return NULL;
}

const Event *event_by_name(const char *lttng_name)
{
        Provider provider = _PROVIDER_MAX;
        const char *name = event_take_provider(lttng_name, &provider);
        size_t i;

        for (i = 0; name && i < n_event_table; i++)
                if (event_table[i].provider == provider && event_table[i].name[0] == *name &&
                    !strcmp(event_table[i].name, name))
                        return &event_table[i];
        return NULL;
}

/* The rows of an event are adjacent: the number of the first, from 1; 0: the event has none. */
static uint8_t event_first_rows[_PROVIDER_MAX][N_IDS];

static_assert(G_N_ELEMENTS(event_table) < UINT8_MAX, "rows are counted in a byte");

const Event *event_by_id(unsigned provider, unsigned id, unsigned version)
{
        size_t row;

        if (provider >= _PROVIDER_MAX || id >= N_IDS || !event_first_rows[provider][id])
                return NULL;
        for (row = event_first_rows[provider][id] - 1u;
             row < G_N_ELEMENTS(event_table) && event_table[row].provider == provider &&
             event_table[row].id == id;
             row++)
                if (event_table[row].version == version)
                        return &event_table[row];
        return NULL;
}

const Event *event_by_id_or_later(unsigned provider, unsigned id, unsigned version,
                                  bool *ret_is_later)
{
        const Event *event = event_by_id(provider, id, version);
        unsigned before = MIN(version, UINT8_MAX + 1u);

        *ret_is_later = false;
        while (!event && before-- > 0) {
                event = event_by_id(provider, id, before);
                *ret_is_later = event != NULL;
        }
        return event;
}

/* "MethodLoad_V2" -> "MethodLoad", 2. A name without a version has version 0. */
static size_t event_split_name(const char *name, unsigned *ret_version)
{
        const char *mark = strrchr(name, '_');
        size_t n_digits = mark && mark[1] == 'V' ? strspn(mark + 2, "0123456789") : 0;

        *ret_version = 0;
        if (!n_digits || n_digits > 3 || mark[2 + n_digits])
                return strlen(name);
        *ret_version = (unsigned)atoi(mark + 2);
        return (size_t)(mark - name);
}

const Event *event_by_name_or_later(const char *lttng_name, bool *ret_is_later)
{
        const Event *event = event_by_name(lttng_name), *found = NULL;
        Provider provider = _PROVIDER_MAX;
        const char *name = event_take_provider(lttng_name, &provider);
        unsigned version, row_version;
        size_t n, i;

        *ret_is_later = false;
        if (event || !name)
                return event;
        n = event_split_name(name, &version);
        for (i = 0; i < n_event_table; i++) {
                const Event *row = &event_table[i];

                if (row->provider == provider && event_split_name(row->name, &row_version) == n &&
                    !memcmp(row->name, name, n) && row->version < version &&
                    (!found || row->version > found->version))
                        found = row;
        }
        *ret_is_later = found != NULL;
        return found;
}

bool event_kind_is_wanted(EventKind kind, EventUse use)
{
        if (use == EVENT_USE_NONE)
                return false;
        if (kind == EVENT_KIND_SHOWN)
                return use == EVENT_USE_ALL;
        return kind < EVENT_KIND_JIT_INLINED || use != EVENT_USE_CODE_MAPS;
}

/* A cache, because each event looks up several fields. */
uint8_t event_field_numbers[G_N_ELEMENTS(event_table)][_FIELD_NAME_MAX + 1];

__attribute__((constructor)) static void event_number_rows(void)
{
        size_t row;
        unsigned i;

        for (row = n_event_table; row-- > 0;) {
                const Event *event = &event_table[row];

                event_first_rows[event->provider][event->id] = (uint8_t)(row + 1);
                for (i = event->n_fields; i-- > 0;)
                        event_field_numbers[row][event->fields[i].name] = (uint8_t)(i + 1);
        }
}

/* Tests have rows of their own. */
int event_field_of_other(const Event *event, FieldName name)
{
        unsigned i;

        for (i = 0; i < event->n_fields; i++)
                if (event->fields[i].name == name)
                        return (int)i;
        return -1;
}

int event_count_field(const Event *event, unsigned i)
{
        return event_field(event, event->fields[i].count);
}
