/* SPDX-License-Identifier: MIT */
#include "cli/perf-nettrace.h"

#include "nettrace/file.h"
#include "perf/namer.h"
#include "profile/profile.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The leaf of a thread that is not in managed code: the runtime does not say more. */
#define NATIVE_CODE "[native code, or waiting]"
/* The host of programs that are assemblies. */
#define HOST     "dotnet"
#define ASSEMBLY ".dll"

bool perf_nettrace_is(const char *path)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        return fd >= 0 && nettrace_file_is(fd);
}

/* What a pass through a file wants. */
typedef struct SamplePass {
        const char *path;
        NettraceSampleFn fn;
        void *data;
        bool (*goes_on)(void *data); /* NULL: to the end */
        NettraceReader *reader;      /* owned */
        uint64_t n_lost;             /* events of any kind */
} SamplePass;

/* The events themselves are read by what gives the names. */
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
                if (perf_caught_signal())
                        g_set_error_literal(error, PERF_ERROR, 0, "interrupted");
        } while (result == NETTRACE_FILE_MORE && !perf_caught_signal() &&
                 (!pass->goes_on || pass->goes_on(pass->data)));
        return result != NETTRACE_FILE_ERROR && !perf_caught_signal();
}

static bool pass_run(SamplePass *pass, GError **error)
{
        int fd = open(pass->path, O_RDONLY | O_CLOEXEC);
        NettraceFile file;
        bool ok;

        if (fd < 0) {
                g_set_error(error, PERF_ERROR, 0, "%s: %s", pass->path, g_strerror(errno));
                return false;
        }
        pass->reader = nettrace_reader_new(EVENT_USE_NONE);
        nettrace_reader_take_samples(pass->reader, pass->fn, pass->data);
        ok = nettrace_file_init(&file, fd, error);
        if (ok) {
                ok = pass_read(pass, &file, error);
                nettrace_file_deinit(&file);
        }
        if (!ok)
                g_prefix_error(error, "%s: ", pass->path);
        return ok;
}

static void pass_deinit(SamplePass *pass)
{
        g_clear_pointer(&pass->reader, nettrace_reader_free);
}

static void count_sample(void *data, const NettraceSample *sample)
{
        uint64_t *n = data;

        (*n)++;
}

bool perf_nettrace_survey(const char *path, Recording *recording, GError **error)
{
        RecordingEvent *event = g_new0(RecordingEvent, 1);
        SamplePass pass = {.path = path, .fn = count_sample, .data = &event->n_samples};
        const NettraceHeader *header;
        bool ok;

        event->name = g_strdup(PROFILE_EVENT_MANAGED);
        g_ptr_array_add(recording->events, event);
        ok = pass_run(&pass, error);
        header = ok ? nettrace_reader_header(pass.reader) : NULL;
        if (header) {
                recording->has_reference = true;
                recording->reference_clock = header->begin;
                recording->reference_tod = header->begin + (uint64_t)header->clock_offset;
                recording->n_lost = pass.n_lost;
        }
        pass_deinit(&pass);
        if (!ok || event->n_samples)
                return ok;
        g_set_error(error, PERF_ERROR, PERF_NO_SAMPLES,
                    "%s has no samples of the runtime's sampler: record it with the provider "
                    "Microsoft-DotNETCore-SampleProfiler (dotnet-trace collect --providers)",
                    path);
        return false;
}

typedef struct SampleNaming {
        const PerfRun *run;
        Namer namer;
        GHashTable *programs; /* owned: pid -> owned name of its program */
        int write_error;      /* errno; 0: none */
        bool has_failed;
} SampleNaming;

/* A TextOutFn. */
static int naming_output(void *data, const void *bytes, size_t n)
{
        SampleNaming *naming = data;
        const char *at = bytes;

        if (naming->run->output_fd < 0)
                return naming->run->fn(bytes, n, naming->run->data) ? 0 : EPIPE;
        while (n && !naming->write_error) {
                ssize_t written = write(naming->run->output_fd, at, n);

                if (written < 0 && errno != EINTR)
                        naming->write_error = errno;
                if (written <= 0)
                        continue;
                at += written;
                n -= (size_t)written;
        }
        return naming->write_error;
}

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

        if (process->command && *process->command)
                g_hash_table_insert(naming->programs, GINT_TO_POINTER(process->pid),
                                    program_of_command(process->command));
        return 0;
}

/* Threads have no names in such a file: all of a process have its. */
static const char *naming_program(SampleNaming *naming, int32_t pid)
{
        char *program = g_hash_table_lookup(naming->programs, GINT_TO_POINTER(pid));

        if (!program) {
                program = g_strdup_printf("process %d", (int)pid);
                g_hash_table_insert(naming->programs, GINT_TO_POINTER(pid), program);
        }
        return program;
}

