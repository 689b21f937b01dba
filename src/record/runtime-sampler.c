/* SPDX-License-Identifier: MIT */
#include "record/runtime-sampler.h"

#include "attach/worker-account.h"
#include "perf/proc-maps.h"
#include "record/spawn.h"
#include "util/fd.h"
#include "util/free-space.h"
#include "util/proc-stat.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SAMPLES "samples"
/* Bytes between two checks of the file system. */
#define LOOK_SIZE (1u << 20)

/* Why a process is no longer sampled. */
typedef enum SamplesCut {
        SAMPLES_GO_ON,
        SAMPLES_CUT_FULL,  /* its file is full */
        SAMPLES_CUT_TOTAL, /* all files together are full */
        SAMPLES_CUT_SPACE, /* the file system is nearly full */
} SamplesCut;

struct RuntimeSampler {
        EventPipeSamples samples;
        char *directory;       /* owned */
        GHashTable *processes; /* owned: pid -> owned SampledProcess */
        GHashTable *mappings;  /* owned: set of owned lines that are in the file */
        FILE *mappings_file;   /* owned */
        uint64_t limit;        /* bytes of each file */
        uint64_t n_bytes;
        uint64_t next_look; /* size of the files at the next check */
        int write_error;    /* errno; 0: none */
};

typedef struct SampledProcess {
        RuntimeSampler *sampler; /* borrowed */
        Target target;
        EventPipeSink sink;
        EventPipeSession session; /* fd -1: it has ended, or could not be opened */
        int file;                 /* -1: not open */
        uint64_t n_bytes;
        SamplesCut cut;
        bool is_reported; /* the cut was reported */
} SampledProcess;

/* Before N more bytes are written. */
static SamplesCut sampled_find_cut(const SampledProcess *process, size_t n)
{
        RuntimeSampler *sampler = process->sampler;

        if (process->n_bytes + n > sampler->limit)
                return SAMPLES_CUT_FULL;
        if (sampler->n_bytes + n > RUNTIME_SAMPLER_FILES * sampler->limit)
                return SAMPLES_CUT_TOTAL;
        if (sampler->n_bytes < sampler->next_look)
                return SAMPLES_GO_ON;
        if (!free_space_allows(process->file, LOOK_SIZE))
                return SAMPLES_CUT_SPACE;
        sampler->next_look = sampler->n_bytes + LOOK_SIZE;
        return SAMPLES_GO_ON;
}

/* EventPipeSink. A full disk must not keep the process from ending, so its bytes are still read. */
static void sampled_take(void *data, const uint8_t *bytes, size_t n)
{
        SampledProcess *process = data;
        RuntimeSampler *sampler = process->sampler;

        if (process->cut == SAMPLES_GO_ON)
                process->cut = sampled_find_cut(process, n);
        while (n && !sampler->write_error && process->cut == SAMPLES_GO_ON) {
                ssize_t written = write(process->file, bytes, n);

                if (written < 0 && errno != EINTR)
                        sampler->write_error = errno;
                if (written <= 0)
                        continue;
                sampler->n_bytes += (uint64_t)written;
                process->n_bytes += (uint64_t)written;
                bytes += written;
                n -= (size_t)written;
        }
}

static void sampled_free(gpointer data)
{
        SampledProcess *process = data;

        fd_clear(&process->session.fd);
        fd_clear(&process->file);
        target_close(&process->target);
        g_free(process);
}

RuntimeSampler *runtime_sampler_new(const Scratch *scratch, EventPipeSamples samples,
                                    uint64_t limit, GError **error)
{
        RuntimeSampler *sampler = g_new0(RuntimeSampler, 1);
        g_autofree char *path = NULL;

        sampler->samples = samples;
        sampler->limit = limit;
        sampler->directory = scratch_file(scratch, SAMPLES);
        sampler->processes = g_hash_table_new_full(NULL, NULL, NULL, sampled_free);
        sampler->mappings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        if (!spill_size_find(RUNTIME_SAMPLER_VARIABLE, &sampler->limit, error)) {
                runtime_sampler_free(sampler);
                return NULL;
        }
        path = g_build_filename(sampler->directory, RUNTIME_SAMPLER_MAPPINGS, NULL);
        if (g_mkdir(sampler->directory, 0700) == 0 && (sampler->mappings_file = fopen(path, "we")))
                return sampler;
        g_set_error(error, SPAWN_ERROR, 0, "cannot make %s: %s", sampler->directory,
                    g_strerror(errno));
        runtime_sampler_free(sampler);
        return NULL;
}

void runtime_sampler_free(RuntimeSampler *sampler)
{
        if (!sampler)
                return;
        g_hash_table_destroy(sampler->processes);
        g_hash_table_destroy(sampler->mappings);
        if (sampler->mappings_file)
                fclose(sampler->mappings_file);
        g_free(sampler->directory);
        g_free(sampler);
}

static bool sampled_begin(SampledProcess *process, pid_t pid, GError **error)
{
        const ProcessKey *key = target_key(&process->target);
        g_autofree char *path =
                g_strdup_printf("%s/%d-%" PRIu64 "-%" PRId32 ".nettrace",
                                process->sampler->directory, (int)pid, key->pid_ns, key->pid);

        process->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (process->file < 0) {
                g_set_error(error, SPAWN_ERROR, 0, "cannot make %s: %s", path, g_strerror(errno));
                return false;
        }
        process->sink = (EventPipeSink){sampled_take, process};
        return eventpipe_session_open_samples(&process->target, process->sampler->samples,
                                              &process->sink, &process->session, error);
}

