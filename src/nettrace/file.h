/* SPDX-License-Identifier: MIT */
#pragma once

/* File: pushes a file into a nettrace reader, piece by piece */

#include "nettrace/reader.h"

typedef struct NettraceFile {
        int fd;        /* owned */
        uint64_t size; /* in bytes, when it was opened */
        uint64_t n_read;
        uint8_t *piece; /* owned */
} NettraceFile;

/* True if the file FD, which is at its begin and stays there, begins like nettrace. */
bool nettrace_file_is(int fd);

/* Takes over FD, a file at its begin. False with ERROR set: then FD is closed. */
bool nettrace_file_init(NettraceFile *file, int fd, GError **error);
void nettrace_file_deinit(NettraceFile *file);

typedef enum NettraceFileResult {
        NETTRACE_FILE_MORE,
        NETTRACE_FILE_END, /* the reader is finished, and can be emptied */
        NETTRACE_FILE_ERROR,
} NettraceFileResult;

/* Pushes the next piece. Empty the reader after each. ERROR does not name the file. */
NettraceFileResult nettrace_file_push(NettraceFile *file, NettraceReader *reader, GError **error);
