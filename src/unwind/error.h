/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum UnwindErrorCode {
        UNWIND_ERROR_SYSTEM,  /* a file cannot be read or written */
        UNWIND_ERROR_DAMAGED, /* it is not what perf record writes */
        UNWIND_ERROR_UNKNOWN, /* it has what is not understood here */
} UnwindErrorCode;

#define UNWIND_ERROR unwind_error_quark()
GQuark unwind_error_quark(void);
