/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Relay daemon: the lttng-relayd that live sessions go through
 *
 * Its protocol knows no users: a program that reaches its ports can read all sessions, and can send
 * events. The system's relay daemon, clrsym-relayd.service, is in a network namespace of its own
 * with its feeders and root's session daemon. A relay daemon that clrsym starts listens on the
 * loopback device only.
 *
 * A process with the name lttng-relayd counts only if the kernel's table of sockets has its user as
 * the owner of the port, because other users may listen there while it does not.
 */

#include "lttng/daemon-process.h"

#define RELAY_DEFAULT_CONTROL 5342
#define RELAY_DEFAULT_DATA    5343
#define RELAY_DEFAULT_LIVE    5344
/* Its file in the state directory, if clrsym started it. */
#define RELAY_FILE "lttng-relayd"

typedef struct RelayDaemon {
        DaemonProcess process;
        uint16_t control_port, data_port, live_port;
        char *output; /* owned: the directory that it writes to; NULL: not known */
        uid_t uid;    /* of its user */
} RelayDaemon;

/* The user of the system's relay daemon, clrsym-relayd.service. */
#define RELAY_SYSTEM_USER "clrsym-ingest"

void relay_daemon_clear(RelayDaemon *relay);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RelayDaemon, relay_daemon_clear)

/*
 * Finds our user's relay daemon, if it listens at the ports for viewers; for root, also the
 * system's. A relay daemon of another user is not used, because it would receive all events. False:
 * there is none.
 */
bool relay_daemon_find(RelayDaemon *ret_relay);
/* Finds a relay daemon that listens for viewers at LIVE_PORT. */
bool relay_daemon_find_at(uint16_t live_port, RelayDaemon *ret_relay);
/* The name of its user, owned by the caller; NULL: our own user. */
char *relay_daemon_other_user(const RelayDaemon *relay);
/* If it is in another network namespace, its process, by which to enter that namespace; else 0. */
pid_t relay_daemon_net(const RelayDaemon *relay);

typedef enum RelayPort {
        RELAY_PORT_FREE,    /* nobody listens */
        RELAY_PORT_TRUSTED, /* our user, root, or the system's relay daemon if we are root */
        RELAY_PORT_FOREIGN, /* another user, who is not trusted */
} RelayPort;

/*
 * Finds out which user listens for viewers at LIVE_PORT of this machine. RET_NET: see
 * relay_daemon_net(). RET_USER: with RELAY_PORT_FOREIGN the user, owned by the caller; else NULL.
 * Both may be NULL.
 */
RelayPort relay_daemon_probe(uint16_t live_port, pid_t *ret_net, char **ret_user);

/* Starts a relay daemon that writes to OUTPUT. For ports of RELAY that are 0, free ones are chosen:
 * LTTng's own ports, if they are free. Its log is a file in DIRECTORY. */
bool relay_daemon_start(const char *directory, const char *output, RelayDaemon *relay,
                        GError **error);

/* The default output of a started relay daemon; the caller owns it. */
char *relay_daemon_default_output(void);

/* The relay daemon that was started and recorded in DIRECTORY, if it still runs. */
bool relay_daemon_remembered(const char *directory, RelayDaemon *ret_relay);
bool relay_daemon_remember(const char *directory, const RelayDaemon *relay, GError **error);

json_t *relay_daemon_to_json(const RelayDaemon *relay);
/* False: not a relay daemon, or it has ended. */
bool relay_daemon_from_json(const json_t *value, RelayDaemon *ret_relay);
