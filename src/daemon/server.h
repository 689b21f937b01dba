/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Server: the tracker, the two sockets and everybody connected to them
 */

#include "daemon/config.h"

#include <glib.h>

typedef struct Server Server;

/* Sockets handed over by systemd go before the paths. NULL with ERROR set. */
Server *server_new(const char *ingest_path, const char *query_path, const Config *config,
                   GError **error);
void server_free(Server *server);

/*
 * Another configuration: what is more than its limits allow from now on is let go as it ends, but
 * memory at once. The metrics file goes if it is another one.
 */
void server_configure(Server *server, const Config *config);

/* How much there is, a line for people; the caller's. */
char *server_status(const Server *server);

/* Takes no more callers or bytes, sends what is ready, then calls DONE. */
void server_drain(Server *server, void (*done)(void *data), void *data);
