/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tracepoints: whether a runtime can emit events to LTTng at all
 *
 * libcoreclr.so has a table of its tracepoints, and a table of pointers to them, which
 * liblttng-ust-tracepoint registers. The linker of .NET 11.0.0 has dropped the table of pointers:
 * lttng list -u shows all events of such a process, and none ever comes. The headers of the
 * sections show that, and no version number does: a later build may have the table again.
 */

#include <stdbool.h>
#include <sys/types.h>

typedef enum Tracepoints {
        TRACEPOINTS_UNKNOWN,   /* the library cannot be read */
        TRACEPOINTS_NONE,      /* it has none */
        TRACEPOINTS_CONNECTED, /* liblttng-ust-tracepoint finds them */
        TRACEPOINTS_LOST,      /* it does not */
} Tracepoints;

/* Those of the library in FD, a regular file. */
Tracepoints tracepoints_of_file(int fd);

/*
 * Those of the libcoreclr.so in MAPS, the text of /proc/PID/maps. CONNECTED also if our own library
 * is in the process, which connects them.
 */
Tracepoints tracepoints_of_process(pid_t pid, const char *maps);

/* What lost tracepoints mean, for messages: "its libcoreclr.so has ...". Static. */
extern const char *const TRACEPOINTS_LOST_REASON;
