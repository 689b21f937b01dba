/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors of reading CTF
 */

#include <glib.h>

typedef enum CtfError {
        CTF_ERROR_UNSUPPORTED, /* the trace may be valid; babeltrace2 may read it */
        CTF_ERROR_DAMAGED,     /* not a valid trace */
        CTF_ERROR_SYSTEM,      /* a file cannot be read */
} CtfError;

#define CTF_ERROR (ctf_error_quark())
GQuark ctf_error_quark(void);
