/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reader: a babeltrace2 of ours that reads a trace or a live session into the merger
 */

#include "feed/merger.h"

typedef struct Reader Reader;

typedef struct ReaderCalls {
        /* It has ended. WHY, borrowed, says what was wrong; NULL: it came to the end. */
        void (*ended)(void *data, Reader *reader, const char *why);
} ReaderCalls;

/*
 * Starts one on SOURCE: a directory, or with INTAKE_LIVE a URL. DIRECTORY is a private one for its
 * socket. NULL with ERROR set.
 */
Reader *reader_start(Merger *merger, IntakeMode mode, const char *source, const char *directory,
                     bool jit_events, const ReaderCalls *calls, void *data, GError **error);
/* Kills it, if it runs; not told of. NULL is fine. */
void reader_free(Reader *reader);
/* Has it hand over what it has, and end. */
void reader_stop(Reader *reader);
/* NULL before it has connected, and after it has hung up. */
const Intake *reader_intake(const Reader *reader);
/* Is INTAKE its? Then it is freed, and the reader has to end, with IS_BROKEN at once. */
bool reader_drop_intake(Reader *reader, Intake *intake, bool is_broken);
pid_t reader_pid(const Reader *reader);
