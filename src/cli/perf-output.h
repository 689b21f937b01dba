/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A file that another program writes: it appears under its name when it is whole
 */

#include <glib.h>
#include <stdbool.h>

typedef struct PerfOutput {
        int fd;          /* to write to */
        char *path;      /* owned; NULL: stdout */
        char *temporary; /* owned: until it is whole; NULL: it is written where it is */
} PerfOutput;

/* PATH NULL is stdout; what is no regular file is written to directly. Close it in any case. */
bool perf_output_open(PerfOutput *output, const char *path, GError **error);
/* The file is whole. */
bool perf_output_commit(PerfOutput *output, GError **error);
/* What is not whole goes. */
void perf_output_close(PerfOutput *output);
