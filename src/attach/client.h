/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Client: asks a holder, and starts one where there is none
 */

#include "attach/request.h"

/*
 * Sends REQUEST. Returns the connection, or -1 with ERROR set. With IS_STARTING a holder is started
 * if there is none; without, that is -1 and no ERROR.
 */
int client_ask(const Request *request, bool is_starting, GError **error);
/* Waits for the answer, and closes FD. NULL with ERROR set, also if the answer is an error. */
json_t *client_answer(int fd, GError **error);
