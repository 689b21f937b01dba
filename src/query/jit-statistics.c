/* SPDX-License-Identifier: MIT */

/* JitStatistics: counts of the JIT compiler's work, by process */

#include "query/list.h"
#include "util/json-text.h"

static const char *const ATTEMPTS[_JIT_ATTEMPT_MAX][2] = {
        [JIT_INLINING] = {"inlining_succeeded", "inlining_failed"},
        [JIT_TAIL_CALL] = {"tail_calls_succeeded", "tail_calls_failed"},
};

static void append_attempt(GString *out, const Process *process, JitAttempt attempt)
{
        g_autofree JitReason *reasons = NULL;
        size_t n, i;

        if (!process->jit_stats) {
                g_string_append_printf(out, ",\"%s\":null,\"%s\":null", ATTEMPTS[attempt][0],
                                       ATTEMPTS[attempt][1]);
                return;
        }
        reasons = jitstats_reasons(process->jit_stats, attempt, &n);
        g_string_append_printf(out, ",\"%s\":%" G_GUINT64_FORMAT ",\"%s\":[", ATTEMPTS[attempt][0],
                               (guint64)jitstats_n_succeeded(process->jit_stats, attempt),
                               ATTEMPTS[attempt][1]);
        for (i = 0; i < n; i++) {
                g_string_append(out, i ? ",{\"reason\":" : "{\"reason\":");
                json_append_string(out, strtab_text(process->names, reasons[i].reason));
                g_string_append(out, ",\"count\":");
                json_append_u64(out, reasons[i].count);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}

static void append_lookups(GString *out, JitLookups lookups)
{
        g_string_append_printf(
                out,
                ",\"precompiled_lookups\":{\"count\":%" G_GUINT64_FORMAT
                ",\"found\":%" G_GUINT64_FORMAT ",\"ms\":%" G_GUINT64_FORMAT ".%06u}",
                (guint64)lookups.n, (guint64)lookups.n_found, (guint64)(lookups.time / 1000000),
                (unsigned)(lookups.time % 1000000));
}

static void append_background(GString *out, const Process *process)
{
        JitBackground background;

        if (!process->jit_stats) {
                g_string_append(out, ",\"precompiled_lookups\":null,\"background_jit\":null");
                return;
        }
        background = jitstats_background(process->jit_stats);
        append_lookups(out, jitstats_lookups(process->jit_stats));
        g_string_append_printf(
                out,
                ",\"background_jit\":{\"runs\":%" G_GUINT64_FORMAT ",\"ms\":%" G_GUINT64_FORMAT
                ".%06u,\"methods\":%" G_GUINT64_FORMAT ",\"pauses\":%" G_GUINT64_FORMAT
                ",\"pause_ms\":%" G_GUINT64_FORMAT ".%06u,\"new_methods\":%" G_GUINT64_FORMAT
                ",\"pending\":%" G_GUINT64_FORMAT ",\"most_pending\":%" G_GUINT64_FORMAT "}",
                (guint64)background.n_runs, (guint64)(background.time / 1000000),
                (unsigned)(background.time % 1000000), (guint64)background.n_methods,
                (guint64)background.n_pauses, (guint64)(background.pause_time / 1000000),
                (unsigned)(background.pause_time % 1000000), (guint64)background.n_new_methods,
                (guint64)background.n_pending, (guint64)background.n_most_pending);
}

static bool list_statistics_of(List *list, const Process *process, uint32_t first, const void *data)
{
        GString *out = list->call->out;
        int i;

        if (!list_row(list))
                return false;
        g_string_append_printf(
                out, "{\"pid\":%d,\"pid_ns\":%" G_GUINT64_FORMAT ",\"generation\":%u",
                (int)process->key.pid, (guint64)process->key.pid_ns, process->generation);
        for (i = 0; i < _JIT_ATTEMPT_MAX; i++)
                append_attempt(out, process, (JitAttempt)i);
        append_background(out, process);
        g_string_append_c(out, '}');
        return true;
}

void call_jit_statistics(Call *call)
{
        ProcessFilter filter;
        List list;

        if (!call_get_filter(call, &filter))
                return;
        list_begin(&list, call, "processes");
        list_processes(&list, &filter, list_statistics_of, NULL);
}
