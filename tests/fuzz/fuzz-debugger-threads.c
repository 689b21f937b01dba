/* SPDX-License-Identifier: MIT */

/* The threads that a debugger writes. */

#include "fuzz.h"
#include "moment/debugger-threads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        Moment *moment = moment_new(1);
        GError *error = NULL;
        const bool ok = debugger_threads_read(moment, (const char *)data, size, &error);
        guint i;

        FUZZ_REQUIRE(ok == (error == NULL));
        FUZZ_REQUIRE(!ok || (moment->threads->len && moment->threads->len <= DEBUGGER_THREADS_MAX));
        for (i = 0; i < moment->threads->len; i++) {
                const MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);

                FUZZ_REQUIRE(thread->tid > 0 && !thread->n_stack &&
                             memchr(thread->name, 0, sizeof(thread->name)));
        }
        g_clear_error(&error);
        moment_free(moment);
        return 0;
}
