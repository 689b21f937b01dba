/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of reading nettrace
 */

#include <glib.h>

typedef enum NettraceError {
        NETTRACE_ERROR_FORMAT,  /* not nettrace, or an unknown version */
        NETTRACE_ERROR_DAMAGED, /* not a valid stream */
} NettraceError;

#define NETTRACE_ERROR (nettrace_error_quark())
GQuark nettrace_error_quark(void);
