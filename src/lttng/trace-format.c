/* SPDX-License-Identifier: MIT */
#include "lttng/trace-format.h"

#include <string.h>

static const char *const NAMES[_TRACE_FORMAT_MAX] = {
        [TRACE_FORMAT_CTF_1_8] = "ctf-1.8",
        [TRACE_FORMAT_CTF_2] = "ctf-2",
};

const char *trace_format_name(TraceFormat format)
{
        return NAMES[format];
}

bool trace_format_from_name(const char *name, TraceFormat *ret_format)
{
        unsigned i;

        for (i = TRACE_FORMAT_ANY + 1; i < _TRACE_FORMAT_MAX; i++)
                if (!strcmp(name, NAMES[i])) {
                        *ret_format = (TraceFormat)i;
                        return true;
                }
        return false;
}
