/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace format: the form in which LTTng writes a session's trace
 */

#include <stdbool.h>

/* The numbers are those of LTTng 2.15. */
typedef enum TraceFormat {
        TRACE_FORMAT_ANY, /* CTF 1.8 if LTTng has it */
        TRACE_FORMAT_CTF_1_8,
        TRACE_FORMAT_CTF_2,
        _TRACE_FORMAT_MAX,
} TraceFormat;

/* In the spelling of --trace-format; NULL for TRACE_FORMAT_ANY. */
const char *trace_format_name(TraceFormat format);
/* False, and RET_FORMAT unchanged: NAME is not a format. */
bool trace_format_from_name(const char *name, TraceFormat *ret_format);
