/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Contexts of a session's channel
 *
 * The session daemon lists everything but those; it does save them, into a file.
 */

#include <glib.h>

/* Owned names as `lttng add-context` has them, "vpid". NULL: not known. */
GPtrArray *contexts_read(const char *session, const char *channel);
