/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * EventPipe session: enables the events of a target's runtime
 *
 * The runtime decides for EventPipe and LTTng together which events are emitted. For LTTng, the
 * session's own stream is useless: a runtime that supports it (.NET 10) leaves the stream empty;
 * otherwise the stream is read and discarded. For EventPipe, a sink takes the stream. The stream
 * must be read all the time, because a runtime does not exit before its buffers were read.
 *
 * A session ends when it is stopped, or when the runtime can no longer write to it. The runtime
 * never writes to an empty session, so that one lasts until it is stopped by its id, or until the
 * target ends.
 */

#include "attach/port.h"

#include <stdatomic.h>

/* Takes the bytes of a stream, as they come. */
typedef struct EventPipeSink {
        void (*take)(void *data, const uint8_t *bytes, size_t n);
        void *data;
} EventPipeSink;

typedef struct EventPipeSession {
        int fd; /* -1: none */
        uint64_t id;
        bool is_persistent;        /* the stream stays empty, so the session outlives its reader */
        const EventPipeSink *sink; /* borrowed; NULL: the stream is discarded */
        _Atomic uint64_t *n_taken; /* borrowed; counts the bytes that were read; or NULL */
        /* Borrowed: another session of the target, which is drained with this one; NULL: none */
        const struct EventPipeSession *beside;
} EventPipeSession;

/* Enables events of loads, unloads, modules, IL maps and precompiled entry points. */
bool eventpipe_session_open(const Target *target, EventPipeSession *ret_session, GError **error);
/*
 * The same, for SINK, which must outlive the session. LISTS_PRECOMPILED: when the session is
 * stopped or the program exits normally, its stream ends with a rundown of precompiled code; not
 * with .NET 8 and older, which have no keywords for that.
 */
bool eventpipe_session_open_read(const Target *target, const EventPipeSink *sink,
                                 bool lists_precompiled, EventPipeSession *ret_session,
                                 GError **error);
/* Enables events of garbage collections instead: some ten to a hundred for each one. HAS_ASYNC:
 * also events of async chains, which need .NET 11. */
bool eventpipe_session_open_collections(const Target *target, const EventPipeSink *sink,
                                        bool has_async, EventPipeSession *ret_session,
                                        GError **error);
/*
 * Enables the events of async methods alone. Opening such a session makes the program's threads
 * write their buffers, into all sessions; stopping one does not.
 */
bool eventpipe_session_open_async(const Target *target, const EventPipeSink *sink,
                                  EventPipeSession *ret_session, GError **error);
/* Events with the stack of a thread. */
typedef enum EventPipeSamples {
        EVENTPIPE_SAMPLES_THREADS,    /* the runtime's own sampler: it stops all threads about a
                                         thousand times a second */
        EVENTPIPE_SAMPLES_ALLOC,      /* an event for about each 100 kB that are allocated */
        EVENTPIPE_SAMPLES_CONTENTION, /* two for each wait for a lock */
        EVENTPIPE_SAMPLES_EXCEPTION,  /* one for each exception that is thrown */
} EventPipeSamples;

/* Enables these events instead, for SINK, as above. */
bool eventpipe_session_open_samples(const Target *target, EventPipeSamples samples,
                                    const EventPipeSink *sink, EventPipeSession *ret_session,
                                    GError **error);
/* Takes the available bytes. False: the session is over. */
bool eventpipe_session_drain(const EventPipeSession *session);
/* Shuts the socket down, also for processes with a copy of it. */
void eventpipe_session_close(EventPipeSession *session);
/* Disables the events, unless another session needs them. Always closes the session. */
bool eventpipe_session_stop(const Target *target, EventPipeSession *session, GError **error);
/* Stops the session with that id, and drains OTHER meanwhile. A session that is over is not an
 * error. */
bool eventpipe_session_stop_id(const Target *target, uint64_t id, const EventPipeSession *other,
                               GError **error);

/* Now, in ns of CLOCK_MONOTONIC, like the times of events. */
uint64_t eventpipe_session_clock(void);

/* The version of the target's runtime; the caller frees it. NULL without ERROR: the runtime is too
 * old to report it. */
char *eventpipe_runtime_version(const Target *target, GError **error);

/* A complete rundown: it reported all code that was alive between two times. */
typedef struct EventPipeRundown {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC */
        bool is_empty;       /* the runtime is starting, or suspended at its start */
} EventPipeRundown;

/* Work during the wait for a rundown, and its time limit. */
typedef struct EventPipeWait {
        const EventPipeSession *other; /* drained meanwhile; NULL: none */
        int interrupt_fd;              /* polled for input; -1: none */
        /* Takes that input. True: give the rundown up, with ATTACH_ERROR_FAILED. */
        bool (*interrupt)(void *data);
        void *data;
        gint64 limit;              /* us for the whole rundown; 0: EVENTPIPE_RUNDOWN_LIMIT */
        const EventPipeSink *sink; /* takes the rundown; NULL: it is discarded */
} EventPipeWait;

/* Large rundowns take seconds. */
#define EVENTPIPE_RUNDOWN_LIMIT (150 * G_TIME_SPAN_SECOND)

/* Makes the runtime send a rundown. WAIT may change meanwhile. */
bool eventpipe_rundown(const Target *target, const EventPipeWait *wait,
                       EventPipeRundown *ret_rundown, GError **error);

/*
 * Reports loads during DURATION us, and the modules at its end; listing modules alone is harmless.
 * WAIT->sink takes the stream; WAIT's limit is ignored. RET_IS_ABLE false: the runtime cannot do
 * that (.NET 8 and older).
 */
bool eventpipe_watch_loads(const Target *target, const EventPipeWait *wait, gint64 duration,
                           bool *ret_is_able, GError **error);

/*
 * Makes the runtime write one event into all of its sessions, so that a quiet session gets a later
 * horizon. The event comes within a tenth of a second. Ignores WAIT's limit and sink.
 */
bool eventpipe_ping(const Target *target, const EventPipeWait *wait, GError **error);
