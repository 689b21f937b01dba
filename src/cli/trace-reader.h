/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace reader: a trace on disk, read through babeltrace2 into a tracker of this process
 *
 * babeltrace2 runs as a child and feeds this process as it would feed the daemon. One decoder, one
 * protocol: what `--trace` answers is what the daemon answers.
 */

#include "core/tracker.h"

#include <glib.h>

/* Everything in DIRECTORY, at any level; NULL with ERROR set. The tracker is the caller's. */
Tracker *trace_read(const char *directory, GError **error);
