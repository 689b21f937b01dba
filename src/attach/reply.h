/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reply: a holder's answer to a request (wire/hold-request.h), as JSON
 *
 * The caller owns the values.
 */

#include "attach/attachment.h"
#include "wire/hold-request.h"

/* IS_NEW: this request made the attachment. */
json_t *reply_attachment(const AttachmentInfo *info, bool is_new);
json_t *reply_error(AttachError code, const char *message);

/* Parses a reply, TEXT of N bytes. NULL with ERROR set: it reports an error, or is not a holder's
 * reply. */
json_t *reply_read(const char *text, size_t n, GError **error);
