/* SPDX-License-Identifier: MIT */
#include "cli/perf-nettrace.h"

#include "nettrace/file.h"
#include "profile/profile.h"
#include "record/runtime-sampler.h"
#include "util/fd.h"
#include "util/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* The host of programs that are assemblies. */
#define HOST     "dotnet"
#define ASSEMBLY ".dll"

#define ENDING ".nettrace"

/* The files of the directory PATH whose names identify processes; else PATH itself. */
static GPtrArray *sample_files(const char *path)
{
        GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        if (!directory)
                g_ptr_array_add(files, g_strdup(path));
        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_suffix(name, ENDING))
                        g_ptr_array_add(files, g_build_filename(path, name, NULL));
        return files;
}

/* Parses HOSTPID-PIDNS-PID.nettrace. False: PATH has another form. */
static bool sample_file_process(const char *path, ProcessMap *ret_map)
{
        g_autofree char *name = g_path_get_basename(path);
        uint64_t pid_ns;
        int32_t host_pid, pid;
        int n = 0;

        if (sscanf(name, "%" SCNd32 "-%" SCNu64 "-%" SCNd32 ENDING "%n", &host_pid, &pid_ns, &pid,
                   &n) != 3 ||
            (size_t)n != strlen(name) || host_pid <= 0 || pid <= 0)
                return false;
        *ret_map = (ProcessMap){host_pid, {.pid = pid, .has_pid_ns = true, .pid_ns = pid_ns}};
        return true;
}

bool perf_nettrace_is(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        g_autoptr(GPtrArray) files = NULL;
        ProcessMap map;

        if (fd < 0)
                return false;
        if (nettrace_file_is(fd))
                return true;
        files = sample_files(path);
        return files->len > 0 && sample_file_process(files->pdata[0], &map);
}

/* A pass through all files. */
typedef struct SamplePass {
        const char *path;
        int32_t pid; /* pid from the name of the current file; 0: none */
        NettraceSampleFn fn;
        void *data;
        bool (*goes_on)(void *data); /* NULL: read to the end */
        Progress *progress;          /* borrowed */
        uint64_t n_before, n_total;  /* bytes before the current file, and of all files */
        NettraceReader *reader;      /* owned */
        uint64_t n_lost;             /* events of any kind */
        bool is_cut;                 /* a file ends before its session */
} SamplePass;

/* Counts lost events. Drops other events: another reader uses them for names. */
static void pass_drain(SamplePass *pass)
{
        NettraceItem item;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(pass->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_GAP && gap.count != GAP_COUNT_UNKNOWN)
                        pass->n_lost += gap.count;
}

static bool pass_read(SamplePass *pass, NettraceFile *file, GError **error)
{
        NettraceFileResult result;

        do {
                result = nettrace_file_push(file, pass->reader, error);
                pass_drain(pass);
                progress_show(pass->n_before + file->n_read, pass->n_total, pass->progress);
                if (perf_caught_signal())
                        g_set_error_literal(error, PERF_ERROR, 0, "interrupted");
        } while (result == NETTRACE_FILE_MORE && !perf_caught_signal() &&
                 (!pass->goes_on || pass->goes_on(pass->data)));
        return result != NETTRACE_FILE_ERROR && !perf_caught_signal();
}

static bool pass_run_file(SamplePass *pass, const char *path, GError **error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ProcessMap map;
        NettraceFile file;
        bool ok;

        if (fd < 0) {
                g_set_error(error, PERF_ERROR, 0, "%s: %s", path, g_strerror(errno));
                return false;
        }
        pass->pid = sample_file_process(path, &map) ? map.perf_pid : 0;
        g_clear_pointer(&pass->reader, nettrace_reader_free);
        pass->reader = nettrace_reader_new(EVENT_USE_NONE);
        nettrace_reader_take_samples(pass->reader, pass->fn, pass->data);
        ok = nettrace_file_init(&file, fd, error);
        if (ok) {
                ok = pass_read(pass, &file, error);
                pass->is_cut = pass->is_cut || (ok && !nettrace_reader_is_complete(pass->reader));
                pass->n_before += file.n_read;
                nettrace_file_deinit(&file);
        }
        if (!ok)
                g_prefix_error(error, "%s: ", path);
        return ok;
}

