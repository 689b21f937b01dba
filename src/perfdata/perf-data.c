/* SPDX-License-Identifier: MIT */
#include "perfdata/perf-data.h"

#include "perfdata/error.h"
#include "perfdata/event-name.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A record has at most 65,535 bytes. */
#define WINDOW (1u << 20)

/* An unknown bit is from a later kernel, and changes the layout of samples. */
#define SAMPLE_TYPES_KNOWN ((UINT64_C(1) << 25) - 1)
#define READ_FORMATS_KNOWN ((UINT64_C(1) << 5) - 1)

G_DEFINE_QUARK(clrsym - perfdata - error - quark, perfdata_error)

static bool data_damaged(GError **error, const char *what)
{
        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_DAMAGED, "%s", what);
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
                        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_SYSTEM,
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

static bool data_add_ids(PerfData *data, const uint64_t *ids, uint64_t n, guint attr,
                         GError **error)
{
        uint64_t i;

        if (n > PERF_MAX_IDS - g_hash_table_size(data->by_id))
                return data_damaged(error, "it has too many events");
        if (n)
                g_array_index(data->attrs, PerfAttr, attr).id = ids[0];
        for (i = 0; i < n; i++)
                g_hash_table_insert(data->by_id, g_memdup2(&ids[i], sizeof(uint64_t)),
                                    GUINT_TO_POINTER(attr + 1));
        return true;
}

static bool data_add_attr(PerfData *data, const PerfAttr *row, GError **error)
{
        const struct perf_event_attr *attr = &row->attr;

        if (data->attrs->len == PERF_MAX_ATTRS)
                return data_damaged(error, "it has too many events");
        if (attr->sample_type & ~SAMPLE_TYPES_KNOWN || attr->read_format & ~READ_FORMATS_KNOWN) {
                g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_UNKNOWN,
                            "a later version of perf made it: its samples have members that this "
                            "version of clrsym does not know (sample_type 0x%" PRIx64
                            ", read_format 0x%" PRIx64 ")",
                            (uint64_t)attr->sample_type, (uint64_t)attr->read_format);
                return false;
        }
        g_array_append_val(data->attrs, *row);
        return true;
}

static bool data_read_ids(PerfData *data, const PerfSection *ids, guint attr, GError **error)
{
        const uint64_t n = ids->size / sizeof(uint64_t);
        g_autofree uint64_t *numbers = NULL;

        if (!section_is_inside(ids, data->size) || n > PERF_MAX_IDS)
                return data_damaged(error, "the ids of an event are not in it");
        numbers = g_new(uint64_t, n + 1);
        return perf_data_read(data, ids->offset, numbers, n * sizeof(uint64_t), error) &&
               data_add_ids(data, numbers, n, attr, error);
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
                    !data_add_attr(data, &row, error) ||
                    !data_read_ids(data, &ids, (guint)i, error))
                        return false;
        }
        return true;
}

/* Reads the features, whose sections are after the records, by the table before the sections. */
static bool data_read_features(PerfData *data, GError **error)
{
        const PerfFileHeader *header = &data->header;
        uint64_t at = header->data.offset + header->data.size;
        unsigned number;

        /* A recording of a killed perf has no features. */
        if (!header->data.size || !section_is_inside(&header->data, data->size))
                return true;
        for (number = 0; number < PERF_FEATURE_MAX; number++) {
                g_autofree uint8_t *bytes = NULL;
                PerfSection section;

                if (!(header->features[number / 64] >> number % 64 & 1))
                        continue;
                if (!perf_data_read(data, at, &section, sizeof(section), error))
                        return false;
                at += sizeof(section);
                if (!section_is_inside(&section, data->size) || section.size > PERF_MAX_FEATURE)
                        continue;
                bytes = g_malloc(section.size + 1);
                if (!perf_data_read(data, section.offset, bytes, (size_t)section.size, error))
                        return false;
                perf_features_take(&data->features, number, bytes, (size_t)section.size);
        }
        return true;
}

