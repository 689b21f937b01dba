/* SPDX-License-Identifier: MIT */
#include "record/runtime-sampler.h"

#include "attach/eventpipe-session.h"
#include "perf/proc-maps.h"
#include "record/spawn.h"
#include "util/fd.h"
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

struct RuntimeSampler {
        char *directory;       /* owned */
        GHashTable *processes; /* owned: pid -> owned SampledProcess */
        GHashTable *mappings;  /* owned: set of owned lines, those that are in the file */
        FILE *mappings_file;   /* owned */
        uint64_t n_bytes;
        int write_error; /* errno; 0: none */
};

typedef struct SampledProcess {
        RuntimeSampler *sampler; /* borrowed */
        Target target;
        EventPipeSink sink;
        EventPipeSession session; /* fd -1: it is over, or could not be opened */
        int file;                 /* -1: not open */
} SampledProcess;

/* An EventPipeSink's. A full disk must not keep the process from ending: what comes is still read.
 */
static void sampled_take(void *data, const uint8_t *bytes, size_t n)
{
        SampledProcess *process = data;
        RuntimeSampler *sampler = process->sampler;

        while (n && !sampler->write_error) {
                ssize_t written = write(process->file, bytes, n);

                if (written < 0 && errno != EINTR)
                        sampler->write_error = errno;
                if (written <= 0)
                        continue;
                sampler->n_bytes += (uint64_t)written;
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

RuntimeSampler *runtime_sampler_new(const Scratch *scratch, GError **error)
{
        RuntimeSampler *sampler = g_new0(RuntimeSampler, 1);
        g_autofree char *path = NULL;

        sampler->directory = scratch_file(scratch, SAMPLES);
        sampler->processes = g_hash_table_new_full(NULL, NULL, NULL, sampled_free);
        sampler->mappings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
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
        return eventpipe_session_open_samples(&process->target, &process->sink, &process->session,
                                              error);
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

                if (process->session.fd >= 0 && !eventpipe_session_drain(&process->session))
                        fd_clear(&process->session.fd);
        }
}

/* A ProcMapsFn. */
static bool sampler_note_mapping(void *data, const Mapping *mapping)
{
        RuntimeSampler *sampler = data;
        Mapping line = *mapping;
        size_t n = 0;
        char *text = NULL;
        FILE *file = mapping_may_have_assemblies(mapping) ? open_memstream(&text, &n) : NULL;

        if (file) {
                line.time = 0; /* /proc does not report when a file was mapped */
                mapping_write(&line, file);
                fclose(file);
        }
        if (text && !g_hash_table_contains(sampler->mappings, text)) {
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

void runtime_sampler_stop(RuntimeSampler *sampler, int wake_fd)
{
        GHashTableIter iter;
        gpointer data;

        runtime_sampler_note_mappings(sampler);
        g_hash_table_iter_init(&iter, sampler->processes);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                SampledProcess *process = data;

                /* A process that ends or hangs has written what it will. */
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
