/* SPDX-License-Identifier: MIT */
#include "collect/collect.h"

#include "collect/image-file.h"
#include "event/event-counts.h"
#include "nettrace/file.h"
#include "util/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

/* Bytes, after the header, that contain the first metadata. */
#define MAX_BEGIN (1u << 20)

typedef enum CollectEvent {
        COLLECT_CPU,
        COLLECT_SWITCH,
        _COLLECT_EVENT_MAX,
} CollectEvent;

/* With the recorder's names. */
static const PerfWriterEvent EVENTS[_COLLECT_EVENT_MAX] = {
        [COLLECT_CPU] = {"cpu",
                         {.type = PERF_TYPE_SOFTWARE,
                          .config = PERF_COUNT_SW_CPU_CLOCK,
                          .sample_type = PERF_WRITER_SAMPLE,
                          .clockid = CLOCK_MONOTONIC_RAW}},
        [COLLECT_SWITCH] = {"cswitch",
                            {.type = PERF_TYPE_SOFTWARE,
                             .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                             .sample_type = PERF_WRITER_SAMPLE,
                             .clockid = CLOCK_MONOTONIC_RAW}},
};

typedef struct Collect {
        PerfWriter writer;
        NettraceReader *reader;   /* owned */
        RecorderSymbols *symbols; /* borrowed */
        GHashTable *names;        /* owned: pid -> owned name of the process */
        GHashTable *threads;      /* owned: tid -> pid, of threads with a name */
        GHashTable *files;        /* owned: id of metadata -> owned ImageIdentity */
        ImageFiles *images;       /* owned */
        uint64_t begin;           /* ns; of the recording */
        uint64_t sample_ns;
        uint64_t n_samples, n_lost;
} Collect;

/* Notes whether the table has events of the recorder. */
static void counts_note_universal(const EventCounts *counts, void *data)
{
        bool *ret = data;

        *ret |= g_str_has_prefix(counts->name, "Universal.");
}

bool collect_is(int fd)
{
        g_autofree uint8_t *bytes = NULL;
        NettraceReader *reader;
        bool is_universal = false;
        ssize_t n;

        if (!nettrace_file_is(fd))
                return false;
        bytes = g_malloc(MAX_BEGIN);
        n = pread(fd, bytes, MAX_BEGIN, 0);
        reader = nettrace_reader_new(EVENT_USE_NONE);
        if (n > 0)
                nettrace_reader_push(reader, bytes, (size_t)n, NULL);
        event_counts_foreach(nettrace_reader_counts(reader), counts_note_universal, &is_universal);
        nettrace_reader_free(reader);
        return is_universal;
}

/* The recorder gives everything from before the time of its begin. */
static uint64_t collect_time(const Collect *collect, const Record *record)
{
        return record->time <= collect->begin ? 0 : record->time;
}

static char *value_text(const Record *record, FieldName field)
{
        const Value *value = record_value(record, field);

        return g_strndup(value->n ? (const char *)value->data : "", value->n);
}

static void collect_take_process(Collect *collect, const Record *record)
{
        const int32_t pid = record->process.pid;
        const bool is_known = g_hash_table_contains(collect->names, GINT_TO_POINTER(pid));
        char *name = value_text(record, FIELD_Name);

        if (g_hash_table_size(collect->names) >= COLLECT_MAX_THREADS) {
                g_free(name);
                return;
        }
        /* The event can come after the first samples of the process. */
        perf_writer_add_name(&collect->writer, pid, pid,
                             is_known ? collect_time(collect, record) : 0, name,
                             /* is_new= */ false);
        g_hash_table_replace(collect->names, GINT_TO_POINTER(pid), name);
        g_hash_table_replace(collect->threads, GINT_TO_POINTER(pid), GINT_TO_POINTER(pid));
}

/* The pid may be reused. */
static void collect_take_exit(Collect *collect, const Record *record)
{
        const int32_t pid = record->process.pid;
        const char *name = g_hash_table_lookup(collect->names, GINT_TO_POINTER(pid));

        if (name)
                perf_writer_add_name(&collect->writer, pid, pid, record->time + 1, name,
                                     /* is_new= */ true);
}