/* Takes a record that stands for an attribute or a feature. */
static bool data_take_pipe_record(PerfData *data, const struct perf_event_header *record,
                                  GError **error)
{
        const uint8_t *bytes = (const uint8_t *)(record + 1);
        const size_t n = record->size - sizeof(*record);
        uint64_t ids[UINT16_MAX / sizeof(uint64_t)];
        PerfAttr row = {0};
        uint64_t number;

        switch (record->type) {
        case PERF_RECORD_HEADER_ATTR:
                if (n < PERF_ATTR_SIZE_VER0)
                        break;
                memcpy(&row.attr, bytes, MIN(n, sizeof(row.attr)));
                row.n = MIN(row.attr.size ? row.attr.size : PERF_ATTR_SIZE_VER0, (uint32_t)n);
                memset((uint8_t *)&row.attr + MIN(row.n, sizeof(row.attr)), 0,
                       sizeof(row.attr) - MIN(row.n, sizeof(row.attr)));
                memcpy(ids, bytes + row.n, n - row.n);
                return data_add_attr(data, &row, error) &&
                       data_add_ids(data, ids, (n - row.n) / sizeof(uint64_t), data->attrs->len - 1,
                                    error);
        case PERF_RECORD_HEADER_FEATURE:
                if (n < sizeof(number))
                        break;
                memcpy(&number, bytes, sizeof(number));
                if (number < PERF_FEATURE_MAX)
                        perf_features_take(&data->features, (unsigned)number,
                                           bytes + sizeof(number), n - sizeof(number));
                break;
        case PERF_RECORD_HEADER_BUILD_ID:
                perf_features_take_build_id(&data->features, record->misc, bytes, n);
                break;
        default:
                break;
        }
        return true;
}

/*
 * Reads the attributes and features among all records: perf writes build ids after the kernel's
 * records.
 */
static bool data_read_pipe(PerfData *data, GError **error)
{
        const struct perf_event_header *record;

        data->is_of_pipe = true;
        data->header = (PerfFileHeader){.magic = PERF_DATA_MAGIC,
                                        .size = sizeof(struct perf_event_header) * 2,
                                        .data.offset = 2 * sizeof(uint64_t)};
        perf_data_rewind(data);
        do {
                if (!perf_data_next(data, &record, error) ||
                    (record && !data_take_pipe_record(data, record, error)))
                        return false;
        } while (record);
        perf_data_rewind(data);
        return data->attrs->len > 0 || data_damaged(error, "it has no events");
}

/* Names each event as perf did, or by its type. */
static void data_name_events(PerfData *data)
{
        const GArray *names = data->features.names;
        guint i, j;

        for (i = 0; i < data->attrs->len; i++) {
                PerfAttr *row = &g_array_index(data->attrs, PerfAttr, i);

                for (j = 0; j < names->len && !row->name; j++) {
                        const PerfEventName *name = &g_array_index(names, PerfEventName, j);

                        if (row->id && name->id ? name->id == row->id : i == j)
                                row->name = g_strdup(name->name);
                }
                if (!row->name)
                        row->name = event_name_of_attr(&row->attr);
        }
}

static void attr_clear(gpointer data)
{
        g_free(((PerfAttr *)data)->name);
}

bool perf_data_open(PerfData *ret_data, const char *path, GError **error)
{
        PerfFileHeader *header = &ret_data->header;
        struct stat st;

        *ret_data = (PerfData){
                .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                .attrs = g_array_new(FALSE, FALSE, sizeof(PerfAttr)),
                .by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .window = g_malloc(WINDOW),
        };
        perf_features_init(&ret_data->features);
        g_array_set_clear_func(ret_data->attrs, attr_clear);
        if (ret_data->fd < 0 || fstat(ret_data->fd, &st) < 0) {
                g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_SYSTEM, "it cannot be opened: %s",
                            g_strerror(errno));
                return false;
        }
        ret_data->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        if (ret_data->size < 2 * sizeof(uint64_t))
                return data_damaged(error, "it is not a perf.data file");
        if (!perf_data_read(ret_data, 0, header, MIN(sizeof(*header), ret_data->size), error))
                return false;
        if (header->magic != PERF_DATA_MAGIC)
                return data_damaged(error, header->magic == GUINT64_SWAP_LE_BE(PERF_DATA_MAGIC)
                                                   ? "it was recorded on a machine of the other "
                                                     "byte order"
                                                   : "it is not a perf.data file");
        if (header->size == 2 * sizeof(uint64_t)) {
                if (!data_read_pipe(ret_data, error))
                        return false;
        } else {
                if (header->size < sizeof(*header) || ret_data->size < sizeof(*header))
                        return data_damaged(error, "it is not a perf.data file that this version "
                                                   "of clrsym knows");
                ret_data->next = header->data.offset;
                if (ret_data->next > ret_data->size)
                        return data_damaged(error, "its records are not in it");
                ret_data->is_cut =
                        header->data.size && !section_is_inside(&header->data, ret_data->size);
                if (!data_read_attrs(ret_data, error) || !data_read_features(ret_data, error))
                        return false;
        }
        data_name_events(ret_data);
        return true;
}

