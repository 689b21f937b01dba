/* SPDX-License-Identifier: MIT */

/*
 * clrsym methods
 *
 * The daemon lists the bodies that were alive at a time; this verb applies the other options. The
 * numbers of versions and of reuses need a second list, of all bodies ever.
 */

#include "cli/body-table.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>

/* The options that pick bodies. */
typedef struct MethodFilter {
        const Options *options;
        GPatternSpec *pattern; /* owned, or NULL */
        uint64_t now;
} MethodFilter;

/* A body without a known load may have any age. */
static bool is_old_enough(const MethodFilter *filter, const BodyRow *row)
{
        uint64_t end = MIN(row->unloaded, filter->now);

        return row->loaded != CLRSYM_NO_TIME && end >= row->loaded &&
               end - row->loaded >= filter->options->older_ns;
}

static bool is_wanted(const BodyRow *row, void *data)
{
        const MethodFilter *filter = data;
        const Options *options = filter->options;

        return (!options->tier || !strcmp(row->tier, options->tier)) &&
               (!options->flag || row->flags & options->flag) &&
               (!options_has(options, OPTION_REJITTED) ||
                (row->has_il_version && row->il_version > 0)) &&
               (!options_has(options, OPTION_OLDER) || is_old_enough(filter, row)) &&
               (!filter->pattern || symbol_matches(row->symbol, row->n_name, filter->pattern));
}

/* Counts include bodies that are unloaded. */
static bool needs_versions(const Options *options)
{
        return options_has(options, OPTION_MIN_VERSIONS) || options->sort == SORT_VERSIONS;
}

static bool needs_counts(const Options *options)
{
        return needs_versions(options) || options->sort == SORT_REUSE;
}

static uint64_t sort_key(const BodyRow *row, Sort sort)
{
        switch (sort) {
        case SORT_JIT:
                return row->jit_us;
        case SORT_SIZE:
                return row->size;
        case SORT_VERSIONS:
                return row->n_versions;
        case SORT_REUSE:
                return row->n_reuses;
        case SORT_LOADED:
                return row->loaded;
        case SORT_IL_SIZE:
                return row->il_size;
        case SORT_NONE:
        case _SORT_MAX:
                break;
        }
        return 0;
}

/* The largest first; equal ones in the daemon's order. */
static int compare_rows(const void *a, const void *b, void *data)
{
        const BodyRow *first = a, *second = b;
        Sort sort = *(const Sort *)data;
        uint64_t x = sort_key(first, sort), y = sort_key(second, sort);

        if (x != y)
                return x < y ? 1 : -1;
        return first->number < second->number ? -1 : first->number > second->number;
}

static void drop_few_versions(BodyRows *list, uint64_t min)
{
        guint i, n = 0;

        for (i = 0; i < list->rows->len; i++)
                if (body_rows_get(list, i)->n_versions >= min)
                        *body_rows_get(list, n++) = *body_rows_get(list, i);
        g_array_set_size(list->rows, n);
}

/* Prints the daemon's row with the counts appended. */
static void methods_print_json(const BodyRows *list, const Options *options)
{
        guint i;

        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_rows_get(list, i);
                size_t n = strlen(row->json) - 1;

                output_bytes(row->json, n);
                if (needs_versions(options))
                        output_print(",\"versions\":%" G_GUINT32_FORMAT, row->n_versions);
                if (options->sort == SORT_REUSE)
                        output_print(",\"reuse\":%" G_GUINT32_FORMAT, row->n_reuses);
                output_line(row->json + n, 1);
        }
}

