/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stdin reader: bytes of stdin, for verbs that answer as soon as no more input is at hand
 */

#include <glib.h>
#include <stdbool.h>

typedef struct StdinReader {
        /* N bytes of input, valid during the call. */
        bool (*take)(void *data, const char *bytes, size_t n, GError **error);
        /* The next byte would have to be waited for: its writer may be waiting for the answers. */
        bool (*flush)(void *data, GError **error);
} StdinReader;

/* Until the end of stdin. False with ERROR if it cannot be read, or if one of READER's functions
 * fails. */
bool stdin_reader_run(const StdinReader *reader, void *data, GError **error);
