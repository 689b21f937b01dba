/* SPDX-License-Identifier: MIT */
#include "cli/perf-input.h"

#include "cli/perf-folded.h"
#include "cli/perf-run.h"
#include "cli/saved-profile.h"
#include "symbols/recorder-symbols.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* perf record --threads makes a directory with this file. */
#define PERF_FILE "data"

/* Files that users mistake for recordings, by their first bytes; the advice follows the file's
 * name. */
static const struct {
        const char *begin;
        size_t n;
        const char *advice;
} OTHER_FILES[] = {
        {"\x1f\x8b", 2, "is compressed by gzip: gunzip it, and give the result"},
        {"\xfd"
         "7zXZ",
         5, "is compressed by xz: unxz it, and give the result"},
        {"\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unzstd it, and give the result"},
        {"PK\3\4", 4, "is a ZIP archive: unpack it, and give the recording in it"},
        {"\x7f"
         "ELF",
         4, "is a program or a library: give what perf record wrote (perf.data)"},
};

/* NULL: the first bytes can be those of a recording. */
static const char *input_find_advice(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        char begin[8] = "";
        ssize_t n = fd >= 0 ? pread(fd, begin, sizeof(begin), 0) : -1;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(OTHER_FILES); i++)
                if (n >= (ssize_t)OTHER_FILES[i].n &&
                    !memcmp(begin, OTHER_FILES[i].begin, OTHER_FILES[i].n))
                        return OTHER_FILES[i].advice;
        return perf_folded_is(path) ? "has folded stacks, which have their names: give the "
                                      "recording that they were made of, or compare two with --diff"
                                    : NULL;
}

bool perf_input_check(const char *path, bool is_forced, GError **error)
{
        g_autofree char *inner = g_build_filename(path, PERF_FILE, NULL);
        const char *shown = *path ? path : "\"\"";
        const char *advice = NULL;
        struct stat st;

        if (!strcmp(path, "-"))
                g_set_error_literal(error, PERF_ERROR, 0,
                                    "a recording is not read from a pipe, because clrsym reads it "
                                    "three times: write it to a file, and give that");
        else if (stat(path, &st) < 0)
                g_set_error(error, PERF_ERROR, 0, "cannot open the recording %s: %s", shown,
                            g_strerror(errno));
        else if (S_ISDIR(st.st_mode) && g_file_test(inner, G_FILE_TEST_EXISTS))
                g_set_error(error, PERF_ERROR, 0,
                            "%s is a directory that perf record --threads made, which clrsym does "
                            "not read: record without --threads",
                            shown);
        else if (S_ISDIR(st.st_mode))
                g_set_error(error, PERF_ERROR, 0,
                            "%s is a directory, not a recording: give a file in it", shown);
        else if (!is_forced && st.st_uid != geteuid() && st.st_uid != 0)
                g_set_error(error, PERF_ERROR, 0,
                            "%s belongs to another user, who chose its contents: --force reads it",
                            shown);
        else if (S_ISREG(st.st_mode) && st.st_size == 0)
                g_set_error(error, PERF_ERROR, 0, "%s is empty: record again", shown);
        else if (g_str_has_suffix(path, SAVED_ENDING))
                g_set_error(error, PERF_ERROR, 0,
                            "%s has no named samples, as clrsym record -o FILE" SAVED_ENDING
                            " writes them: record again",
                            shown);
        else if (S_ISREG(st.st_mode) && (advice = input_find_advice(path)))
                g_set_error(error, PERF_ERROR, 0, "%s %s", shown, advice);
        else
                return true;
        return false;
}

char *perf_input_no_events(bool is_collect, const char *why)
{
        if (is_collect)
                return g_strdup_printf(
                        "%s. Jitted code has the recorder's names" RECORDER_MARK
                        ", which have no time, and can be wrong in reused memory. A daemon that "
                        "knew the program, or a trace of that run, has the right names",
                        why);
        return g_strdup_printf(
                "%s. Without events, only native and precompiled code has names. Jitted code gets "
                "its names from a daemon that knew the program during the recording, or from a "
                "trace of that run: clrsym record does both",
                why);
}
