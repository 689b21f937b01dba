/* SPDX-License-Identifier: MIT */
#include "perfdata/perf-writer.h"

#include "perfdata/address-space.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a chain: the size of a record has 16 bits. */
#define MAX_CHAIN_BYTES 65000u
#define MAX_PATH_BYTES  4096u
/* Registers of a 64-bit process. */
#define ABI_64 2u

/* An event in the file. */
typedef struct FileEvent {
        struct perf_event_attr attr;
        PerfSection ids;
} FileEvent;

static uint64_t event_id(unsigned event)
{
        return (uint64_t)event + 1;
}

static struct perf_event_attr event_attr(const PerfWriter *writer, unsigned event)
{
        struct perf_event_attr attr = writer->events[event].attr;

        attr.size = sizeof(attr);
        attr.sample_id_all = 1;
        attr.use_clockid = 1;
        return attr;
}

static void writer_put(PerfWriter *writer, const void *bytes, size_t n)
{
        if (!writer->has_failed)
                writer->has_failed = fwrite(bytes, 1, n, writer->output) != n;
}

/*
 * Writes the file up to its records, which have N_DATA bytes. FEATURES: a bit for each section
 * behind them.
 */
static void writer_put_head(PerfWriter *writer, uint64_t n_data, uint64_t features)
{
        const uint64_t ids = sizeof(PerfFileHeader),
                       events = ids + writer->n_events * sizeof(uint64_t),
                       data = events + writer->n_events * sizeof(FileEvent);
        const PerfFileHeader header = {
                .magic = PERF_DATA_MAGIC,
                .size = sizeof(header),
                .attr_size = sizeof(FileEvent),
                .attrs = {events, data - events},
                .data = {data, n_data},
                .features[0] = features,
        };
        unsigned i;

        writer_put(writer, &header, sizeof(header));
        for (i = 0; i < writer->n_events; i++) {
                const uint64_t id = event_id(i);

                writer_put(writer, &id, sizeof(id));
        }
        for (i = 0; i < writer->n_events; i++) {
                const FileEvent event = {event_attr(writer, i),
                                         {ids + i * sizeof(uint64_t), sizeof(uint64_t)}};

                writer_put(writer, &event, sizeof(event));
        }
}

bool perf_writer_init(PerfWriter *ret, int fd, const PerfWriterEvent *events, unsigned n_events)
{
        const int copy = dup(fd);

        *ret = (PerfWriter){.output = copy >= 0 ? fdopen(copy, "w") : NULL,
                            .events = events,
                            .n_events = n_events,
                            .record = g_byte_array_new(),
                            .chain = g_byte_array_new()};
        if (!ret->output) {
                if (copy >= 0)
                        close(copy);
                return false;
        }
        writer_put_head(ret, 0, 0);
        return !ret->has_failed;
}

void perf_writer_deinit(PerfWriter *writer)
{
        if (writer->output)
                fclose(writer->output);
        writer->output = NULL;
        g_clear_pointer(&writer->record, g_byte_array_unref);
        g_clear_pointer(&writer->chain, g_byte_array_unref);
}

static void record_put(GByteArray *record, const void *bytes, size_t n)
{
        g_byte_array_append(record, bytes, (guint)n);
}

static void record_put_u32(GByteArray *record, uint32_t value)
{
        record_put(record, &value, sizeof(value));
}

static void record_put_u64(GByteArray *record, uint64_t value)
{
        record_put(record, &value, sizeof(value));
}

/* A text with its NUL, padded to a multiple of 8 bytes. */
static void record_put_text(GByteArray *record, const char *text, size_t max)
{
        static const uint8_t ZEROS[sizeof(uint64_t)];
        const size_t n = strnlen(text, max);

        record_put(record, text, n);
        record_put(record, ZEROS, sizeof(uint64_t) - n % sizeof(uint64_t));
}

static void record_put_thread(GByteArray *record, int32_t pid, int32_t tid)
{
        record_put(record, &pid, sizeof(pid));
        record_put(record, &tid, sizeof(tid));
}

/* Appends sample_id_all, the end of each record that is not a sample. */
static void record_put_id(GByteArray *record, int32_t pid, int32_t tid, uint64_t time)
{
        record_put_thread(record, pid, tid);
        record_put_u64(record, time);
        record_put_u64(record, 0); /* CPU */
        record_put_u64(record, event_id(0));
}

static void writer_put_record(PerfWriter *writer, uint32_t type, uint16_t misc)
{
        const struct perf_event_header header = {
                .type = type,
                .misc = misc,
                .size = (uint16_t)(sizeof(header) + writer->record->len)};

        writer_put(writer, &header, sizeof(header));
        writer_put(writer, writer->record->data, writer->record->len);
        g_byte_array_set_size(writer->record, 0);
}

