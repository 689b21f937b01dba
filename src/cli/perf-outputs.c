/* SPDX-License-Identifier: MIT */
#include "cli/perf-outputs.h"

#include "cli/output-form.h"
#include "cli/perf-run.h"
#include "cli/saved-profile.h"
#include "util/message.h"

void perf_output_fail(GError *failure, GError **error)
{
        if (!failure)
                return;
        if (!error || !*error) {
                g_propagate_error(error, failure);
                return;
        }
        if (!perf_caught_signal())
                message_print("clrsym", "%s", failure->message);
        g_error_free(failure);
}

const char *perf_output_path(const char *output)
{
        return g_strcmp0(output, "-") ? output : NULL;
}

bool perf_output_is_text(const char *output, const char *format)
{
        return output_form(output, format).kind == OUTPUT_TEXT;
}

bool perf_outputs_write(const PerfNaming *job, const Profile *profile,
                        const ProfileOptions *options, GError **error)
{
        bool ok = true;
        unsigned i;

        for (i = 0; i < job->n_outputs; i++) {
                const char *path = job->outputs[i];
                const OutputForm form = output_form(path, job->format);
                GError *failure = NULL;

                if (form.kind == OUTPUT_TEXT)
                        continue;
                if (form.kind == OUTPUT_SAVED
                            ? saved_profile_write(profile, path, options, &failure)
                            : profile_write_form(profile, form.profile, path, options, &failure)) {
                        if (job->written)
                                g_ptr_array_add(job->written, (gpointer)path);
                        continue;
                }
                perf_output_fail(failure, error);
                ok = false;
        }
        if (job->take)
                job->take(profile, options, job->data);
        return ok;
}

bool perf_outputs_write_saved(const PerfNaming *job, GError **error)
{
        const SavedTarget target = {job->into, job->is_before};
        SavedProfile saved;
        unsigned i;
        bool ok;

        for (i = 0; i < job->n_outputs; i++)
                if (perf_output_is_text(job->outputs[i], job->format)) {
                        g_autofree char *endings = profile_form_endings();

                        g_set_error(error, PERF_ERROR, 0,
                                    "%s has named samples, but not their addresses: write it to "
                                    "a file with one of the endings %s (--output)",
                                    job->input, endings);
                        return false;
                }
        if (!saved_profile_read(job->input, &target, &saved, error))
                return false;
        saved.options.is_annotated = options_has(job->options, OPTION_ANNOTATE);
        ok = perf_outputs_write(job, saved.samples.profile, &saved.options, error);
        saved_profile_clear(&saved);
        return ok;
}

void perf_outputs_print(const GPtrArray *written, const char *format)
{
        guint i;

        for (i = 0; i < written->len; i++) {
                const char *path = perf_output_path(written->pdata[i]);

                if (path)
                        message_print("clrsym", "the %s in %s",
                                      output_form_noun(output_form(path, format)), path);
        }
}
