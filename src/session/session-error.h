/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of tracing sessions: the message is for people, and says what to do
 */

#include <glib.h>

typedef enum SessionError {
        SESSION_ERROR_FAILED,
        SESSION_ERROR_NO_LTTNG,    /* it is not installed */
        SESSION_ERROR_NO_SESSIOND, /* no session daemon runs that we could talk to */
} SessionError;

#define SESSION_ERROR (g_quark_from_static_string("clrsym-session"))
