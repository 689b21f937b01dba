/* SPDX-License-Identifier: MIT */
#include "cli/perf-input.h"

#include "cli/perf-program.h"
#include "cli/saved-profile.h"

#include <errno.h>
#include <sys/stat.h>

/* What perf record --threads makes is a directory with this file. */
#define PERF_FILE "data"

bool perf_input_check(const char *path, GError **error)
{
        g_autofree char *inner = g_build_filename(path, PERF_FILE, NULL);
        const char *shown = *path ? path : "\"\"";
        struct stat st;

        if (stat(path, &st) < 0)
                g_set_error(error, PERF_ERROR, 0, "cannot open the recording %s: %s", shown,
                            g_strerror(errno));
        else if (S_ISDIR(st.st_mode) && !g_file_test(inner, G_FILE_TEST_EXISTS))
                g_set_error(error, PERF_ERROR, 0,
                            "%s is a directory, and no recording: give a file in it", shown);
        else if (S_ISREG(st.st_mode) && st.st_size == 0)
                g_set_error(error, PERF_ERROR, 0, "%s is empty: record again", shown);
        else if (g_str_has_suffix(path, SAVED_ENDING))
                g_set_error(error, PERF_ERROR, 0,
                            "%s has no named samples, as clrsym record -o FILE" SAVED_ENDING
                            " writes them: record again",
                            shown);
        else
                return true;
        return false;
}
