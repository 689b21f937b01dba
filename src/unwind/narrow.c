/* SPDX-License-Identifier: MIT */
#include "unwind/narrow.h"

#include "unwind/rewrite.h"

#include <string.h>

/* The pid of the kernel's own mappings. */
#define KERNEL_PID (-1)

typedef struct Narrowing {
        Rewrite rewrite;
        ProcessScope *scope; /* borrowed */
        GArray *forks;       /* owned, of ForkRecord: of processes */
} Narrowing;

static int fork_compare(gconstpointer one, gconstpointer other)
{
        const ForkRecord *a = one, *b = other;

        return (a->time > b->time) - (a->time < b->time);
}

/* perf writes the records of each CPU in a separate order. */
static bool narrowing_take_forks(Narrowing *narrowing, GError **error)
{
        const struct perf_event_header *record;
        ForkRecord fork;
        guint i;

        do {
                if (!perf_data_next(&narrowing->rewrite.data, &record, error))
                        return false;
                if (record && fork_record_read(&fork, record) && fork.pid != fork.parent)
                        g_array_append_val(narrowing->forks, fork);
        } while (record);
        g_array_sort(narrowing->forks, fork_compare);
        for (i = 0; i < narrowing->forks->len; i++)
                process_scope_take(narrowing->scope,
                                   &g_array_index(narrowing->forks, ForkRecord, i).header);
        perf_data_rewind(&narrowing->rewrite.data);
        return true;
}

/* The places of process and time in a sample, in bytes. */
static bool sample_process(const struct perf_event_attr *attr,
                           const struct perf_event_header *record, int32_t *ret_pid,
                           uint64_t *ret_time)
{
        const uint64_t type = attr ? attr->sample_type : 0;
        const size_t at = perf_sample_pid_at(type);
        uint32_t pid;

        if (!(type & PERF_SAMPLE_TID) || !(type & PERF_SAMPLE_TIME))
                return false;
        if (at + 2 * sizeof(uint64_t) > record->size)
                return false;
        memcpy(&pid, (const uint8_t *)record + at, sizeof(pid));
        memcpy(ret_time, (const uint8_t *)record + at + sizeof(uint64_t), sizeof(*ret_time));
        *ret_pid = (int32_t)pid;
        return true;
}

/* Other records are of the machine, or of perf. */
static bool record_is_of_process(uint32_t type)
{
        switch (type) {
        case PERF_RECORD_MMAP:
        case PERF_RECORD_MMAP2:
        case PERF_RECORD_COMM:
        case PERF_RECORD_EXIT:
        case PERF_RECORD_FORK:
        case PERF_RECORD_NAMESPACES:
                return true;
        default:
                return false;
        }
}

/* The id of such a record has the process. */
static bool record_is_of_switch(uint32_t type)
{
        return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
}

static bool narrowing_wants(const Narrowing *narrowing, const struct perf_event_header *record)
{
        const PerfData *data = &narrowing->rewrite.data;
        PerfRecordId id;
        uint64_t time;
        uint32_t bytes;
        int32_t pid;

        if (record->type == PERF_RECORD_SAMPLE)
                return sample_process(perf_data_attr(data, record), record, &pid, &time) &&
                       process_scope_has(narrowing->scope, pid, time);
        if (record_is_of_switch(record->type))
                return perf_data_id(data, record, &id) &&
                       process_scope_has(narrowing->scope, id.pid, id.time);
        if (!record_is_of_process(record->type) || record->size < sizeof(*record) + sizeof(pid))
                return true;
        memcpy(&bytes, record + 1, sizeof(bytes));
        pid = (int32_t)bytes;
        return pid == KERNEL_PID || process_scope_had(narrowing->scope, pid);
}

static bool narrowing_write_records(Narrowing *narrowing, GError **error)
{
        const struct perf_event_header *record;

        do {
                if (!perf_data_next(&narrowing->rewrite.data, &record, error))
                        return false;
                if (record && narrowing_wants(narrowing, record) &&
                    !rewrite_put(&narrowing->rewrite, record, record->size, error))
                        return false;
        } while (record);
        return true;
}

static bool narrowing_run(Narrowing *narrowing, const char *path, int fd, GError **error)
{
        Rewrite *rewrite = &narrowing->rewrite;

        return rewrite_open(rewrite, path, fd, error) && narrowing_take_forks(narrowing, error) &&
               rewrite_begin(rewrite, error) && narrowing_write_records(narrowing, error) &&
               rewrite_end(rewrite, error) && rewrite_finish(rewrite, error);
}

bool perf_data_narrow(const char *path, int fd, ProcessScope *scope, GError **error)
{
        Narrowing narrowing = {.scope = scope,
                               .forks = g_array_new(FALSE, FALSE, sizeof(ForkRecord))};
        const bool ok = narrowing_run(&narrowing, path, fd, error);

        rewrite_deinit(&narrowing.rewrite);
        g_array_unref(narrowing.forks);
        return ok;
}
