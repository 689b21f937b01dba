/* SPDX-License-Identifier: MIT */

/*
 * clrsym perfmap
 *
 * What was alive in one process at one time, by the rules of sink.clrsym.dump's perf map: the
 * generation is the one that the process was in then; without a time it is now, or, if the process
 * has exited, the moment at which most of its code was alive, for at its end a runtime unloads all
 * of it.
 */

#include "cli/body-list.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A process that is listed, one of its generations. */
typedef struct Generation {
        ProcessName name;
        uint32_t number;
        uint64_t since, last;
        bool has_exited;
} Generation;

static bool take_process(JsonSpan row, void *data)
{
        GArray *generations = data;
        json_t *process = json_span_load(row);
        Generation generation = {
                .name = {true, field_number(process, "pid_ns"),
                         (int32_t)field_number(process, "pid")},
                .number = (uint32_t)field_number(process, "generation"),
                .has_exited = g_strcmp0(field_text(process, "state"), "running") != 0,
        };

        field_time(process, "since", &generation.since);
        field_time(process, "last", &generation.last);
        g_array_append_val(generations, generation);
        json_decref(process);
        return true;
}

static bool is_same_process(const ProcessName *a, const ProcessName *b)
{
        return a->pid == b->pid && a->pid_ns == b->pid_ns;
}

/* False, with ERROR set, if they are of several processes, or none. */
static bool check_one_process(const GArray *generations, GError **error)
{
        g_autoptr(GString) names = g_string_new(NULL);
        unsigned n = 0;
        guint i;

        for (i = 0; i < generations->len; i++) {
                const ProcessName *name = &g_array_index(generations, Generation, i).name;

                if (i && is_same_process(name, &g_array_index(generations, Generation, i - 1).name))
                        continue;
                g_string_append_printf(names, " %" G_GUINT64_FORMAT ":%" G_GINT32_FORMAT,
                                       (guint64)name->pid_ns, name->pid);
                n++;
        }
        if (!n)
                g_set_error(error, LINK_ERROR, 0,
                            "no such process is known: clrsym ps lists those that are");
        else if (n > 1)
                g_set_error(error, LINK_ERROR, 0,
                            "a perf map is of one process: give --pid one of%s", names->str);
        return n == 1;
}

/* The one that the process was in at TIME; the first if none had begun. */
static const Generation *choose_generation(const GArray *generations, uint64_t time)
{
        const Generation *found = &g_array_index(generations, Generation, 0);
        guint i;

        for (i = 1; i < generations->len; i++)
                if (g_array_index(generations, Generation, i).since <= time)
                        found = &g_array_index(generations, Generation, i);
        return found;
}

static bool is_of_generation(const BodyRow *row, void *data)
{
        const Generation *generation = data;

        return row->generation == generation->number;
}

/* TIME: of those alive then; NULL: of all that ever were. */
static BodyList *list_bodies(Link *link, Generation *generation, const uint64_t *time,
                             bool keeps_json, GError **error)
{
        g_autoptr(BodyList) list = body_list_new(keeps_json);
        json_t *parameters =
                json_pack("{s:i, s:I, s:b}", "pid", (int)generation->name.pid, "pid_ns",
                          (json_int_t)generation->name.pid_ns, "all", time == NULL);

        if (time)
                json_object_set_new(parameters, "time", json_integer((json_int_t)*time));
        return body_list_read(list, link, "ListMethods", parameters, "methods", is_of_generation,
                              generation, error)
                       ? g_steal_pointer(&list)
                       : NULL;
}

static int compare_starts(const void *a, const void *b)
{
        const BodyRow *first = a, *second = b;

        return first->start < second->start ? -1 : first->start > second->start;
}

static uint64_t row_end(const BodyRow *row)
{
        return row->start + MAX(row->size, 1);
}

/*
 * Bodies whose load was not seen were alive since the end of what was there before. Rows are sorted
 * by start; ENDS has, by row, the farthest end of those up to it.
 */
