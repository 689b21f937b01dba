/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal file: a line of text, then entries, each with a checksum
 *
 * The last entry may be cut off, because the process was killed while it wrote. Anything else that
 * does not fit is damage. See clrsym-journal(5).
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
 * Version of the file, which contains checkpoints. It grows when one of both does. A journal of
 * another version is not read: it is set aside, and there is a gap.
 */
#define JOURNAL_FORMAT (JOURNAL_OWN_FORMAT + CHECKPOINT_VERSION)
/* Bytes of a line, with its newline. */
#define JOURNAL_MAX_LINE 160

/* What a file continues. */
typedef enum JournalBegin {
        JOURNAL_FIRST,      /* nothing was known */
        JOURNAL_AFTER,      /* the file of a number, or a checkpoint in its place */
        JOURNAL_CHECKPOINT, /* all that was known */
        _JOURNAL_BEGIN_MAX,
} JournalBegin;

typedef struct JournalLine {
        char boot_id[64];
        JournalBegin begin;
        uint64_t after; /* AFTER: the number of that file */
} JournalLine;

typedef enum JournalKind {
        JOURNAL_OPEN = 1,   /* a STREAM_OPEN frame */
        JOURNAL_BATCH,      /* the frames of a batch, without COMMIT */
        JOURNAL_ANSWERS,    /* JournalAnswers: what the host answered for the batch before */
        JOURNAL_END,        /* the connection is gone */
        JOURNAL_FORGET,     /* the u64 serial of a process that ended long ago */
        JOURNAL_PIECE,      /* of a checkpoint, in order */
        JOURNAL_CONNECTION, /* after the pieces: u32 numbers of its streams, UINT32_MAX: closed */
        JOURNAL_CHECKPOINT_END, /* the checkpoint is whole; its connection is the last one's number
                                 */
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

/* The host has found out that a process has ended. */
typedef struct JournalEnded {
        uint64_t serial;
        uint64_t time; /* ns of CLOCK_MONOTONIC, by which it had */
} JournalEnded;

static_assert(sizeof(JournalEnded) == 16 && offsetof(JournalEnded, time) == 8,
              "a stored struct changed: increment JOURNAL_OWN_FORMAT, then this");

/* An entry ANSWERS is an array of these. */
typedef struct JournalAnswer {
        uint32_t is_uid; /* 1: VALUE is a uid; 0: when the program with that pid was started */
        int32_t pid;
        uint64_t pid_ns; /* with a uid */
        uint64_t value;
} JournalAnswer;

static_assert(sizeof(JournalAnswer) == 24 && offsetof(JournalAnswer, pid) == 4 &&
                      offsetof(JournalAnswer, pid_ns) == 8 && offsetof(JournalAnswer, value) == 16,
              "a stored struct changed: increment JOURNAL_OWN_FORMAT, then this");
static_assert(_JOURNAL_KIND_MAX == 11, "kinds changed: increment JOURNAL_OWN_FORMAT, then this");

/* These write to a file of OFFSET bytes. They return how many bytes were added, or -errno: then
 * some of them may be in the file. */
int64_t journal_write_line(int fd, const JournalLine *line);
int64_t journal_write_entry(int fd, uint64_t offset, const JournalEntry *entry);

typedef enum JournalResult {
        JOURNAL_OK,
        JOURNAL_OVER,    /* the file ends after the entry before */
        JOURNAL_TORN,    /* it ends in the middle of the next entry */
        JOURNAL_DAMAGED, /* what follows is not an entry */
        JOURNAL_FOREIGN, /* the line has another format number */
} JournalResult;

typedef struct JournalReader JournalReader;

/* FD is taken over. */
JournalReader *journal_reader_new(int fd);
void journal_reader_free(JournalReader *reader);
JournalResult journal_reader_line(JournalReader *reader, JournalLine *ret_line);
/* The entry is valid until the next one is read. */
JournalResult journal_reader_next(JournalReader *reader, JournalEntry *ret_entry);
/* Bytes of the file up to the end of the last good entry. */
uint64_t journal_reader_offset(const JournalReader *reader);
