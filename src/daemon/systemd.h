/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a service and systemd tell each other: sd_notify(3), sd_watchdog_enabled(3) and
 * sd_listen_fds(3). Without systemd all of it does nothing.
 */

#include <stddef.h>

/* Tells the service manager, if there is one: "READY=1", "STOPPING=1", "STATUS=...". */
void systemd_notify(const char *state);
/* A reload begins; the next READY=1 ends it. */
void systemd_notify_reloading(void);

/*
 * If the service manager wants to hear that we live, it does from now on, twice in the time that it
 * allows and as long as the default main context runs. To be called once.
 */
void systemd_watchdog_start(void);

/*
 * The sockets handed over for each of N names, -1 for one that has none; they are non-blocking and
 * closed on exec. FileDescriptorName= tells which is which. Of those that were given no name, the
 * name at the end of its path tells, and then their order.
 */
void systemd_listen_fds(const char *const *names, size_t n, int *ret_fds);
/* The same for one name. */
int systemd_listen_fd(const char *name);
