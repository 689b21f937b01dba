/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attendance: a daemon and a holder for one process, while its stacks are taken
 *
 * The process is attached by EventPipe, so that the daemon knows all of its code. Nothing is left
 * behind, even if this program is killed.
 */

#include "record/jit-memory.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Attendance Attendance;

typedef struct AttendanceSettings {
        /* Reports failures that do not prevent the rest. */
        void (*note)(const char *message, void *data);
        void *data;
        bool needs_runtime; /* a process that cannot be attached is an error */
        bool has_async;     /* chains of async methods are logged */
} AttendanceSettings;

/* Attaches process PID, and waits for that, for some seconds at most. NULL with ERROR set. */
Attendance *attendance_new(pid_t pid, const AttendanceSettings *settings, GError **error);
/* NULL is fine. */
void attendance_free(Attendance *attendance);

/* Ends the session, after which the daemon has every event. */
void attendance_detach(Attendance *attendance);
/* The daemon's socket, and the code that the runtime had compiled; owned by the attendance. */
const char *attendance_socket(const Attendance *attendance);
const JitMemory *attendance_memory(const Attendance *attendance);
/* The directory of the logs of async-log.h, if they were requested; owned by the attendance. */
const char *attendance_async_logs(const Attendance *attendance);
