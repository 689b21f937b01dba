/* SPDX-License-Identifier: MIT */
#include "attach/target-threads.h"

#include "util/proc-stat.h"

#include <glib.h>

/* us. Reading /proc takes about 20 us for each thread; it is needed for an unknown thread, and to
 * notice a reused thread id. Checks for reused ids take at most a tenth of the time. */
#define MISS_INTERVAL  (20 * G_TIME_SPAN_MILLISECOND)
#define MISS_SHARE     10
#define CHECK_INTERVAL (5 * G_TIME_SPAN_SECOND)
/* Maximum number of known threads. Beyond it, the running ones are looked up again. */
#define MAX_THREADS (1u << 16)

struct TargetThreads {
        ProcInfo process;
        GHashTable *numbers; /* int32_t in the target's namespace -> int32_t in ours */
        gint64 next_miss;    /* us of g_get_monotonic_time(): earliest next look-up of an unknown
                              * thread */
        gint64 next_check;   /* the same, for a known thread */
};

TargetThreads *target_threads_new(const ProcInfo *process)
{
        TargetThreads *threads = g_new0(TargetThreads, 1);

        threads->process = *process;
        threads->numbers = g_hash_table_new(NULL, NULL);
        return threads;
}

void target_threads_free(TargetThreads *threads)
{
        if (!threads)
                return;
        g_hash_table_unref(threads->numbers);
        g_free(threads);
}

int32_t target_threads_pid(const TargetThreads *threads)
{
        return threads->process.host_pid;
}

/* NAME: the thread's directory, its id in our namespace. */
static void target_threads_take(TargetThreads *threads, const char *name)
{
        const unsigned n_levels = threads->process.n_levels;
        g_autofree char *file = g_strdup_printf("task/%s/status", name);
        uint32_t numbers[PROC_MAX_LEVELS];
        size_t n;
        g_autofree char *status =
                proc_read_file(threads->process.host_pid, file, PROC_MAX_STATUS, &n);

        if (!status || proc_status_numbers(status, "NSpid", numbers, PROC_MAX_LEVELS) != n_levels)
                return;
        if (g_hash_table_size(threads->numbers) >= MAX_THREADS)
                g_hash_table_remove_all(threads->numbers);
        g_hash_table_insert(threads->numbers, GUINT_TO_POINTER(numbers[n_levels - 1]),
                            GUINT_TO_POINTER(numbers[0]));
}

static void target_threads_read(TargetThreads *threads)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)threads->process.host_pid);
        g_autoptr(GDir) tasks = NULL;
        const char *name;

        /* Another process may have the pid now. */
        if (!proc_is_same_start(proc_start_time(threads->process.host_pid), threads->process.start))
                return;
        tasks = g_dir_open(path, 0, NULL);
        while (tasks && (name = g_dir_read_name(tasks)))
                target_threads_take(threads, name);
}

static void target_threads_look(TargetThreads *threads, gint64 now)
{
        gint64 took;

        target_threads_read(threads);
        took = g_get_monotonic_time() - now;
        threads->next_miss = now + MAX(MISS_INTERVAL, MISS_SHARE * took);
        threads->next_check = now + CHECK_INTERVAL;
}

int32_t target_threads_find(TargetThreads *threads, int32_t tid)
{
        const gint64 now = g_get_monotonic_time();
        gpointer found;

        if (threads->process.n_levels <= 1 || !tid)
                return tid;
        found = g_hash_table_lookup(threads->numbers, GINT_TO_POINTER(tid));
        if (now < (found ? threads->next_check : threads->next_miss))
                return GPOINTER_TO_INT(found);
        target_threads_look(threads, now);
        return GPOINTER_TO_INT(g_hash_table_lookup(threads->numbers, GINT_TO_POINTER(tid)));
}