static void methods_print_text(const BodyRows *list, const Options *options)
{
        static const unsigned SORTED[_SORT_MAX] = {
                [SORT_JIT] = BODY_COLUMN_BIT(BODY_JIT_MS),
                [SORT_SIZE] = BODY_COLUMN_BIT(BODY_SIZE),
                [SORT_VERSIONS] = BODY_COLUMN_BIT(BODY_VERSIONS),
                [SORT_REUSE] = BODY_COLUMN_BIT(BODY_REUSE),
                [SORT_LOADED] = BODY_COLUMN_BIT(BODY_LOADED),
                [SORT_IL_SIZE] = BODY_COLUMN_BIT(BODY_IL_SIZE),
        };
        unsigned important = SORTED[options->sort];

        if (needs_versions(options))
                important |= BODY_COLUMN_BIT(BODY_VERSIONS);
        if (options_has(options, OPTION_REJITTED))
                important |= BODY_COLUMN_BIT(BODY_IL);
        body_table_print(list, important);
}

/* Parameters: {"all":true}, or the requested time. */
static json_t *list_parameters(const Options *options, bool is_all, const uint64_t *time)
{
        json_t *parameters = answer_source_parameters(options);

        json_object_set_new(parameters, "all", json_boolean(is_all));
        if (time)
                json_object_set_new(parameters, "time", json_integer((json_int_t)*time));
        return parameters;
}

static bool count_bodies(BodyRows *list, AnswerSource *source, const Options *options,
                         GError **error)
{
        g_autoptr(BodyRows) all = body_rows_new(false);

        if (!body_rows_read(all, source, "ListMethods", list_parameters(options, true, NULL),
                            "methods", /* is_wanted= */ NULL, /* data= */ NULL, error))
                return false;
        body_rows_count(list, all);
        if (options_has(options, OPTION_MIN_VERSIONS))
                drop_few_versions(list, options->min_versions);
        return true;
}

static bool list_methods(AnswerSource *source, MethodFilter *filter, const uint64_t *time,
                         GError **error)
{
        const Options *options = filter->options;
        bool is_json = options_has(options, OPTION_JSON);
        g_autoptr(BodyRows) list = body_rows_new(is_json);
        json_t *parameters = list_parameters(options, options_has(options, OPTION_UNLOADED), time);
        Sort sort = options->sort;

        if (!body_rows_read(list, source, "ListMethods", parameters, "methods", is_wanted, filter,
                            error))
                return false;
        if (needs_counts(options) && !count_bodies(list, source, options, error))
                return false;
        if (sort)
                g_array_sort_with_data(list->rows, compare_rows, &sort);
        if (is_json)
                methods_print_json(list, options);
        else
                methods_print_text(list, options);
        if (!is_json && filter->pattern && !list->rows->len)
                answer_source_print_hint(*options->arguments,
                                         "no name matches: a pattern is for the whole name, and * "
                                         "stands for any text");
        return true;
}

bool verb_methods(const Options *options, GError **error)
{
        const OptionSet choices = OPTION_BIT(OPTION_TIER) | OPTION_BIT(OPTION_MIN_VERSIONS) |
                                  OPTION_BIT(OPTION_REJITTED) | OPTION_BIT(OPTION_OLDER) |
                                  OPTION_BIT(OPTION_FLAG) | OPTION_BIT(OPTION_SORT);
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        g_autoptr(GPatternSpec) pattern = NULL;
        MethodFilter filter = {.options = options};
        uint64_t time, *asked = options->at ? &time : NULL;

        if (!source || (asked && !answer_source_time(source, options->at, asked, error)))
                return false;
        /* There can be millions of rows: without a filter they are printed as they arrive. */
        if (options_has(options, OPTION_JSON) && !(options->given & choices) &&
            !*options->arguments)
                return answer_source_print_rows(
                        source, "ListMethods",
                        list_parameters(options, options_has(options, OPTION_UNLOADED), asked),
                        "methods", error);
        if (asked)
                filter.now = time;
        else if (options_has(options, OPTION_OLDER) &&
                 !answer_source_time(source, "now", &filter.now, error))
                return false;
        if (*options->arguments) {
                g_autofree char *text = g_utf8_make_valid(*options->arguments, -1);

                pattern = filter.pattern = g_pattern_spec_new(text);
        }
        return list_methods(source, &filter, asked, error);
}
