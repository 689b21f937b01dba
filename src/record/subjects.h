/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Subjects: the processes of a recording, which its holder attaches
 *
 * They are the recorded processes, and the .NET processes that these start; or every .NET process
 * of the machine. A search finds later ones every second, and at once if a port appears. Programs
 * of the command connect to the holder by themselves, unless they have another environment or
 * another root directory.
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
        /* perf samples a process, attached or not; false: only its runtime does. */
        bool is_perf_used;
        JitMemory *memory; /* borrowed: gets processes with a runtime; or NULL */
        /* Has a file PID-... of each process that was attached; NULL: no logs. */
        const char *logs;
        /* Reports failures to attach that do not prevent the rest. */
        void (*note)(const char *message, void *data);
        void *data;
} SubjectsSettings;

typedef struct Subjects Subjects;

Subjects *subjects_new(const SubjectsSettings *settings);
/* NULL is fine. */
void subjects_free(Subjects *subjects);

/*
 * Attaches running processes, and waits for that, but a few seconds at most, and not when WAKE_FD
 * (see spawn.h) is readable; the rest is attached during the recording. A process without a usable
 * runtime is reported, and recorded with names of native code. False with ERROR set: no process of
 * PIDS can be recorded.
 */
bool subjects_begin(Subjects *subjects, int wake_fd, GError **error);

/* PID is the command, which has not begun yet. */
void subjects_add_command(Subjects *subjects, pid_t pid);

/* Appends the descriptors to poll, as struct pollfd. */
void subjects_poll(Subjects *subjects, GArray *fds);
/* Reports processes that could not be attached until they ended, unless they had connected by
 * themselves. */
void subjects_end(Subjects *subjects);

/* Takes the new answers, FDS being those of the last poll; searches if it is time. */
void subjects_serve(Subjects *subjects, const GArray *fds);
