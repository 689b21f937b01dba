/* SPDX-License-Identifier: MIT */
#include "cli/top-summary.h"

#include "cli/terminal.h"
#include "profile/summary.h"
#include "profile/top.h"

#include <unistd.h>

#define N_TOP_ROWS  12
#define NO_TERMINAL 200 /* columns */

/* If less than one in so many of the time of a CPU was used, the program mostly waited. */
#define WAITING_SHARE 4

/* "0.61 s of CPU in 7.00 s: it mostly waited" */
static void top_summary_append_cpu(const TopSummary *top, GString *out, const Profile *profile,
                                   const char *event)
{
        Summary summary;
        uint64_t cpu;

        /* The runtime's sampler also takes waiting threads; a machine has idle CPUs. */
        if (!top->duration || top->is_whole_machine || !g_strcmp0(event, PROFILE_EVENT_MANAGED))
                return;
        summary_init(&summary, profile);
        cpu = profile_event_unit(event)->is_time
                      ? summary.period
                      : summary.n_samples * G_USEC_PER_SEC / top->frequency * 1000;
        number_append_duration(out, cpu);
        g_string_append(out, " of CPU in ");
        number_append_duration(out, top->duration);
        g_string_append(out, cpu < top->duration / WAITING_SHARE
                                     ? ": it mostly waited (--off-cpu shows where)\n"
                                     : "\n");
}

/* Appends the totals of the recording. */
static void top_summary_append_begin(const TopSummary *top, GString *out, const Profile *profile,
                                     const ProfileOptions *options)
{
        Summary summary;

        if (profile_event_unit(options->event)->is_running) {
                top_summary_append_cpu(top, out, profile, options->event);
                return;
        }
        summary_init(&summary, profile);
        summary_append(out, &summary, options);
        g_string_append_c(out, '\n');
}

void top_summary_print(const Profile *profile, const ProfileOptions *options, void *data)
{
        const TopSummary *top = data;
        const int fd = fileno(top->file);
        g_autoptr(GString) text = g_string_new(NULL);

        top_summary_append_begin(top, text, profile, options);
        top_append(text, profile, options->event, N_TOP_ROWS,
                   isatty(fd) ? terminal_width(fd) : NO_TERMINAL);
        fputs(text->str, top->file);
}
