/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum PerfDataErrorCode {
        PERFDATA_ERROR_SYSTEM,  /* a file cannot be read or written */
        PERFDATA_ERROR_DAMAGED, /* it has not the form that perf record writes */
        PERFDATA_ERROR_UNKNOWN, /* it has parts that are not supported here */
} PerfDataErrorCode;

#define PERFDATA_ERROR perfdata_error_quark()
GQuark perfdata_error_quark(void);
