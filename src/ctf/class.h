/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Field classes and event classes of a CTF trace, from its metadata
 *
 * The parsers of both metadata languages, TSDL (CTF 1.8) and JSON (CTF 2), produce these. All nodes
 * of a trace are owned by one CtfArena and freed with it.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Most field classes of one trace: LTTng writes one node for each field, and the .NET runtime's 300
 * events have under 3,000.
 */
#define CTF_MAX_CLASSES (1u << 20)
/* Most levels of nested field classes. */
#define CTF_MAX_DEPTH 32

typedef enum CtfKind {
        CTF_KIND_INTEGER,
        CTF_KIND_FLOAT,
        CTF_KIND_STRING, /* bytes up to a NUL */
        CTF_KIND_STRUCTURE,
        CTF_KIND_ARRAY,    /* a fixed number of elements */
        CTF_KIND_SEQUENCE, /* an earlier field has the number of elements */
        CTF_KIND_VARIANT,  /* one of its members, selected by an earlier field */
        _CTF_KIND_MAX,
} CtfKind;

/* The meaning of an integer for the reader. */
typedef enum CtfRole {
        CTF_ROLE_NONE,
        CTF_ROLE_MAGIC,
        CTF_ROLE_UUID, /* of an array of 16 bytes */
        CTF_ROLE_STREAM_CLASS_ID,
        CTF_ROLE_STREAM_ID,
        CTF_ROLE_TIMESTAMP, /* updates the stream's clock */
        CTF_ROLE_TIMESTAMP_END,
        CTF_ROLE_CONTENT_SIZE,
        CTF_ROLE_PACKET_SIZE,
        CTF_ROLE_SEQUENCE_NUMBER,
        CTF_ROLE_DISCARDED,
        CTF_ROLE_EVENT_CLASS_ID,
        _CTF_ROLE_MAX,
} CtfRole;

typedef struct CtfClass CtfClass;

/*
 * A range of a selector's values, both ends included. The selector's type decides whether they are
 * signed.
 */
typedef struct CtfRange {
        uint64_t low, high;
} CtfRange;

/* A label of an enumeration, by which TSDL names the options of a variant. */
typedef struct CtfLabel {
        const char *name;
        CtfRange range;
} CtfLabel;

typedef struct CtfMember {
        const char *name;     /* without the underscore that TSDL puts before it */
        const char *declared; /* with it, as references spell it */
        CtfClass *class;
        GArray *ranges; /* of CtfRange, of a variant's option */
} CtfMember;

/* The structures with the fields of an event, in the order of reading. */
typedef enum CtfScope {
        CTF_SCOPE_PACKET_HEADER,
        CTF_SCOPE_PACKET_CONTEXT,
        CTF_SCOPE_EVENT_HEADER,
        CTF_SCOPE_EVENT_CONTEXT,
        CTF_SCOPE_SPECIFIC_CONTEXT,
        CTF_SCOPE_PAYLOAD,
        _CTF_SCOPE_MAX, /* unspecified: the nearest earlier field of that name */
} CtfScope;

/* Separates the names in a path to a field. */
#define CTF_PATH_SEPARATOR '\x1f'

/* The kind of an integer's bits; TSDL has only numbers. */
typedef enum CtfBits {
        CTF_BITS_NUMBER,
        CTF_BITS_BOOLEAN, /* false if all are 0 */
        CTF_BITS_ARRAY,
        CTF_BITS_MAP, /* each has a name */
} CtfBits;

struct CtfClass {
        CtfKind kind;
        unsigned align; /* in bits, a power of two */

        /* Integers and floats */
        unsigned size; /* in bits, 1 to 64 */
        CtfBits bits;  /* of an integer */
        bool is_signed;
        bool is_big_endian;
        const char *clock; /* TSDL: the clock that the integer updates; NULL: none */
        bool is_text;      /* the elements of an array are the bytes of a text */
        unsigned base;     /* for people: 2, 8, 10 or 16 */
        CtfRole role;
        GArray *labels; /* CtfLabels; NULL: not an enumeration */

        /* Structures and variants: of CtfMember */
        GArray *members;

        /* Arrays and sequences */
        CtfClass *element;
        uint64_t length; /* of an array */

        /* The length of a sequence, or the selector of a variant: an earlier field. */
        CtfScope origin;
        const char *path;    /* declared names, separated by CTF_PATH_SEPARATOR */
        CtfClass *reference; /* set by ctf_resolve() */

