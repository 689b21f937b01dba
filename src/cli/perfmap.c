/* SPDX-License-Identifier: MIT */

/*
 * clrsym perfmap
 *
 * Prints the code that was alive in one process at one time, by the rules of sink.clrsym.dump's
 * perf map: the generation is that of the process at that time. The default time is now, or, if the
 * process has exited, the moment at which most of its code was alive, because a runtime unloads all
 * code at its end.
 */

#include "cli/perfmap.h"

#include "cli/live-code.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "util/output-path.h"
#include "util/lifetimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int perfmap_take_process(clrsym_row *row, void *data)
{
        GArray *generations = data;
        clrsym_process process;
        Generation generation;
        int r = clrsym_row_process(row, &process);

        if (r < 0)
                return r;
        generation = (Generation){
                .name = {true, process.pid_ns, process.pid},
                .number = process.generation,
                .since = process.since,
                .last = process.last,
                .has_exited = process.state == CLRSYM_EXITED,
        };
        g_array_append_val(generations, generation);
        return 0;
}

static bool is_same_process(const ProcessName *a, const ProcessName *b)
{
        return a->pid == b->pid && a->pid_ns == b->pid_ns;
}

/* False with ERROR set if the generations belong to several processes, or there are none. */
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
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "the process is not known: attach it first (clrsym attach PID); clrsym "
                            "ps lists the known ones");
        else if (n > 1)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "a perf map is of one process: give --pid one of%s", names->str);
        return n == 1;
}

/* The generation at TIME; the first if none had begun. */
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

