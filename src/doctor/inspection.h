/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inspection: what a process shows of itself
 *
 * Whatever it shows is its own to make: how long its environment is, which files lie in its root
 * directory, and whether reading any of that ever comes to an end. So a child looks, of which
 * nothing is awaited past a time, and reads no more than a process has that means well.
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

typedef enum InspectionState {
        INSPECTION_DONE,
        INSPECTION_NONE,    /* there is no such process */
        INSPECTION_REFUSED, /* it may not be looked into */
        INSPECTION_UNCLEAR, /* it cannot be: reason */
} InspectionState;

typedef struct Inspection {
        InspectionState state;
        char *reason;  /* owned: with UNCLEAR */
        bool has_uid;  /* else there is no such process */
        uid_t uid;     /* of its user */
        int pidfd;     /* readable when it has ended; -1: there is none */
        json_t *shown; /* owned: see inspection.c; NULL unless DONE */
} Inspection;

void inspection_read(pid_t pid, Inspection *ret_inspection);
void inspection_clear(Inspection *inspection);

/* Has it ended meanwhile? Then what was read may be of another process. */
bool inspection_is_over(const Inspection *inspection);

/* A member: false and NULL if it has none. Borrowed. */
bool inspection_is(const Inspection *inspection, const char *name);
const char *inspection_text(const Inspection *inspection, const char *name);
