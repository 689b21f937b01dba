/* SPDX-License-Identifier: MIT */

/* The output of a debugger about threads, on each machine. */

#include "fuzz.h"
#include "moment/debugger-threads.h"
#include "step.h"

static void check_machine(const Machine *machine, const uint8_t *data, size_t size)
{
        Moment *moment = moment_new(1);
        GError *error = NULL;
        bool ok;
        guint i;

        moment->machine = machine;
        ok = debugger_threads_read(moment, (const char *)data, size, &error);
        FUZZ_REQUIRE(ok == (error == NULL));
        FUZZ_REQUIRE(!ok || (moment->threads->len && moment->threads->len <= DEBUGGER_THREADS_MAX));
        for (i = 0; i < moment->threads->len; i++) {
                const MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);

                FUZZ_REQUIRE(thread->tid > 0 && !thread->n_stack &&
                             memchr(thread->name, 0, sizeof(thread->name)));
        }
        g_clear_error(&error);
        moment_free(moment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FUZZ_MACHINES); i++)
                check_machine(machine_find(FUZZ_MACHINES[i]), data, size);
        return 0;
}