static bool pass_run(SamplePass *pass, GError **error)
{
        g_autoptr(GPtrArray) files = sample_files(pass->path);
        struct stat st;
        bool ok = true;
        guint i;

        for (i = 0; i < files->len; i++)
                if (stat(files->pdata[i], &st) == 0)
                        pass->n_total += (uint64_t)st.st_size;
        for (i = 0; ok && i < files->len && (!pass->goes_on || pass->goes_on(pass->data)); i++)
                ok = pass_run_file(pass, files->pdata[i], error);
        progress_end_reading(pass->progress);
        return ok;
}

/* A round of the sampler: the first sample of each thread. Threads have the same order in all
 * rounds. */
typedef struct SampleRound {
        GHashTable *tids; /* owned */
        bool is_over;     /* a thread has come again */
} SampleRound;

/* Further threads are left out. */
#define ROUND_MAX_THREADS 32768u

/* True if SAMPLE, the next one, belongs to the round. */
static bool round_takes(SampleRound *round, const NettraceSample *sample)
{
        if (round->is_over || sample->kind != NETTRACE_SAMPLE_THREAD)
                return false;
        round->is_over = !g_hash_table_add(round->tids, GINT_TO_POINTER(sample->tid)) ||
                         g_hash_table_size(round->tids) > ROUND_MAX_THREADS;
        return !round->is_over;
}

static void pass_deinit(SamplePass *pass)
{
        g_clear_pointer(&pass->reader, nettrace_reader_free);
}

/* The events of samples in the order of preference. Of events with one name, the first with samples
 * counts. */
static const struct {
        NettraceSampleKind kind;
        const char *name;
        const char *type; /* prefix of a type's name, which is the leaf then; or NULL */
} SAMPLE_EVENTS[] = {
        {NETTRACE_SAMPLE_THREAD, PROFILE_EVENT_MANAGED, NULL},
        {NETTRACE_SAMPLE_ALLOC_SAMPLED, PROFILE_EVENT_ALLOC, "new "},
        {NETTRACE_SAMPLE_ALLOC_TICK, PROFILE_EVENT_ALLOC, "new "},
        {NETTRACE_SAMPLE_CONTENTION, PROFILE_EVENT_CONTENTION, NULL},
        {NETTRACE_SAMPLE_EXCEPTION, PROFILE_EVENT_EXCEPTION, "throw "},
};

static const char *sample_type_verb(NettraceSampleKind kind)
{
        size_t i = 0;

        while (SAMPLE_EVENTS[i].kind != kind)
                i++;
        return SAMPLE_EVENTS[i].type;
}

static void count_sample(void *data, const NettraceSample *sample)
{
        uint64_t *counts = data;

        counts[sample->kind]++;
}

/* COUNTS: by kind. */
static void events_add(GPtrArray *events, const uint64_t *counts)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SAMPLE_EVENTS); i++) {
                const uint64_t n = counts[SAMPLE_EVENTS[i].kind];
                const RecordingEvent *last =
                        events->len ? g_ptr_array_index(events, events->len - 1) : NULL;
                RecordingEvent *event;

                if (!n || (last && !strcmp(last->name, SAMPLE_EVENTS[i].name)))
                        continue;
                event = g_new0(RecordingEvent, 1);
                event->name = g_strdup(SAMPLE_EVENTS[i].name);
                event->kind = SAMPLE_EVENTS[i].kind;
                event->n_samples = n;
                g_ptr_array_add(events, event);
        }
}

char *perf_nettrace_mappings(const char *path)
{
        g_autofree char *file = g_build_filename(path, RUNTIME_SAMPLER_MAPPINGS, NULL);
        char *text = NULL;

        return g_file_get_contents(file, &text, NULL, NULL) ? text : g_strdup("");
}

static void files_add_maps(const char *path, GArray *maps)
{
        g_autoptr(GPtrArray) files = sample_files(path);
        ProcessMap map;
        guint i;

        for (i = 0; i < files->len; i++)
                if (sample_file_process(files->pdata[i], &map))
                        g_array_append_val(maps, map);
}

