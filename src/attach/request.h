/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Request: what a holder answers to one (wire/hold-request.h), a JSON object on a line
 *
 *   {"pid":123,"vpid":1,...}          or {"attachments":[...]}, or {"error":{...}}
 *
 * One request a connection. The answer comes when it is done.
 */

#include "attach/attachment.h"
#include "wire/hold-request.h"

#include <jansson.h>

/* IS_NEW: that request made it. */
json_t *request_attachment(const AttachmentInfo *info, bool is_new);
json_t *request_error(AttachError code, const char *message);
/* False with ERROR set if ANSWER is one. */
bool request_check(const json_t *answer, GError **error);
