/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tracing: sessions of the LTTng session daemon
 */

#include "session/settings.h"

/* Is there a session daemon that we can talk to? False with ERROR set only if LTTng is missing. */
bool tracing_has_daemon(GError **error);

/* Makes the session, and starts it. What is half made is removed. */
bool tracing_start(const Settings *settings, GError **error);
/* Stops and removes it; its trace stays. RET_IS_THERE false: there is none of that name. */
bool tracing_stop(const char *name, bool *ret_is_there, GError **error);

typedef struct TracingChannel {
        char *name;        /* owned */
        GPtrArray *events; /* owned: names and patterns of those that are enabled */
        uint64_t buffer_size;
        uint64_t n_buffers;
        uint64_t n_discarded; /* events */
        uint64_t n_lost;      /* packets */
} TracingChannel;

typedef struct TracingSession {
        char *name; /* owned */
        char *path; /* owned: where it writes to, as LTTng says it */
        bool is_active;
        bool is_live;
        GPtrArray *channels; /* owned TracingChannels of user space */
} TracingSession;

/* Owned TracingSessions, all that there are. NULL with ERROR set. */
GPtrArray *tracing_list(GError **error);
/* One of the list, or NULL. */
const TracingSession *tracing_find(const GPtrArray *list, const char *name);
/* What was lost of it, in all of its channels. */
void tracing_losses(const TracingSession *session, uint64_t *ret_n_discarded, uint64_t *ret_n_lost);
/* Does it let through what .NET programs say of their code? */
bool tracing_has_dotnet(const TracingSession *session);

/* Pids of programs that run now and have the runtime's provider; owned array of int32_t. */
GArray *tracing_providers(GError **error);
