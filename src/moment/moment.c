/* SPDX-License-Identifier: MIT */
#include "moment/moment.h"

#include "perfdata/perf-data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* "PERFILE2" */
#define PERF_MAGIC UINT64_C(0x32454c4946524550)
/* Registers of a process of 64 bits. */
#define ABI_64 2u
/* A longer path does not fit into a record with the rest; the kernel has none. */
#define MAX_PATH 4096u
/* As perf names anonymous memory. */
#define ANONYMOUS "//anon"

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
        moment->max_stack = MOMENT_MAX_STACK;
        moment->threads = g_array_new(FALSE, TRUE, sizeof(MomentThread));
        g_array_set_clear_func(moment->threads, thread_clear);
        moment->mappings = g_array_new(FALSE, TRUE, sizeof(MomentMapping));
        g_array_set_clear_func(moment->mappings, mapping_clear);
        moment->notes = g_ptr_array_new_with_free_func(g_free);
        return moment;
}

void moment_free(Moment *moment)
{
        if (!moment)
                return;
        g_array_unref(moment->threads);
        g_array_unref(moment->mappings);
        g_ptr_array_unref(moment->notes);
        g_free(moment);
}

/* "7f10c7680000-7f10c81cc000 r-xp 00000000 fe:00 350922          /a.dll"; false: not executable. */
static bool mapping_read(const char *line, size_t n, MomentMapping *ret)
{
        g_autofree char *text = g_strndup(line, n);
        unsigned long long begin, end, offset, inode;
        char permissions[5] = "";
        unsigned major, minor;
        int n_read = 0;

        if (sscanf(text, "%llx-%llx %4s %llx %x:%x %llu %n", &begin, &end, permissions, &offset,
                   &major, &minor, &inode, &n_read) < 7 ||
            permissions[2] != 'x' || end <= begin)
                return false;
        *ret = (MomentMapping){
                .begin = begin,
                .end = end,
                .offset = offset,
                .major = major,
                .minor = minor,
                .inode = inode,
                .path = g_strdup(n_read > 0 ? text + n_read : ""),
        };
        return true;
}

void moment_take_maps(Moment *moment, const char *maps)
{
        while (*maps) {
                const size_t n = strcspn(maps, "\n");
                MomentMapping mapping;

                if (mapping_read(maps, n, &mapping))
                        g_array_append_val(moment->mappings, mapping);
                maps += n + (maps[n] == '\n');
        }
}

/* The file */

typedef struct MomentFile {
        FILE *file; /* owned */
        bool has_failed;
} MomentFile;

static void file_put(MomentFile *file, const void *bytes, size_t n)
{
        if (n && fwrite(bytes, 1, n, file->file) != n)
                file->has_failed = true;
}

static void file_put_u64(MomentFile *file, uint64_t value)
{
        file_put(file, &value, sizeof(value));
}

static void file_put_u32(MomentFile *file, uint32_t value)
{
        file_put(file, &value, sizeof(value));
}

/* N bytes, and zeroes up to SIZE. */
static void file_put_padded(MomentFile *file, const void *bytes, size_t n, size_t size)
{
        static const uint8_t ZEROES[8];

        for (file_put(file, bytes, n); n < size; n += MIN(size - n, sizeof(ZEROES)))
                file_put(file, ZEROES, MIN(size - n, sizeof(ZEROES)));
}

static void file_put_header(MomentFile *file, uint32_t type, uint16_t misc, size_t size)
{
        const struct perf_event_header header = {
                .type = type, .misc = misc, .size = (uint16_t)size};

        file_put(file, &header, sizeof(header));
}

static size_t size_aligned(size_t n)
{
        return (n + 7) & ~(size_t)7;
}

static struct perf_event_attr moment_attr(const Moment *moment)
{
        return (struct perf_event_attr){
                .type = PERF_TYPE_SOFTWARE,
                .size = sizeof(struct perf_event_attr),
                .config = PERF_COUNT_SW_DUMMY,
                .sample_period = 1,
                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                               PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                               PERF_SAMPLE_STACK_USER,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC,
                .sample_regs_user = MOMENT_REGISTERS,
                .sample_stack_user = moment->max_stack,
        };
}

/* PERF_RECORD_MMAP2; without a time, as perf has what was mapped before its recording began. */
static void file_put_mapping(MomentFile *file, const Moment *moment, const MomentMapping *mapping)
{
        const char *path = *mapping->path ? mapping->path : ANONYMOUS;
        const size_t n_path = strlen(path), n = size_aligned(n_path + 1);

        if (n_path >= MAX_PATH)
                return;
        file_put_header(file, PERF_RECORD_MMAP2,
                        PERF_RECORD_MISC_USER |
                                (mapping->n_build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0),
                        sizeof(struct perf_event_header) + 64 + n);
        file_put_u32(file, (uint32_t)moment->pid);
        file_put_u32(file, (uint32_t)moment->pid);
        file_put_u64(file, mapping->begin);
        file_put_u64(file, mapping->end - mapping->begin);
        file_put_u64(file, mapping->offset);
        if (mapping->n_build_id) {
                const uint8_t n_id[4] = {mapping->n_build_id};

                file_put(file, n_id, sizeof(n_id));
                file_put(file, mapping->build_id, sizeof(mapping->build_id));
        } else {
                file_put_u32(file, mapping->major);
                file_put_u32(file, mapping->minor);
                file_put_u64(file, mapping->inode);
                file_put_u64(file, 0); /* generation of the inode */
        }
        file_put_u32(file, PROT_READ | PROT_EXEC);
        file_put_u32(file, MAP_PRIVATE);
        file_put_padded(file, path, n_path, n);
}

