/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stdin reader: bytes of stdin, for verbs that answer as soon as no more input is at hand
 */

#include <glib.h>
#include <stdbool.h>

typedef struct StdinReader {
        /* Takes N bytes of input, valid during the call. */
        bool (*take)(void *data, const char *bytes, size_t n, GError **error);
        /* Called before a wait for input, because its writer may be waiting for the answers. */
        bool (*flush)(void *data, GError **error);
} StdinReader;

/* Reads until the end of stdin. False with ERROR set if stdin cannot be read, or if one of READER's
 * functions fails. */
bool stdin_reader_run(const StdinReader *reader, void *data, GError **error);
