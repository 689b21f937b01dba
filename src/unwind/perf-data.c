/* SPDX-License-Identifier: MIT */
#include "unwind/perf-data.h"

#include "unwind/error.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "PERFILE2" */
#define MAGIC UINT64_C(0x32454c4946524550)

/* A record has at most 65,535 bytes. */
#define WINDOW (1u << 20)

/* What perf writes besides the kernel's records; none of these is in <linux/perf_event.h>. */
enum {
        RECORD_AUXTRACE = 71,
        RECORD_COMPRESSED = 81,
        RECORD_COMPRESSED2 = 83,
};

G_DEFINE_QUARK(clrsym - unwind - error - quark, unwind_error)

static bool data_damaged(GError **error, const char *what)
{
        g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_DAMAGED, "%s", what);
        return false;
}

bool perf_data_read(const PerfData *data, uint64_t offset, void *bytes, size_t n, GError **error)
{
        uint8_t *at = bytes;

        while (n > 0) {
                ssize_t got = pread(data->fd, at, n, (off_t)offset);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0) {
                        g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM,
                                    "it cannot be read: %s", g_strerror(errno));
                        return false;
                }
                if (got == 0)
                        return data_damaged(error, "it ends too early");
                at += got;
                offset += (uint64_t)got;
                n -= (size_t)got;
        }
        return true;
}

static bool section_is_inside(const PerfSection *section, uint64_t size)
{
        return section->offset <= size && section->size <= size - section->offset;
}

static bool data_read_ids(PerfData *data, const PerfSection *ids, guint attr, GError **error)
{
        const uint64_t n = ids->size / sizeof(uint64_t);
        g_autofree uint64_t *numbers = NULL;
        uint64_t i;

        if (!section_is_inside(ids, data->size) ||
            n > PERF_MAX_IDS - g_hash_table_size(data->by_id))
                return data_damaged(error, "the ids of an event are not in it");
        numbers = g_new(uint64_t, n + 1);
        if (!perf_data_read(data, ids->offset, numbers, n * sizeof(uint64_t), error))
                return false;
        for (i = 0; i < n; i++)
                g_hash_table_insert(data->by_id, g_memdup2(&numbers[i], sizeof(uint64_t)),
                                    GUINT_TO_POINTER(attr + 1));
        return true;
}

static bool data_read_attrs(PerfData *data, GError **error)
{
        const PerfFileHeader *header = &data->header;
        const uint64_t step = header->attr_size;
        uint64_t i, n;

        if (step <= sizeof(PerfSection) || step > UINT16_MAX ||
            !section_is_inside(&header->attrs, data->size))
                return data_damaged(error, "the attributes of its events are not in it");
        n = header->attrs.size / step;
        if (n == 0 || n > PERF_MAX_ATTRS)
                return data_damaged(error, "it has no events, or too many");
        for (i = 0; i < n; i++) {
                PerfAttr row = {.at = header->attrs.offset + i * step,
                                .n = (uint32_t)(step - sizeof(PerfSection))};
                PerfSection ids;

                if (!perf_data_read(data, row.at, &row.attr, MIN(row.n, sizeof(row.attr)), error) ||
                    !perf_data_read(data, row.at + row.n, &ids, sizeof(ids), error) ||
                    !data_read_ids(data, &ids, (guint)i, error))
                        return false;
                g_array_append_val(data->attrs, row);
        }
        return true;
}

bool perf_data_open(PerfData *ret_data, const char *path, GError **error)
{
        struct stat st;

        *ret_data = (PerfData){
                .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                .attrs = g_array_new(FALSE, FALSE, sizeof(PerfAttr)),
                .by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .window = g_malloc(WINDOW),
        };
        if (ret_data->fd < 0 || fstat(ret_data->fd, &st) < 0) {
                g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM, "it cannot be opened: %s",
                            g_strerror(errno));
                return false;
        }
        ret_data->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        if (ret_data->size < sizeof(ret_data->header))
                return data_damaged(error, "it is not a perf.data file");
        if (!perf_data_read(ret_data, 0, &ret_data->header, sizeof(ret_data->header), error))
                return false;
        if (ret_data->header.magic != MAGIC || ret_data->header.size < sizeof(ret_data->header))
                return data_damaged(error, "it is not a perf.data file of this kind of machine");
        ret_data->next = ret_data->header.data.offset;
        if (ret_data->next > ret_data->size)
                return data_damaged(error, "its records are not in it");
        return data_read_attrs(ret_data, error);
}