bool perf_nettrace_survey(const char *path, Recording *recording, GArray *maps, Progress *progress,
                          GError **error)
{
        uint64_t counts[_NETTRACE_SAMPLE_KIND_MAX] = {0};
        SamplePass pass = {.path = path, .fn = count_sample, .data = counts, .progress = progress};
        const NettraceHeader *header;
        bool ok;

        ok = pass_run(&pass, error);
        events_add(recording->events, counts);
        files_add_maps(path, maps);
        header = ok && pass.reader ? nettrace_reader_header(pass.reader) : NULL;
        if (header) {
                recording->reference = perf_reference_new(header->begin, header->clock_offset);
                recording->n_lost = pass.n_lost;
        }
        pass_deinit(&pass);
        /* A file of a killed program, which record keeps, is truncated, too; record knows of the
         * end. */
        if (ok && pass.is_cut && !g_file_test(path, G_FILE_TEST_IS_DIR))
                message_print("clrsym",
                              "%s ends before its session: its program was killed, or the file is "
                              "truncated; later samples are missing",
                              path);
        if (!ok || recording->events->len)
                return ok;
        g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES,
                    "%s has no samples of the runtime's sampler: record it with the provider "
                    "Microsoft-DotNETCore-SampleProfiler (dotnet-trace collect --providers)",
                    path);
        return false;
}

typedef struct RoundCount {
        SampleRound round;  /* the current round */
        SamplerRounds *ret; /* borrowed */
        uint64_t begin;     /* ns: time of the first sample */
} RoundCount;

/* A NettraceSampleFn. */
static void round_count_sample(void *data, const NettraceSample *sample)
{
        RoundCount *count = data;
        SamplerRounds *rounds = count->ret;

        if (sample->kind != NETTRACE_SAMPLE_THREAD)
                return;
        if (!round_takes(&count->round, sample)) {
                g_hash_table_remove_all(count->round.tids);
                count->round.is_over = false;
                round_takes(&count->round, sample);
        }
        if (g_hash_table_size(count->round.tids) == 1 && !rounds->n_rounds++)
                count->begin = sample->time;
        if (rounds->n_rounds != 1)
                return;
        rounds->n_threads = g_hash_table_size(count->round.tids);
        rounds->n_cut += sample->n_addresses >= SAMPLE_ROUND_MAX_FRAMES;
        rounds->duration = sample->time > count->begin ? sample->time - count->begin : 0;
}

bool perf_nettrace_rounds(const char *path, SamplerRounds *ret, GError **error)
{
        Progress progress;
        RoundCount count = {.ret = ret, .round.tids = g_hash_table_new(NULL, NULL)};
        SamplePass pass = {
                .path = path, .fn = round_count_sample, .data = &count, .progress = &progress};
        bool ok;

        *ret = (SamplerRounds){0};
        progress_init(&progress, NULL);
        ok = pass_run(&pass, error);
        ret->is_ended = ok && pass.reader && !pass.is_cut;
        ret->n_lost = pass.n_lost;
        pass_deinit(&pass);
        g_hash_table_unref(count.round.tids);
        return ok;
}

typedef struct SampleNaming {
        PerfRun *run;                /* borrowed */
        const SamplePass *pass;      /* borrowed */
        const RecordingEvent *event; /* borrowed */
        GHashTable *programs;        /* owned: pid -> owned name of its program */
        SampleRound round;           /* with THREADS, only its samples are named */
        const RoundThreads *threads; /* borrowed; NULL: all samples are named */
        bool has_failed;
} SampleNaming;

/* "/usr/bin/dotnet app.dll x": app; "/opt/app x": app. */
static char *program_of_command(const char *command)
{
        g_auto(GStrv) words = g_strsplit(command, " ", -1);
        g_autofree char *host = words[0] ? g_path_get_basename(words[0]) : NULL;
        size_t i;

        for (i = 1; !g_strcmp0(host, HOST) && words[i]; i++) {
                g_autofree char *name = g_path_get_basename(words[i]);

                if (g_str_has_suffix(name, ASSEMBLY))
                        return g_strndup(name, strlen(name) - strlen(ASSEMBLY));
        }
        return g_steal_pointer(&host);
}

static int naming_take_process(const clrsym_process *process, void *data)
{
        SampleNaming *naming = data;
        const int32_t pid = perf_run_pid(naming->run, process);

        if (process->command && *process->command)
                g_hash_table_insert(naming->programs, GINT_TO_POINTER(pid),
                                    program_of_command(process->command));
        return 0;
}

