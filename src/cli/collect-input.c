/* SPDX-License-Identifier: MIT */
#include "cli/collect-input.h"

#include "cli/perf-run.h"
#include "collect/collect.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

bool collect_input_is(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        return fd >= 0 && collect_is(fd);
}

static void collect_input_note(const char *path, const RecorderSymbols *symbols,
                               const CollectReport *report, GPtrArray *notes)
{
        const uint64_t n_left_out = recorder_symbols_n_left_out(symbols);
        g_auto(GStrv) lines = g_strsplit(report->unknown, "\n", -1);
        const char *prefix = "clrsym: ";
        size_t i;

        for (i = 0; lines[i] && *lines[i]; i++)
                g_ptr_array_add(notes, g_strdup(g_str_has_prefix(lines[i], prefix)
                                                        ? lines[i] + strlen(prefix)
                                                        : lines[i]));
        if (report->damage)
                g_ptr_array_add(notes, g_strdup_printf("%s: %s; the samples before that are shown",
                                                       path, report->damage));
        if (report->is_cut)
                g_ptr_array_add(notes, g_strdup_printf("%s is truncated: its last samples are "
                                                       "missing",
                                                       path));
        if (n_left_out)
                g_ptr_array_add(notes,
                                g_strdup_printf("%" PRIu64 " names of %s are left out: they have "
                                                "no size, or there are too many",
                                                n_left_out, path));
}

int collect_input_open(const char *path, RecorderSymbols *symbols, GPtrArray *notes,
                       uint64_t *ret_lost, GError **error)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
        FD_AUTO int output = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        CollectReport report;

        if (fd < 0 || output < 0) {
                const int number = errno;

                if (fd < 0)
                        g_set_error_literal(error, PERF_ERROR, 0, g_strerror(number));
                else
                        g_set_error(error, PERF_ERROR, 0,
                                    "cannot make a temporary file in %s (%s): set TMPDIR to "
                                    "another directory",
                                    g_get_tmp_dir(), g_strerror(number));
                return -1;
        }
        if (!collect_convert(fd, output, symbols, perf_caught_signal, &report, error))
                return -1;
        if (report.n_samples) {
                collect_input_note(path, symbols, &report, notes);
                *ret_lost = report.n_lost;
        } else {
                g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES, "it has no samples%s%s",
                            report.damage   ? ", and is "
                            : report.is_cut ? ", and is truncated: record again"
                                            : ": record again",
                            report.damage ? report.damage : "");
        }
        collect_report_clear(&report);
        return report.n_samples ? fd_steal(&output) : -1;
}
