/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker: a process that holds the session of one target
 *
 * One process a target, so that whatever a target does to it harms no other. It is told what to do,
 * and tells how it goes, over a socket. If that closes without a word, the holder has died: then
 * what happens is to be seen on, until another holder is there. A session that outlives its worker
 * is left alone; any other one is held until the attachment's file is gone or of another session.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_MAX_MESSAGE 512

typedef enum WorkerEvent {
        WORKER_HELD,   /* the session is open: what happens from now on is seen */
        WORKER_LISTED, /* and so is what was before */
        WORKER_FAILED, /* error and message are set. If it was HELD, it still is */
        WORKER_ENDED,  /* the target has */
} WorkerEvent;

/* One a packet. */
typedef struct WorkerReport {
        uint32_t event;
        uint32_t error; /* AttachError */
        uint64_t session;
        bool is_silent;      /* the session outlives the worker */
        bool is_empty;       /* LISTED: the program has not begun */
        int32_t vpid;        /* the target's, in its own namespace */
        uint64_t pid_ns;     /* that */
        uint64_t time;       /* of HELD: when */
        uint64_t begin, end; /* of LISTED */
        char version[64];    /* of the runtime; "": not known */
        char message[WORKER_MAX_MESSAGE];
} WorkerReport;

typedef enum WorkerOrder {
        WORKER_LIST = 'l', /* everything, once more */
        WORKER_QUIT = 'q', /* stop the session, and end */
} WorkerOrder;

typedef struct WorkerJob {
        pid_t pid;
        uint64_t start_ticks;
        uint64_t old_session; /* left by a worker before; 0: none */
        const char *path;     /* of the attachment's file, whose first number is the session */
} WorkerJob;

/* To be called in a process of its own; FD is a SOCK_SEQPACKET. Returns when it is over. */
void worker_run(const WorkerJob *job, int fd);
