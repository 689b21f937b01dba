/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Contexts of a session's channel
 *
 * The session daemon lists everything but the contexts, but saves them into a file.
 */

#include <glib.h>

/* Owned names in the form of `lttng add-context`, such as "vpid". NULL: not known. */
GPtrArray *contexts_read(const char *session, const char *channel);