static uint64_t alive_since(const BodyList *list, const uint64_t *ends, guint i)
{
        const BodyRow *row = body_list_row(list, i);
        uint64_t since = 0;
        guint j;

        if (row->loaded != CLRSYM_NO_TIME)
                return row->loaded;
        for (j = i; j-- > 0 && ends[j] > row->start;) {
                const BodyRow *other = body_list_row(list, j);

                if (row_end(other) > row->start && other->unloaded < row->unloaded)
                        since = MAX(since, other->unloaded);
        }
        for (j = i + 1; j < list->rows->len && body_list_row(list, j)->start < row_end(row); j++)
                if (body_list_row(list, j)->unloaded < row->unloaded)
                        since = MAX(since, body_list_row(list, j)->unloaded);
        return since;
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

/* The first moment at which most bodies of LIST, which are all that ever were, were alive. */
static uint64_t fullest_moment(const BodyList *list, uint64_t otherwise)
{
        guint n = list->rows->len, i;
        g_autofree uint64_t *ends = g_new(uint64_t, n);
        g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));
        int64_t n_alive = 0, n_best = 0;
        uint64_t best = otherwise;

        g_array_sort(list->rows, compare_starts);
        for (i = 0; i < n; i++) {
                ends[i] = row_end(body_list_row(list, i));
                if (i)
                        ends[i] = MAX(ends[i], ends[i - 1]);
        }
        for (i = 0; i < n; i++) {
                const Change born = {alive_since(list, ends, i), 1};
                const Change died = {body_list_row(list, i)->unloaded, -1};

                g_array_append_val(changes, born);
                g_array_append_val(changes, died);
        }
        g_array_sort(changes, compare_changes);
        for (i = 0; i < changes->len; i++) {
                n_alive += g_array_index(changes, Change, i).n;
                if (n_alive > n_best) {
                        n_best = n_alive;
                        best = g_array_index(changes, Change, i).time;
                }
        }
        return best;
}

/* The event of the exit itself may not have been recorded: no jitted code is left either. */
static bool has_live_code(const BodyList *list)
{
        guint i;

        for (i = 0; i < list->rows->len; i++)
                if (body_list_row(list, i)->unloaded == CLRSYM_ALIVE &&
                    body_list_row(list, i)->size)
                        return true;
        return false;
}

/* The time that is meant if none was given. */
static bool choose_time(Link *link, const GArray *generations, uint64_t *time, GError **error)
{
        Generation generation;
        g_autoptr(BodyList) all = NULL;

        if (!link_time(link, "now", time, error))
                return false;
        generation = *choose_generation(generations, *time);
        all = list_bodies(link, &generation, NULL, false, error);
        if (!all)
                return false;
        if (generation.has_exited || !has_live_code(all))
                *time = fullest_moment(all, generation.last);
        return true;
}

static bool print_map(const Options *options, BodyList *list, GError **error)
{
        guint i;

        if (options->output && !output_open(options->output)) {
                g_set_error(error, LINK_ERROR, 0, "cannot write to %s: %s", options->output,
                            g_strerror(errno));
                return false;
        }
        g_array_sort(list->rows, compare_starts);
        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_list_row(list, i);

                if (list->keeps_json)
                        output_line(row->json, strlen(row->json));
                else
                        output_print("%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %s\n",
                                     (guint64)row->start, (guint64)(row_end(row) - row->start),
                                     row->symbol);
        }
        return output_flush();
}

bool verb_perfmap(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        g_autoptr(GArray) generations = g_array_new(FALSE, FALSE, sizeof(Generation));
        g_autoptr(BodyList) list = NULL;
        Generation generation;
        uint64_t time;

        if (!link ||
            !link_rows(link, "ListProcesses", link_parameters(options), "processes", take_process,
                       generations, error) ||
            !check_one_process(generations, error) ||
            !(options->at ? link_time(link, options->at, &time, error)
                          : choose_time(link, generations, &time, error)))
                return false;
        generation = *choose_generation(generations, time);
        list = list_bodies(link, &generation, &time, options_has(options, OPTION_JSON), error);
        return list && print_map(options, list, error);
}