void perf_data_deinit(PerfData *data)
{
        fd_clear(&data->fd);
        g_clear_pointer(&data->attrs, g_array_unref);
        g_clear_pointer(&data->by_id, g_hash_table_unref);
        g_clear_pointer(&data->window, g_free);
        g_clear_pointer(&data->aligned, g_free);
        g_clear_pointer(&data->inflater, perf_inflater_free);
        perf_features_deinit(&data->features);
}

/* A recording of a killed perf has no size of data: its records end with the file. */
static uint64_t data_end(const PerfData *data)
{
        const PerfSection *section = &data->header.data;

        return section->size && section_is_inside(section, data->size)
                       ? section->offset + section->size
                       : data->size;
}

/* Reads N bytes from the next record on into the window; fewer at the end of the records. */
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

/*
 * Copies the record at AT, of N bytes, if it is not aligned: a record after a compressed one can be
 * anywhere.
 */
static const struct perf_event_header *data_aligned(PerfData *data, const uint8_t *at, size_t n)
{
        if ((uintptr_t)at % sizeof(uint64_t) == 0)
                return (const struct perf_event_header *)(const void *)at;
        if (!data->aligned)
                data->aligned = g_malloc(UINT16_MAX + 1u);
        memcpy(data->aligned, at, n);
        return (const struct perf_event_header *)(const void *)data->aligned;
}

/* The next record in the file. */
static bool data_next_in_file(PerfData *data, const struct perf_event_header **ret_record,
                              GError **error)
{
        struct perf_event_header header;
        uint32_t n_more;
        size_t n;

        *ret_record = NULL;
        if (!data_fill(data, sizeof(header), &n, error))
                return false;
        if (n < sizeof(header))
                return true;
        memcpy(&header, data->window + (data->next - data->window_at), sizeof(header));
        if (header.type == PERF_RECORD_AUXTRACE) {
                g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_UNKNOWN,
                            "it has the trace of a processor: record samples");
                return false;
        }
        /* Only perf's own records have other sizes. */
        if (header.size < sizeof(header) ||
            (header.size % sizeof(uint64_t) != 0 && header.type < PERF_RECORD_USER_FIRST))
                return data_damaged(error, "one of its records has no valid size");
        if (!data_fill(data, header.size, &n, error))
                return false;
        if (n < header.size)
                return true;
        *ret_record =
                data_aligned(data, data->window + (data->next - data->window_at), header.size);
        data->next += header.size;
        /* Bytes outside of any record follow. */
        if (header.type == PERF_RECORD_HEADER_TRACING_DATA && data->is_of_pipe &&
            header.size >= sizeof(header) + sizeof(n_more)) {
                memcpy(&n_more, *ret_record + 1, sizeof(n_more));
                data->next += MIN(((uint64_t)n_more + 7) & ~UINT64_C(7), data->size - data->next);
        }
        return true;
}

static bool data_inflate(PerfData *data, const struct perf_event_header *record, GError **error)
{
        const uint8_t *bytes = (const uint8_t *)(record + 1);
        uint64_t n = record->size - sizeof(*record), n_given;

        if (record->type == PERF_RECORD_COMPRESSED2) {
                if (n < sizeof(n_given))
                        return data_damaged(error, "one of its records has no valid size");
                memcpy(&n_given, bytes, sizeof(n_given));
                bytes += sizeof(n_given);
                n = MIN(n - sizeof(n_given), n_given);
        }
        if (!data->inflater)
                data->inflater = perf_inflater_new();
        return perf_inflater_put(data->inflater, bytes, (size_t)n, error);
}

