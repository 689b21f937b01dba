/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Services: the daemon and the holder of one recording
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
        char *async_logs;      /* owned: the directory of async-log.h, which exists if requested */
} Services;

/* NULL with ERROR set. HAS_LOGS: of compilations and collections. HAS_ASYNC: of chains. WAKE_FD:
 * see spawn.h. */
Services *services_start(const Scratch *scratch, bool has_logs, bool has_async, int wake_fd,
                         GError **error);
/* False: the daemon has ended by itself, or was killed, and its names are lost. */
bool services_has_daemon(Services *services);
/* False: the holder has ended by itself, or was killed; its sessions end, and no process is
 * attached any more. */
bool services_has_holder(Services *services);
/* Ends all sessions. Afterwards the daemon has all events of the runtimes, unless WAKE_FD is
 * readable. */
void services_detach(Services *services, int wake_fd);
/* Ends both, at once if WAKE_FD is readable. NULL is fine. */
void services_free(Services *services, int wake_fd);
