/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * EventPipe session: switches on the events that a target's runtime emits
 *
 * The runtime decides for EventPipe and LTTng together which events are emitted. If they are to
 * come by LTTng, the session's own stream is of no use: a runtime that can leave it empty (.NET 10)
 * is asked to; otherwise the stream is read and discarded. Else a sink takes the stream. It must be
 * read all the time: a runtime does not end before what it has buffered was read.
 *
 * A session ends when it is stopped, or when the runtime can no longer write to it. An empty one is
 * never written to, so it lasts until it is stopped, by its id, or until the target ends.
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
        bool is_persistent;        /* nothing is written into it: it outlives its reader */
        const EventPipeSink *sink; /* borrowed; NULL: the stream is discarded */
        _Atomic uint64_t *n_taken; /* borrowed; NULL: nobody counts the bytes that were read */
        /* Borrowed: another session of the target, which is drained with this one; NULL: none */
        const struct EventPipeSession *beside;
} EventPipeSession;

/* Switches on the events of loads, unloads, modules, IL maps and precompiled entry points. */
bool eventpipe_session_open(const Target *target, EventPipeSession *ret_session, GError **error);
/*
 * The same, for SINK, which must live as long as the session. LISTS_PRECOMPILED: the last that
 * comes of it, when it is stopped or the program ends by itself, is a rundown of precompiled code;
 * a runtime that has no keywords for that (.NET 8 and older) makes none.
 */
bool eventpipe_session_open_read(const Target *target, const EventPipeSink *sink,
                                 bool lists_precompiled, EventPipeSession *ret_session,
                                 GError **error);
/* Switches on the events of garbage collections instead: some ten to a hundred for each one.
 * HAS_ASYNC: and those of chains of async methods, which .NET 11 and later have. */
bool eventpipe_session_open_collections(const Target *target, const EventPipeSink *sink,
                                        bool has_async, EventPipeSession *ret_session,
                                        GError **error);
/*
 * Switches on the events of async methods alone. When a session does that, the threads of the
 * program write what they have buffered, into all sessions; they do not when a session is stopped.
 */
bool eventpipe_session_open_async(const Target *target, const EventPipeSink *sink,
                                  EventPipeSession *ret_session, GError **error);
/* Events that have the stack of a thread. */
typedef enum EventPipeSamples {
        EVENTPIPE_SAMPLES_THREADS,    /* the runtime's own sampler: it stops all threads about a
                                         thousand times a second */
        EVENTPIPE_SAMPLES_ALLOC,      /* an event for about each 100 kB that are allocated */
        EVENTPIPE_SAMPLES_CONTENTION, /* two for each wait for a lock */
        EVENTPIPE_SAMPLES_EXCEPTION,  /* one for each exception that is thrown */
} EventPipeSamples;

/* Switches these on instead. They are for SINK, as above. */
bool eventpipe_session_open_samples(const Target *target, EventPipeSamples samples,
                                    const EventPipeSink *sink, EventPipeSession *ret_session,
                                    GError **error);
/* Takes what has come. False: the session is over. */
bool eventpipe_session_drain(const EventPipeSession *session);
/* Hangs up, for all who have a copy of the socket. */
void eventpipe_session_close(EventPipeSession *session);
/* Switches the events off, unless another session wants them. Closes the session in any case. */
bool eventpipe_session_stop(const Target *target, EventPipeSession *session, GError **error);
/* Stops the session of that id, and drains OTHER meanwhile; a session that is over is not an error.
 */
bool eventpipe_session_stop_id(const Target *target, uint64_t id, const EventPipeSession *other,
                               GError **error);

/* Now, in ns of CLOCK_MONOTONIC, like the times of events. */
uint64_t eventpipe_session_clock(void);

/* The version of the target's runtime; the caller frees it. NULL without ERROR: the runtime is too
 * old to report it. */
char *eventpipe_runtime_version(const Target *target, GError **error);

/* A complete rundown: all code that was alive was reported between two times. */
typedef struct EventPipeRundown {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC */
        bool is_empty;       /* the runtime was started suspended and has not begun */
} EventPipeRundown;

/* What else is done while a rundown is awaited, and for how long it is. */
typedef struct EventPipeWait {
        const EventPipeSession *other; /* is drained; NULL: none */
        int interrupt_fd;              /* is polled for input; -1: none */
        /* Takes that input. True: the rundown is given up, with ATTACH_ERROR_FAILED. */
        bool (*interrupt)(void *data);
        void *data;
        gint64 limit;              /* us for the whole rundown; 0: EVENTPIPE_RUNDOWN_LIMIT */
        const EventPipeSink *sink; /* takes the rundown; NULL: it is discarded */
} EventPipeWait;

/* Large rundowns take seconds. */
#define EVENTPIPE_RUNDOWN_LIMIT (150 * G_TIME_SPAN_SECOND)

/* Has the runtime make a rundown. WAIT may change meanwhile. */
bool eventpipe_rundown(const Target *target, const EventPipeWait *wait,
                       EventPipeRundown *ret_rundown, GError **error);

/*
 * What a runtime loads for DURATION us, and the modules that it has at the end: a listing of
 * modules alone does no harm. WAIT->sink takes the stream; its limit is not used. RET_IS_ABLE
 * false: the runtime cannot do that (.NET 8 and older).
 */
bool eventpipe_watch_loads(const Target *target, const EventPipeWait *wait, gint64 duration,
                           bool *ret_is_able, GError **error);

/*
 * Has the runtime write one event into all of its sessions, so that one that is quiet gets a later
 * horizon. The event comes within a tenth of a second. WAIT as above, without its limit and sink.
 */
bool eventpipe_ping(const Target *target, const EventPipeWait *wait, GError **error);
