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
        TRACEPOINTS_NONE,      /* the library has no tracepoints */
        TRACEPOINTS_CONNECTED, /* liblttng-ust-tracepoint finds the tracepoints */
        TRACEPOINTS_LOST,      /* it does not find them */
} Tracepoints;

/* The state of the library in FD, a regular file. */
Tracepoints tracepoints_of_file(int fd);

/*
 * The state of the libcoreclr.so in MAPS, the text of /proc/PID/maps. CONNECTED also if our own
 * library, which connects the tracepoints, is in the process.
 */
Tracepoints tracepoints_of_process(pid_t pid, const char *maps);

/* The effect of lost tracepoints, for messages: "its libcoreclr.so has ...". Static. */
extern const char *const TRACEPOINTS_LOST_REASON;
