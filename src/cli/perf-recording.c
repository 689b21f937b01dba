/* SPDX-License-Identifier: MIT */
#include "cli/perf-recording.h"

#include "metadata/byte-cursor.h"
#include "perfdata/address-space.h"
#include "util/seconds-text.h"

#include <string.h>
#include <time.h>

/* Index in a PERF_RECORD_NAMESPACES, after net, uts and ipc. */
#define PID_NS_INDEX 3u

/* A file's time of change can be some milliseconds late, and the time of day may be adjusted. */
#define CHANGE_SLACK_NS (NS_PER_SECOND / 10)

static void process_free(gpointer data)
{
        RecordingProcess *process = data;

        g_free(process->comm);
        g_array_unref(process->addresses);
        g_free(process);
}

static void event_free(gpointer data)
{
        RecordingEvent *event = data;

        g_free(event->name);
        g_free(event);
}

static void mapping_clear(gpointer data)
{
        mapping_deinit(data);
}

static void binary_clear(gpointer data)
{
        g_free(((Binary *)data)->path);
}

Recording *recording_new(void)
{
        Recording *recording = g_new0(Recording, 1);

        recording->clock_id = RECORDING_OWN_CLOCK;
        recording->events = g_ptr_array_new_with_free_func(event_free);
        recording->processes = g_ptr_array_new_with_free_func(process_free);
        recording->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
        g_array_set_clear_func(recording->mappings, mapping_clear);
        recording->binaries = g_array_new(FALSE, FALSE, sizeof(Binary));
        g_array_set_clear_func(recording->binaries, binary_clear);
        recording->paths = g_hash_table_new(g_str_hash, g_str_equal);
        recording->pid_ns = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        recording->by_pid = g_hash_table_new(NULL, NULL);
        return recording;
}

void recording_free(Recording *recording)
{
        if (!recording)
                return;
        g_ptr_array_unref(recording->events);
        g_ptr_array_unref(recording->processes);
        g_array_unref(recording->mappings);
        g_hash_table_unref(recording->paths);
        g_array_unref(recording->binaries);
        g_hash_table_unref(recording->pid_ns);
        g_hash_table_unref(recording->by_pid);
        g_free(recording);
}

