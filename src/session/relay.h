/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Relay: the lttng-relayd that live sessions go through
 *
 * Its protocol knows no users: whoever reaches its ports can read what it has. One that is started
 * here listens on this machine's loopback only.
 */

#include "session/service.h"

#define RELAY_DEFAULT_CONTROL 5342
#define RELAY_DEFAULT_DATA    5343
#define RELAY_DEFAULT_LIVE    5344
/* In a place: the one that was started here. */
#define RELAY_FILE "lttng-relayd"

typedef struct Relay {
        Service service;
        uint16_t control_port, data_port, live_port;
        char *output; /* owned: the directory that it writes to; NULL: not known */
        uid_t uid;    /* whose it is */
} Relay;

/* Who runs the system's relay daemon, clrsym-relayd.service. */
#define RELAY_SYSTEM_USER "clrsym-ingest"

void relay_clear(Relay *relay);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Relay, relay_clear)

/*
 * Our user's, if it listens where viewers look for it; root's may be the system's. Another user's
 * is not taken: it would have all that is recorded. False: there is none.
 */
bool relay_find(Relay *ret_relay);
/* That one, or such a one which listens for viewers at LIVE_PORT. */
bool relay_find_at(uint16_t live_port, Relay *ret_relay);
/* The name of the user whose it is, the caller's; NULL: it is ours. */
char *relay_other_user(const Relay *relay);

/*
 * Starts one that writes to OUTPUT. Ports of RELAY that are 0 are chosen here: LTTng's own ones if
 * they are free. What it says goes to a file in PLACE.
 */
bool relay_start(const char *place, const char *output, Relay *relay, GError **error);

/* Where one that is started writes to by default; the caller's. */
char *relay_default_output(void);

/* Does anything listen at that port of this machine? */
bool relay_listens(uint16_t port);

/* The one that was started in PLACE and remembered there, if it still runs. */
bool relay_remembered(const char *place, Relay *ret_relay);
bool relay_remember(const char *place, const Relay *relay, GError **error);

json_t *relay_to_json(const Relay *relay);
/* False: it is none, or does not run any more. */
bool relay_from_json(const json_t *value, Relay *ret_relay);