/* Such a file has no names of threads: threads get the name of their process. */
static const char *naming_program(SampleNaming *naming, int32_t pid)
{
        char *program = g_hash_table_lookup(naming->programs, GINT_TO_POINTER(pid));

        if (!program) {
                program = g_strdup_printf("process %d", (int)pid);
                g_hash_table_insert(naming->programs, GINT_TO_POINTER(pid), program);
        }
        return program;
}

static bool naming_add_entry(Namer *namer, uint64_t ip, NamedKind kind, const char *name)
{
        Entry *entry = batch_add_entry(&namer->batch);

        if (!entry)
                return false;
        entry->ip = ip;
        entry->source = name ? FRAME_SOURCE_MARK : FRAME_SOURCE_SYMBOL;
        entry->frame = frames_symbol(&namer->frames, kind, name, NULL);
        return entry->frame != INDEX_NONE;
}

/* Adds the leaf above the stack: native code, or the type of an object or an exception. A wait for
 * a lock has no leaf. */
static bool naming_add_leaf(Namer *namer, const NettraceSample *sample)
{
        const char *verb = sample_type_verb(sample->kind);
        g_autofree char *name = verb && sample->type ? g_strconcat(verb, sample->type, NULL) : NULL;

        if (sample->kind == NETTRACE_SAMPLE_THREAD && !sample->is_managed)
                return naming_add_entry(namer, 0, NAMED_NATIVE, PROFILE_NOT_MANAGED);
        return !name || naming_add_entry(namer, 0, NAMED_NATIVE, name);
}

/* A frame that is shown at IP, and looked up at ADDRESS. */
static bool naming_add_frame(Namer *namer, uint64_t ip, uint64_t address)
{
        const ImageAddress where = {.address = address, .dso = IMAGE_IN_ANY};

        namer->resolver.counts.n[COUNT_FRAMES]++;
        return naming_add_entry(namer, ip, NAMED_UNKNOWN, NULL) &&
               batch_resolver_add(&namer->resolver, &namer->batch, &where, MAPPING_MANAGED);
}

/* SAMPLE has its thread, time and period. NULL: no memory is left. */
static BatchSample *naming_begin_sample(Namer *namer, const BatchSample *sample, const char *comm,
                                        const char *event)
{
        BatchSample *added = batch_add_sample(&namer->batch);

        if (!added)
                return NULL;
        added->pid = sample->pid;
        added->tid = sample->tid;
        added->cpu = NO_CPU;
        added->time = sample->time;
        added->period = sample->period;
        added->has_chain = true;
        added->is_walked = true;
        added->comm = frames_text(&namer->frames, comm);
        added->event = frames_text(&namer->frames, event);
        return added->comm == INDEX_NONE || added->event == INDEX_NONE ? NULL : added;
}

static int32_t pass_sample_pid(const SamplePass *pass, const NettraceSample *sample)
{
        return pass->pid ? pass->pid : sample->pid;
}

static bool naming_add_sample(SampleNaming *naming, const NettraceSample *sample)
{
        BatchSample row = {.pid = pass_sample_pid(naming->pass, sample),
                           .tid = sample->tid,
                           .time = sample->time,
                           .period = sample->weight};
        const RoundThreads *threads = naming->threads;
        const char *comm = threads ? threads->find(threads->data, &row.tid) : NULL;
        Namer *namer = &naming->run->namer;
        BatchSample *added = naming_begin_sample(
                namer, &row, comm ? comm : naming_program(naming, row.pid), naming->event->name);
        size_t i;

        if (!added)
                return false;
        if (threads && sample->n_addresses >= SAMPLE_ROUND_MAX_FRAMES)
                added->cut = STACK_CUT_FRAMES;
        if (!naming_add_leaf(namer, sample))
                return false;
        for (i = 0; i < sample->n_addresses; i++) {
                const uint64_t ip = sample->addresses[i];

                /* Addresses are return addresses, except where the thread itself stopped. */
                if (!naming_add_frame(namer, ip, ip - (i > 0 || !sample->is_managed)))
                        return false;
        }
        namer->resolver.counts.n[COUNT_SAMPLES]++;
        return true;
}

