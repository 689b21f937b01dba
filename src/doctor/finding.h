/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finding: the result of one check
 */

#include <glib.h>

typedef enum FindingStatus {
        FINDING_OK,
        FINDING_PROBLEM, /* prevents names */
        FINDING_NOTE,    /* does not prevent names, but is worth knowing */
        FINDING_UNKNOWN, /* cannot be determined; nothing is guessed */
        _FINDING_STATUS_MAX,
} FindingStatus;

typedef struct Finding {
        FindingStatus status;
        char *text; /* owned: one line, not escaped: other programs can have chosen parts of it */
        char *fix;  /* owned: a command, or what to do; NULL: nothing */
} Finding;

/* Replaces FINDING. FIX may be NULL; it is copied. */
void finding_set(Finding *finding, FindingStatus status, const char *fix, const char *format, ...)
        G_GNUC_PRINTF(4, 5);
void finding_clear(Finding *finding);
/* "problem". Static. */
const char *finding_status_name(FindingStatus status);
