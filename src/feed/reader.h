/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reader: a babeltrace2 child that reads a trace or a live session into the merger
 */

#include "feed/merger.h"

typedef struct Reader Reader;

typedef struct ReaderCalls {
        /* It has ended. REASON (borrowed) is one line; NULL: it has read everything. */
        void (*ended)(void *data, Reader *reader, const char *reason);
} ReaderCalls;

typedef struct ReaderSource {
        IntakeMode mode;
        const char *source; /* a directory, or with INTAKE_LIVE a URL */
        pid_t net;          /* the process whose network namespace it is read in; 0: ours */
        bool jit_events;
} ReaderSource;

/* DIRECTORY is a private one for its socket. NULL with ERROR set. */
Reader *reader_start(Merger *merger, const ReaderSource *source, const char *directory,
                     const ReaderCalls *calls, void *data, GError **error);
/* Kills it if it runs; `ended` is not called. NULL is fine. */
void reader_free(Reader *reader);
/* Asks it to hand over what it has, and to end. */
void reader_stop(Reader *reader);
/* Ends it at once; `ended` is called later. */
void reader_kill(Reader *reader);
/* NULL before it has connected, and after it has hung up. */
const Intake *reader_intake(const Reader *reader);
/* It has connected, even if it has hung up since. */
bool reader_had_connected(const Reader *reader);
/*
 * If INTAKE belongs to the reader: frees it and returns true; the reader has to end within seconds,
 * with IS_BROKEN at once.
 */
bool reader_drop_intake(Reader *reader, Intake *intake, bool is_broken);
pid_t reader_pid(const Reader *reader);