/* A NettraceSampleFn. */
static void naming_take_sample(void *data, const NettraceSample *sample)
{
        SampleNaming *naming = data;

        if (naming->has_failed || sample->kind != naming->event->kind ||
            (naming->threads && !round_takes(&naming->round, sample)))
                return;
        if (!naming_add_sample(naming, sample))
                naming->has_failed = !namer_fail_no_memory(&naming->run->namer);
        else if (namer_is_full(&naming->run->namer))
                naming->has_failed = !namer_flush(&naming->run->namer);
}

static bool naming_goes_on(void *data)
{
        return !((const SampleNaming *)data)->has_failed;
}

static bool naming_begin(SampleNaming *naming)
{
        Namer *namer = &naming->run->namer;

        if (!perf_run_begin(naming->run))
                return false;
        namer->resolver.has_exact_clock = true;
        return clrsym_processes(namer->resolver.handle, naming_take_process, naming) >= 0 ||
               namer_fail(namer, clrsym_message(namer->resolver.handle));
}

static const RecordingEvent *recording_event(const Recording *recording, const char *name)
{
        guint i = 0;

        while (strcmp(((const RecordingEvent *)recording->events->pdata[i])->name, name))
                i++;
        return recording->events->pdata[i];
}

typedef struct ChainsWanted {
        SampleRound round;
        const SamplePass *pass;      /* borrowed */
        const RoundThreads *threads; /* borrowed */
        PerfAsync *async;            /* borrowed */
} ChainsWanted;

/* A NettraceSampleFn. */
static void chains_take_sample(void *data, const NettraceSample *sample)
{
        ChainsWanted *wanted = data;
        int32_t tid = sample->tid;

        if (!round_takes(&wanted->round, sample))
                return;
        wanted->threads->find(wanted->threads->data, &tid);
        perf_async_want(wanted->async, pass_sample_pid(wanted->pass, sample), tid, sample->time);
}

bool perf_nettrace_want(const char *path, const RoundThreads *threads, PerfAsync *async,
                        Progress *progress, GError **error)
{
        ChainsWanted wanted = {
                .round.tids = g_hash_table_new(NULL, NULL), .threads = threads, .async = async};
        SamplePass pass = {
                .path = path, .fn = chains_take_sample, .data = &wanted, .progress = progress};
        bool ok;

        wanted.pass = &pass;
        ok = pass_run(&pass, error);
        pass_deinit(&pass);
        g_hash_table_unref(wanted.round.tids);
        return ok;
}

/* A sample for each, whose period is its number. */
bool perf_nettrace_run_chains(const PerfAsync *async, const char *event, PerfRun *run,
                              GError **error)
{
        Namer *namer = &run->namer;
        bool ok = perf_run_begin(run);
        PerfResult result;
        guint i;

        namer->resolver.has_exact_clock = true;
        for (i = 0; ok && i < async->wanted->len; i++) {
                const AsyncWanted *wanted = &g_array_index(async->wanted, AsyncWanted, i);
                const BatchSample row = {
                        .pid = wanted->pid, .tid = wanted->pid, .time = wanted->time, .period = i};

                if (!naming_begin_sample(namer, &row, "", event) ||
                    !naming_add_frame(namer, wanted->address, wanted->address))
                        ok = namer_fail_no_memory(namer);
                else if (namer_is_full(namer))
                        ok = namer_flush(namer);
        }
        return perf_run_end(run, ok, &result, error);
}

bool perf_nettrace_run(const char *path, const Recording *recording, const char *event,
                       const RoundThreads *threads, PerfRun *run, Progress *progress,
                       PerfResult *ret_result, GError **error)
{
        SampleNaming naming = {
                .run = run,
                .event = recording_event(recording, event),
                .round.tids = g_hash_table_new(NULL, NULL),
                .threads = threads,
                .programs = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        };
        SamplePass pass = {.path = path,
                           .fn = naming_take_sample,
                           .data = &naming,
                           .goes_on = naming_goes_on,
                           .progress = progress};
        bool ok;

        naming.pass = &pass;
        ok = naming_begin(&naming) && pass_run(&pass, error) && !naming.has_failed;
        ok = perf_run_end(run, ok, ret_result, error);
        pass_deinit(&pass);
        g_hash_table_destroy(naming.programs);
        g_hash_table_unref(naming.round.tids);
        return ok;
}
