/* SPDX-License-Identifier: MIT */
#include "unwind/sample-file.h"

#include "perfdata/error.h"
#include "perfdata/event-name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* In the file of chains, instead of a chain's number of addresses: the sample is unchanged. */
#define CHAIN_UNCHANGED UINT32_MAX
#define CHAIN_DROPPED   (UINT32_MAX - 1)

/* Places of the file of chains, if $TMPDIR does not exist. */
static const char *const OTHER_PLACES[] = {"/tmp", "/var/tmp", "/dev/shm"};

/* The most words that a chain can have: those of a record, and of a walk. */
#define MAX_CHAIN ((1u << 14) + STACK_WALK_MAX_DEEP)

/* In the file of chains, before the addresses. */
typedef struct ChainMoment {
        uint64_t time, ip; /* as in PerfSample */
} ChainMoment;

static bool event_is_off_cpu(const PerfAttr *event)
{
        return event->name && event_name_is(event->name, OFF_CPU_EVENT);
}

static bool sample_file_has_waits(const SampleFile *file)
{
        const GArray *attrs = file->data.attrs;
        guint i;

        for (i = 0; i < attrs->len; i++)
                if (event_is_off_cpu(&g_array_index(attrs, PerfAttr, i)))
                        return true;
        return false;
}

bool sample_file_open(SampleFile *ret_file, const char *path, GError **error)
{
        *ret_file = (SampleFile){
                .spaces = address_spaces_new(),
                .names = thread_names_new(),
        };
        if (!perf_data_open(&ret_file->data, path, error))
                return false;
        if (sample_file_has_waits(ret_file))
                ret_file->switches = switches_new(SWITCHES_MAX);
        return true;
}

void sample_file_close(SampleFile *file)
{
        perf_data_deinit(&file->data);
        g_clear_pointer(&file->walk, stack_walk_free);
        g_clear_pointer(&file->spaces, address_spaces_free);
        g_clear_pointer(&file->names, thread_names_free);
        g_clear_pointer(&file->switches, switches_free);
        g_clear_pointer(&file->chains, fclose);
        g_clear_pointer(&file->max_frames, g_free);
        osr_callers_deinit(&file->callers);
}

static bool sample_file_goes_on(const SampleFile *file, GError **error)
{
        if (!file->progress || !file->progress(MIN(file->data.next, file->data.size),
                                               file->data.size, file->progress_data))
                return true;
        g_set_error_literal(error, PERFDATA_ERROR, PERFDATA_ERROR_SYSTEM, "interrupted");
        return false;
}

static void sample_file_rewind(SampleFile *file)
{
        perf_data_rewind(&file->data);
        file->n_damaged = 0;
}

/* The next complete sample; RET_EVENT is NULL at the end. FN gets the records before it. */
static bool sample_file_next(SampleFile *file, void (*fn)(void *, const struct perf_event_header *),
                             void *data, const struct perf_event_header **ret_record,
                             const PerfAttr **ret_event, PerfSample *ret_sample, GError **error)
{
        *ret_event = NULL;
        for (;;) {
                if (!perf_data_next(&file->data, ret_record, error))
                        return false;
                if (!*ret_record)
                        return true;
                if ((*ret_record)->type != PERF_RECORD_SAMPLE) {
                        if (fn)
                                fn(data, *ret_record);
                        continue;
                }
                *ret_event = perf_data_event(&file->data, *ret_record);
                if (*ret_event && perf_sample_read(&(*ret_event)->attr, *ret_record, ret_sample))
                        return sample_file_goes_on(file, error);
                *ret_event = NULL;
                file->n_damaged++;
        }
}

typedef struct SampleScan {
        SampleFile *file;
        const SampleFileCalls *calls;
} SampleScan;

static void scan_take_record(void *data, const struct perf_event_header *record)
{
        const SampleScan *scan = data;
        const uint64_t time = perf_data_time(&scan->file->data, record);
        PerfRecordId id;

        address_spaces_take(scan->file->spaces, record, time);
        thread_names_take(scan->file->names, record, time);
        if (scan->file->switches && perf_data_id(&scan->file->data, record, &id))
                switches_take(scan->file->switches, &id, record);
        if (scan->calls->record)
                scan->calls->record(scan->calls->data, record, time);
}

