/* SPDX-License-Identifier: MIT */
#include "moment/moment.h"

#include "perf/mapping.h"
#include "unwind/stack-walk.h"
#include "util/proc.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* The kernel's limit of a path. */
#define MAX_PATH 4096u

static void thread_clear(gpointer data)
{
        g_free(((MomentThread *)data)->stack);
}

static void mapping_clear(gpointer data)
{
        g_free(((MomentMapping *)data)->path);
}

Moment *moment_new(pid_t pid)
{
        Moment *moment = g_new0(Moment, 1);

        moment->pid = pid;
        moment->machine = stack_walk_machine(NULL);
        moment->max_stack = MOMENT_MAX_STACK;
        moment->threads = g_array_new(FALSE, TRUE, sizeof(MomentThread));
        g_array_set_clear_func(moment->threads, thread_clear);
        moment->mappings = g_array_new(FALSE, TRUE, sizeof(MomentMapping));
        g_array_set_clear_func(moment->mappings, mapping_clear);
        moment->code = g_array_new(FALSE, FALSE, sizeof(MomentCode));
        moment->notes = g_ptr_array_new_with_free_func(g_free);
        return moment;
}

void moment_free(Moment *moment)
{
        if (!moment)
                return;
        g_array_unref(moment->threads);
        g_array_unref(moment->mappings);
        g_array_unref(moment->code);
        g_ptr_array_unref(moment->notes);
        core_memory_free(moment->core);
        g_free(moment);
}

/* False: not executable. */
static bool mapping_read(const char *line, size_t n, MomentMapping *ret)
{
        g_autofree char *text = g_strndup(line, n);
        const char *path;
        Mapping mapping;

        if (!mapping_take_columns(&mapping, text, &path))
                return false;
        *ret = (MomentMapping){
                .begin = mapping.start,
                .end = mapping.end,
                .offset = mapping.offset,
                .major = mapping.major,
                .minor = mapping.minor,
                .inode = mapping.inode,
                .path = g_strdup(path),
        };
        /* perf gives anonymous memory its address as the offset, too. */
        if (!mapping.inode && !*path)
                ret->offset = mapping.start;
        return true;
}

/*
 * Notes code in anonymous memory. Code of files is left out, because reading it could wait for a
 * slow file system.
 */
static void moment_take_code(Moment *moment, const MomentMapping *mapping)
{
        const MomentCode code = {.offset = mapping->offset,
                                 .place = mapping->begin,
                                 .n = mapping->end - mapping->begin};

        if (!mapping->inode && !*mapping->path)
                g_array_append_val(moment->code, code);
}

void moment_take_maps(Moment *moment, const char *maps)
{
        while (*maps) {
                const size_t n = strcspn(maps, "\n");
                MomentMapping mapping;

                if (mapping_read(maps, n, &mapping)) {
                        g_array_append_val(moment->mappings, mapping);
                        moment_take_code(moment, &mapping);
                }
                maps += n + (maps[n] == '\n');
        }
}

bool moment_read_maps(Moment *moment)
{
        size_t n;
        g_autofree char *maps = proc_read_file(moment->pid, "maps", PROC_MAX_MAPS, &n);

        if (maps)
                moment_take_maps(moment, maps);
        return maps != NULL;
}

/* The thread TID; NULL: none. */
static const MomentThread *moment_find_thread(Moment *moment, pid_t tid)
{
        const GArray *threads = moment->threads;
        guint i;

        for (i = 0; i < threads->len; i++) {
                const guint number = (moment->last_read + i) % threads->len;
                const MomentThread *thread = &g_array_index(threads, MomentThread, number);

                if (thread->tid == tid) {
                        moment->last_read = number;
                        return thread;
                }
        }
        return NULL;
}

/* A StackMemory's function. */
static bool moment_read_word(void *data, int32_t tid, uint64_t address, uint64_t *ret_value)
{
        Moment *moment = data;
        const MomentThread *thread = moment_find_thread(moment, tid);
        const uint64_t at = thread ? address - thread->registers[REGISTER_SP] : 0;

        if (thread && at < thread->n_stack && thread->n_stack - at >= sizeof(*ret_value)) {
                memcpy(ret_value, thread->stack + at, sizeof(*ret_value));
                return true;
        }
        return moment->core && core_memory_read_word(moment->core, address, ret_value);
}

StackMemory moment_stack_memory(Moment *moment)
{
        return (StackMemory){.read = moment_read_word, .data = moment};
}

/* The file */

/* Writes the mapping as perf writes mappings from before its recording. */
static void writer_put_mapping(PerfWriter *writer, const Moment *moment,
                               const MomentMapping *mapping)
{
        PerfWriterMapping row = {
                .pid = moment->pid,
                .start = mapping->begin,
                .end = mapping->end,
                .offset = mapping->offset,
                .n_build_id = mapping->n_build_id,
                .major = mapping->major,
                .minor = mapping->minor,
                .inode = mapping->inode,
                .path = mapping->path,
        };

        if (strlen(mapping->path) >= MAX_PATH)
                return;
        memcpy(row.build_id, mapping->build_id, sizeof(row.build_id));
        perf_writer_add_mapping(writer, &row);
}

static void writer_put_thread(PerfWriter *writer, const Moment *moment, const MomentThread *thread)
{
        const Machine *machine = moment->machine;
        uint64_t registers[N_REGISTERS];
        PerfWriterSample sample = {
                .pid = moment->pid,
                .tid = thread->tid,
                .ip = thread->registers[REGISTER_PC],
                .time = moment->time,
                .period = 1,
                .registers = registers,
                .stack = thread->stack,
                .n_stack = MIN(thread->n_stack, moment->max_stack),
        };
        unsigned i;

        for (i = 0; i < machine->n_of_perf; i++)
                if (machine->of_perf[i] >= 0)
                        registers[sample.n_registers++] = thread->registers[machine->of_perf[i]];
        perf_writer_add_sample(writer, &sample);
}

static void writer_put_moment(PerfWriter *writer, const Moment *moment)
{
        guint i;

        writer->machine = moment->machine->name;
        writer->reference =
                perf_reference_new(moment->time, (int64_t)(moment->time_of_day - moment->time));
        for (i = 0; i < moment->mappings->len; i++)
                writer_put_mapping(writer, moment,
                                   &g_array_index(moment->mappings, MomentMapping, i));
        for (i = 0; i < moment->threads->len; i++) {
                const MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);

                if (*thread->name)
                        perf_writer_add_name(writer, moment->pid, thread->tid, 0, thread->name,
                                             /* is_new= */ false);
        }
        for (i = 0; i < moment->threads->len; i++)
                writer_put_thread(writer, moment, &g_array_index(moment->threads, MomentThread, i));
}

bool moment_write(const Moment *moment, int fd, GError **error)
{
        const PerfWriterEvent event = {"stack",
                                       {.type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_DUMMY,
                                        .sample_period = 1,
                                        .sample_type = PERF_WRITER_SAMPLE | PERF_WRITER_COPY,
                                        .clockid = CLOCK_MONOTONIC,
                                        .sample_regs_user = machine_perf_mask(moment->machine),
                                        .sample_stack_user = moment->max_stack}};
        PerfWriter writer;
        bool ok = perf_writer_init(&writer, fd, &event, 1);

        if (ok)
                writer_put_moment(&writer, moment);
        ok = ok && perf_writer_finish(&writer);
        if (!ok)
                g_set_error(error, MOMENT_ERROR, 0, "the stacks of process %d cannot be kept: %s",
                            (int)moment->pid, g_strerror(errno));
        perf_writer_deinit(&writer);
        return ok;
}
