/* SPDX-License-Identifier: MIT */
#include "cli/stack-round.h"

#include "cli/perf-nettrace.h"
#include "record/runtime-sampler.h"
#include "util/message.h"
#include "util/proc-stat.h"
#include "util/proc.h"

#include <dirent.h>
#include <poll.h>
#include <stdlib.h>

/* ms for which a session is open, by attempt. A busy runtime needs the later ones. */
static const unsigned OPEN_MS[] = {5, 50, 500, 3000};
/* Maximum size of the file in bytes. */
#define MAX_FILE (UINT64_C(64) << 20)

typedef struct RoundThread {
        int32_t tid; /* in our own pid namespace */
        char *name;  /* owned */
} RoundThread;

struct StackRound {
        pid_t pid;
        Scratch *scratch;        /* owned */
        RuntimeSampler *sampler; /* owned */
        SamplerRounds rounds;
        GHashTable
                *threads; /* owned: tid in the process's own pid namespace -> owned RoundThread */
};

static void thread_free(gpointer data)
{
        RoundThread *thread = data;

        g_free(thread->name);
        g_free(thread);
}

/* Finds the name of thread TID, and its id in its own pid namespace. */
static void round_read_thread(StackRound *round, int32_t tid)
{
        g_autofree char *path = g_strdup_printf("task/%d/status", (int)tid);
        g_autofree char *name = proc_thread_name(round->pid, tid), *status = NULL;
        uint32_t ids[PROC_MAX_LEVELS];
        RoundThread *thread;
        unsigned n_ids = 0;
        size_t n;

        status = proc_read_file(round->pid, path, PROC_MAX_STATUS, &n);
        if (status)
                n_ids = proc_status_numbers(status, "NSpid", ids, G_N_ELEMENTS(ids));
        if (!name || !n_ids)
                return;
        thread = g_new(RoundThread, 1);
        *thread = (RoundThread){tid, g_steal_pointer(&name)};
        g_hash_table_replace(round->threads, GINT_TO_POINTER((int32_t)ids[n_ids - 1]), thread);
}

static void round_read_threads(StackRound *round)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)round->pid);
        DIR *directory = opendir(path);
        const struct dirent *entry;

        while (directory && (entry = readdir(directory)))
                if (g_ascii_isdigit(*entry->d_name))
                        round_read_thread(round, atoi(entry->d_name));
        if (directory)
                closedir(directory);
}

static void round_close(StackRound *round)
{
        g_clear_pointer(&round->sampler, runtime_sampler_free);
        g_clear_pointer(&round->scratch, scratch_free);
}

/* Keeps the session open for MS, and ends it. False with ERROR set: it cannot be opened. */
static bool round_run(StackRound *round, unsigned ms, GError **error)
{
        const gint64 deadline = g_get_monotonic_time() + ms * G_TIME_SPAN_MILLISECOND;
        g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
        gint64 left;

        if (!runtime_sampler_add(round->sampler, round->pid, error))
                return false;
        while ((left = deadline - g_get_monotonic_time()) > 0) {
                g_array_set_size(fds, 0);
                runtime_sampler_poll(round->sampler, fds);
                poll((struct pollfd *)(void *)fds->data, fds->len, (int)((left + 999) / 1000));
                runtime_sampler_drain(round->sampler);
                if (runtime_sampler_is_over(round->sampler))
                        break;
        }
        runtime_sampler_stop(round->sampler, -1);
        return true;
}

/* False with ERROR set. If no thread was found, no round has come. */
static bool round_try(StackRound *round, unsigned ms, GError **error)
{
        round_close(round);
        round->scratch = scratch_new(error);
        if (round->scratch)
                round->sampler = runtime_sampler_new(round->scratch, EVENTPIPE_SAMPLES_THREADS,
                                                     MAX_FILE, error);
        if (!round->sampler || !round_run(round, ms, error))
                return false;
        if (perf_nettrace_rounds(stack_round_path(round), &round->rounds, error))
                return true;
        g_prefix_error(error,
                       "process %d does not answer as a .NET runtime does: ", (int)round->pid);
        return false;
}

StackRound *stack_round_take(pid_t pid, GError **error)
{
        StackRound *round = g_new0(StackRound, 1);
        bool ok = true;
        size_t i;

        round->pid = pid;
        round->threads = g_hash_table_new_full(NULL, NULL, NULL, thread_free);
        for (i = 0; ok && i < G_N_ELEMENTS(OPEN_MS) && !round->rounds.n_threads; i++) {
                ok = round_try(round, OPEN_MS[i], error);
                if (ok && !round->rounds.is_ended) {
                        g_set_error(error, PERF_ERROR, 0,
                                    "the runtime of process %d did not end its session: it is "
                                    "stopped, hangs or has ended; clrsym stack %d without "
                                    "--walk=runtime does not need it",
                                    (int)pid, (int)pid);
                        ok = false;
                }
        }
        if (ok && !round->rounds.n_threads) {
                g_set_error(error, PERF_ERROR, 0,
                            "the runtime of process %d has walked no stack: it has no thread with "
                            "managed code, or another profiler has stopped its sampler",
                            (int)pid);
                ok = false;
        }
        if (ok) {
                round_read_threads(round);
                return round;
        }
        stack_round_free(round);
        return NULL;
}

void stack_round_free(StackRound *round)
{
        if (!round)
                return;
        round_close(round);
        g_hash_table_unref(round->threads);
        g_free(round);
}

const char *stack_round_path(const StackRound *round)
{
        return runtime_sampler_directory(round->sampler);
}

/* The find function of RoundThreads. */
static const char *round_find_thread(void *data, int32_t *tid)
{
        const StackRound *round = data;
        const RoundThread *thread = g_hash_table_lookup(round->threads, GINT_TO_POINTER(*tid));

        if (!thread)
                return NULL;
        *tid = thread->tid;
        return thread->name;
}

RoundThreads stack_round_threads(const StackRound *round)
{
        return (RoundThreads){.find = round_find_thread,
                              .data = (void *)round,
                              .clock_ahead = proc_clock_ahead(round->pid)};
}

void stack_round_print_notes(const StackRound *round, bool is_verbose)
{
        if (round->rounds.n_cut)
                message_print("clrsym",
                              "%u of %u stacks are deeper than the %u frames that the runtime "
                              "walks: --walk=ptrace has the rest",
                              round->rounds.n_cut, round->rounds.n_threads,
                              SAMPLE_ROUND_MAX_FRAMES);
        if (round->rounds.n_lost)
                message_print("clrsym",
                              "the runtime of process %d has dropped %" G_GUINT64_FORMAT
                              " events: stacks can be missing",
                              (int)round->pid, round->rounds.n_lost);
        if (!is_verbose)
                return;
        message_print("clrsym",
                      "the runtime of process %d has walked the stacks of %u of %u threads in %.3f "
                      "ms, in the first of %" G_GUINT64_FORMAT " rounds",
                      (int)round->pid, round->rounds.n_threads, g_hash_table_size(round->threads),
                      (double)round->rounds.duration / 1e6, (guint64)round->rounds.n_rounds);
}