static void collect_take_metadata(Collect *collect, const Record *record)
{
        const uint64_t id = record_u64(record, FIELD_Id);
        g_autofree char *text = value_text(record, FIELD_SymbolMetadata);
        ImageIdentity identity;

        if (id <= G_MAXUINT32 && g_hash_table_size(collect->files) < COLLECT_MAX_FILES &&
            image_identity_read(&identity, text))
                g_hash_table_replace(collect->files, GUINT_TO_POINTER((guint)id),
                                     g_memdup2(&identity, sizeof(identity)));
}

/* Memory that never has code; the recorder also reports memory that is not executable. */
static bool path_is_of_data(const char *path)
{
        static const char *const BEGINS[] = {"[heap", "[stack", "[vvar"};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(BEGINS); i++)
                if (g_str_has_prefix(path, BEGINS[i]))
                        return true;
        return false;
}

static void collect_take_mapping(Collect *collect, const Record *record)
{
        const uint64_t id = record_u64(record, FIELD_MetadataId);
        const uint64_t end = record_u64(record, FIELD_EndAddress);
        const ImageIdentity *identity =
                id && id <= G_MAXUINT32
                        ? g_hash_table_lookup(collect->files, GUINT_TO_POINTER((guint)id))
                        : NULL;
        g_autofree char *path = value_text(record, FIELD_FileName);
        PerfWriterMapping mapping = {
                .pid = record->process.pid,
                .start = record_u64(record, FIELD_StartAddress),
                /* Some versions of the recorder write the last address. */
                .end = end % PAGE == PAGE - 1 ? end + 1 : end,
                .offset = record_u64(record, FIELD_FileOffset),
                .time = collect_time(collect, record),
                .inode = *path == '/' ? PERF_WRITER_NO_INODE : 0,
                .path = path,
        };

        /* Mappings of the kernel are in each process. */
        if (mapping.start >> 63 || mapping.end <= mapping.start || path_is_of_data(path))
                return;
        if (identity && identity->kind == IMAGE_ELF) {
                mapping.n_build_id = identity->n_build_id;
                memcpy(mapping.build_id, identity->build_id, sizeof(mapping.build_id));
        }
        if (identity && identity->kind == IMAGE_PE)
                image_files_identify(collect->images, identity, &mapping);
        perf_writer_add_mapping(&collect->writer, &mapping);
}

static void collect_take_symbol(Collect *collect, const Record *record)
{
        const uint64_t start = record_u64(record, FIELD_StartAddress);
        const Value *name = record_value(record, FIELD_Name);

        recorder_symbols_add(collect->symbols, start >> 63 ? RECORDER_KERNEL : record->process.pid,
                             start, record_u64(record, FIELD_EndAddress), (const char *)name->data,
                             name->n);
}

/* The file has no names of threads: a thread has the name of its process. */
static void collect_name_thread(Collect *collect, int32_t pid, int32_t tid)
{
        const char *name = g_hash_table_lookup(collect->names, GINT_TO_POINTER(pid));
        gpointer known;

        if (!name || g_hash_table_size(collect->threads) >= COLLECT_MAX_THREADS ||
            (g_hash_table_lookup_extended(collect->threads, GINT_TO_POINTER(tid), NULL, &known) &&
             GPOINTER_TO_INT(known) == pid))
                return;
        g_hash_table_replace(collect->threads, GINT_TO_POINTER(tid), GINT_TO_POINTER(pid));
        perf_writer_add_name(&collect->writer, pid, tid, 0, name, /* is_new= */ false);
}

static void collect_take_sample(Collect *collect, const NettraceUniversal *event, CollectEvent kind)
{
        const Record *record = event->record;
        const uint64_t value = record_u64(record, FIELD_Value);
        const uint64_t unit = kind == COLLECT_CPU ? MAX(collect->sample_ns, 1) : 1;
        const PerfWriterSample sample = {
                .event = kind,
                .pid = record->process.pid,
                .tid = record->tid,
                .cpu = event->processor,
                .ip = event->n_addresses ? event->addresses[0] : 0,
                .time = record->time,
                .period = value <= UINT64_MAX / unit ? value * unit : UINT64_MAX,
                .addresses = event->addresses,
                .n_addresses = event->n_addresses,
        };

        /* An idle CPU. */
        if (sample.pid <= 0)
                return;
        collect->n_samples++;
        collect_name_thread(collect, sample.pid, sample.tid);
        perf_writer_add_sample(&collect->writer, &sample);
}

