/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finding: what a check has found
 */

#include <glib.h>

typedef enum FindingStatus {
        FINDING_OK,
        FINDING_PROBLEM, /* stands in the way of names */
        FINDING_NOTE,    /* does not, but is good to know */
        FINDING_UNKNOWN, /* cannot be told: never a guess */
        _FINDING_STATUS_MAX,
} FindingStatus;

typedef struct Finding {
        FindingStatus status;
        char *text; /* owned: a line; parts of it may come from others: not yet printable */
        char *mend; /* owned: a command, or what to do; NULL: nothing */
} Finding;

/* Each sets FINDING, which must be empty. MEND may be NULL; it is copied. */
void finding_set(Finding *finding, FindingStatus status, const char *mend, const char *format, ...)
        G_GNUC_PRINTF(4, 5);
void finding_clear(Finding *finding);
/* "problem". Static. */
const char *finding_status_name(FindingStatus status);
