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
        /* What is read several times has one bar: how many times in all, 0 being once, and how many
         * are over. */
        unsigned n_readings, n_over;
} Progress;

void progress_init(Progress *progress, const char *what);
/* A clrsym_options.progress; DATA is a Progress. */
int progress_show(uint64_t n_read, uint64_t n_total, void *data);
/* Takes the bar off the terminal. */
void progress_end(Progress *progress);
/* The same after each of N_READINGS, because messages may come. */
void progress_end_reading(Progress *progress);
