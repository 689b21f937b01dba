/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session: an EventPipe session of a target, which makes its runtime tell LTTng of its code
 *
 * The runtime decides for EventPipe and LTTng together which events are made at all. What goes into
 * the session's own stream is of no use here: where the runtime can be told to (.NET 10), nothing
 * does, else it is read and thrown away.
 *
 * A session ends when it is stopped; when the runtime cannot write to it any more; and one into
 * which nothing is written, not before the target does: whoever has its id can stop it.
 */

#include "attach/port.h"

typedef struct Session {
        int fd; /* -1: none */
        uint64_t id;
        bool is_silent; /* nothing is written into it */
} Session;

/* Switches on the events of loads, unloads, modules, IL maps and precompiled entry points. */
bool session_open(const Target *target, Session *ret_session, GError **error);
/* Throws away what has come. False: the session is over. */
bool session_drain(const Session *session);
/* Switches them off, unless another session wants them. Closes it in any case. */
bool session_stop(const Target *target, Session *session, GError **error);
/* Stops the session of that id; one that is over by now does not count as an error. */
bool session_stop_id(const Target *target, uint64_t id, GError **error);

/* Now, in ns of CLOCK_MONOTONIC, as the events' times are. */
uint64_t session_clock(void);

/* The version of the target's runtime, owned; NULL without ERROR: it is too old to tell. */
char *session_runtime_version(const Target *target, GError **error);

/* Everything that is alive was listed for LTTng between two times, ns of CLOCK_MONOTONIC. */
typedef struct SessionRundown {
        uint64_t begin, end;
        bool is_empty; /* the runtime has not begun its program, and waits to be told to */
} SessionRundown;

/* Has it list everything; meanwhile drains the session OTHER, if it is not NULL. */
bool session_rundown(const Target *target, const Session *other, SessionRundown *ret_rundown,
                     GError **error);
