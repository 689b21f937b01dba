/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Members of a journal, for its own files
 *
 * journal.c, journal-compact.c and journal-replay.c are one object, and call each other: a failed
 * write ends the part and asks for a checkpoint, a checkpoint begins a part, and a replay does
 * both. Callbacks could cut the circle, but would say less than the calls.
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

        GArray *parts;     /* of JournalPart, in order; the last one is open for writing */
        int fd;            /* of the last part; -1: nothing is being written */
        uint64_t n_others; /* bytes of all parts except the last */
        uint64_t last_number;
        uint64_t n_checkpoint; /* bytes of the last checkpoint */

        GPtrArray *connections; /* borrowed JournalConnections */
        uint32_t last_connection;
        GArray *forgotten; /* uint64_t serials of processes, to be stored */

        JournalProgress progress;
        TrackerHost host;
        GHashTable *starts;    /* pid -> owned uint64_t: start times in the last part */
        GArray *answers;       /* of JournalAnswer, to be stored */
        GArray *known_answers; /* of JournalAnswer, in a replay: of the present batch; else NULL */
        bool may_ask;          /* in a replay: ask the host if the journal has no answer */

        bool is_failed; /* and no checkpoint has been written since */
        pid_t child;    /* writing a checkpoint; 0: none */
        guint child_watch;
        guint child_timer;      /* checks that the child makes progress */
        uint64_t child_n_bytes; /* written by the child at the last check */
        unsigned patience;      /* ms without progress until the child is killed */
        uint64_t child_number;
        unsigned n_tries; /* failures in a row */
        bool has_warned;  /* a warning about failing checkpoints was logged */
        guint retry;      /* timer of the next attempt */
        guint guard;      /* timer: checks that the files still exist */
};

struct JournalConnection {
        Journal *journal;
        IngestConnection *ingest; /* borrowed */
        IngestSink sink;
        uint32_t number;
};

/* Appends to the last part; on an error the journal fails. */
void journal_append(Journal *journal, JournalKind kind, uint32_t connection, const void *bytes,
                    size_t n);
void journal_append_answers(Journal *journal);
/* Stops writing until the next checkpoint. */
void journal_fail(Journal *journal, const char *what);
/*
 * Removes a part without predecessor: the journal had failed, and the part's checkpoint is missing.
 */
void journal_drop_orphan(Journal *journal);
/*
 * Begins a new part with that number and line, and writes to it from now on. Returns 0; or -errno,
 * without any change.
 */
int journal_begin_part(Journal *journal, uint64_t number, JournalBegin begin, uint64_t after);
void journal_add_part(Journal *journal, JournalName name, uint64_t n_bytes);
/* Updates the sizes in the stats. */
void journal_note(Journal *journal);

/* Answers the tracker's questions; see journal-host.c. */
TrackerHost journal_host(Journal *journal);
void journal_host_begin_part(Journal *journal);
void journal_host_take_answers(Journal *journal, const JournalEntry *entry);

/* Reads the whole journal, and opens the last part. */
/* 0; or -errno for lack of a resource: no file was changed then. */
int journal_replay(Journal *journal);

/* Starts a child that writes a checkpoint, unless a child runs or a retry is scheduled. */
void journal_compact(Journal *journal);
/* Writes a checkpoint at once, and begins a part after it. False: the journal has failed. */
bool journal_compact_now(Journal *journal);
/* Ends the child, if one runs, and the timers. */
void journal_compact_stop(Journal *journal);
/* Schedules a retry. */
void journal_compact_later(Journal *journal);
