/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attachment: one target as the holder keeps it, with a worker that holds its session, and another
 * worker if that one dies
 *
 * A file of the holder's directory stands for each (attachment-file.h), so that a later holder can
 * continue with it.
 *
 *   attachment_new()
 *         |            session open         rundown complete
 *         v      +---------------------> HELD -----------------> COMPLETE
 *      STARTING -+                        ^ |                        |
 *         ^                               | | empty rundown          |
 *         |                               | +-----> WAITING          |
 *         |                               |            |             |
 *         |                               +------------+-------------+
 *         | after a while                      attachment_rundown()
 *      BACKOFF <--- worker ended, session was held once: ATTACHMENT_CHANGE_FAILED
 *
 *   every state -- target ended -----------> ENDED -----+
 *   every state -- attachment_detach() ----> DETACHING -+- worker ended: ATTACHMENT_CHANGE_GONE
 *   STARTING, session never held -----------------------+
 *   every state -- attachment_quit() ------> QUITTING, until attachment_free()
 */

#include "attach/error.h"
#include "attach/gap-log.h"
#include "attach/worker-account.h"
#include "wire/hold-request.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Attachment Attachment;

typedef enum AttachmentState {
        ATTACHMENT_STARTING, /* a worker is opening its session */
        ATTACHMENT_BACKOFF,  /* no worker; the next one starts after a pause */
        ATTACHMENT_HELD,     /* the session is held; a rundown is pending, or has failed */
        ATTACHMENT_WAITING,  /* held; the runtime is starting, or suspended at its start */
        ATTACHMENT_COMPLETE, /* held, after a complete rundown */
        ATTACHMENT_ENDED,    /* the target has ended; the worker exits soon */
        ATTACHMENT_DETACHING,
        ATTACHMENT_QUITTING, /* the worker exits; a later holder attaches again */
} AttachmentState;

/* Times are ns of CLOCK_MONOTONIC; 0: not known. */
typedef struct AttachmentInfo {
        AttachmentState state;
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        uid_t uid;           /* of the target */
        AttachVia via;       /* AUTO: not chosen yet */
        AttachList list;     /* rule for listing the target's code */
        bool is_unlisted;    /* the rule prevented the listing */
        int32_t vpid;        /* pid of the target in its own pid namespace; 0: not known yet */
        uint64_t pid_ns;     /* inode of that namespace */
        char *version;       /* owned or NULL: version of its runtime */
        uint64_t held_since; /* events are recorded from here on */
        uint64_t rundown_begin, rundown_end; /* of the last complete rundown */
        uint64_t lost_since; /* events may be missing from here to held_since; 0: none are */
        unsigned n_restarts;
        AttachError error;
        char *message; /* owned or NULL: the last failure */
        /* EVENTPIPE: the daemon has all events up to the end of the last rundown. */
        bool is_fed;
        char *feed_error;   /* owned or NULL: why the daemon lacks them; NULL: not known yet */
        const char *ingest; /* borrowed from its gap log: the daemon's ingest socket */
} AttachmentInfo;

/* True if the target is held and listed, and the daemon has not answered yet whether it has the
 * events. */
bool attachment_info_awaits_daemon(const AttachmentInfo *info);

typedef enum AttachmentChange {
        ATTACHMENT_CHANGE_RUNDOWN, /* the session is held and a rundown is complete */
        ATTACHMENT_CHANGE_FED, /* the daemon has the events, or info->feed_error has the reason */
        ATTACHMENT_CHANGE_FAILED, /* info->message has the reason; retries follow if the session
                                   * was ever held */
        ATTACHMENT_CHANGE_GONE,   /* detached, ended, or never held: free the attachment */
} AttachmentChange;

/* Never called from within an attachment's function. */
typedef void (*AttachmentFn)(Attachment *attachment, AttachmentChange change, void *data);

/* A process to attach. */
typedef struct AttachmentTarget {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        uid_t uid;
        AttachVia via; /* ANY: LTTng. The file of an earlier holder overrides this member and the
                        * next */
        AttachList list;
        bool has_lttng; /* a live LTTng session has the runtime's events */
} AttachmentTarget;

/*
 * Starts a worker for TARGET. FN is called for each change. Process gaps go to GAPS (borrowed), and
 * the events of EVENTPIPE to the same daemon. ACCOUNT (borrowed) counts the worker's memory and
 * file; NULL: no account.
 */
Attachment *attachment_new(const char *directory, GapLog *gaps, WorkerAccount *account,
                           const AttachmentTarget *target, AttachmentFn fn, void *data);
/* Orders the worker to stop the session; a later holder attaches again. */
void attachment_quit(Attachment *attachment);
/* As attachment_quit(), and waits for the worker. */
void attachment_free(Attachment *attachment);

const AttachmentInfo *attachment_info(const Attachment *attachment);
/*
 * Orders another rundown, after which FN is called with RUNDOWN or FAILED. IS_EXPLICIT: list this
 * process in any case; its rule is ALWAYS from then on.
 */
void attachment_rundown(Attachment *attachment, bool is_explicit);
/* A client waits for later events: tell the daemon soon that there were none until now. */
void attachment_want_horizon(const Attachment *attachment);
/* A client waits for async events that the target's threads buffer. */
void attachment_want_flush(const Attachment *attachment);
/*
 * The target's runtime has connected to the holder's port, so its own port is open. True: its
 * session is held already. If an attempt that began before fails, another one follows at once.
 */
bool attachment_meet_runtime(Attachment *attachment);
/* The WAITING runtime has been resumed: all of its code is known. */
void attachment_resumed(Attachment *attachment);
/* Ends the attachment: FN is called with GONE. */
void attachment_detach(Attachment *attachment);

/* Removes the file of a target that has ended. */
void attachment_forget(const char *directory, pid_t pid, uint64_t start_ticks);
