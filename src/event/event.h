/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event table
 *
 * One row for each event, and each version, that clrsym reads from LTTng or EventPipe, and its
 * fields in the order of the manifest. A version without a row is read as the latest one before it,
 * see event_by_id_or_later(): only a new field needs a row. Layout source: the runtime's manifest
 * (ClrEtwAll.man) and the generator of its LTTng provider. The versions of one event only append
 * fields, except assemblies: their version 1 inserts one.
 *
 * The encoding of an event is not in the table: an event with more than nine fields, or with a
 * field that counts another one, is one packed blob; any other event has plain CTF fields. The
 * decoder finds the encoding once for each CTF event class, so that both encodings of every row are
 * accepted. Events of the Universal providers are compact: see compact_decode().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most fields in one row (RuntimeInformationStart: 15). */
#define EVENT_MAX_FIELDS 16

typedef enum Provider {
        PROVIDER_RUNTIME, /* LTTng provider "DotNETRuntime" */
        PROVIDER_RUNDOWN, /* LTTng provider "DotNETRuntimeRundown" */
        PROVIDER_PRIVATE, /* LTTng provider "DotNETRuntimePrivate" */
        PROVIDER_ASYNC, /* EventPipe's "System.Runtime.CompilerServices.AsyncProfilerEventSource" */
        /* Of a recorder of the whole machine, dotnet-trace collect-linux: compact events. */
        PROVIDER_UNIVERSAL_SYSTEM,
        PROVIDER_UNIVERSAL_EVENTS, /* its events have no stable ids, but names */
        _PROVIDER_MAX,
} Provider;

typedef enum FieldType {
        FIELD_TYPE_U8,
        FIELD_TYPE_U16,
        FIELD_TYPE_U32,
        FIELD_TYPE_U64,     /* ids and pointers: always shown in hex */
        FIELD_TYPE_BOOL,    /* 4 bytes in a blob, 0 or 1 */
        FIELD_TYPE_GUID,    /* 16 bytes, the first three groups little-endian */
        FIELD_TYPE_WSTRING, /* UTF-16LE with NUL in a blob, a UTF-8 CTF string when plain */
        FIELD_TYPE_ASTRING, /* 8-bit with NUL in a blob, a CTF string when plain */
        FIELD_TYPE_U64_ARRAY,
        FIELD_TYPE_IL_OFFSETS, /* i32 array: IL offset, or one of IL_OFFSET_* */
        FIELD_TYPE_U32_ARRAY,
        FIELD_TYPE_U8_ARRAY,
        FIELD_TYPE_TYPE_LIST, /* n bytes: see type-list.h */
        _FIELD_TYPE_MAX,
} FieldType;

/* Special values in MethodILToNativeMap's ILOffsets. */
enum {
        IL_OFFSET_NO_MAPPING = -1,
        IL_OFFSET_PROLOG = -2,
        IL_OFFSET_EPILOG = -3,
};

/* Every manifest field name that some row uses, in the manifest's spelling. */
typedef enum FieldName {
#define FIELD(name) FIELD_##name,
#include "event/field-names.inc"
#undef FIELD
        _FIELD_NAME_MAX,
} FieldName;

/*
 * The meaning of an event for the tracker. Checkpoints count events by kind: see
 * tracker/checkpoint-layout.h.
 */
typedef enum EventKind {
        EVENT_KIND_SHOWN, /* decoded for people only; not sent to the daemon */
        EVENT_KIND_METHOD_LOAD,
        EVENT_KIND_METHOD_UNLOAD,
        EVENT_KIND_METHOD_RUNDOWN,
        EVENT_KIND_JITTING_STARTED,
        EVENT_KIND_IL_MAP,
        EVENT_KIND_R2R_ENTRY,
        EVENT_KIND_MODULE_LOAD,
        EVENT_KIND_MODULE_UNLOAD,
        EVENT_KIND_MODULE_RUNDOWN,
        EVENT_KIND_ASSEMBLY_LOAD,
        EVENT_KIND_ASSEMBLY_UNLOAD,
        EVENT_KIND_ASSEMBLY_RUNDOWN,
        EVENT_KIND_RUNTIME_START,
        EVENT_KIND_RUNTIME_RUNDOWN,
        EVENT_KIND_APP_DOMAIN_UNLOAD,
        EVENT_KIND_RUNDOWN_INIT,
        EVENT_KIND_RUNDOWN_COMPLETE,
        EVENT_KIND_STUB,
        EVENT_KIND_TYPES,          /* the types of the next event */
        EVENT_KIND_METHOD_DETAILS, /* of the method whose load follows on the same thread */
        EVENT_KIND_INLINE_TREE,
        EVENT_KIND_TIERED_SETTINGS,
        EVENT_KIND_JIT_INLINED, /* this kind and later: sent to the daemon only on request */
        EVENT_KIND_JIT_NOT_INLINED,
        EVENT_KIND_JIT_TAIL_CALL,
        EVENT_KIND_JIT_NO_TAIL_CALL,
        EVENT_KIND_JIT_BACKGROUND_START,
        EVENT_KIND_JIT_BACKGROUND_STOP,
        EVENT_KIND_JIT_PAUSE,
        EVENT_KIND_JIT_RESUME,
        EVENT_KIND_JIT_LOOKUP, /* of precompiled code; EVENT_KIND_R2R_ENTRY ends it */
        _EVENT_KIND_MAX,
} EventKind;

