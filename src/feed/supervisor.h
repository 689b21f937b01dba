/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Supervisor: keeps a live session going into the daemon, whatever of the two is away for a while
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Supervisor Supervisor;

typedef struct SupervisorSettings {
        const char *session;      /* its name */
        const char *url;          /* for viewers */
        uint16_t live_port;       /* of its relay daemon on this machine; 0: it is on another one */
        const char *relay_output; /* of the relay daemon; NULL: to be found out */
        const char *socket;       /* the daemon's ingest socket */
        bool jit_events;
} SupervisorSettings;

/* Says what it does on stderr. SETTINGS is borrowed. NULL with ERROR set. */
Supervisor *supervisor_new(const SupervisorSettings *settings, GError **error);
void supervisor_free(Supervisor *supervisor);
/* Hands over what there is; then ENDED is called. */
void supervisor_stop(Supervisor *supervisor, void (*ended)(void *data), void *data);