/* With TIME, the bodies alive then; without, all bodies ever. */
static BodyRows *perfmap_list_bodies(AnswerSource *source, Generation *generation,
                                     const uint64_t *time, bool keeps_json, GError **error)
{
        g_autoptr(BodyRows) list = body_rows_new(keeps_json);
        json_t *parameters =
                json_pack("{s:i, s:I, s:b}", "pid", (int)generation->name.pid, "pid_ns",
                          (json_int_t)generation->name.pid_ns, "all", time == NULL);

        if (time)
                json_object_set_new(parameters, "time", json_integer((json_int_t)*time));
        return body_rows_read(list, source, "ListMethods", parameters, "methods", is_of_generation,
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
 * A body without a known load was alive since the end of the body before it at its address. Rows
 * are sorted by start; ENDS has, by row, the farthest end of the rows up to it.
 */
static uint64_t alive_since(const BodyRows *list, const uint64_t *ends, guint i)
{
        const BodyRow *row = body_rows_get(list, i);
        uint64_t since = 0;
        guint j;

        if (row->loaded != CLRSYM_NO_TIME)
                return row->loaded;
        for (j = i; j-- > 0 && ends[j] > row->start;) {
                const BodyRow *other = body_rows_get(list, j);

                if (row_end(other) > row->start && other->unloaded < row->unloaded)
                        since = MAX(since, other->unloaded);
        }
        for (j = i + 1; j < list->rows->len && body_rows_get(list, j)->start < row_end(row); j++)
                if (body_rows_get(list, j)->unloaded < row->unloaded)
                        since = MAX(since, body_rows_get(list, j)->unloaded);
        return since;
}

/* The first moment at which the most bodies of LIST (all bodies ever) were alive. Sorts LIST. */
static uint64_t fullest_moment(const BodyRows *list, uint64_t otherwise)
{
        guint n = list->rows->len, i;
        g_autofree uint64_t *ends = g_new(uint64_t, n);
        g_autoptr(Lifetimes) lifetimes = lifetimes_new();

        g_array_sort(list->rows, compare_starts);
        for (i = 0; i < n; i++) {
                ends[i] = row_end(body_rows_get(list, i));
                if (i)
                        ends[i] = MAX(ends[i], ends[i - 1]);
        }
        for (i = 0; i < n; i++)
                lifetimes_add(lifetimes, alive_since(list, ends, i),
                              body_rows_get(list, i)->unloaded);
        return lifetimes_fullest(lifetimes, otherwise);
}

/* True if jitted code is alive. A process without any has exited, even if the event of its exit was
 * lost. */
static bool has_live_code(const BodyRows *list)
{
        guint i;

        for (i = 0; i < list->rows->len; i++)
                if (body_rows_get(list, i)->unloaded == CLRSYM_ALIVE &&
                    body_rows_get(list, i)->size)
                        return true;
        return false;
}

/* Chooses the time if none was given. */
static bool choose_time(AnswerSource *source, const GArray *generations, uint64_t *time,
                        GError **error)
{
        Generation generation;
        g_autoptr(BodyRows) all = NULL;

        if (!answer_source_time(source, "now", time, error))
                return false;
        generation = *choose_generation(generations, *time);
        all = perfmap_list_bodies(source, &generation, NULL, false, error);
        if (!all)
                return false;
        if (generation.has_exited || !has_live_code(all))
                *time = fullest_moment(all, generation.last);
        return true;
}

static bool set_file_error(const char *path, GError **error)
{
        g_autofree char *why = NULL;

        /* A reader that closes the pipe is not an error. */
        if (errno == EPIPE)
                return false;
        why = output_path_error(path, errno);
        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot write %s: %s", path, why);
        return false;
}

static void perfmap_append(GString *out, BodyRows *list)
{
        guint i;

        g_array_sort(list->rows, compare_starts);
        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_rows_get(list, i);

                perf_map_append(out, row->start, row->size, row->symbol);
        }
}

static bool print_map(const Options *options, BodyRows *list, GError **error)
{
        g_autoptr(GString) map = g_string_new(NULL);
        guint i;

        if (options->output && !output_open(options->output))
                return set_file_error(options->output, error);
        if (list->keeps_json) {
                g_array_sort(list->rows, compare_starts);
                for (i = 0; i < list->rows->len; i++) {
                        const char *json = body_rows_get(list, i)->json;

                        output_line(json, strlen(json));
                }
        } else {
                perfmap_append(map, list);
                output_bytes(map->str, map->len);
        }
        return !options->output || output_commit() || set_file_error(options->output, error);
}

GArray *perfmap_generations(AnswerSource *source, json_t *parameters, GError **error)
{
        g_autoptr(GArray) generations = g_array_new(FALSE, FALSE, sizeof(Generation));

        return answer_source_rows(source, "ListProcesses", parameters, "processes",
                                  perfmap_take_process, generations, error)
                       ? g_steal_pointer(&generations)
                       : NULL;
}

bool perfmap_append_last(GString *out, AnswerSource *source, Generation *generation, GError **error)
{
        g_autoptr(BodyRows) all = perfmap_list_bodies(source, generation, NULL, false, error);
        g_autoptr(BodyRows) list = NULL;
        uint64_t time;

        if (!all)
                return false;
        time = fullest_moment(all, generation->last);
        list = perfmap_list_bodies(source, generation, &time, false, error);
        if (!list)
                return false;
        perfmap_append(out, list);
        return true;
}

bool verb_perfmap(const Options *options, GError **error)
{
        const bool is_followed = options_has(options, OPTION_FOLLOW);
        g_autoptr(AnswerSource) source = answer_source_open(
                options, is_followed ? ANSWER_SOURCE_ONCE : ANSWER_SOURCE_PLAIN, error);
        g_autoptr(GArray) generations = NULL;
        g_autoptr(BodyRows) list = NULL;
        Generation generation;
        uint64_t time;

        if (!source ||
            !(generations =
                      perfmap_generations(source, answer_source_parameters(options), error)) ||
            !check_one_process(generations, error))
                return false;
        if (is_followed)
                return perfmap_follow(options,
                                      &g_array_index(generations, Generation, generations->len - 1),
                                      error);
        if (!(options->at ? answer_source_time(source, options->at, &time, error)
                          : choose_time(source, generations, &time, error)))
                return false;
        generation = *choose_generation(generations, time);
        list = perfmap_list_bodies(source, &generation, &time, options_has(options, OPTION_JSON),
                                   error);
        return list && print_map(options, list, error);
}

const char *verb_perfmap_check(const Options *options)
{
        if (!options_has(options, OPTION_FOLLOW))
                return options_has(options, OPTION_FORCE) || options_has(options, OPTION_KEEP)
                               ? "--force and --keep need --follow"
                               : NULL;
        return options_has(options, OPTION_AT)      ? "--follow is about now: no --at"
               : options_has(options, OPTION_TRACE) ? "--follow is about a program that runs: no "
                                                      "--trace"
               : options_has(options, OPTION_JSON)  ? "--follow writes a perf map: no --json"
               : options->output && g_str_equal(options->output, "-")
                       ? "--follow replaces a file again and again: no --output -"
                       : NULL;
}
