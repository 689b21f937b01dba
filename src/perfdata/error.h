/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum PerfDataErrorCode {
        PERFDATA_ERROR_SYSTEM,  /* a file cannot be read or written */
        PERFDATA_ERROR_DAMAGED, /* the file is not in the format of perf record */
        PERFDATA_ERROR_UNKNOWN, /* parts of the file are not supported */
} PerfDataErrorCode;

#define PERFDATA_ERROR perfdata_error_quark()
GQuark perfdata_error_quark(void);
