/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Server: the tracker, the two sockets and the peers connected to them
 */

#include "daemon/config.h"

#include <glib.h>

typedef struct Server Server;

/* Uses sockets from systemd, if there are any, instead of the paths. NULL with ERROR set. */
Server *server_new(const char *ingest_path, const char *query_path, const Config *config,
                   GError **error);
void server_free(Server *server);

/*
 * Takes another configuration. Peers above its limits stay until they leave; memory above its limit
 * is freed at once. The metrics file is removed if its path changes.
 */
void server_configure(Server *server, const Config *config);

/* The state of the service, a line for people. The caller owns the result. */
char *server_status(const Server *server);

/* Accepts no more connections and bytes, sends pending output, then calls DONE. */
void server_drain(Server *server, void (*done)(void *data), void *data);
