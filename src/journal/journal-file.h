/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal file: a line of text, then entries, each with a checksum
 *
 * The last entry is truncated if the process was killed while it wrote. Any other mismatch is
 * damage. See clrsym-journal(5).
 */

#include "tracker/checkpoint.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * To be incremented with every change of
 * - the line, the head of an entry, or a JournalKind or what its entry holds (the assertions below
 *   and in journal-file.c fail then),
 * - the frames of the ingest protocol (INGEST_VERSION).
 */
#define JOURNAL_OWN_FORMAT 2
/*
 * Version of the file with its checkpoints. It grows with either version. A journal of another
 * version is set aside, which leaves a gap.
 */
#define JOURNAL_FORMAT (JOURNAL_OWN_FORMAT + CHECKPOINT_VERSION)
/* Bytes of a line, with its newline. */
#define JOURNAL_MAX_LINE 160

/* The predecessor of a file. */
typedef enum JournalBegin {
        JOURNAL_FIRST,      /* none: the tracker was empty */
        JOURNAL_AFTER,      /* the file of a number, or a checkpoint in its place */
        JOURNAL_CHECKPOINT, /* all known data */
        _JOURNAL_BEGIN_MAX,
} JournalBegin;

typedef struct JournalLine {
        char boot_id[64];
        JournalBegin begin;
        uint64_t after; /* AFTER: the number of that file */
} JournalLine;

typedef enum JournalKind {
        JOURNAL_OPEN = 1,       /* a STREAM_OPEN frame */
        JOURNAL_BATCH,          /* the frames of a batch, without COMMIT */
        JOURNAL_ANSWERS,        /* JournalAnswers: the host's answers for the previous batch */
        JOURNAL_END,            /* the connection has ended */
        JOURNAL_FORGET,         /* the u64 serial of a process that ended long ago */
        JOURNAL_PIECE,          /* of a checkpoint, in order */
        JOURNAL_CONNECTION,     /* after the pieces: u32 numbers of the connection's streams,
                                 * UINT32_MAX: closed */
        JOURNAL_CHECKPOINT_END, /* the checkpoint is complete; `connection`: the last connection's
                                 * number */
        JOURNAL_ENDED,          /* a JournalEnded */
        JOURNAL_COMMAND,        /* the u64 serial of a process, then its command line */
        _JOURNAL_KIND_MAX,
} JournalKind;

typedef struct JournalEntry {
        JournalKind kind;
        uint32_t connection; /* 0: none */
        const uint8_t *bytes;
        uint32_t n;
} JournalEntry;

/* A process that the host has found ended. */
typedef struct JournalEnded {
        uint64_t serial;
        uint64_t time; /* ns of CLOCK_MONOTONIC: it had ended by then */
} JournalEnded;

static_assert(sizeof(JournalEnded) == 16 && offsetof(JournalEnded, time) == 8,
              "a stored struct changed: increment JOURNAL_OWN_FORMAT, then this");

/* An entry ANSWERS is an array of these. */
typedef struct JournalAnswer {
        uint32_t is_uid; /* 1: VALUE is a uid; 0: VALUE is the start time of the program with that
                          * pid */
        int32_t pid;
        uint64_t pid_ns; /* with a uid */
        uint64_t value;
} JournalAnswer;

static_assert(sizeof(JournalAnswer) == 24 && offsetof(JournalAnswer, pid) == 4 &&
                      offsetof(JournalAnswer, pid_ns) == 8 && offsetof(JournalAnswer, value) == 16,
              "a stored struct changed: increment JOURNAL_OWN_FORMAT, then this");
static_assert(_JOURNAL_KIND_MAX == 11, "kinds changed: increment JOURNAL_OWN_FORMAT, then this");

/*
 * These functions write at the end of a file of OFFSET bytes. They return the number of bytes
 * added, or -errno: then the file may have some of them.
 */
int64_t journal_write_line(int fd, const JournalLine *line);
int64_t journal_write_entry(int fd, uint64_t offset, const JournalEntry *entry);

typedef enum JournalResult {
        JOURNAL_OK,
        JOURNAL_OVER,    /* the file ends after the previous entry */
        JOURNAL_TORN,    /* the next entry is truncated */
        JOURNAL_DAMAGED, /* the next bytes are not an entry */
        JOURNAL_FOREIGN, /* the line has another format version */
} JournalResult;

typedef struct JournalReader JournalReader;

/* Takes over FD. */
JournalReader *journal_reader_new(int fd);
void journal_reader_free(JournalReader *reader);
JournalResult journal_reader_line(JournalReader *reader, JournalLine *ret_line);
/* The entry is valid until the next one is read. */
JournalResult journal_reader_next(JournalReader *reader, JournalEntry *ret_entry);
/* Bytes of the file up to the end of the last good entry. */
uint64_t journal_reader_offset(const JournalReader *reader);