/* Writes the callers, with the kernel's marks before kernel and user addresses. */
static void chain_put(GByteArray *chain, const PerfWriterSample *sample)
{
        bool is_kernel = false;
        size_t i;

        for (i = 0; i < sample->n_addresses && chain->len < MAX_CHAIN_BYTES; i++) {
                const bool is_kernels = sample->addresses[i] >> 63;

                if (i == 0 || is_kernels != is_kernel)
                        record_put_u64(chain, is_kernels ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
                is_kernel = is_kernels;
                record_put_u64(chain, sample->addresses[i]);
        }
}

/* Writes the ABI and the registers; the size of the stack, the stack, and its used size. */
static void record_put_copy(GByteArray *record, const PerfWriterSample *sample)
{
        static const uint8_t ZEROS[sizeof(uint64_t)];
        const size_t n_padding = -(size_t)sample->n_stack % sizeof(ZEROS);

        record_put_u64(record, ABI_64);
        record_put(record, sample->registers, sample->n_registers * sizeof(uint64_t));
        record_put_u64(record, sample->n_stack + n_padding);
        record_put(record, sample->stack, sample->n_stack);
        record_put(record, ZEROS, n_padding);
        if (sample->n_stack)
                record_put_u64(record, sample->n_stack);
}

/* Members are in the order of linux/perf_event.h. */
void perf_writer_add_sample(PerfWriter *writer, const PerfWriterSample *sample)
{
        GByteArray *record = writer->record;

        g_byte_array_set_size(writer->chain, 0);
        chain_put(writer->chain, sample);
        record_put_u64(record, event_id(sample->event));
        record_put_u64(record, sample->ip);
        record_put_thread(record, sample->pid, sample->tid);
        record_put_u64(record, sample->time);
        record_put_u64(record, sample->cpu);
        record_put_u64(record, sample->period);
        record_put_u64(record, writer->chain->len / sizeof(uint64_t));
        record_put(record, writer->chain->data, writer->chain->len);
        if (writer->events[sample->event].attr.sample_type & PERF_WRITER_COPY)
                record_put_copy(record, sample);
        writer_put_record(writer, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

void perf_writer_add_mapping(PerfWriter *writer, const PerfWriterMapping *mapping)
{
        const bool has_build_id = mapping->n_build_id > 0;
        GByteArray *record = writer->record;

        record_put_thread(record, mapping->pid, mapping->pid);
        record_put_u64(record, mapping->start);
        record_put_u64(record, mapping->end - mapping->start);
        record_put_u64(record, mapping->offset);
        if (has_build_id) {
                record_put_u32(record, mapping->n_build_id);
                record_put(record, mapping->build_id, sizeof(mapping->build_id));
        } else {
                record_put_u32(record, mapping->major);
                record_put_u32(record, mapping->minor);
                record_put_u64(record, mapping->inode);
                record_put_u64(record, 0); /* generation */
        }
        record_put_u32(record, PROT_READ | PROT_EXEC);
        record_put_u32(record, MAP_PRIVATE);
        record_put_text(record, *mapping->path ? mapping->path : ANONYMOUS_PATH, MAX_PATH_BYTES);
        record_put_id(record, mapping->pid, mapping->pid, mapping->time);
        writer_put_record(writer, PERF_RECORD_MMAP2,
                          PERF_RECORD_MISC_USER |
                                  (has_build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
}

void perf_writer_add_name(PerfWriter *writer, int32_t pid, int32_t tid, uint64_t time,
                          const char *name, bool is_new)
{
        record_put_thread(writer->record, pid, tid);
        record_put_text(writer->record, name, THREAD_NAME_SIZE - 1);
        record_put_id(writer->record, pid, tid, time);
        writer_put_record(writer, PERF_RECORD_COMM,
                          PERF_RECORD_MISC_USER | (is_new ? PERF_RECORD_MISC_COMM_EXEC : 0));
}

static void feature_put_machine(const PerfWriter *writer, GByteArray *feature)
{
        if (!writer->machine)
                return;
        record_put_u32(feature, (uint32_t)strlen(writer->machine) + 1);
        record_put(feature, writer->machine, strlen(writer->machine) + 1);
}

static void feature_put_events(const PerfWriter *writer, GByteArray *feature)
{
        unsigned i;

        record_put_u32(feature, writer->n_events);
        record_put_u32(feature, sizeof(struct perf_event_attr));
        for (i = 0; i < writer->n_events; i++) {
                const struct perf_event_attr attr = event_attr(writer, i);
                const char *name = writer->events[i].name;

                record_put(feature, &attr, sizeof(attr));
                record_put_u32(feature, 1);
                record_put_u32(feature, (uint32_t)strlen(name) + 1);
                record_put(feature, name, strlen(name) + 1);
                record_put_u64(feature, event_id(i));
        }
}

static void feature_put_clock(const PerfWriter *writer, GByteArray *feature)
{
        record_put_u32(feature, 1); /* version */
        record_put_u32(feature, (uint32_t)writer->events[0].attr.clockid);
        record_put_u64(feature, writer->reference.tod);
        record_put_u64(feature, writer->reference.clock);
}

bool perf_writer_finish(PerfWriter *writer)
{
        /* In the order of numbers, as their sections. */
        static const struct {
                unsigned number;
                void (*put)(const PerfWriter *writer, GByteArray *feature);
        } FEATURES[] = {
                {PERF_FEATURE_ARCH, feature_put_machine},
                {PERF_FEATURE_EVENT_DESC, feature_put_events},
                {PERF_FEATURE_CLOCK_DATA, feature_put_clock},
        };
        const uint64_t begin =
                sizeof(PerfFileHeader) + writer->n_events * (sizeof(uint64_t) + sizeof(FileEvent));
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        const off_t end = ftello(writer->output);
        PerfSection sections[G_N_ELEMENTS(FEATURES)];
        uint64_t features = 0;
        unsigned n = 0, i;

        if (end < 0)
                return false;
        for (i = 0; i < G_N_ELEMENTS(FEATURES); i++) {
                const guint at = bytes->len;

                FEATURES[i].put(writer, bytes);
                if (bytes->len == at)
                        continue;
                features |= UINT64_C(1) << FEATURES[i].number;
                sections[n++] = (PerfSection){at, bytes->len - at};
        }
        for (i = 0; i < n; i++)
                sections[i].offset += (uint64_t)end + n * sizeof(*sections);
        writer_put(writer, sections, n * sizeof(*sections));
        writer_put(writer, bytes->data, bytes->len);
        if (fseeko(writer->output, 0, SEEK_SET) < 0)
                return false;
        writer_put_head(writer, (uint64_t)end - begin, features);
        return fflush(writer->output) == 0 && !writer->has_failed;
}
