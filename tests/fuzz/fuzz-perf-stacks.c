/* SPDX-License-Identifier: MIT */

/* A perf.data file with any bytes: reads its samples, with their callers, in the order of time; and
 * removes processes from the file. */

#include "fuzz.h"
#include "unwind/narrow.h"
#include "unwind/sample-file.h"

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

typedef struct Seen {
        SampleFile *file;
        uint64_t n_walked, n_read;
} Seen;

static void see_walked(void *data, const PerfAttr *event, const PerfSample *sample)
{
        Seen *seen = data;
        char buffer[16];

        FUZZ_REQUIRE(event->name && *event->name);
        FUZZ_REQUIRE(sample_file_comm(seen->file, sample->tid, sample->time, buffer) != NULL);
        seen->n_walked++;
}

static bool see_read(const QueuedSample *sample, void *data)
{
        Seen *seen = data;

        FUZZ_REQUIRE(sample->event < seen->file->data.attrs->len);
        seen->n_read++;
        return true;
}

static void read_samples(const char *path)
{
        SampleFile file;
        Seen seen = {.file = &file};
        const SampleFileCalls calls = {.sample = see_walked, .data = &seen};
        const SampleFileCalls nothing = {0};
        g_autoptr(GError) error = NULL;
        g_auto(StackCounts) counts = {0};

        if (sample_file_open(&file, path, &error) &&
            sample_file_scan(&file, &(const StackSources){0}, &nothing, &error) &&
            sample_file_walk(&file, &calls, &error)) {
                if (file.walk)
                        stack_walk_count(file.walk, &counts);
                FUZZ_REQUIRE(sample_file_read(&file, see_read, &seen, &error));
                FUZZ_REQUIRE(seen.n_read == seen.n_walked && seen.n_read <= file.n_samples);
        } else {
                FUZZ_REQUIRE(error != NULL);
        }
        FUZZ_REQUIRE(counts.n_cut <= counts.n_samples && counts.n_missing <= counts.n_samples);
        FUZZ_REQUIRE((counts.n_missing > 0) == (counts.missing != NULL));
        sample_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const int in = memfd_create("perf.data", MFD_CLOEXEC);
        char path[64];

        FUZZ_REQUIRE(in >= 0 && pwrite(in, data, size, 0) == (ssize_t)size);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
        narrow(path);
        read_samples(path);
        close(in);
        return 0;
}
