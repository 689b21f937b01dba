/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The two words a service has with systemd: readiness, and sockets that are handed over
 */

/* Tells the service manager, if there is one: "READY=1", "STOPPING=1", "STATUS=...". */
void systemd_notify(const char *state);

/* The listening socket handed over under that name, or -1. */
int systemd_listen_fd(const char *name);
