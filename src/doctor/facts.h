/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Facts: what the LTTng session daemon says, asked in a process that may hang
 */

#include "session/tracing.h"

#include <sys/types.h>

typedef struct Facts {
        char *error;       /* owned: why nothing is known, or NULL */
        bool is_installed; /* LTTng is */
        bool is_silent;    /* the session daemon does not answer */
        bool is_unclear;   /* nor is it known whether there is one */
        bool has_daemon;   /* there is one that we may talk to */
        bool has_roots;    /* root's has a socket, which we may not use */
        bool is_listed;    /* its sessions are known */
        uid_t daemon_uid;  /* whose it is */
        json_t *sessions;  /* owned: see facts.c */
        GArray *providers; /* owned int32_t: pids, as they see themselves, of .NET programs */
} Facts;

/* Where the session daemon of our own user is: below $LTTNG_HOME or $HOME. The caller's. */
char *facts_home(void);

void facts_read(Facts *ret_facts);
void facts_clear(Facts *facts);

/*
 * The elements of sessions: {"name", "live", "active", "channels": [{"name", "events": [...],
 * "contexts": [...], "buffer_size", "buffers", "discarded"}]}. The one that matters: active, with
 * .NET events; a live one before others. NULL: there is none. Borrowed.
 */
const json_t *facts_best_session(const Facts *facts);