static bool naming_add_entry(Namer *namer, uint64_t ip, StreamKind kind, const char *name)
{
        Entry *entry = batch_add_entry(&namer->batch);

        if (!entry)
                return false;
        entry->ip = ip;
        entry->frame = frames_symbol(&namer->frames, kind, name, NULL);
        return entry->frame != INDEX_NONE;
}

static bool naming_add_sample(SampleNaming *naming, const NettraceSample *sample)
{
        const char *program = naming_program(naming, sample->pid);
        Namer *namer = &naming->namer;
        BatchSample *added = batch_add_sample(&namer->batch);
        size_t i;

        if (!added)
                return false;
        added->pid = sample->pid;
        added->tid = sample->tid;
        added->cpu = NO_CPU;
        added->time = sample->time;
        added->period = 1;
        added->has_chain = true;
        added->comm = frames_text(&namer->frames, program);
        added->event = frames_text(&namer->frames, PROFILE_EVENT_MANAGED);
        if (added->comm == INDEX_NONE || added->event == INDEX_NONE ||
            (!sample->is_managed && !naming_add_entry(namer, 0, STREAM_NATIVE, NATIVE_CODE)))
                return false;
        for (i = 0; i < sample->n_addresses; i++) {
                const uint64_t ip = sample->addresses[i];
                /* All but where the thread itself stopped are return addresses. */
                const ImageAddress where = {.address = ip - (i > 0 || !sample->is_managed)};

                namer->resolver.counts.n[COUNT_FRAMES]++;
                if (!naming_add_entry(namer, ip, STREAM_UNKNOWN, NULL) ||
                    !batch_resolver_add(&namer->resolver, &namer->batch, &where, MAPPING_MANAGED))
                        return false;
        }
        namer->resolver.counts.n[COUNT_SAMPLES]++;
        return true;
}

/* A NettraceSampleFn. */
static void naming_take_sample(void *data, const NettraceSample *sample)
{
        SampleNaming *naming = data;

        if (naming->has_failed)
                return;
        if (!naming_add_sample(naming, sample))
                naming->has_failed = !namer_fail_no_memory(&naming->namer);
        else if (namer_is_full(&naming->namer))
                naming->has_failed = !namer_flush(&naming->namer);
}

static bool naming_goes_on(void *data)
{
        return !((const SampleNaming *)data)->has_failed;
}

static bool naming_init(SampleNaming *naming, const PerfRun *run)
{
        GPtrArray *settings = run->settings;

        *naming = (SampleNaming){
                .run = run,
                .programs = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        };
        if (!namer_init(&naming->namer, (char **)settings->pdata, (int)settings->len, naming_output,
                        naming))
                return false;
        naming->namer.resolver.has_exact_clock = true;
        return clrsym_processes(naming->namer.resolver.handle, naming_take_process, naming) >= 0 ||
               namer_fail(&naming->namer, clrsym_message(naming->namer.resolver.handle));
}

static char *naming_report(const SampleNaming *naming)
{
        GString *report = g_string_new(NULL);
        unsigned i;

        for (i = 0; i < _COUNT_MAX; i++)
                g_string_append_printf(report, "%s %" PRIu64 "\n", count_name((Count)i),
                                       naming->namer.resolver.counts.n[i]);
        return g_string_free(report, FALSE);
}

bool perf_nettrace_run(const PerfRun *run, PerfResult *ret_result, GError **error)
{
        const struct sigaction ignore = {.sa_handler = SIG_IGN};
        struct sigaction before;
        SampleNaming naming;
        SamplePass pass = {.path = run->input,
                           .fn = naming_take_sample,
                           .data = &naming,
                           .goes_on = naming_goes_on};
        bool ok;

        /* A reader that goes away is an error of a write, so that files can be removed. */
        sigaction(SIGPIPE, &ignore, &before);
        ok = naming_init(&naming, run) && pass_run(&pass, error) && !naming.has_failed &&
             namer_end(&naming.namer);
        sigaction(SIGPIPE, &before, NULL);
        *ret_result = (PerfResult){
                .report = naming_report(&naming),
                .messages = g_strdup(""),
                .is_reader_gone = naming.write_error == EPIPE,
        };
        if (!ok && error && !*error)
                g_set_error_literal(error, PERF_ERROR, 0, naming.namer.message);
        pass_deinit(&pass);
        namer_deinit(&naming.namer);
        g_hash_table_destroy(naming.programs);
        return ok;
}
