/* SPDX-License-Identifier: MIT */

/* A perf.data file with copies of stacks, of any bytes: callers are found, and processes left out.
 * What comes out is such a file again. */

#include "fuzz.h"
#include "unwind/narrow.h"
#include "unwind/stack-file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void narrow(const char *path)
{
        const pid_t pids[] = {1, 77, 4242};
        ProcessScope *scope = process_scope_new(pids, G_N_ELEMENTS(pids));
        const int out = memfd_create("narrow", MFD_CLOEXEC);
        g_autoptr(GError) error = NULL;

        FUZZ_REQUIRE(perf_data_narrow(path, out, scope, &error) == (error == NULL));
        process_scope_free(scope);
        close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const int in = memfd_create("perf.data", MFD_CLOEXEC);
        const int out = memfd_create("stacks", MFD_CLOEXEC);
        const int hidden = memfd_create("callers", MFD_CLOEXEC);
        g_autoptr(GError) error = NULL;
        g_auto(StackCounts) counts = {0};
        char path[64];

        FUZZ_REQUIRE(in >= 0 && out >= 0 && hidden >= 0 &&
                     pwrite(in, data, size, 0) == (ssize_t)size);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
        stack_file_is(path);
        narrow(path);
        FUZZ_REQUIRE(stack_file_unwind(path, &(const StackSources){0}, out, hidden, &counts,
                                       &error) == (error == NULL));
        FUZZ_REQUIRE(counts.n_cut <= counts.n_samples && counts.n_missing <= counts.n_samples);
        FUZZ_REQUIRE((counts.n_missing > 0) == (counts.missing != NULL));
        snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
        FUZZ_REQUIRE(error || !stack_file_is(path));
        close(in);
        close(out);
        close(hidden);
        return 0;
}
