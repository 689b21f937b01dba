/* SPDX-License-Identifier: MIT */
#include "perfmap.h"

#include "tracker/symbol.h"
#include "util/lifetimes.h"
#include "util/time-text.h"

#include <inttypes.h>

/* The only matching process; its first generation. */
static const Process *perfmap_choose_process(const Tracker *tracker, const PerfmapQuery *query,
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

/* The generation of the process at TIME; the first if none had begun. */
static const Process *perfmap_choose_generation(const Tracker *tracker, const Process *first,
                                                uint64_t time)
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

/* True if the process has exited. Its exit event may be missing: no jitted code is left either. */
static bool perfmap_process_has_exited(const Process *process)
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

static uint64_t perfmap_fullest_moment(const Process *process)
{
        g_autoptr(Lifetimes) lifetimes = lifetimes_new();
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                const Body *body = codemap_body(process->map, i);

                if (body)
                        lifetimes_add(lifetimes, body->since, body->until);
        }
        return lifetimes_fullest(lifetimes, process->last);
}

static int perfmap_compare_starts(const void *a, const void *b)
{
        const Body *first = *(const Body *const *)a, *second = *(const Body *const *)b;

        return first->start < second->start ? -1 : first->start > second->start;
}

static void perfmap_append_bodies(GString *out, const Process *process, uint64_t time)
{
        g_autoptr(GPtrArray) bodies = g_ptr_array_new();
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                Body *body = codemap_body(process->map, i);

                if (body && body->since <= time && time < body->until)
                        g_ptr_array_add(bodies, body);
        }
        g_ptr_array_sort(bodies, perfmap_compare_starts);
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
        const Process *process = perfmap_choose_process(tracker, query, ret_error);
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
        process = perfmap_choose_generation(tracker, process, time);
        if (!query->at && perfmap_process_has_exited(process))
                time = perfmap_fullest_moment(process);
        perfmap_append_bodies(out, process, time);
        return true;
}
