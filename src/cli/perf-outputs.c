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

bool perf_outputs_write(const char *const *outputs, unsigned n, const char *format,
                        const Profile *profile, const ProfileOptions *options, GError **error)
{
        bool ok = true;
        unsigned i;

        for (i = 0; i < n; i++) {
                const OutputForm form = output_form(outputs[i], format);
                GError *failure = NULL;

                if (form.kind == OUTPUT_TEXT ||
                    (form.kind == OUTPUT_SAVED
                             ? saved_profile_write(profile, outputs[i], options, &failure)
                             : profile_write_form(profile, form.profile, outputs[i], options,
                                                  &failure)))
                        continue;
                perf_output_fail(failure, error);
                ok = false;
        }
        return ok;
}
