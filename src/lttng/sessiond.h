/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session daemon: the sessions of lttng-sessiond, through liblttng-ctl
 */

#include "lttng/session-settings.h"

/* A session daemon of this user runs. False with ERROR set only if LTTng is missing. */
bool sessiond_is_running(GError **error);

/* Creates and starts the session. If that fails half-way, the session is removed. */
bool sessiond_start_session(const SessionSettings *settings, GError **error);
/* Stops and removes the session; its trace stays. RET_IS_THERE false: there was no session of that
 * name. */
bool sessiond_stop_session(const char *name, bool *ret_is_there, GError **error);
/* Removes a session whose relay daemon accepts no data any more; without waiting, which would not
 * end. */
void sessiond_drop_session(const char *name);

typedef struct LttngChannel {
        char *name;        /* owned */
        GPtrArray *events; /* owned: names and patterns of enabled events */
        uint64_t buffer_size;
        uint64_t n_buffers;
        uint64_t n_discarded; /* events */
        uint64_t n_lost;      /* packets */
} LttngChannel;

typedef struct LttngSession {
        char *name; /* owned */
        char *path; /* owned: its output, as LTTng describes it */
        bool is_active;
        bool is_live;
        GPtrArray *channels; /* owned LttngChannels of user space */
} LttngSession;

/* Owned LttngSessions. NULL with ERROR set. */
GPtrArray *sessiond_list_sessions(GError **error);
/* The session of that name in the list, or NULL. */
const LttngSession *lttng_session_find(const GPtrArray *list, const char *name);
/* Losses of all its channels. */
void lttng_session_losses(const LttngSession *session, uint64_t *ret_n_discarded,
                          uint64_t *ret_n_lost);
/* True if the session records the events of .NET code. */
bool lttng_session_has_dotnet(const LttngSession *session);

/* Pids of running programs with the runtime's provider; owned array of int32_t. */
GArray *sessiond_list_providers(GError **error);