static void sample_file_set_max_frames(SampleFile *file)
{
        const GArray *attrs = file->data.attrs;
        guint i;

        file->max_frames = g_new(unsigned, attrs->len);
        for (i = 0; i < attrs->len; i++)
                file->max_frames[i] =
                        stack_walk_max_frames(file->walk, &g_array_index(attrs, PerfAttr, i));
}

bool sample_file_scan(SampleFile *file, const StackSources *sources, const SampleFileCalls *calls,
                      GError **error)
{
        const struct perf_event_header *record;
        SampleScan scan = {file, calls};
        const PerfAttr *event;
        PerfSample sample;
        bool has_copies;

        if (!stack_walk_check(&file->data, &has_copies, error))
                return false;
        sample_file_rewind(file);
        if (stack_walk_machine(&file->data.features) && (sources->methods || has_copies))
                file->walk = stack_walk_new(&file->data, file->spaces, sources);
        do {
                if (!sample_file_next(file, scan_take_record, &scan, &record, &event, &sample,
                                      error))
                        return false;
                if (!event)
                        break;
                file->n_samples++;
                if (file->walk)
                        stack_walk_note(file->walk, event, record, &sample);
        } while (true);
        if (file->walk)
                stack_walk_begin(file->walk);
        sample_file_set_max_frames(file);
        return true;
}

