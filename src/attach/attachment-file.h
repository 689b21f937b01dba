/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attachment file: the state of one attachment that a later holder needs
 *
 * PID-START in the holder's directory, a key file:
 *
 *   [attachment]
 *   session=5
 *   ...                  one line for each field below
 *   ingest=/path         the ingest socket of the daemon that gets the events
 *
 * Earlier versions wrote eight bare numbers, which are read, too: SESSION PERSISTENT HELD_SINCE
 * HELD_UNTIL WORKER WORKER_START VPID PID_NS. Files without the last fields are read, too.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct AttachmentFile {
        uint64_t session;       /* id of the EventPipe session; 0: no session to stop */
        uint64_t is_persistent; /* 1: the session outlives its worker */
        uint64_t held_since;    /* ns of CLOCK_MONOTONIC */
        uint64_t held_until;    /* ns of CLOCK_MONOTONIC: last time at which the session was known
                                 * to be held */
        uint64_t worker;        /* pid of the worker that holds the session */
        uint64_t worker_start;  /* start of the worker in clock ticks since boot */
        uint64_t vpid;          /* pid of the target in its own pid namespace; 0: not known */
        uint64_t pid_ns;        /* inode of that namespace */
        uint64_t via;           /* AttachVia; 0: LTTNG */
        uint64_t list;          /* AttachList */
        uint64_t clock_offset;  /* EVENTPIPE: realtime less CLOCK_MONOTONIC in ns, at the begin */
} AttachmentFile;

/* The path in DIRECTORY of the file for the target; the caller frees it. */
char *attachment_file_path(const char *directory, pid_t pid, uint64_t start_ticks);
/* Parses the name of an attachment file. False: NAME has another form. */
bool attachment_file_parse_name(const char *name, pid_t *ret_pid, uint64_t *ret_start_ticks);

/* False: TEXT is not an attachment file. */
bool attachment_file_parse(const char *text, AttachmentFile *ret_file);
/* The path of the ingest socket; the caller frees it. NULL: TEXT is not an attachment file, or has
 * no path. */
char *attachment_file_ingest(const char *text);
/* The caller frees it. */
char *attachment_file_format(const AttachmentFile *file, const char *ingest);
