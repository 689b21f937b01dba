/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Progress: a bar on stderr, if that is a terminal, while a big trace or recording is read
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Progress {
        const char *what; /* borrowed */
        gint64 start;     /* us */
        gint64 drawn;     /* us; 0: not yet */
        bool is_terminal;
        /* Several readings share one bar: their number, 0 being 1, and how many have ended. */
        unsigned n_readings, n_over;
} Progress;

void progress_init(Progress *progress, const char *what);
/* A clrsym_options.progress; DATA is a Progress. */
int progress_show(uint64_t n_read, uint64_t n_total, void *data);
/* Erases the bar. */
void progress_end(Progress *progress);
/* Erases the bar after one of N_READINGS, so that messages can be printed. */
void progress_end_reading(Progress *progress);