/* A file without a name. */
static FILE *chains_open(void)
{
        const char *named = g_getenv("TMPDIR");
        int fd = named && *named ? open(named, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
        size_t i;

        for (i = 0; fd < 0 && i < G_N_ELEMENTS(OTHER_PLACES); i++)
                fd = open(OTHER_PLACES[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        return fd >= 0 ? fdopen(fd, "w+") : NULL;
}

static bool chains_fail(GError **error)
{
        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_SYSTEM,
                    "its callers cannot be written to a temporary file: %s", g_strerror(errno));
        return false;
}

/* Stores the chain of a sample, if the walk finds another one than perf's. False: no room. */
static bool sample_file_walk_one(SampleFile *file, const PerfAttr *event,
                                 const struct perf_event_header *record, PerfSample *sample,
                                 bool *ret_is_dropped)
{
        const uint64_t *chain = NULL;
        ChainMoment moment;
        uint32_t n;
        size_t n_chain = 0;

        switch (stack_walk_sample(file->walk, event, sample, &chain, &n_chain)) {
        case WALK_CHAIN:
                n = (uint32_t)n_chain;
                sample->chain = chain;
                sample->n_chain = n_chain;
                break;
        case WALK_DROPPED:
                n = CHAIN_DROPPED;
                *ret_is_dropped = true;
                break;
        default:
                n = CHAIN_UNCHANGED;
                break;
        }
        moment = (ChainMoment){sample->time, sample->ip};
        return fwrite(&n, sizeof(n), 1, file->chains) == 1 &&
               (!chain || (fwrite(&moment, sizeof(moment), 1, file->chains) == 1 &&
                           fwrite(chain, sizeof(*chain), n_chain, file->chains) == n_chain));
}

bool sample_file_walk(SampleFile *file, const SampleFileCalls *calls, GError **error)
{
        const struct perf_event_header *record;
        const PerfAttr *event;
        const OsrCaller *rows;
        PerfSample sample;
        size_t n;

        if (file->walk && !file->chains && !(file->chains = chains_open()))
                return chains_fail(error);
        sample_file_rewind(file);
        for (;;) {
                bool is_dropped = false;

                if (!sample_file_next(file, NULL, NULL, &record, &event, &sample, error))
                        return false;
                if (!event)
                        break;
                if (file->walk && !sample_file_walk_one(file, event, record, &sample, &is_dropped))
                        return chains_fail(error);
                if (!is_dropped)
                        calls->sample(calls->data, event, &sample);
        }
        if (!file->walk)
                return true;
        rows = stack_walk_hidden(file->walk, &n);
        return osr_callers_init(&file->callers, rows, n) &&
               (fflush(file->chains) == 0 || chains_fail(error));
}

/* The chain of the walk for SAMPLE. BUFFER: MAX_CHAIN words. */
static bool sample_file_take_chain(SampleFile *file, PerfSample *sample, uint64_t *buffer,
                                   bool *ret_is_dropped, GError **error)
{
        ChainMoment moment;
        uint32_t n;

        if (fread(&n, sizeof(n), 1, file->chains) != 1)
                return chains_fail(error);
        *ret_is_dropped = n == CHAIN_DROPPED;
        if (n == CHAIN_UNCHANGED || n == CHAIN_DROPPED)
                return true;
        if (n > MAX_CHAIN || fread(&moment, sizeof(moment), 1, file->chains) != 1 ||
            fread(buffer, sizeof(*buffer), n, file->chains) != n)
                return chains_fail(error);
        sample->time = moment.time;
        sample->ip = moment.ip;
        sample->chain = buffer;
        sample->n_chain = n;
        return true;
}

static uint32_t sample_file_event(const SampleFile *file, const PerfAttr *event)
{
        return (uint32_t)(event - (const PerfAttr *)(const void *)file->data.attrs->data);
}

unsigned sample_file_max_frames(const SampleFile *file, const PerfAttr *event)
{
        return file->max_frames[sample_file_event(file, event)];
}

/* Sets the period of ROW, of a thread that lost its CPU, to the ns of its wait. False: there was no
 * wait, or it is not known. */
static bool sample_file_weigh(SampleFile *file, QueuedSample *row)
{
        const WaitKind kind = switches_find(file->switches, row->tid, row->time, &row->period);

        row->is_waiting_for_cpu = kind == WAIT_FOR_CPU;
        file->n_waits++;
        file->n_uncertain_waits += kind == WAIT_UNCERTAIN;
        return row->period > 0;
}

static bool sample_file_queue(SampleFile *file, SampleQueue *queue, const PerfAttr *event,
                              const PerfSample *sample)
{
        QueuedSample row = {
                .time = sample->time,
                .ip = sample->ip,
                .period = sample->period,
                .pid = sample->pid,
                .tid = sample->tid,
                .cpu = sample->cpu,
                .event = sample_file_event(file, event),
                .n_chain = (uint32_t)sample->n_chain,
        };

        /* Thread 0 is an idle CPU, and -1 is a thread that has ended. */
        if (file->switches && event_is_off_cpu(event) &&
            (sample->tid <= 0 || !sample_file_weigh(file, &row)))
                return true;
        return sample_queue_add(queue, &row, sample->chain);
}

/* What a reading does between two samples. */
typedef struct SampleRounds {
        SampleQueue *queue;
        bool goes_on;
} SampleRounds;

static void rounds_take_record(void *data, const struct perf_event_header *record)
{
        SampleRounds *rounds = data;

        if (record->type == PERF_RECORD_FINISHED_ROUND && rounds->goes_on)
                rounds->goes_on = sample_queue_round(rounds->queue);
}

static bool sample_file_read_all(SampleFile *file, SampleQueue *queue, uint64_t *buffer,
                                 GError **error)
{
        SampleRounds rounds = {queue, true};

        while (rounds.goes_on) {
                const struct perf_event_header *record;
                const PerfAttr *event;
                bool is_dropped = false;
                PerfSample sample;

                if (!sample_file_next(file, rounds_take_record, &rounds, &record, &event, &sample,
                                      error))
                        return false;
                if (!event)
                        return rounds.goes_on && sample_queue_end(queue);
                if (file->chains &&
                    !sample_file_take_chain(file, &sample, buffer, &is_dropped, error))
                        return false;
                if (rounds.goes_on && !is_dropped)
                        rounds.goes_on = sample_file_queue(file, queue, event, &sample);
        }
        return false;
}

bool sample_file_read(SampleFile *file, QueuedSampleFn fn, void *data, GError **error)
{
        g_autofree uint64_t *buffer = g_new(uint64_t, MAX_CHAIN);
        SampleQueue queue;
        bool ok;

        sample_file_rewind(file);
        file->n_waits = file->n_uncertain_waits = 0;
        if (file->chains)
                rewind(file->chains);
        sample_queue_init(&queue, fn, data);
        ok = sample_file_read_all(file, &queue, buffer, error);
        sample_queue_deinit(&queue);
        return ok;
}

const char *sample_file_comm(SampleFile *file, int32_t tid, uint64_t time,
                             char buffer[THREAD_NAME_SIZE])
{
        const char *name = tid ? thread_names_find(file->names, tid, time) : "swapper";

        if (name)
                return name;
        g_snprintf(buffer, THREAD_NAME_SIZE, ":%d", tid);
        return buffer;
}