static const char *recording_clock_name(int clock)
{
        static const struct {
                int clock;
                const char *name;
        } ROWS[] = {
                {CLOCK_REALTIME, "realtime"},
                {CLOCK_MONOTONIC, "monotonic"},
                {CLOCK_PROCESS_CPUTIME_ID, "process"},
                {CLOCK_THREAD_CPUTIME_ID, "thread"},
                {CLOCK_MONOTONIC_RAW, "monotonic_raw"},
                {CLOCK_BOOTTIME, "boottime"},
                {CLOCK_TAI, "tai"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (ROWS[i].clock == clock)
                        return ROWS[i].name;
        return NULL;
}

/* The form of the callers in samples. */
static const char *attr_stacks(const struct perf_event_attr *attr)
{
        if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
                return "none";
        if (attr->sample_type & PERF_SAMPLE_STACK_USER)
                return perf_sample_has(attr) ? "copies" : "dwarf";
        return attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
                               attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK
                       ? "lbr"
                       : "frames";
}

static void recording_take_clock(Recording *recording, const struct perf_event_attr *attr)
{
        if (attr->use_clockid)
                recording->clock_id = attr->clockid;
        recording->clock_name = recording_clock_name(recording->clock_id);
}

void recording_take_header(Recording *recording, const PerfData *data)
{
        /* perf has one clock for all events. */
        if (data->attrs->len)
                recording_take_clock(recording, &g_array_index(data->attrs, PerfAttr, 0).attr);
        recording->reference = data->features.reference;
}

static void recording_add_binary(Recording *recording, const Mapping *mapping)
{
        Binary binary = {.pid = mapping->pid};

        if (recording->binaries->len >= BINARIES_MAX ||
            g_hash_table_contains(recording->paths, mapping->path))
                return;
        binary.path = g_strdup(mapping->path);
        g_hash_table_add(recording->paths, binary.path);
        g_array_append_val(recording->binaries, binary);
}

static void recording_take_mapping(Recording *recording, const struct perf_event_header *record,
                                   uint64_t time)
{
        MappingRecord row;
        Mapping mapping;

        if (!mapping_record_read(&row, record) || !row.is_executable || row.path[0] != '/' ||
            !row.size || row.pid == KERNEL_PID)
                return;
        mapping = (Mapping){
                .pid = row.pid,
                .start = row.address,
                .end = row.address + row.size,
                .offset = row.offset,
                .time = time,
                .major = row.major,
                .minor = row.minor,
                .inode = row.inode,
                /* Mappings from before the recording are from /proc, which has no generations. */
                .has_generation = row.generation != 0,
                .generation = row.generation,
                .path = (char *)row.path,
        };
        if (!mapping_is_assembly(&mapping))
                recording_add_binary(recording, &mapping);
        if (mapping_may_have_assemblies(&mapping)) {
                mapping.path = strdup(row.path);
                g_array_append_val(recording->mappings, mapping);
        }
}

/* PERF_RECORD_NAMESPACES: process and thread, the number of rows, and a row for each namespace. */
static void recording_take_namespaces(Recording *recording, const struct perf_event_header *record)
{
        ByteCursor cursor = {.at = (const uint8_t *)(record + 1),
                             .n = record->size - sizeof(*record)};
        const uint32_t pid = byte_cursor_u32(&cursor);
        uint64_t n, i;

        byte_cursor_u32(&cursor);
        n = byte_cursor_u64(&cursor);
        for (i = 0; i < n && !cursor.has_failed; i++) {
                uint64_t inode;

                byte_cursor_u64(&cursor); /* device */
                inode = byte_cursor_u64(&cursor);
                if (i == PID_NS_INDEX && !cursor.has_failed)
                        g_hash_table_insert(recording->pid_ns, GINT_TO_POINTER((int32_t)pid),
                                            g_memdup2(&inode, sizeof(inode)));
        }
}

static void recording_take_lost(Recording *recording, const struct perf_event_header *record)
{
        ByteCursor cursor = {.at = (const uint8_t *)(record + 1),
                             .n = record->size - sizeof(*record)};
        uint64_t n;

        if (record->type == PERF_RECORD_LOST)
                byte_cursor_u64(&cursor); /* id */
        n = byte_cursor_u64(&cursor);
        recording->n_lost += cursor.has_failed ? 0 : n;
}

void recording_take_record(Recording *recording, const struct perf_event_header *record,
                           uint64_t time)
{
        switch (record->type) {
        case PERF_RECORD_MMAP2:
                recording_take_mapping(recording, record, time);
                break;
        case PERF_RECORD_NAMESPACES:
                recording_take_namespaces(recording, record);
                break;
        case PERF_RECORD_LOST:
        case PERF_RECORD_LOST_SAMPLES:
                recording_take_lost(recording, record);
                break;
        default:
                break;
        }
}

static void recording_count_event(Recording *recording, const char *name)
{
        RecordingEvent *event;
        guint i;

        for (i = 0; i < recording->events->len; i++) {
                event = recording->events->pdata[i];
                if (!strcmp(event->name, name)) {
                        event->n_samples++;
                        return;
                }
        }
        event = g_new0(RecordingEvent, 1);
        event->name = g_strdup(name);
        event->n_samples = 1;
        g_ptr_array_add(recording->events, event);
}

static RecordingProcess *recording_process(Recording *recording, int32_t pid)
{
        RecordingProcess *process = recording->last;

        if (process && process->pid == pid)
                return process;
        process = g_hash_table_lookup(recording->by_pid, GINT_TO_POINTER(pid));
        if (!process) {
                process = g_new0(RecordingProcess, 1);
                process->pid = pid;
                process->first = UINT64_MAX;
                process->stride = 1;
                process->addresses = g_array_new(FALSE, FALSE, sizeof(RecordingAddress));
                g_ptr_array_add(recording->processes, process);
                g_hash_table_insert(recording->by_pid, GINT_TO_POINTER(pid), process);
        }
        recording->last = process;
        return process;
}

void recording_take_sample(Recording *recording, const PerfAttr *event, const PerfSample *sample,
                           const char *comm)
{
        const bool is_main = sample->pid == sample->tid;
        RecordingProcess *process = recording_process(recording, sample->pid);

        if (!recording->stacks) {
                recording->stacks = attr_stacks(&event->attr);
                recording_take_clock(recording, &event->attr);
        }
        recording_count_event(recording, event->name);
        process->n_samples++;
        process->first = MIN(process->first, sample->time);
        process->last = MAX(process->last, sample->time);
        if (!process->comm || (is_main && !process->has_main)) {
                g_free(process->comm);
                process->comm = g_strdup(comm);
        }
        process->has_main |= is_main;
}

RecordingProcess *recording_wants_addresses(Recording *recording, const PerfSample *sample)
{
        RecordingProcess *process =
                sample->pid > 0 ? recording_process(recording, sample->pid) : NULL;

        return process && process->n_seen++ % process->stride == 0 ? process : NULL;
}

void recording_process_add(RecordingProcess *process, uint64_t address, uint64_t time)
{
        const RecordingAddress row = {address, time};
        GArray *addresses = process->addresses;
        guint i;

        if (addresses->len == RECORDING_MAX_ADDRESSES) {
                for (i = 0; i < RECORDING_MAX_ADDRESSES / 2; i++)
                        g_array_index(addresses, RecordingAddress, i) =
                                g_array_index(addresses, RecordingAddress, 2 * i);
                g_array_set_size(addresses, RECORDING_MAX_ADDRESSES / 2);
                process->stride *= 2;
        }
        g_array_append_val(addresses, row);
}

void recording_finish(Recording *recording)
{
        guint i;

        for (i = 0; i < recording->processes->len; i++) {
                RecordingProcess *process = g_ptr_array_index(recording->processes, i);
                const uint64_t *pid_ns =
                        g_hash_table_lookup(recording->pid_ns, GINT_TO_POINTER(process->pid));

                if (pid_ns) {
                        process->has_pid_ns = true;
                        process->pid_ns = *pid_ns;
                }
        }
}

/* In a sample without a time, perf stores 0 or the largest number. */
bool recording_has_times(const Recording *recording)
{
        guint i;

        for (i = 0; i < recording->processes->len; i++) {
                const RecordingProcess *process = recording->processes->pdata[i];

                if (process->last && process->first != UINT64_MAX)
                        return true;
        }
        return false;
}

void recording_write_mappings(const Recording *recording, FILE *file)
{
        guint i;

        for (i = 0; i < recording->mappings->len; i++) {
                Mapping mapping = g_array_index(recording->mappings, Mapping, i);

                /* The file was not changed later than that before the recording began, either. */
                mapping.since = perf_reference_time_of_day(&recording->reference, mapping.time);
                mapping.since -= MIN(mapping.since, CHANGE_SLACK_NS);
                mapping_write(&mapping, file);
        }
}
