/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Server: the tracker, the two sockets and the peers connected to them
 */

#include "daemon/config.h"

#include <glib.h>

typedef struct Server Server;

/* Sockets handed over by systemd are used instead of the paths. NULL with ERROR set. */
Server *server_new(const char *ingest_path, const char *query_path, const Config *config,
                   GError **error);
void server_free(Server *server);

/*
 * Takes another configuration. Peers over its limits stay until they leave; memory over its limit
 * is freed at once. The metrics file is removed if its path changes.
 */
void server_configure(Server *server, const Config *config);

/* How much is served, a line for people. The caller owns the result. */
char *server_status(const Server *server);

/* Takes no more callers or bytes, sends what is ready, then calls DONE. */
void server_drain(Server *server, void (*done)(void *data), void *data);
