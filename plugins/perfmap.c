/* SPDX-License-Identifier: MIT */
#include "perfmap.h"

#include "core/symbol.h"
#include "core/time-text.h"

#include <inttypes.h>

/* The one process that is meant; its first generation. */
static const Process *choose_process(const Tracker *tracker, const PerfmapQuery *query,
                                     char **ret_error)
{
        const GPtrArray *processes = tracker_processes(tracker);
        g_autoptr(GString) names = g_string_new(NULL);
        const Process *found = NULL, *previous = NULL;
        unsigned i, n_found = 0;

        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                if (previous && process_key_equal(&previous->key, &process->key))
                        continue;
                previous = process;
                g_string_append_printf(names, "%s%" PRId32, names->len ? ", " : "",
                                       process->key.pid);
                if (process->key.pid_ns)
                        g_string_append_printf(names, " (pid namespace %" PRIu64 ")",
                                               process->key.pid_ns);
                if ((query->has_pid && process->key.pid != query->pid) ||
                    (query->has_pid_ns && process->key.pid_ns != query->pid_ns))
                        continue;
                found = process;
                n_found++;
        }

        if (n_found == 1)
                return found;
        if (!processes->len)
                *ret_error = g_strdup("There is no .NET process in the trace");
        else if (!n_found)
                *ret_error =
                        g_strdup_printf("That process is not in the trace. It has: %s", names->str);
        else if (!query->has_pid)
                *ret_error = g_strdup_printf(
                        "A perf map is of one process: give parameter `pid` one of: %s",
                        names->str);
        else
                *ret_error = g_strdup_printf("Process %" PRId32
                                             " is in several pid namespaces of the trace: give "
                                             "parameter `pid_ns` too, of: %s",
                                             query->pid, names->str);
        return NULL;
}

/* The generation that the process was in at TIME; the first if none had begun. */
static const Process *choose_generation(const Tracker *tracker, const Process *first, uint64_t time)
{
        const GPtrArray *processes = tracker_processes(tracker);
        const Process *found = first;
        unsigned i;

        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                if (process_key_equal(&process->key, &first->key) && process->begin <= time)
                        found = process;
        }
        return found;
}

/* The event of the exit itself may not have been recorded: no jitted code is left either. */
static bool has_exited(const Process *process)
{
        uint32_t i;

        if (process->exit != BODY_FOREVER)
                return true;
        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                const Body *body = codemap_body(process->map, i);

                if (body && body->end == BODY_END_NONE && body->size > 0)
                        return false;
        }
        return true;
}

typedef struct Change {
        uint64_t time;
        int n; /* 1: a body began, -1: it ended */
} Change;

static int compare_changes(const void *a, const void *b)
{
        const Change *first = a, *second = b;

        return first->time != second->time ? (first->time < second->time ? -1 : 1)
                                           : first->n - second->n;
}

/* The moment at which most of the code was alive: at its end an exiting runtime unloads all of it.
 */
static uint64_t fullest_moment(const Process *process)
{
        g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));
        uint64_t best_time = process->last;
        int64_t n_alive = 0, n_best = 0;
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                const Body *body = codemap_body(process->map, i);

                if (body) {
                        const Change born = {body->since, 1}, died = {body->until, -1};

                        g_array_append_val(changes, born);
                        g_array_append_val(changes, died);
                }
        }
        g_array_sort(changes, compare_changes);
        for (i = 0; i < changes->len; i++) {
                n_alive += g_array_index(changes, Change, i).n;
                if (n_alive > n_best) {
                        n_best = n_alive;
                        best_time = g_array_index(changes, Change, i).time;
                }
        }
        return best_time;
}

static int compare_starts(const void *a, const void *b)
{
        const Body *first = *(const Body *const *)a, *second = *(const Body *const *)b;

        return first->start < second->start ? -1 : first->start > second->start;
}

static void append_bodies(GString *out, const Process *process, uint64_t time)
{
        g_autoptr(GPtrArray) bodies = g_ptr_array_new();
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                Body *body = codemap_body(process->map, i);

                if (body && body->since <= time && time < body->until)
                        g_ptr_array_add(bodies, body);
        }
        g_ptr_array_sort(bodies, compare_starts);
        for (i = 0; i < bodies->len; i++) {
                const Body *body = bodies->pdata[i];

                g_string_append_printf(out, "%" PRIx64 " %" PRIx64 " ", body->start,
                                       body_extent(body));
                symbol_append(out, process, body);
                g_string_append_c(out, '\n');
        }
}

bool perfmap_append(GString *out, const Tracker *tracker, const PerfmapQuery *query,
                    char **ret_error)
{
        TimeContext context = {.now = query->end, .begin = query->begin, .end = query->end};
        const Process *process = choose_process(tracker, query, ret_error);
        uint64_t time = query->end;

        if (!process)
                return false;
        if (query->at) {
                const char *wrong;

                context.has_offset = tracker_clock_offset(tracker, &context.clock_offset);
                wrong = time_from_text(query->at, &context, &time);
                if (wrong) {
                        *ret_error =
                                g_strdup_printf("Parameter `at` is \"%s\": %s", query->at, wrong);
                        return false;
                }
        }
        process = choose_generation(tracker, process, time);
        if (!query->at && has_exited(process))
                time = fullest_moment(process);
        append_bodies(out, process, time);
        return true;
}