void perf_data_deinit(PerfData *data)
{
        fd_clear(&data->fd);
        g_clear_pointer(&data->attrs, g_array_unref);
        g_clear_pointer(&data->by_id, g_hash_table_unref);
        g_clear_pointer(&data->window, g_free);
}

/* A recording that was killed has no size of its data: then all that follows is records. */
static uint64_t data_end(const PerfData *data)
{
        const PerfSection *section = &data->header.data;

        return section->size && section_is_inside(section, data->size)
                       ? section->offset + section->size
                       : data->size;
}

/* The window has N bytes from the next record on; less at the end of the records. */
static bool data_fill(PerfData *data, size_t n, size_t *ret_n, GError **error)
{
        const uint64_t end = data_end(data);
        size_t have = 0;

        if (data->next >= data->window_at && data->next <= data->window_at + data->n_window)
                have = (size_t)(data->window_at + data->n_window - data->next);
        if (have < n && have < end - data->next) {
                const size_t most = (size_t)MIN(WINDOW, end - data->next);

                data->window_at = data->next;
                data->n_window = 0;
                if (!perf_data_read(data, data->next, data->window, most, error))
                        return false;
                data->n_window = have = most;
        }
        *ret_n = have;
        return true;
}

bool perf_data_next(PerfData *data, const struct perf_event_header **ret_record, GError **error)
{
        struct perf_event_header header;
        size_t n;

        *ret_record = NULL;
        if (!data_fill(data, sizeof(header), &n, error))
                return false;
        if (n < sizeof(header))
                return true;
        memcpy(&header, data->window + (data->next - data->window_at), sizeof(header));
        if (header.type == RECORD_COMPRESSED || header.type == RECORD_COMPRESSED2 ||
            header.type == RECORD_AUXTRACE) {
                g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_UNKNOWN,
                            header.type == RECORD_AUXTRACE ? "it has the trace of a processor"
                                                           : "it is compressed: record without -z");
                return false;
        }
        if (header.size < sizeof(header) || header.size % sizeof(uint64_t) != 0)
                return data_damaged(error, "one of its records has no valid size");
        if (!data_fill(data, header.size, &n, error))
                return false;
        if (n < header.size)
                return true;
        *ret_record =
                (const struct perf_event_header *)(const void *)(data->window +
                                                                 (data->next - data->window_at));
        data->next += header.size;
        return true;
}

void perf_data_rewind(PerfData *data)
{
        data->next = data->header.data.offset;
}

static const struct perf_event_attr *data_attr_of_id(const PerfData *data, uint64_t id)
{
        guint i = GPOINTER_TO_UINT(g_hash_table_lookup(data->by_id, &id));

        return i ? &g_array_index(data->attrs, PerfAttr, i - 1).attr : NULL;
}

/* Where samples have the id, in words; -1: they have none. */
static int sample_id_word(uint64_t type)
{
        static const uint64_t BEFORE[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                          PERF_SAMPLE_ADDR};
        int word = 0;
        size_t i;

        if (type & PERF_SAMPLE_IDENTIFIER)
                return 0;
        if (!(type & PERF_SAMPLE_ID))
                return -1;
        for (i = 0; i < G_N_ELEMENTS(BEFORE); i++)
                word += (type & BEFORE[i]) != 0;
        return word;
}

const struct perf_event_attr *perf_data_attr(const PerfData *data,
                                             const struct perf_event_header *record)
{
        const struct perf_event_attr *first = &g_array_index(data->attrs, PerfAttr, 0).attr;
        const uint64_t *words = (const uint64_t *)(const void *)(record + 1);
        int word;

        if (data->attrs->len == 1)
                return first;
        word = sample_id_word(first->sample_type);
        if (word < 0 || sizeof(*record) + (size_t)(word + 1) * sizeof(*words) > record->size)
                return NULL;
        return data_attr_of_id(data, words[word]);
}

uint64_t perf_data_time(const PerfData *data, const struct perf_event_header *record)
{
        /* Members of the id after the time, which is at the end of a record. */
        static const uint64_t AFTER[] = {PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
                                         PERF_SAMPLE_IDENTIFIER};
        const struct perf_event_attr *attr = &g_array_index(data->attrs, PerfAttr, 0).attr;
        const uint64_t *end =
                (const uint64_t *)(const void *)((const uint8_t *)record + record->size);
        size_t i, words = 1;

        if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TIME))
                return 0;
        for (i = 0; i < G_N_ELEMENTS(AFTER); i++)
                words += (attr->sample_type & AFTER[i]) != 0;
        return sizeof(*record) + words * sizeof(*end) <= record->size ? *(end - words) : 0;
}
