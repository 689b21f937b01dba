/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal file: a line of text, then entries, each with a checksum
 *
 * What was written last may be cut off, if the process was killed in the middle of it; anything
 * else that does not fit is damage. See clrsym-journal(5).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_FORMAT 3
/* Of a line, with its newline. */
#define JOURNAL_MAX_LINE 160

/* What a file goes on from. */
typedef enum JournalBegin {
        JOURNAL_FIRST, /* nothing was known */
        JOURNAL_AFTER, /* the file of a number, or an image in place of it */
        JOURNAL_IMAGE, /* all that was known */
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
        JOURNAL_ANSWERS,    /* JournalAnswers: what was learned of the host for the batch before */
        JOURNAL_END,        /* the connection is gone */
        JOURNAL_FORGET,     /* the u64 serial of a process that was over for long */
        JOURNAL_PIECE,      /* of an image, in order */
        JOURNAL_CONNECTION, /* behind the image: u32 numbers of its streams, UINT32_MAX: closed */
        JOURNAL_IMAGE_END,  /* the image is whole; its connection is the next one's number */
        _JOURNAL_KIND_MAX,
} JournalKind;

typedef struct JournalEntry {
        JournalKind kind;
        uint32_t connection; /* 0: of none */
        const uint8_t *bytes;
        uint32_t n;
} JournalEntry;

/* Of entries ANSWERS. */
typedef struct JournalAnswer {
        uint32_t is_uid; /* else it is when the program with that pid was started */
        int32_t pid;
        uint64_t pid_ns; /* of uids */
        uint64_t value;
} JournalAnswer;

/* These write to a file that has OFFSET bytes. They return how many were added, or -errno: then
 * there may be a part of it. */
int64_t journal_write_line(int fd, const JournalLine *line);
int64_t journal_write_entry(int fd, uint64_t offset, const JournalEntry *entry);

typedef enum JournalResult {
        JOURNAL_OK,
        JOURNAL_OVER,    /* the file ends behind the entry before */
        JOURNAL_TORN,    /* it ends in the middle of the next one */
        JOURNAL_DAMAGED, /* what follows is no entry */
        JOURNAL_FOREIGN, /* the line is of another format */
} JournalResult;

typedef struct JournalReader JournalReader;

/* FD is taken over. */
JournalReader *journal_reader_new(int fd);
void journal_reader_free(JournalReader *reader);
JournalResult journal_reader_line(JournalReader *reader, JournalLine *ret_line);
/* The entry is borrowed until the next one is read. */
JournalResult journal_reader_next(JournalReader *reader, JournalEntry *ret_entry);
/* Bytes of the file up to the end of what was read last and was good. */
uint64_t journal_reader_offset(const JournalReader *reader);
