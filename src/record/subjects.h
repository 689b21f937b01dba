/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Subjects: the processes of a recording, as its holder attaches them
 *
 * Those that are recorded, and the .NET processes that they start; or every .NET process of the
 * machine. Later ones are found by a search every second, and at once where a port appears. What
 * the command starts connects to the holder by itself, unless it has another environment or another
 * root directory.
 */

#include "record/jit-memory.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct SubjectsSettings {
        const char *holder; /* its directory; this and the next one are borrowed */
        const pid_t *pids;
        size_t n_pids;
        bool is_whole_machine;
        /* A process is sampled, whether it is attached or not; else its runtime has to. */
        bool is_perf_used;
        JitMemory *memory; /* borrowed: gets those that are found to have a runtime; or NULL */
        /* Has a file PID-... of each process that was attached; NULL: there are none. */
        const char *logs;
        /* What could not be attached, but does not prevent the rest. */
        void (*note)(const char *message, void *data);
        void *data;
} SubjectsSettings;

typedef struct Subjects Subjects;

Subjects *subjects_new(const SubjectsSettings *settings);
/* NULL is fine. */
void subjects_free(Subjects *subjects);

/*
 * Attaches what runs already, and waits until it is, but a few seconds at most, and not when
 * WAKE_FD (see spawn.h) is readable: the rest is attached meanwhile. A process without a runtime
 * that can be asked is noted, and recorded with names of native code. False with ERROR set: no
 * process of PIDS can be recorded.
 */
bool subjects_begin(Subjects *subjects, int wake_fd, GError **error);

/* PID is the command, which has not begun yet. */
void subjects_add_command(Subjects *subjects, pid_t pid);

/* Appends what to poll for, as struct pollfd. */
void subjects_poll(Subjects *subjects, GArray *fds);
/* Notes why processes were not attached that were tried again until they ended, unless they had
 * connected by themselves. */
void subjects_end(Subjects *subjects);

/* Takes what has come since, FDS being those of the last poll; searches if it is time for that. */
void subjects_serve(Subjects *subjects, const GArray *fds);
