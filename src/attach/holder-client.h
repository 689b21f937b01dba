/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder client: sends a request to a holder, and starts a holder if none runs
 */

#include "attach/reply.h"

/*
 * Sends REQUEST for the daemon whose ingest socket is $CLRSYM_INGEST, or else for the user's own or
 * the system's. Returns the connection, or -1 with ERROR set. If no holder runs: IS_STARTING starts
 * one; without it, the result is -1 without ERROR.
 */
int holder_client_ask(const Request *request, bool is_starting, GError **error);

/* The same for the holder of DIRECTORY; -1 without ERROR: no holder runs. */
int holder_client_ask_in(const char *directory, const Request *request, GError **error);

/* Waits for the reply and closes FD. NULL with ERROR set, also if the reply reports an error. The
 * caller owns the result. */
json_t *holder_client_answer(int fd, GError **error);
