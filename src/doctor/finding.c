/* SPDX-License-Identifier: MIT */
#include "doctor/finding.h"

static const char *const NAMES[_FINDING_STATUS_MAX] = {
        [FINDING_OK] = "ok",
        [FINDING_PROBLEM] = "problem",
        [FINDING_NOTE] = "note",
        [FINDING_UNKNOWN] = "unknown",
};

void finding_set(Finding *finding, FindingStatus status, const char *fix, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        finding_clear(finding);
        finding->status = status;
        finding->text = g_strdup_vprintf(format, arguments);
        finding->fix = g_strdup(fix);
        va_end(arguments);
}

void finding_clear(Finding *finding)
{
        g_clear_pointer(&finding->text, g_free);
        g_clear_pointer(&finding->fix, g_free);
}

const char *finding_status_name(FindingStatus status)
{
        return NAMES[status];
}