static void file_put_name(MomentFile *file, const Moment *moment, const MomentThread *thread)
{
        const size_t n_name = strnlen(thread->name, sizeof(thread->name) - 1);
        const size_t n = size_aligned(n_name + 1);

        if (!n_name)
                return;
        file_put_header(file, PERF_RECORD_COMM, PERF_RECORD_MISC_USER,
                        sizeof(struct perf_event_header) + 8 + n);
        file_put_u32(file, (uint32_t)moment->pid);
        file_put_u32(file, (uint32_t)thread->tid);
        file_put_padded(file, thread->name, n_name, n);
}

/* PERF_RECORD_SAMPLE: the order of its members is that of linux/perf_event.h. */
static void file_put_sample(MomentFile *file, const Moment *moment, const MomentThread *thread)
{
        const size_t n_stack = MIN(thread->n_stack, moment->max_stack), n = size_aligned(n_stack);
        /* IP, thread, time, number of callers, ABI, and sizes of the copy. */
        const size_t n_words = 7 + MOMENT_N_REGISTERS - (n ? 0 : 1);

        file_put_header(file, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
                        sizeof(struct perf_event_header) + n_words * sizeof(uint64_t) + n);
        file_put_u64(file, thread->registers[MOMENT_IP]);
        file_put_u32(file, (uint32_t)moment->pid);
        file_put_u32(file, (uint32_t)thread->tid);
        file_put_u64(file, moment->time);
        file_put_u64(file, 0); /* callers, which are found in the copy */
        file_put_u64(file, ABI_64);
        file_put(file, thread->registers, sizeof(thread->registers));
        file_put_u64(file, n);
        file_put_padded(file, thread->stack, n_stack, n);
        if (n)
                file_put_u64(file, n_stack);
}

static void file_put_records(MomentFile *file, const Moment *moment)
{
        guint i;

        for (i = 0; i < moment->mappings->len; i++)
                file_put_mapping(file, moment, &g_array_index(moment->mappings, MomentMapping, i));
        for (i = 0; i < moment->threads->len; i++)
                file_put_name(file, moment, &g_array_index(moment->threads, MomentThread, i));
        for (i = 0; i < moment->threads->len; i++)
                file_put_sample(file, moment, &g_array_index(moment->threads, MomentThread, i));
}

/* The feature that says which time of day the moment was. */
static void file_put_clock(MomentFile *file, const Moment *moment, uint64_t at)
{
        const PerfSection section = {at + sizeof(section), 24};

        file_put(file, &section, sizeof(section));
        file_put_u32(file, 1); /* version */
        file_put_u32(file, CLOCK_MONOTONIC);
        file_put_u64(file, moment->time_of_day);
        file_put_u64(file, moment->time);
}

static void file_put_all(MomentFile *file, const Moment *moment)
{
        const struct perf_event_attr attr = moment_attr(moment);
        const PerfSection no_ids = {0};
        PerfFileHeader header = {
                .magic = PERF_MAGIC,
                .size = sizeof(header),
                .attr_size = sizeof(attr) + sizeof(no_ids),
                .attrs = {sizeof(header), sizeof(attr) + sizeof(no_ids)},
                .data = {.offset = sizeof(header) + sizeof(attr) + sizeof(no_ids)},
                .features = {UINT64_C(1) << PERF_FEATURE_CLOCK_DATA},
        };
        long end;

        file_put(file, &header, sizeof(header));
        file_put(file, &attr, sizeof(attr));
        file_put(file, &no_ids, sizeof(no_ids));
        file_put_records(file, moment);
        end = ftell(file->file);
        if (end < 0) {
                file->has_failed = true;
                return;
        }
        header.data.size = (uint64_t)end - header.data.offset;
        file_put_clock(file, moment, (uint64_t)end);
        if (fseek(file->file, 0, SEEK_SET) == 0)
                file_put(file, &header, sizeof(header));
        else
                file->has_failed = true;
}

bool moment_write(const Moment *moment, int fd, GError **error)
{
        const int copy = dup(fd);
        MomentFile file = {.file = copy >= 0 ? fdopen(copy, "w") : NULL};

        if (file.file) {
                file_put_all(&file, moment);
                file.has_failed |= fflush(file.file) != 0;
        }
        if (!file.file || file.has_failed)
                g_set_error(error, MOMENT_ERROR, 0, "the stacks of process %d cannot be kept: %s",
                            (int)moment->pid, g_strerror(errno));
        if (file.file)
                fclose(file.file);
        else if (copy >= 0)
                close(copy);
        return file.file && !file.has_failed;
}