/* False: another process has its pid now. */
static bool sampled_is_still(const SampledProcess *process, pid_t pid)
{
        ProcStat stat;

        return !target_has_ended(&process->target) || !proc_stat_read(pid, &stat) ||
               stat.start_ticks == process->target.start_ticks;
}

bool runtime_sampler_add(RuntimeSampler *sampler, pid_t pid, GError **error)
{
        SampledProcess *process = g_hash_table_lookup(sampler->processes, GINT_TO_POINTER(pid));

        if (process && sampled_is_still(process, pid))
                return true;
        process = g_new0(SampledProcess, 1);
        process->sampler = sampler;
        process->session.fd = process->file = -1;
        if (!target_open(pid, &process->target, error)) {
                g_free(process);
                return false;
        }
        g_hash_table_replace(sampler->processes, GINT_TO_POINTER(pid), process);
        return sampled_begin(process, pid, error);
}

void runtime_sampler_poll(const RuntimeSampler *sampler, GArray *fds)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                const struct pollfd fd = {.fd = ((const SampledProcess *)data)->session.fd,
                                          .events = POLLIN};

                g_array_append_val(fds, fd);
        }
}

void runtime_sampler_drain(RuntimeSampler *sampler)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                SampledProcess *process = data;

                if (process->session.fd < 0)
                        continue;
                if (!eventpipe_session_drain(&process->session))
                        fd_clear(&process->session.fd);
                else if (process->cut != SAMPLES_GO_ON)
                        eventpipe_session_close(&process->session);
        }
}

static char *sampled_cut_text(const SampledProcess *process)
{
        const RuntimeSampler *sampler = process->sampler;
        const unsigned mib = (unsigned)(sampler->limit >> 20);
        const int pid = (int)process->target.info.host_pid;

        switch (process->cut) {
        case SAMPLES_GO_ON:
                break;
        case SAMPLES_CUT_FULL:
                return g_strdup_printf(
                        "process %d is not sampled any more: its runtime has written %u MiB of "
                        "samples, all that may be kept: set " RUNTIME_SAMPLER_VARIABLE
                        "= to more, or record for a shorter time",
                        pid, mib);
        case SAMPLES_CUT_TOTAL:
                return g_strdup_printf(
                        "process %d is not sampled any more: all runtimes have written %u MiB of "
                        "samples, which is %u times " RUNTIME_SAMPLER_VARIABLE
                        "=: set it to more, or record for a shorter time",
                        pid, RUNTIME_SAMPLER_FILES * mib, RUNTIME_SAMPLER_FILES);
        case SAMPLES_CUT_SPACE:
                return g_strdup_printf("process %d is not sampled any more: the file system of %s "
                                       "is nearly full: make room",
                                       pid, sampler->directory);
        }
        return NULL;
}

char *runtime_sampler_next_cut(RuntimeSampler *sampler)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                SampledProcess *process = data;

                if (process->cut == SAMPLES_GO_ON || process->is_reported)
                        continue;
                process->is_reported = true;
                return sampled_cut_text(process);
        }
        return NULL;
}

/* ProcMapsFn. */
static bool sampler_note_mapping(void *data, const Mapping *mapping)
{
        RuntimeSampler *sampler = data;
        Mapping line = *mapping;
        size_t n = 0;
        char *text = NULL;
        FILE *file = mapping_may_have_assemblies(mapping) ? open_memstream(&text, &n) : NULL;

        if (file) {
                line.time = 0; /* /proc has no times of mappings */
                mapping_write(&line, file);
                fclose(file);
        }
        if (text && !g_hash_table_contains(sampler->mappings, text) &&
            g_hash_table_size(sampler->mappings) < RUNTIME_SAMPLER_MAX_MAPPINGS) {
                g_hash_table_add(sampler->mappings, g_strdup(text));
                fputs(text, sampler->mappings_file);
        }
        free(text);
        free(line.path);
        return true;
}

void runtime_sampler_note_mappings(RuntimeSampler *sampler)
{
        GHashTableIter iter;
        gpointer pid, data;

        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, &pid, &data))
                if (((const SampledProcess *)data)->session.fd >= 0)
                        proc_maps_read(GPOINTER_TO_INT(pid), sampler_note_mapping, sampler);
        fflush(sampler->mappings_file);
}

bool runtime_sampler_is_over(const RuntimeSampler *sampler)
{
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data))
                if (((const SampledProcess *)data)->session.fd >= 0)
                        return false;
        return g_hash_table_size(sampler->processes) > 0;
}

/* Takes the rest of a process that has ended meanwhile. */
static void sampled_take_rest(SampledProcess *process)
{
        struct pollfd fd = {.fd = process->session.fd, .events = POLLIN};

        while (target_has_ended(&process->target) && poll(&fd, 1, 0) > 0)
                if (!eventpipe_session_drain(&process->session)) {
                        fd_clear(&process->session.fd);
                        return;
                }
}

void runtime_sampler_stop(RuntimeSampler *sampler, int wake_fd)
{
        GHashTableIter iter;
        gpointer data;

        runtime_sampler_note_mappings(sampler);
        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                SampledProcess *process = data;

                if (process->session.fd >= 0)
                        sampled_take_rest(process);
                /* A process that has ended or hangs writes no more. */
                if (process->session.fd >= 0 && !spawn_is_woken(wake_fd))
                        eventpipe_session_stop(&process->target, &process->session,
                                               /* error= */ NULL);
        }
}

const char *runtime_sampler_directory(const RuntimeSampler *sampler)
{
        return sampler->directory;
}

uint64_t runtime_sampler_size(const RuntimeSampler *sampler)
{
        return sampler->n_bytes;
}

int runtime_sampler_write_error(const RuntimeSampler *sampler)
{
        return sampler->write_error;
}
