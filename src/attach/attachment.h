/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attachment: one target as the holder keeps it: a worker, and another one if that dies
 *
 * A file of the holder's directory stands for each, so that a later holder can go on with it: its
 * name is PID-START, and it holds the id of the session, and when it was held for certain.
 */

#include "attach/error.h"
#include "attach/silences.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Attachment Attachment;

typedef struct AttachmentInfo {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        uid_t uid;                     /* of the target */
        int32_t vpid;                  /* the target's in its own namespace; 0: not known yet */
        uint64_t pid_ns;               /* that */
        char *version;                 /* owned or NULL: of its runtime */
        bool is_held;                  /* what happens is seen */
        bool is_listed;                /* and so is what was before `held` */
        bool is_waiting;               /* listed, but the program has not begun */
        uint64_t held;                 /* since when */
        uint64_t list_begin, list_end; /* of the last complete listing */
        uint64_t lost;                 /* not 0: from here to `held` events may be missing */
        unsigned n_restarts;
        AttachError error;
        char *message; /* owned or NULL: what went wrong last */
} AttachmentInfo;

typedef enum AttachmentChange {
        ATTACHMENT_LISTED, /* and held */
        ATTACHMENT_FAILED, /* info->message says why; it goes on trying if it was ever held */
        ATTACHMENT_GONE,   /* detached, the target has ended, or it was never held: free it */
} AttachmentChange;

typedef void (*AttachmentFn)(Attachment *attachment, AttachmentChange change, void *data);

/* Begins. FN is told, never from within a call. SILENCES (borrowed) are, when it is not held. */
Attachment *attachment_new(const char *directory, Silences *silences, pid_t pid,
                           uint64_t start_ticks, uid_t uid, AttachmentFn fn, void *data);
/* Has the session stopped; a later holder attaches again. */
void attachment_quit(Attachment *attachment);
/* The same, and waits for it. */
void attachment_free(Attachment *attachment);

const AttachmentInfo *attachment_info(const Attachment *attachment);
/* Has everything listed once more: then it is LISTED, or FAILED. */
void attachment_list(Attachment *attachment);
/* Ends it in order: then it is GONE. */
void attachment_detach(Attachment *attachment);

/* PID and start of a file of the directory; false: it is something else. */
bool attachment_parse_name(const char *name, pid_t *ret_pid, uint64_t *ret_start_ticks);
/* Removes the file of a target that is not there any more. */
void attachment_forget(const char *directory, pid_t pid, uint64_t start_ticks);
