/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum PerfDataErrorCode {
        PERFDATA_ERROR_SYSTEM,  /* a file cannot be read or written */
        PERFDATA_ERROR_DAMAGED, /* it is not what perf record writes */
        PERFDATA_ERROR_UNKNOWN, /* it has what is not understood here */
} PerfDataErrorCode;

#define PERFDATA_ERROR perfdata_error_quark()
GQuark perfdata_error_quark(void);
