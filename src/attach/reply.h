/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reply: what a holder answers to a request (wire/hold-request.h), as JSON
 *
 * The caller owns the values.
 */

#include "attach/attachment.h"
#include "wire/hold-request.h"

/* IS_NEW: the request that is answered made the attachment. */
json_t *reply_attachment(const AttachmentInfo *info, bool is_new);
json_t *reply_error(AttachError code, const char *message);

/* Takes the value of a reply, TEXT of N bytes. NULL with ERROR set: it reports an error, or is not
 * the reply of a holder. */
json_t *reply_read(const char *text, size_t n, GError **error);
