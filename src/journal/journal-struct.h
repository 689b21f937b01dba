/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal, for its own files
 *
 * journal.c, journal-compact.c and journal-replay.c are one object, and call each other: a failed
 * write ends the part and asks for a checkpoint, a checkpoint begins a part, and a replay does
 * both. To cut the circle would take callbacks that say less than the calls do.
 */

#include "journal/journal-directory.h"
#include "journal/journal-file.h"
#include "journal/journal-trash.h"
#include "journal/journal.h"

#include <sys/types.h>

/* A file of the journal. */
typedef struct JournalPart {
        JournalName name;
        uint64_t n_bytes;
} JournalPart;

struct Journal {
        JournalDirectory directory;
        JournalTrash trash;
        char boot_id[64];
        Tracker *tracker;  /* borrowed */
        QueryStats *stats; /* borrowed */
        uint64_t limit;

        GArray *parts;     /* of JournalPart, in order; the last one is written to */
        int fd;            /* of the last part; -1: nothing is written */
        uint64_t n_others; /* bytes of all parts but the last */
        uint64_t last_number;
        uint64_t n_checkpoint; /* bytes of the last checkpoint */

        GPtrArray *connections; /* borrowed JournalConnections */
        uint32_t last_connection;
        GArray *forgotten; /* uint64_t serials of processes, to be written */

        JournalProgress progress;
        TrackerHost host;
        GHashTable *starts;    /* pid -> owned uint64_t: as in the last part */
        GArray *answers;       /* of JournalAnswer, to be written */
        GArray *known_answers; /* of JournalAnswer, in a replay: of the batch; else NULL */
        bool may_ask;          /* in a replay: the host, if the journal has no answer */

        bool is_failed; /* and no checkpoint has been written since */
        pid_t child;    /* writes a checkpoint; 0: there is none */
        guint child_watch;
        guint child_timer;      /* looks whether the child makes progress */
        uint64_t child_n_bytes; /* that it had written at the last look */
        unsigned patience;      /* ms */
        uint64_t child_number;
        unsigned n_tries; /* that failed in a row */
        bool has_warned;  /* that checkpoints cannot be written */
        guint retry;      /* timer of the next try */
        guint guard;      /* timer: checks that the files still exist */
};

struct JournalConnection {
        Journal *journal;
        IngestConnection *ingest; /* borrowed */
        IngestSink sink;
        uint32_t number;
};

/* Appends to the last part; if that is not possible, the journal fails. */
void journal_append(Journal *journal, JournalKind kind, uint32_t connection, const void *bytes,
                    size_t n);
void journal_append_answers(Journal *journal);
/* Nothing more is written until a checkpoint is. */
void journal_fail(Journal *journal, const char *what);
/* Removes a part that nothing leads up to: the journal had failed, and its checkpoint is missing.
 */
void journal_drop_orphan(Journal *journal);
/* From now on writes to a new part, with that number and line. Returns 0, or -errno: then nothing
 * has changed. */
int journal_begin_part(Journal *journal, uint64_t number, JournalBegin begin, uint64_t after);
void journal_add_part(Journal *journal, JournalName name, uint64_t n_bytes);
/* Updates the sizes in the stats. */
void journal_note(Journal *journal);

/* Answers the tracker's questions; see journal-host.c. */
TrackerHost journal_host(Journal *journal);
void journal_host_begin_part(Journal *journal);
void journal_host_take_answers(Journal *journal, const JournalEntry *entry);

/* Reads everything, and opens the last part. */
/* 0, or -errno if something is short here: no file was changed then. */
int journal_replay(Journal *journal);

/* Lets a child write a checkpoint, unless one does, or a retry is due later. */
void journal_compact(Journal *journal);
/* Writes a checkpoint at once, and begins a part after it. False: the journal has failed. */
bool journal_compact_now(Journal *journal);
/* Ends the child, if there is one, and the timers. */
void journal_compact_stop(Journal *journal);
/* Tries again later. */
void journal_compact_later(Journal *journal);