        /* For the reader: the slot of the value while an event is read; UINT32_MAX: not kept. */
        uint32_t slot;
};

/* The owner of the nodes and names of one trace's metadata. */
typedef struct CtfArena {
        GPtrArray *classes;  /* owned CtfClass */
        GStringChunk *names; /* owned */
} CtfArena;

void ctf_arena_init(CtfArena *arena);
void ctf_arena_deinit(CtfArena *arena);
/* NULL: the metadata has more than CTF_MAX_CLASSES classes. */
CtfClass *ctf_class_new(CtfArena *arena, CtfKind kind);
const char *ctf_arena_name(CtfArena *arena, const char *name);
/* Adds a member of a structure, or an option of a variant. The arena owns the names. */
void ctf_class_add_member(CtfClass *class, const char *name, const char *declared,
                          CtfClass *member);
const CtfMember *ctf_class_member(const CtfClass *class, const char *name);
/* True if both read the same fields from the same bytes; either can be NULL. */
bool ctf_class_equal(const CtfClass *a, const CtfClass *b);
/* True for a string, and for an array or sequence of the bytes of a text. */
bool ctf_class_is_text(const CtfClass *class);

typedef struct CtfClock {
        const char *name;
        const char *uid; /* UUID or CTF 2's uid; NULL: none */
        uint64_t frequency;
        int64_t offset_seconds;
        uint64_t offset_cycles;
        bool is_absolute; /* its origin is the Unix epoch */
} CtfClock;

typedef struct CtfEventClass {
        uint64_t id;
        const char *name; /* never NULL */
        CtfClass *specific_context;
        CtfClass *payload; /* NULL: no fields */
        int log_level;     /* INT_MIN: none */
} CtfEventClass;

typedef struct CtfStreamClass {
        uint64_t id;
        CtfClass *packet_context; /* structures or NULL, like the next ones */
        CtfClass *event_header;
        CtfClass *event_context;
        const CtfClock *clock; /* NULL: its events have no time */
        GHashTable *events;    /* borrowed id -> owned CtfEventClass */
        bool is_declared;      /* false: only its events are declared so far */
} CtfStreamClass;

/* An entry of the environment. */
typedef struct CtfEnvironment {
        const char *name;
        const char *text; /* NULL: a number */
        int64_t number;
} CtfEnvironment;

typedef struct CtfTraceClass {
        CtfArena arena;
        unsigned major; /* 1 or 2 */
        bool is_big_endian;
        bool has_uuid;
        uint8_t uuid[16];
        bool has_packet_uuid; /* the packets repeat the UUID */
        uint8_t packet_uuid[16];
        const char *uid;         /* CTF 2; NULL: none */
        const char *trace_name;  /* CTF 2; NULL: none */
        const char *name_space;  /* CTF 2; NULL: none */
        CtfClass *packet_header; /* NULL: none */
        GHashTable *streams;     /* borrowed id -> owned CtfStreamClass */
        GPtrArray *clocks;       /* owned CtfClock */
        GArray *environment;     /* of CtfEnvironment */
} CtfTraceClass;

CtfTraceClass *ctf_trace_class_new(void);
void ctf_trace_class_free(CtfTraceClass *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CtfTraceClass, ctf_trace_class_free)

CtfStreamClass *ctf_trace_class_stream(const CtfTraceClass *trace, uint64_t id);
CtfStreamClass *ctf_trace_class_add_stream(CtfTraceClass *trace, uint64_t id);
CtfEventClass *ctf_stream_class_event(const CtfStreamClass *stream, uint64_t id);
CtfEventClass *ctf_stream_class_add_event(CtfStreamClass *stream, uint64_t id);
CtfClock *ctf_trace_class_add_clock(CtfTraceClass *trace);
const CtfClock *ctf_trace_class_clock(const CtfTraceClass *trace, const char *name);
void ctf_trace_class_set_environment(CtfTraceClass *trace, const char *name, const char *text,
                                     int64_t number);
const CtfEnvironment *ctf_trace_class_environment(const CtfTraceClass *trace, const char *name);

/* "c62216f7-bb6e-...": 16 bytes. */
bool ctf_uuid_from_text(const char *text, uint8_t ret_uuid[16]);
/* A trace's uid as 16 bytes: its UUID, or a hash of the uid and the name space, if any. */
void ctf_uuid_from_uid(const char *name_space, const char *uid, uint8_t ret_uuid[16]);
