/* SPDX-License-Identifier: MIT */
#include "profile/summary.h"

void number_append(GString *out, uint64_t number)
{
        char text[32], *end = text + sizeof(text), *p = end;
        int n = 0;

        do {
                if (n && n % 3 == 0)
                        *--p = ',';
                *--p = (char)('0' + number % 10);
                n++;
        } while (number /= 10);
        g_string_append_len(out, p, end - p);
}

void number_append_share(GString *out, uint64_t part, uint64_t whole)
{
        double percent = whole ? 100.0 * (double)part / (double)whole : 0;
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof(text),
                                             !part         ? "%.0f"
                                             : percent < 1 ? "%.2f"
                                                           : "%.1f",
                                             percent));
        g_string_append(out, " %");
}

void number_append_duration(GString *out, uint64_t ns)
{
        static const struct {
                double ns;
                const char *unit;
        } UNITS[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(UNITS); i++)
                if ((double)ns >= UNITS[i].ns) {
                        g_ascii_formatd(text, sizeof(text), "%.2f", (double)ns / UNITS[i].ns);
                        g_string_append_printf(out, "%s %s", text, UNITS[i].unit);
                        return;
                }
        g_string_append_printf(out, "%" G_GUINT64_FORMAT " ns", (guint64)ns);
}

static void period_add(uint64_t *period, uint64_t more)
{
        if (__builtin_add_overflow(*period, more, period))
                *period = UINT64_MAX;
}

void summary_init(Summary *summary, const Profile *profile)
{
        uint64_t first = UINT64_MAX, last = 0;
        uint32_t i;

        *summary = (Summary){.n_threads = profile->threads->len};
        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);

                if (sample->is_before) {
                        summary->n_before += sample->count;
                        period_add(&summary->period_before, sample->period);
                        continue;
                }
                summary->n_samples += sample->count;
                first = MIN(first, sample->time);
                last = MAX(last, sample->time);
                period_add(&summary->period, sample->period);
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

/* " (1.2 s)"; nothing for 0. */
static void append_time(GString *out, uint64_t ns)
{
        if (!ns)
                return;
        g_string_append(out, " (");
        number_append_duration(out, ns);
        g_string_append_c(out, ')');
}

void summary_append(GString *out, const Summary *summary, const ProfileOptions *options)
{
        const ProfileUnit *unit = profile_event_unit(options->event);

        /* Each sample counts its ns. */
        if (unit->is_time && unit->is_weighed && !summary->n_before)
                number_append_duration(out, summary->period);
        else
                append_counted(out, summary->n_samples, unit->noun);
        if (summary->n_before) {
                append_time(out, unit->is_time ? summary->period : 0);
                g_string_append(out, ", before ");
                append_counted(out, summary->n_before, unit->noun);
                append_time(out, unit->is_time ? summary->period_before : 0);
                return;
        }
        if (options->event)
                g_string_append_printf(out, " of %s", options->event);
        if (!g_strcmp0(options->event, PROFILE_EVENT_MANAGED))
                g_string_append(out,
                                " (by the runtime: managed frames only, of every thread, at safe "
                                "points)");
        append_time(out, unit->is_time && !unit->is_weighed ? summary->period : 0);
        g_string_append(out, " in ");
        append_counted(out, summary->n_threads, "thread");
        if (summary->duration) {
                g_string_append(out, ", over ");
                number_append_duration(out, summary->duration);
        }
}
