/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Server: the tracker, the two sockets and everybody connected to them
 */

#include <glib.h>

typedef struct Server Server;

/* Who can connect, and how often. */
#define SERVER_MAX_FEEDERS      16
#define SERVER_MAX_CLIENTS      64
#define SERVER_MAX_CLIENTS_USER 16
/* ms that a peer has for the rest of a message, or to take what it asked for. */
#define SERVER_TIMEOUT_MS 5000

/* Sockets handed over by systemd go before the paths. NULL with ERROR set. */
Server *server_new(const char *ingest_path, const char *query_path, GError **error);
void server_free(Server *server);

/* Most bytes that all code maps and names may take; 0: no limit. */
void server_set_memory_max(Server *server, size_t n_bytes);

/* Takes no more callers or bytes, sends what is ready, then calls DONE. */
void server_drain(Server *server, void (*done)(void *data), void *data);
