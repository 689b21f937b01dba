/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Client: who is connected to the query socket: its session, and what it may see
 */

#include "daemon/peer.h"
#include "service/query-session.h"

#include <sys/types.h>

typedef struct Client Client;

/*
 * Whoever is at the other end of FD, a socket that was accepted, asks. CONTEXT is copied but for
 * its viewer. NULL if it cannot be told who that is. Members of GROUP see every process, as root
 * does. WATCHING is called once it wants to be told what changes.
 */
Client *client_new(int fd, const QueryContext *context, const char *group,
                   void (*watching)(void *data), void *data);
uid_t client_uid(const Client *client);
QuerySession *client_session(const Client *client);

/* The session of a peer of this role is a Client, and the peer's. */
extern const PeerRole CLIENT_ROLE;
