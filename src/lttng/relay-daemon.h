/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Relay daemon: the lttng-relayd that live sessions go through
 *
 * Its protocol knows no users: whoever reaches its ports can read what it has, and send it events.
 * The system's one, clrsym-relayd.service, is alone in a network namespace with its feeders and
 * root's session daemon. One that is started here listens on the loopback device only.
 *
 * A process that is called lttng-relayd is believed only if the kernel's table of sockets has its
 * user as the owner of the port: other users may listen there while it does not.
 */

#include "lttng/daemon-process.h"

#define RELAY_DEFAULT_CONTROL 5342
#define RELAY_DEFAULT_DATA    5343
#define RELAY_DEFAULT_LIVE    5344
/* Its file in the state directory, if it was started here. */
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
 * Our user's, if it listens where viewers look for it; root's may be the system's. Another user's
 * is not used, because it would receive everything that is recorded. False: there is none.
 */
bool relay_daemon_find(RelayDaemon *ret_relay);
/* The same for one that listens for viewers at LIVE_PORT. */
bool relay_daemon_find_at(uint16_t live_port, RelayDaemon *ret_relay);
/* The name of its user, owned by the caller; NULL: it is our own. */
char *relay_daemon_other_user(const RelayDaemon *relay);
/* It is in another network namespace: its process, which others have to enter it by; else 0. */
pid_t relay_daemon_net(const RelayDaemon *relay);

typedef enum RelayPort {
        RELAY_PORT_FREE,    /* nobody listens */
        RELAY_PORT_TRUSTED, /* our user, root, or the system's relay daemon if we are root */
        RELAY_PORT_FOREIGN, /* another user: nothing there is to be believed */
} RelayPort;

/*
 * Who listens for viewers at LIVE_PORT of this machine. RET_NET: as of relay_daemon_net().
 * RET_USER: with RELAY_PORT_FOREIGN the user, owned by the caller; else NULL. Both may be NULL.
 */
RelayPort relay_daemon_probe(uint16_t live_port, pid_t *ret_net, char **ret_user);

/*
 * Starts one that writes to OUTPUT. Ports of RELAY that are 0 are chosen here: LTTng's own ones if
 * they are free. Its output goes to a file in DIRECTORY.
 */
bool relay_daemon_start(const char *directory, const char *output, RelayDaemon *relay,
                        GError **error);

/* The default output of one that is started; the caller owns it. */
char *relay_daemon_default_output(void);

/* The one that was started and remembered in DIRECTORY, if it still runs. */
bool relay_daemon_remembered(const char *directory, RelayDaemon *ret_relay);
bool relay_daemon_remember(const char *directory, const RelayDaemon *relay, GError **error);

json_t *relay_daemon_to_json(const RelayDaemon *relay);
/* False: not a relay daemon, or it does not run any more. */
bool relay_daemon_from_json(const json_t *value, RelayDaemon *ret_relay);
