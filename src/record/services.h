/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Services: a daemon and a holder of this recording alone
 *
 * They listen in its scratch directory, keep nothing, and end with this program.
 */

#include "record/scratch.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct Services {
        pid_t daemon, holder;  /* 0: has ended */
        char *query;           /* owned: the daemon's socket */
        char *holder_path;     /* owned: the holder's directory */
        char *port;            /* owned: the socket for runtimes */
        char *jit_logs;        /* owned: the directory of jit-log.h */
        char *collection_logs; /* owned: the directory of collection-log.h */
        char *async_logs;      /* owned: the directory of async-log.h; it is there if wanted */
} Services;

/* NULL with ERROR set. HAS_LOGS: they grow, so not for a recording that does not end. HAS_ASYNC:
 * the log of chains, which does not. WAKE_FD: see spawn.h. */
Services *services_start(const Scratch *scratch, bool has_logs, bool has_async, int wake_fd,
                         GError **error);
/* False: the daemon has ended by itself, or was killed, and what it knew is lost. */
bool services_has_daemon(Services *services);
/* Ends all sessions. When this returns, the daemon has everything that the runtimes emitted, unless
 * WAKE_FD is readable. */
void services_detach(Services *services, int wake_fd);
/* Ends both, at once if WAKE_FD is readable. NULL is fine. */
void services_free(Services *services, int wake_fd);
