/* SPDX-License-Identifier: MIT */

/*
 * clrsym report: names the managed frames of a perf.data
 */

#include "cli/perf-folded.h"
#include "cli/output-form.h"
#include "cli/perf-naming.h"
#include "cli/perf-outputs.h"
#include "cli/perf-run.h"
#include "cli/top-summary.h"
#include "cli/verbs.h"

#define DEFAULT_INPUT "perf.data"

/* Takes the event of a recording. DATA: a text that the caller frees. */
static void compare_take_event(const Profile *profile, const ProfileOptions *options, void *data)
{
        char **event = data;

        g_free(*event);
        *event = g_strdup(options->event);
}

/* Adds the samples of one of the two compared recordings. RET_EVENT: its event, which the caller
 * frees, or NULL. */
static bool compare_collect(const Options *options, const char *input, bool is_before,
                            Profile *profile, char **ret_event, GError **error)
{
        const PerfNaming job = {
                .options = options,
                .input = input,
                .into = profile,
                .take = compare_take_event,
                .data = ret_event,
                .is_before = is_before,
                .ends_by_signal = true,
        };

        return perf_folded_is(input) ? perf_folded_read(input, is_before, profile, error)
                                     : perf_naming_run(&job, error);
}

static bool perf_compare(const Options *options, GError **error)
{
        const char *before = options->before, *after = options->arguments[0];
        const GPtrArray *outputs = options->outputs;
        g_autofree char *before_name = g_path_get_basename(before);
        g_autofree char *after_name = g_path_get_basename(after);
        g_autofree char *title = g_strdup_printf("%s, compared with %s", after_name, before_name);
        g_autofree char *event_before = NULL, *event = NULL;
        ProfileOptions how = {.title = title};
        g_autoptr(Profile) profile = profile_new();
        g_autoptr(GPtrArray) written = g_ptr_array_new();
        PerfNaming job = {.format = options->format, .written = written};
        bool can_write = outputs != NULL;
        OutputForm form;
        guint i;

        for (i = 0; can_write && i < outputs->len; i++) {
                form = output_form(outputs->pdata[i], options->format);
                can_write = form.kind == OUTPUT_PROFILE && profile_form_compares(form.profile);
        }
        if (!can_write) {
                g_set_error(error, PERF_ERROR, 0,
                            "--diff writes a flame graph: give -o FILE.html or -o FILE.svg");
                return false;
        }
        if (perf_folded_is(before) != perf_folded_is(after)) {
                g_set_error(
                        error, PERF_ERROR, 0,
                        "a recording is compared with a recording, and folded stacks with "
                        "folded stacks: clrsym report -o FILE.folded makes them of a recording");
                return false;
        }
        if (!compare_collect(options, before, true, profile, &event_before, error) ||
            !compare_collect(options, after, false, profile, &event, error))
                return false;
        if (!g_strcmp0(event, event_before))
                how.event = event;
        job.outputs = (const char *const *)outputs->pdata;
        job.n_outputs = outputs->len;
        can_write = perf_outputs_write(&job, profile, &how, error);
        perf_outputs_print(written, options->format);
        return can_write;
}

static bool output_is_stdout(const Options *options)
{
        return options->outputs &&
               g_ptr_array_find_with_equal_func(options->outputs, "-", g_str_equal, NULL);
}

/* INPUT: NULL for the default. */
static bool report(const Options *options, const char *input, GError **error)
{
        const bool has_summary = options_has(options, OPTION_SUMMARY);
        const char *stdout_only[] = {"-"};
        TopSummary summary = {.file = output_is_stdout(options) ? stderr : stdout};
        g_autoptr(GPtrArray) written = g_ptr_array_new();
        const PerfNaming job = {
                .options = options,
                .input = input ? input : DEFAULT_INPUT,
                .outputs = options->outputs ? (const char *const *)options->outputs->pdata
                                            : stdout_only,
                .n_outputs = options->outputs ? options->outputs->len : !has_summary,
                .format = options->format,
                .written = written,
                .take = has_summary ? top_summary_print : NULL,
                .data = &summary,
                .ends_by_signal = true,
        };
        bool ok;

        if (!output_forms_check(options->outputs, options->format, error))
                return false;
        if (options->before)
                return perf_compare(options, error);
        ok = perf_naming_run(&job, error);
        perf_outputs_print(written, options->format);
        return ok;
}

bool verb_perf(const Options *options, GError **error)
{
        return report(options, options->input, error);
}

bool verb_report(const Options *options, GError **error)
{
        return report(options, options->input ? options->input : *options->arguments, error);
}
