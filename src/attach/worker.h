/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker: a process that holds the session of one target
 *
 * Each target has a worker of its own, so that a target that harms its worker harms no other one.
 * The worker takes orders and sends reports over a socket pair. If the socket is closed without an
 * order, the holder has died, and the worker is an orphan, which keeps events recorded until
 * another holder runs. It then leaves a persistent session alone, and holds any other session until
 * the attachment's file is removed or names another session.
 *
 * If the events come by LTTng, the session's stream is discarded; otherwise it is fed to the daemon
 * (eventpipe-feed.h).
 */

#include "attach/worker-account.h"
#include "attach/worker-report.h"
#include "wire/hold-request.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * ns: the end of a session, or the death of its worker, is noticed later than it happens, so events
 * may be missing from so long before.
 */
#define WORKER_DEATH_MARGIN UINT64_C(1000000000)

/* One packet of one byte. */
typedef enum WorkerOrder {
        WORKER_DO_RUNDOWN = 'l', /* another rundown */
        WORKER_MAY_LIST = 'm',   /* the same, if the job's rule permits it */
        WORKER_PING = 'p',       /* a client waits for later events */
        WORKER_FLUSH = 'f',      /* a client waits for async events that threads buffer */
        WORKER_QUIT = 'q',       /* stop the session, and end */
} WorkerOrder;

typedef struct WorkerJob {
        pid_t pid;
        uint64_t start_ticks; /* 0: any process with that pid */
        uint64_t old_session; /* id of an earlier worker's session; 0: none */
        const char *path;     /* path of the attachment's file */
        AttachVia via;        /* not ANY */
        AttachList list;      /* rule of the first rundown */
        bool has_lttng;       /* a live LTTng session has the runtime's events */
        const char *ingest;   /* EVENTPIPE: the daemon's socket */
        int64_t clock_offset; /* EVENTPIPE: see FeedTarget */
        /* EVENTPIPE: worker of an earlier holder, which exits when this one holds a session; 0:
         * none. The listing waits for that, so that the orphan's events come before it. */
        pid_t orphan;
        _Atomic uint64_t *n_taken; /* counts the bytes read from the session; or NULL */
        WorkerShare *share;        /* EVENTPIPE: limits the waiting bytes, in memory and in a file;
                                    * or NULL */
} WorkerJob;

/* Call this in a process of its own. FD: SOCK_SEQPACKET socket. Returns when the worker's work is
 * done. */
void worker_run(const WorkerJob *job, int fd);
