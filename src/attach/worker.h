/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker: a process that holds the session of one target
 *
 * There is one worker for each target, so that a target that harms its worker harms no other. It
 * takes orders and sends reports over a socket pair. When that is closed without an order, the
 * holder has died, and the worker is an orphan: events are to be recorded until there is another
 * holder. It then leaves a persistent session alone, and holds any other one until the attachment's
 * file is removed or names another session.
 *
 * If the events come by LTTng, what the runtime writes into the session is discarded; else it is
 * fed to the daemon (eventpipe-feed.h).
 */

#include "attach/worker-account.h"
#include "wire/hold-request.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_MAX_MESSAGE 512

typedef enum WorkerEvent {
        WORKER_HELD,    /* the session is open: events are recorded from now on */
        WORKER_RUNDOWN, /* a rundown is complete */
        WORKER_FED,     /* EVENTPIPE: the daemon has all up to the end of the last rundown; or, with
                           a message, why it does not have it yet */
        WORKER_FAILED,  /* error and message are set; a session that was HELD still is */
        WORKER_ENDED,   /* the target has ended; message is set */
} WorkerEvent;

/* One packet. Times are ns of CLOCK_MONOTONIC. */
typedef struct WorkerReport {
        uint32_t event;
        uint32_t error; /* AttachError */
        uint64_t session;
        bool is_persistent;  /* the session outlives the worker */
        bool is_empty;       /* RUNDOWN: the runtime waits to be resumed, and has not begun */
        bool is_unlisted;    /* RUNDOWN: by the rule of AttachList none was made */
        uint32_t via;        /* AttachVia: LTTNG or EVENTPIPE */
        int32_t vpid;        /* of the target in its own pid namespace */
        uint64_t pid_ns;     /* inode of that namespace */
        uint64_t time;       /* HELD: since when */
        uint64_t begin, end; /* RUNDOWN */
        char version[64];    /* of the runtime; "": not known */
        char message[WORKER_MAX_MESSAGE];
} WorkerReport;

/*
 * Takes a report without waiting. RET_STREAM is a copy of the socket of a session that must be read
 * all the time, which comes with WORKER_HELD, or -1. Returns what recvmsg() does.
 */
ssize_t worker_report_receive(int fd, WorkerReport *ret_report, int *ret_stream);

/* One packet of one byte. */
typedef enum WorkerOrder {
        WORKER_DO_RUNDOWN = 'l', /* one more */
        WORKER_MAY_LIST = 'm',   /* the same, if the job's rule permits it */
        WORKER_PING = 'p',       /* somebody waits for later events */
        WORKER_FLUSH = 'f',      /* somebody waits for the async events that threads buffer */
        WORKER_QUIT = 'q',       /* stop the session, and end */
} WorkerOrder;

typedef struct WorkerJob {
        pid_t pid;
        uint64_t start_ticks; /* 0: of any process with that pid */
        uint64_t old_session; /* id of a session that an earlier worker left; 0: none */
        const char *path;     /* of the attachment's file */
        AttachVia via;        /* not ANY */
        AttachList list;      /* of the first rundown */
        bool has_lttng;       /* a live LTTng session has the runtime's events */
        const char *ingest;   /* EVENTPIPE: the daemon's socket */
        int64_t clock_offset; /* EVENTPIPE: see FeedTarget */
        /* EVENTPIPE: a worker of an earlier holder, which ends once this one holds a session; 0:
         * none. A listing is made only then, so that what the other has to feed comes before it. */
        pid_t orphan;
        _Atomic uint64_t *n_taken; /* counts the bytes that were read of the session; or NULL */
        WorkerShare *share;        /* EVENTPIPE: of what waits, in memory and in a file; or NULL */
} WorkerJob;

/* To be called in a process of its own. FD is a SOCK_SEQPACKET socket. Returns when the worker has
 * nothing more to do. */
void worker_run(const WorkerJob *job, int fd);