/* The role of a field for a reader of packed blobs, besides its type. */
typedef enum FieldRole {
        FIELD_ROLE_NONE,
        FIELD_ROLE_METHOD_FLAGS, /* contains METHOD_FLAG_JIT_HELPER in the event of a JIT helper */
        FIELD_ROLE_NULL_IN_HELPERS, /* a string that has no bytes in the event of a JIT helper */
        FIELD_ROLE_ASYNC_EVENTS,    /* bytes with a layout of their own: event/async-events.h */
} FieldRole;

typedef struct Field {
        FieldName name;
        FieldType type;
        FieldName count; /* of an array or a list: the field before it that counts its elements;
                            else _FIELD_NAME_MAX */
        FieldRole role;
} Field;

/*
 * (provider, id, version) is an event's identity on the wire and in stored files: the manifest
 * never changes it.
 */
typedef struct Event {
        Provider provider;
        uint16_t id;
        uint8_t version;
        EventKind kind;
        const char *name; /* LTTng event name without the provider */
        const Field *fields;
        uint8_t n_fields;
} Event;

extern const Event event_table[];
extern const size_t n_event_table;

const char *provider_name(Provider provider);
const char *field_name(FieldName name);

/* The row of an LTTng event name such as "DotNETRuntime:MethodLoadVerbose_V1", or NULL. */
const Event *event_by_name(const char *lttng_name);

/* The row with that identity, or NULL. Safe for any values. */
const Event *event_by_id(unsigned provider, unsigned id, unsigned version);

/*
 * The same, also for a later version than the table has: then the row of the latest version before
 * it, whose fields are the event's first ones. RET_IS_LATER: the event has such a later version.
 */
const Event *event_by_name_or_later(const char *lttng_name, bool *ret_is_later);
const Event *event_by_id_or_later(unsigned provider, unsigned id, unsigned version,
                                  bool *ret_is_later);

/* True if NAME belongs to one of the runtime's LTTng providers (also DotNETRuntimePrivate ...). */
bool event_name_is_dotnet(const char *lttng_name);

/* The purposes of decoding. */
typedef enum EventUse {
        EVENT_USE_CODE_MAPS,
        EVENT_USE_JIT, /* code maps, and statistics of the JIT */
        EVENT_USE_ALL,
        EVENT_USE_NONE, /* events are only counted */
} EventUse;

/* True if that use needs events of that kind. */
bool event_kind_is_wanted(EventKind kind, EventUse use);

/*
 * By row of event_table and field name: the index of the field, plus 1; 0: none. Set before main().
 */
extern uint8_t event_field_numbers[][_FIELD_NAME_MAX + 1];
/* Like event_field(), for a row outside of event_table. */
int event_field_of_other(const Event *event, FieldName name);

/* Index of a field in the row's fields, -1 if the row has none of that name. */
static inline int event_field(const Event *event, FieldName name)
{
        size_t row = ((uintptr_t)event - (uintptr_t)event_table) / sizeof(*event);

        return row < n_event_table ? event_field_numbers[row][name] - 1
                                   : event_field_of_other(event, name);
}

/* Index of the field that counts the elements of field I, -1 if the row has none. */
int event_count_field(const Event *event, unsigned i);

/* True for events of the Universal providers. */
static inline bool event_is_compact(const Event *event)
{
        return event->provider >= PROVIDER_UNIVERSAL_SYSTEM;
}

/* True for WSTRING and ASTRING. */
static inline bool field_type_is_string(FieldType type)
{
        return type == FIELD_TYPE_WSTRING || type == FIELD_TYPE_ASTRING;
}

/* Bytes of one element of an array type, 0 for any other type. */
static inline unsigned field_type_element_size(FieldType type)
{
        switch (type) {
        case FIELD_TYPE_U64_ARRAY:
                return 8;
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
                return 4;
        case FIELD_TYPE_U8_ARRAY:
                return 1;
        default:
                return 0;
        }
}