/* NettraceUniversalFn. */
static void collect_take(void *data, const NettraceUniversal *event)
{
        static const struct {
                const char *name;
                void (*take)(Collect *collect, const Record *record);
        } ROWS[] = {
                {"ExistingProcess", collect_take_process},
                {"ProcessCreate", collect_take_process},
                {"ProcessExit", collect_take_exit},
                {"ProcessMapping", collect_take_mapping},
                {"ProcessMappingMetadata", collect_take_metadata},
                {"ProcessSymbol", collect_take_symbol},
        };
        Collect *collect = data;
        const char *name = event->record->event->name;
        CollectEvent kind;
        size_t i;

        if (!collect->begin) {
                const NettraceHeader *header = nettrace_reader_header(collect->reader);

                collect->begin = header->begin;
                collect->sample_ns = header->sample_ns;
                collect->writer.reference = perf_reference_new(header->begin, header->clock_offset);
        }
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                if (!strcmp(ROWS[i].name, name))
                        ROWS[i].take(collect, event->record);
        for (kind = 0; kind < _COLLECT_EVENT_MAX; kind++)
                if (!strcmp(EVENTS[kind].name, name))
                        collect_take_sample(collect, event, kind);
}

/* Skips the reader's other items. */
static void collect_drain(Collect *collect)
{
        NettraceItem item;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(collect->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_GAP && gap.count != GAP_COUNT_UNKNOWN)
                        collect->n_lost += gap.count;
}

/* Reads to the end, or to damage, which RET_REPORT gets. */
static bool collect_read(Collect *collect, NettraceFile *file, int (*stops)(void),
                         CollectReport *ret_report, GError **error)
{
        g_autoptr(GError) damage = NULL;
        NettraceFileResult result;

        do {
                result = nettrace_file_push(file, collect->reader, &damage);
                collect_drain(collect);
                if (stops && stops()) {
                        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_INTR, "interrupted");
                        return false;
                }
        } while (result == NETTRACE_FILE_MORE && !collect->writer.has_failed);
        ret_report->damage = damage ? g_strdup(damage->message) : NULL;
        ret_report->is_cut = !damage && !nettrace_reader_is_complete(collect->reader);
        ret_report->n_samples = collect->n_samples;
        ret_report->n_lost = collect->n_lost;
        return true;
}

static bool collect_fail(GError **error)
{
        const int number = errno;

        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(number),
                    "its records cannot be written to a temporary file in %s (%s): set TMPDIR to a "
                    "directory with more space",
                    g_get_tmp_dir(), g_strerror(number));
        return false;
}

static void collect_deinit(Collect *collect)
{
        nettrace_reader_free(collect->reader);
        perf_writer_deinit(&collect->writer);
        image_files_free(collect->images);
        g_hash_table_unref(collect->names);
        g_hash_table_unref(collect->threads);
        g_hash_table_unref(collect->files);
}

void collect_report_clear(CollectReport *report)
{
        g_clear_pointer(&report->damage, g_free);
        g_clear_pointer(&report->unknown, g_free);
}

bool collect_convert(int fd, int output, RecorderSymbols *symbols, int (*stops)(void),
                     CollectReport *ret_report, GError **error)
{
        Collect collect = {
                .reader = nettrace_reader_new(EVENT_USE_NONE),
                .symbols = symbols,
                .names = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .threads = g_hash_table_new(NULL, NULL),
                .files = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .images = image_files_new(),
        };
        g_autoptr(GString) unknown = g_string_new(NULL);
        CollectReport report = {0};
        NettraceFile file = {.fd = -1};
        bool ok;

        nettrace_reader_take_universal(collect.reader, collect_take, &collect);
        ok = perf_writer_init(&collect.writer, output, EVENTS, _COLLECT_EVENT_MAX) ||
             collect_fail(error);
        ok = ok && nettrace_file_init(&file, dup(fd), error) &&
             collect_read(&collect, &file, stops, &report, error) &&
             (perf_writer_finish(&collect.writer) || collect_fail(error));
        if (file.fd >= 0)
                nettrace_file_deinit(&file);
        event_counts_append_errors(nettrace_reader_counts(collect.reader), unknown);
        event_counts_append_unknown(nettrace_reader_counts(collect.reader), unknown);
        report.unknown = g_strdup(unknown->str);
        collect_deinit(&collect);
        if (ok)
                *ret_report = report;
        else
                collect_report_clear(&report);
        return ok;
}
