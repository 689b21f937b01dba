/* SPDX-License-Identifier: MIT */

/* A core file; its contents are written as a perf.data file. */

#include "fuzz.h"
#include "moment/core-file.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const int in = memfd_create("core", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
        Moment *moment;
        GError *error = NULL;
        guint i;

        FUZZ_REQUIRE(in >= 0 && out >= 0 && pwrite(in, data, size, 0) == (ssize_t)size);
        moment = moment_of_core(in, &error);
        FUZZ_REQUIRE((moment == NULL) == (error != NULL));
        for (i = 0; moment && i < moment->threads->len; i++) {
                const MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);
                const StackMemory memory = moment_stack_memory(moment);
                uint64_t value;

                FUZZ_REQUIRE(thread->n_stack <= moment->max_stack);
                memory.read(memory.data, thread->tid, thread->registers[REGISTER_FP], &value);
        }
        for (i = 0; moment && i < moment->mappings->len; i++) {
                const MomentMapping *mapping = &g_array_index(moment->mappings, MomentMapping, i);

                FUZZ_REQUIRE(mapping->begin < mapping->end && mapping->path);
        }
        if (moment)
                FUZZ_REQUIRE(moment_write(moment, out, NULL));
        g_clear_error(&error);
        moment_free(moment);
        close(in);
        close(out);
        return 0;
}
