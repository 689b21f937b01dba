/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Log: the destination of the daemon's messages
 *
 * If the standard error is the journal's: the journal, with all fields. Else to the standard error,
 * a line each: "clrsymd: warning: text". Debug messages are dropped.
 *
 * The daemon's own fields begin with CLRSYM_, in upper case; values are text.
 */

#include <glib.h>

/* Takes over what g_message(), g_log_structured() and the like write. Call it once, first. */
void log_init(void);
