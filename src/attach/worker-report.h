/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Worker report: the packets of a worker for its holder
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_MAX_MESSAGE 512

typedef enum WorkerEvent {
        WORKER_HELD,    /* the session is open, and events are recorded from now on */
        WORKER_RUNDOWN, /* a rundown is complete */
        WORKER_FED,     /* EVENTPIPE: the daemon has all events up to the end of the last rundown;
                         * with a message: why it lacks them */
        WORKER_FAILED,  /* error and message are set; a HELD session is still held */
        WORKER_ENDED,   /* the target has ended; message is set */
} WorkerEvent;

/* One packet. Times are ns of CLOCK_MONOTONIC. */
typedef struct WorkerReport {
        uint32_t event;
        uint32_t error; /* AttachError */
        uint64_t session;
        bool is_persistent; /* the session outlives the worker */
        bool is_empty;      /* RUNDOWN: the runtime is starting, or suspended at its start */
        bool is_unlisted;   /* RUNDOWN: the rule of AttachList prevented it */
        uint32_t via;       /* AttachVia: LTTNG or EVENTPIPE */
        int32_t vpid;       /* pid of the target in its own pid namespace */
        uint64_t pid_ns;    /* inode of that namespace */
        uint64_t time;      /* HELD: begin of the session. FAILED: the session has ended: events may
                             * be missing from here on; 0: it has not, or was never held */
        uint64_t begin, end; /* RUNDOWN */
        char version[64];    /* version of the runtime; "": not known */
        char message[WORKER_MAX_MESSAGE];
} WorkerReport;

/*
 * Receives a report without waiting. RET_STREAM: copy of the socket of a session that must be read
 * all the time, which comes with WORKER_HELD, or -1. Returns the result of recvmsg().
 */
ssize_t worker_report_receive(int fd, WorkerReport *ret_report, int *ret_stream);
/* Sends a report with a copy of STREAM; STREAM -1: without. Returns the result of sendmsg(). */
ssize_t worker_report_send(int fd, const WorkerReport *report, int stream);

/*
 * True for an error number of a read after which another read can succeed. If the other side closes
 * the socket with unread packets, one read fails with ECONNRESET; the packets that it sent before
 * follow.
 */
bool worker_packets_follow(int code);
