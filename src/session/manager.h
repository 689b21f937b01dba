/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Manager: our sessions, with the daemons that they need
 *
 * Daemons that run already are used, and left alone; those that are missing are started, and end
 * with the last session that was started here.
 */

#include "session/relay.h"
#include "session/settings.h"

typedef struct ManagerStarted {
        bool sessiond; /* it had to be started */
        bool relayd;
        char *relay_user; /* owned: of one that is used and not ours; NULL: it is ours */
} ManagerStarted;

void manager_started_clear(ManagerStarted *started);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ManagerStarted, manager_started_clear)

/*
 * Starts a session; fills in the relay's part of SETTINGS. RELAY_OUTPUT: where one that has to be
 * started writes to; NULL: its default.
 */
bool manager_start(Settings *settings, const char *relay_output, ManagerStarted *ret_started,
                   GError **error);

/*
 * Ends a session of ours, and daemons that nobody needs any more. NAME NULL: the only one.
 * RET_SETTINGS: what it was, the caller's.
 */
bool manager_stop(const char *name, Settings **ret_settings, GError **error);

/* Settings of our sessions; owned elements. NULL with ERROR set. */
GPtrArray *manager_list(GError **error);
/* One of them. NULL without ERROR: we started none of that name. */
Settings *manager_find(const char *name, GError **error);

typedef enum ManagerHealth {
        MANAGER_WELL,
        MANAGER_MENDED,   /* something was missing, and was made anew */
        MANAGER_WAITS,    /* for what is missing and is another user's to start */
        MANAGER_NOT_OURS, /* we did not start it, and cannot make it anew */
} ManagerHealth;

/*
 * Looks whether a live session of ours still works, and mends it: a session whose relay daemon or
 * session daemon was replaced is dead. RET_WHAT, the caller's or NULL, says what was missing.
 */
bool manager_mend(const char *name, ManagerHealth *ret_health, char **ret_what, GError **error);
