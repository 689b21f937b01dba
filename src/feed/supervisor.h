/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Supervisor: keeps a live session flowing into the daemon, whichever part of the way fails for a
 * while
 *
 *              connected         answered         timer           caught up
 *    NO_DAEMON ---------> ASKING ---------> PAUSED ------> READING ----------> LIVE
 *        ^                                    ^              |                  |
 *        |                                    +--------------+------------------+
 *        |                                         the live reader has ended
 *        +---- from every state but STOPPING: the connection to the daemon is lost
 *
 *    STOPPING: from every state, by supervisor_stop(); it ends when the daemon has
 *    everything
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Supervisor Supervisor;

typedef struct SupervisorSettings {
        const char *session;      /* the session's name */
        const char *host;         /* host of its relay daemon */
        uint16_t port;            /* the relay daemon's port for viewers */
        const char *target;       /* the traced machine, as the relay daemon calls it */
        uint16_t live_port;       /* PORT, if the relay daemon is on this machine; else 0 */
        const char *relay_output; /* the relay daemon's directory; NULL: it is looked for */
        const char *socket;       /* the daemon's ingest socket */
        /* The command that repairs a broken session, run from time to time; it inherits stderr.
         * NULL: the session is not repaired. */
        const char *const *repair_command;
        bool jit_events;
} SupervisorSettings;

/* Reports what it does on stderr. SETTINGS is borrowed. */
Supervisor *supervisor_new(const SupervisorSettings *settings);
void supervisor_free(Supervisor *supervisor);
/* Waits until the daemon has acknowledged everything; then ENDED is called. */
void supervisor_stop(Supervisor *supervisor, void (*ended)(void *data), void *data);
