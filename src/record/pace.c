/* SPDX-License-Identifier: MIT */
#include "record/pace.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* us between two looks for threads that have ended. */
#define LOOK_INTERVAL (G_TIME_SPAN_SECOND / 2)
/* ns of CPU that perf needs to write its samples; with less to write, it sleeps by itself. */
#define WORK_NS    (2 * 1000 * 1000)
#define WORK_LIMIT (100 * G_TIME_SPAN_MILLISECOND)
/* ms */
#define STEP        2
#define MAX_PAUSE   90
#define LEAST_PAUSE 10
/* Bytes: a part of perf's buffer for each CPU, which has 512 KiB. */
#define ROOM (128 * 1024)

typedef enum PaceState {
        PACE_NOT_NEEDED,
        PACE_WORKING,
        PACE_STOPPED,
} PaceState;

typedef struct Recorded {
        pid_t pid, tid;
} Recorded;

struct Pace {
        PaceState state;
        unsigned pause;  /* ms */
        GArray *threads; /* owned, of Recorded: the threads with an event of perf */
        gint64 next;     /* us of g_get_monotonic_time(): the next look for these threads */
        gint64 since;    /* the same: when perf was continued */
        guint64 worked;  /* ns on a CPU until then */
};

static void pace_note_process(Pace *pace, pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
        g_autoptr(GDir) tasks = g_dir_open(path, 0, NULL);
        const char *name;

        while (tasks && (name = g_dir_read_name(tasks))) {
                const Recorded thread = {pid, (pid_t)atoi(name)};

                g_array_append_val(pace->threads, thread);
        }
}

Pace *pace_new(guint64 bytes)
{
        Pace *pace = g_new0(Pace, 1);

        pace->threads = g_array_new(FALSE, FALSE, sizeof(Recorded));
        pace->pause = (unsigned)MIN(MAX_PAUSE, ROOM * G_GUINT64_CONSTANT(1000) / MAX(bytes, 1));
        return pace;
}

void pace_note_threads(Pace *pace, const pid_t *pids, unsigned n)
{
        unsigned i;

        for (i = 0; i < n; i++)
                pace_note_process(pace, pids[i]);
}

void pace_free(Pace *pace)
{
        if (!pace)
                return;
        g_array_unref(pace->threads);
        g_free(pace);
}

static bool thread_has_ended(const Recorded *thread)
{
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)thread->pid, (int)thread->tid);
        return access(path, F_OK) < 0;
}

static bool pace_is_needed(Pace *pace, gint64 now)
{
        guint i;

        if (pace->pause < LEAST_PAUSE || now < pace->next)
                return false;
        pace->next = now + LOOK_INTERVAL;
        for (i = 0; i < pace->threads->len; i++)
                if (thread_has_ended(&g_array_index(pace->threads, Recorded, i)))
                        return true;
        return false;
}

/* ns that perf's writing thread was on a CPU; 0: not known. */
static guint64 perf_worked(pid_t perf)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/schedstat", (int)perf), *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? g_ascii_strtoull(text, NULL, 10) : 0;
}

static void pace_begin_work(Pace *pace, pid_t perf, gint64 now)
{
        pace->state = PACE_WORKING;
        pace->since = now;
        pace->worked = perf_worked(perf);
        kill(perf, SIGCONT);
}

unsigned pace_step(Pace *pace, pid_t perf, gint64 now)
{
        if (pace->state == PACE_STOPPED || (!pace->state && pace_is_needed(pace, now))) {
                pace_begin_work(pace, perf, now);
        } else if (pace->state == PACE_WORKING && (perf_worked(perf) - pace->worked >= WORK_NS ||
                                                   now - pace->since >= WORK_LIMIT)) {
                pace->state = PACE_STOPPED;
                kill(perf, SIGSTOP);
        }
        return pace->state == PACE_STOPPED ? pace->pause : pace->state ? STEP : MAX_PAUSE;
}
