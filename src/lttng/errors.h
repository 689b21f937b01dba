/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of tracing sessions: the message is for people, with what to do
 */

#include <glib.h>

typedef enum LttngError {
        LTTNG_ERROR_FAILED,
        LTTNG_ERROR_MISSING,     /* it is not installed */
        LTTNG_ERROR_NO_SESSIOND, /* no session daemon runs that we could talk to */
} LttngError;

#define LTTNG_ERROR (g_quark_from_static_string("clrsym-session"))
