/* SPDX-License-Identifier: MIT */
#pragma once

/* Stream: the identity of one data stream of a trace, its losses, and its feeder's counts */

#include "event/record.h"
#include "util/process-key.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum BufferScheme {
        BUFFER_SCHEME_UNKNOWN,
        BUFFER_SCHEME_PER_UID,
        BUFFER_SCHEME_PER_PID,
        _BUFFER_SCHEME_MAX,
} BufferScheme;

/* Strings are owned, never NULL, and empty if not known. */
typedef struct StreamIdentity {
        uint8_t trace_uuid[16]; /* zero: the trace has none */
        uint64_t class_id;
        uint64_t stream_id;
        BufferScheme scheme;
        /*
         * PER_UID: the user of the buffers. PER_PID: the user of the process, if the kernel
         * reported the feeder. UINT32_MAX: unknown.
         */
        uint32_t uid;
        int32_t pid;      /* PER_PID: the process; else 0 */
        GString *program; /* PER_PID: the name of its program, if the environment has it */
        GString *hostname;
        GString *boot_id; /* this machine's, if the trace is of its present boot; else empty */
        GString *clock_name;
        /* Realtime = raw + offset: seconds + cycles of the clock class, in ns. */
        int64_t clock_offset;
} StreamIdentity;

StreamIdentity *stream_identity_new(void);
void stream_identity_free(StreamIdentity *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StreamIdentity, stream_identity_free)

/* Callbacks that read the environment of a trace. TRACE is the first argument of both calls. */
typedef struct TraceEnvironment {
        const void *trace;
        /* Borrowed; "": the environment has no such text. */
        const char *(*text)(const void *trace, const char *name);
        /* False: the environment has no such number. */
        bool (*number)(const void *trace, const char *name, int64_t *ret_number);
} TraceEnvironment;

/* The name of the stream's one program, in the form of a context; n 0: not known. Borrowed. */
static inline Value stream_identity_program(const StreamIdentity *stream)
{
        return (Value){.data = (const uint8_t *)stream->program->str,
                       .n = (uint32_t)stream->program->len};
}

/*
 * Sets host name, buffering scheme, owner and program from lttng-ust's variables. Returns the
 * process of all events in the trace; 0: the environment names none.
 */
int32_t stream_identity_read_environment(StreamIdentity *stream,
                                         const TraceEnvironment *environment);
/* NAME need not be valid UTF-8. */
void stream_identity_set_clock(StreamIdentity *stream, const char *name, int64_t offset);

/*
 * The reason why the events of a stream cannot be used (they have no time, or no process), and the
 * remedy, in text owned by the caller. TRACE names the trace for people. The second text ends with
 * a command on a line of its own, which contains SESSION, the name of LTTng's session.
 */
char *stream_clockless_reason(const char *trace);
char *stream_unattributed_reason(const char *trace, const char *session);

typedef enum GapKind {
        GAP_EVENTS,  /* COUNT events were discarded */
        GAP_PACKETS, /* COUNT packets were discarded */
        _GAP_KIND_MAX,
} GapKind;

/* In the words of a dump: "(discarded events)". */
const char *gap_kind_name(GapKind kind);

#define GAP_COUNT_UNKNOWN UINT64_MAX

/*
 * Times are raw clock values; begin == 0 and end == UINT64_MAX if the tracer does not report them.
 */
typedef struct StreamGap {
        GapKind kind;
        uint64_t begin;
        uint64_t end;
        uint64_t count; /* or GAP_COUNT_UNKNOWN */
} StreamGap;

/*
 * A process gap: the process recorded no events in [begin, end), because no session was held. With
 * end == UINT64_MAX the gap is open; the next report of the process with an end ends it. A report
 * with begin == end ends an open gap, and reports that a session began just before that time.
 */
typedef struct ProcessGap {
        ProcessKey process; /* in its own pid namespace */
        uint64_t begin;
        uint64_t end;
} ProcessGap;

/* A feeder's counts since its begin. */
typedef struct FeederReport {
        uint64_t events;         /* CTF events seen, of any kind */
        uint64_t dotnet_events;  /* those of the runtime's providers */
        uint64_t unknown_events; /* runtime events without a row */
        uint64_t decode_errors;
        uint64_t later_events; /* of a later version than the table's: known fields are used */
} FeederReport;
