/* SPDX-License-Identifier: MIT */
#include "cli/perf-clock.h"

#include "cli/perf-run.h"
#include "util/clock.h"
#include "util/proc.h"

#include <time.h>

#define NS      G_GINT64_CONSTANT(1000000000)
#define LATER_S G_GINT64_CONSTANT(1000000000)

/*
 * The time of day is adjusted now and then, and the monotonic clock stops while a machine is
 * suspended. On one boot the two can differ by this much; boots are further apart.
 */
#define MAX_PART_NS (2 * NS)

/* perf's own clock begins with the monotonic one, and drifts. */
#define OWN_SLACK_NS G_GUINT64_CONSTANT(1000000000)
/* For another clock, which was compared with the time of day once; these two drift as well. */
#define OTHER_SLACK_NS G_GUINT64_CONSTANT(10000000)

static char *seconds_text(int64_t ns)
{
        return g_strdup_printf("%s%" G_GINT64_FORMAT ".%09u", ns < 0 ? "-" : "", ABS(ns / NS),
                               (unsigned)ABS(ns % NS));
}

static char *date_text(uint64_t ns)
{
        g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc((gint64)(ns / NS));

        return date ? g_date_time_format(date, "%Y-%m-%d %H:%M:%S UTC") : g_strdup("?");
}

/*
 * Finds the trace's clock at the recording's reference time of day; negative if that was before the
 * boot. False if the trace does not know it. Times are not negative, so the trace is asked about a
 * much later time.
 */
static bool trace_time(clrsym *handle, const Recording *recording, int64_t *ret_time)
{
        g_autofree char *text = g_strdup_printf("@%" G_GUINT64_FORMAT ".%09u",
                                                (guint64)(recording->reference.tod / NS + LATER_S),
                                                (unsigned)(recording->reference.tod % NS));
        uint64_t later;

        if (!recording->reference.is_known || clrsym_time(handle, text, &later) < 0)
                return false;
        *ret_time = (int64_t)later - LATER_S * NS;
        return true;
}

/* Compares the clocks, which are equal on one boot. */
static bool check_boot(const Recording *recording, int64_t in_trace, const char *input,
                       bool is_forced, GPtrArray *notes, GError **error)
{
        int64_t apart = in_trace - (int64_t)recording->reference.clock;
        g_autofree char *date = date_text(recording->reference.tod);
        g_autofree char *here = seconds_text((int64_t)recording->reference.clock);
        g_autofree char *there = seconds_text(in_trace);
        g_autofree char *text = NULL;

        if (ABS(apart) <= MAX_PART_NS)
                return true;
        text = g_strdup_printf("%s and the trace are of different machines or boots: at %s the "
                               "clock of the recording showed %s, that of the trace %s",
                               input, date, here, there);
        if (is_forced) {
                g_ptr_array_add(notes, g_steal_pointer(&text));
                return true;
        }
        g_set_error(error, PERF_ERROR, 0, "%s: give the trace of the same boot, or --force", text);
        return false;
}

/* In a time namespace, the clock of the events is ahead of the kernel's. */
static void clock_leave_namespace(PerfClock *clock)
{
        clock->offset = proc_own_clock_ahead();
        clock->is_exact = clock->offset == 0;
}

bool perf_clock_find(clrsym *handle, const Recording *recording, const char *input, bool is_live,
                     bool is_forced, PerfClock *ret_clock, GPtrArray *notes, GError **error)
{
        int64_t in_trace;
        bool is_comparable = trace_time(handle, recording, &in_trace);

        *ret_clock = (PerfClock){.is_exact = recording->clock_id == CLOCK_MONOTONIC};
        if (ret_clock->is_exact) {
                if (is_live)
                        clock_leave_namespace(ret_clock);
                if (is_comparable)
                        return check_boot(recording, in_trace, input, is_forced, notes, error);
                if (!is_forced)
                        g_ptr_array_add(notes,
                                        g_strdup_printf("%s has no reference time, or the trace's "
                                                        "clock is not known: whether they are of "
                                                        "one boot was not checked",
                                                        input));
                return true;
        }
        ret_clock->slack = OWN_SLACK_NS;
        if (recording->clock_id != RECORDING_OWN_CLOCK && is_comparable) {
                ret_clock->offset = in_trace - (int64_t)recording->reference.clock;
                ret_clock->slack = OTHER_SLACK_NS;
        }
        g_ptr_array_add(
                notes,
                g_strdup_printf("%s was recorded with %s%s clock, not the trace's: a name is given "
                                "only where the same code was there for %u ms before and after. "
                                "To fix that: perf record -k mono -g ...",
                                input,
                                recording->clock_id == RECORDING_OWN_CLOCK ? "perf's own" : "the ",
                                recording->clock_id != RECORDING_OWN_CLOCK && recording->clock_name
                                        ? recording->clock_name
                                        : "",
                                (unsigned)(ret_clock->slack / 1000000)));
        return true;
}

/*
 * The recording's clock showed 0 at the time of day of this boot. Suspension stops the clock, so a
 * machine that was suspended makes that time later.
 */
bool perf_clock_is_of_this_boot(const Recording *recording)
{
        int64_t tod = clock_ns(CLOCK_REALTIME);
        int64_t begin = perf_reference_zero(&recording->reference);

        return recording->reference.is_known && recording->clock_id == CLOCK_MONOTONIC &&
               begin >= tod - clock_ns(CLOCK_BOOTTIME) - MAX_PART_NS &&
               begin <= tod - clock_ns(CLOCK_MONOTONIC) + MAX_PART_NS;
}
