/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a journal consists of, for its own files
 */

#include "service/journal-directory.h"
#include "service/journal-file.h"
#include "service/journal.h"

#include <sys/types.h>

/* A file that counts. */
typedef struct JournalPart {
        JournalName name;
        uint64_t n_bytes;
} JournalPart;

struct Journal {
        JournalDirectory directory;
        char boot_id[64];
        Tracker *tracker;  /* borrowed */
        QueryStats *stats; /* borrowed */
        uint64_t limit;

        GArray *parts;     /* of JournalPart, in order; the last one is written to */
        int fd;            /* of the last part; -1: nothing is written */
        uint64_t n_others; /* bytes of all parts but the last */
        uint64_t last_number;
        uint64_t n_image; /* bytes of the last one */

        GPtrArray *connections; /* borrowed JournalConnections */
        uint32_t last_connection;
        GArray *forgotten; /* uint64_t serials, to be written */

        TrackerHost host;
        GHashTable *starts; /* pid -> owned uint64_t: as the last part tells */
        GArray *answers;    /* of JournalAnswer, to be written */
        GArray *told;       /* of JournalAnswer, in a replay: of the batch; else NULL */
        bool may_ask;       /* in a replay: of what is not told, the host */

        bool is_failed; /* and nobody could be told all that was known, since */
        pid_t child;    /* makes an image; 0: there is none */
        guint child_watch;
        uint64_t child_number;
        unsigned n_tries; /* that went wrong, one after the other */
        bool has_told;    /* that images cannot be made */
        guint retry;      /* timer: an image is to be made then */
        guint guard;      /* timer: looks whether the files are still there */
};

struct JournalConnection {
        Journal *journal;
        IngestSession *session;
        IngestSink sink;
        uint32_t number;
};

/* Appends to the last part; if that cannot be, the journal fails. */
void journal_append(Journal *journal, JournalKind kind, uint32_t connection, const void *bytes,
                    size_t n);
void journal_append_answers(Journal *journal);
/* Nothing is written any more, until an image was. */
void journal_fail(Journal *journal, const char *what);
/* A part that nothing leads up to, for the journal had failed and the image is not there, goes. */
void journal_drop_orphan(Journal *journal);
/* From now on writes to a new part, with that number and line. 0, or -errno: it is as it was. */
int journal_begin_part(Journal *journal, uint64_t number, JournalBegin begin, uint64_t after);
void journal_add_part(Journal *journal, JournalName name, uint64_t n_bytes);
/* Tells the sizes. */
void journal_note(Journal *journal);

/* What the tracker asks; see journal-host.c. */
TrackerHost journal_host(Journal *journal);
void journal_host_begin_part(Journal *journal);
void journal_host_tell(Journal *journal, const JournalEntry *entry);

/* Reads it all, and opens the last part. */
void journal_replay(Journal *journal);

/* Has an image made by a child, if none is under way and the last failures are long enough ago. */
void journal_compact(Journal *journal);
/* Makes an image at once, and a part behind it. False: the journal has failed. */
bool journal_compact_now(Journal *journal);
/* Ends the child, if there is one, and the timers. */
void journal_compact_stop(Journal *journal);
/* Tries again later. */
void journal_compact_later(Journal *journal);
