/* SPDX-License-Identifier: MIT */
#include "profile/summary.h"

#include "profile/numbers.h"

void summary_init(Summary *summary, const Profile *profile)
{
        uint64_t first = UINT64_MAX, last = 0;
        uint32_t i;

        *summary =
                (Summary){.n_samples = profile->samples->len, .n_threads = profile->threads->len};
        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);

                first = MIN(first, sample->time);
                last = MAX(last, sample->time);
                if (__builtin_add_overflow(summary->period, sample->period, &summary->period))
                        summary->period = UINT64_MAX;
        }
        if (summary->n_samples) {
                summary->first = first;
                summary->duration = last - first;
        }
}

static void append_counted(GString *out, uint64_t n, const char *noun)
{
        number_append(out, n);
        g_string_append_printf(out, " %s%s", noun, n == 1 ? "" : "s");
}

void summary_append(GString *out, const Summary *summary, const ProfileOptions *options)
{
        append_counted(out, summary->n_samples, "sample");
        if (options->event)
                g_string_append_printf(out, " of %s", options->event);
        if (profile_event_is_clock(options->event)) {
                g_string_append(out, " (");
                number_append_duration(out, summary->period);
                g_string_append_c(out, ')');
        }
        g_string_append(out, " in ");
        append_counted(out, summary->n_threads, "thread");
        if (summary->duration) {
                g_string_append(out, ", over ");
                number_append_duration(out, summary->duration);
        }
}
