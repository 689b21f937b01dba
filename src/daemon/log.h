/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Log: where the daemon's messages go
 *
 * To the journal with all fields, if the standard error is the journal's. Else to the standard
 * error, a line each: "clrsymd: warning: text". Debug messages go nowhere.
 *
 * A field of our own begins with CLRSYM_, in upper case; values are text.
 */

#include <glib.h>

/* Takes over what g_message(), g_log_structured() and the like write. Call it once, first. */
void log_init(void);
