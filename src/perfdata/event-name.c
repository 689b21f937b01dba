/* SPDX-License-Identifier: MIT */
#include "perfdata/event-name.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static const char *const HARDWARE[] = {
        [PERF_COUNT_HW_CPU_CYCLES] = "cycles",
        [PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
        [PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
        [PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
        [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
        [PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
        [PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
        [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
        [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
        [PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const SOFTWARE[] = {
        [PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
        [PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
        [PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
        [PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
        [PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
        [PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
        [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
        [PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
        [PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
        [PERF_COUNT_SW_DUMMY] = "dummy",
        [PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
};

char *event_name_of_attr(const struct perf_event_attr *attr)
{
        static const struct {
                uint32_t type;
                const char *const *names;
                size_t n;
        } TYPES[] = {
                {PERF_TYPE_HARDWARE, HARDWARE, G_N_ELEMENTS(HARDWARE)},
                {PERF_TYPE_SOFTWARE, SOFTWARE, G_N_ELEMENTS(SOFTWARE)},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(TYPES); i++)
                if (attr->type == TYPES[i].type && attr->config < TYPES[i].n &&
                    TYPES[i].names[attr->config])
                        return g_strdup(TYPES[i].names[attr->config]);
        return g_strdup_printf("event %" PRIu32 "/0x%" PRIx64, (uint32_t)attr->type,
                               (uint64_t)attr->config);
}

bool event_name_is(const char *event, const char *name)
{
        const size_t n = strlen(name);

        return !strncmp(event, name, n) && (!event[n] || event[n] == ':');
}
