/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Systemd: readiness, watchdog and handed-over sockets of a service, by libsystemd
 *
 * Without systemd the functions do nothing.
 */

#include <stddef.h>

/* Sends a state to the service manager as sd_notify(3) does, but never waits: "READY=1",
 * "STOPPING=1", "STATUS=...". */
void systemd_notify(const char *state);
/* Reports that a reload begins; the next READY=1 ends it. */
void systemd_notify_reloading(void);

/* If the service manager has a watchdog for us, pings it twice per interval while the default main
 * context runs. To be called once. */
void systemd_watchdog_start(void);

/*
 * The sockets handed over for each of N names, or -1. They are non-blocking and closed on exec.
 * FileDescriptorName= decides which socket is which. A socket without a name is matched by the last
 * part of its path, then by order.
 */
void systemd_listen_fds(const char *const *names, size_t n, int *ret_fds);
/* The same for one name. */
int systemd_listen_fd(const char *name);