bool perf_data_next(PerfData *data, const struct perf_event_header **ret_record, GError **error)
{
        for (;;) {
                if (data->inflater) {
                        if (!perf_inflater_next(data->inflater, ret_record))
                                return data_damaged(error, "one of its records has no valid size");
                        if (*ret_record)
                                return true;
                }
                if (!data_next_in_file(data, ret_record, error))
                        return false;
                if (!*ret_record || ((*ret_record)->type != PERF_RECORD_COMPRESSED &&
                                     (*ret_record)->type != PERF_RECORD_COMPRESSED2))
                        return true;
                if (!data_inflate(data, *ret_record, error))
                        return false;
        }
}

void perf_data_rewind(PerfData *data)
{
        data->next = data->header.data.offset;
        if (data->inflater)
                perf_inflater_rewind(data->inflater);
}

bool perf_data_is_compressed(const PerfData *data)
{
        return data->inflater != NULL;
}

static const PerfAttr *data_event_of_id(const PerfData *data, uint64_t id)
{
        guint i = GPOINTER_TO_UINT(g_hash_table_lookup(data->by_id, &id));

        return i ? &g_array_index(data->attrs, PerfAttr, i - 1) : NULL;
}

/* The index of the id in a sample, in words; -1: none. */
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

const PerfAttr *perf_data_event(const PerfData *data, const struct perf_event_header *record)
{
        const PerfAttr *first = &g_array_index(data->attrs, PerfAttr, 0);
        const uint64_t *words = (const uint64_t *)(const void *)(record + 1);
        int word;

        if (data->attrs->len == 1)
                return first;
        word = sample_id_word(first->attr.sample_type);
        if (word < 0 || sizeof(*record) + (size_t)(word + 1) * sizeof(*words) > record->size)
                return NULL;
        return data_event_of_id(data, words[word]);
}

const struct perf_event_attr *perf_data_attr(const PerfData *data,
                                             const struct perf_event_header *record)
{
        const PerfAttr *event = perf_data_event(data, record);

        return event ? &event->attr : NULL;
}

bool perf_data_id(const PerfData *data, const struct perf_event_header *record,
                  PerfRecordId *ret_id)
{
        /* Members behind the time, in the id at the end of a record. */
        static const uint64_t AFTER[] = {PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
                                         PERF_SAMPLE_IDENTIFIER};
        const struct perf_event_attr *attr = &g_array_index(data->attrs, PerfAttr, 0).attr;
        const bool has_thread = attr->sample_type & PERF_SAMPLE_TID;
        const uint64_t *end =
                (const uint64_t *)(const void *)((const uint8_t *)record + record->size);
        size_t i, words = 1;
        int32_t thread[2];

        if (record->type >= PERF_RECORD_USER_FIRST || !attr->sample_id_all ||
            !(attr->sample_type & PERF_SAMPLE_TIME))
                return false;
        for (i = 0; i < G_N_ELEMENTS(AFTER); i++)
                words += (attr->sample_type & AFTER[i]) != 0;
        if (sizeof(*record) + (words + has_thread) * sizeof(*end) > record->size)
                return false;
        *ret_id = (PerfRecordId){.pid = -1, .tid = -1, .time = *(end - words)};
        if (has_thread) {
                memcpy(thread, end - words - 1, sizeof(thread));
                ret_id->pid = thread[0];
                ret_id->tid = thread[1];
        }
        return true;
}

uint64_t perf_data_time(const PerfData *data, const struct perf_event_header *record)
{
        PerfRecordId id;

        return perf_data_id(data, record, &id) ? id.time : 0;
}

bool comm_record_read(CommRecord *ret, const struct perf_event_header *record)
{
        const char *name = (const char *)(record + 1) + 2 * sizeof(uint32_t);
        const size_t n = sizeof(*record) + 2 * sizeof(uint32_t);

        if (record->type != PERF_RECORD_COMM || record->size <= n)
                return false;
        *ret = (CommRecord){.name = ""};
        memcpy(&ret->pid, record + 1, sizeof(ret->pid));
        memcpy(&ret->tid, (const uint8_t *)(record + 1) + sizeof(ret->pid), sizeof(ret->tid));
        memcpy(ret->name, name, strnlen(name, MIN(record->size - n, sizeof(ret->name) - 1)));
        return true;
}

bool fork_record_read(ForkRecord *ret, const struct perf_event_header *record)
{
        if (record->type != PERF_RECORD_FORK || record->size < sizeof(*ret))
                return false;
        memcpy(ret, record, sizeof(*ret));
        return true;
}
