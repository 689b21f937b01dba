/* SPDX-License-Identifier: MIT */
#include "ctf/reader.h"

#include "ctf/error.h"
#include "ctf/metadata.h"
#include "ctf/stream-files.h"
#include "ctf/stream-identity.h"
#include "util/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Most levels of directories; LTTng's are HOST/SESSION/ust/uid/UID/64-bit and rotation. */
#define MAX_LEVELS 64
/* Most streams that keep their file open; others open it for each window. */
#define MAX_OPEN_FILES 256
/* Bytes of all windows together; each has at least LEAST_WINDOW. */
#define ALL_WINDOWS  (8u << 20)
#define LEAST_WINDOW (8u << 10)

/* A directory with a metadata file. */
typedef struct TraceDirectory {
        char *path;           /* owned */
        CtfTraceClass *trace; /* owned */
        GHashTable *layouts;  /* owned: see ctf_layouts_new() */
} TraceDirectory;

typedef struct DirectoryId {
        guint64 inode, device;
} DirectoryId;

struct CtfReader {
        EventUse use;
        bool has_others;
        GHashTable *visited;    /* owned DirectoryId of each directory, because links can form
                                 * cycles */
        GPtrArray *directories; /* owned TraceDirectory */
        GPtrArray *streams;     /* owned CtfDataStream */
        GPtrArray *heap;        /* borrowed: streams with an item, earliest first */
        int64_t next_order;     /* of the earliest item of the others, or less; INT64_MAX: none */
        CtfDataStream *current; /* borrowed: the stream of the item returned last */
        GHashTable *counts;     /* owned */
        DecodeScratch scratch;
        uint64_t n_bytes; /* of all stream files */
};

static void trace_directory_free(void *data)
{
        TraceDirectory *directory = data;

        g_clear_pointer(&directory->layouts, g_hash_table_destroy);
        ctf_trace_class_free(directory->trace);
        g_free(directory->path);
        g_free(directory);
}

static void data_stream_free(void *data)
{
        ctf_data_stream_free(data);
}

static int compare_texts(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, sorted; NULL with errno set. */
static GPtrArray *directory_names(const char *path)
{
        DIR *directory = opendir(path);
        const struct dirent *entry;
        GPtrArray *names;

        if (!directory)
                return NULL;
        names = g_ptr_array_new_with_free_func(g_free);
        while ((errno = 0, entry = readdir(directory)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        if (errno)
                g_clear_pointer(&names, g_ptr_array_unref);
        closedir(directory);
        if (names)
                g_ptr_array_sort(names, compare_texts);
        return names;
}

static guint directory_id_hash(const void *id)
{
        return g_int64_hash(&((const DirectoryId *)id)->inode);
}

static gboolean directory_id_equal(const void *a, const void *b)
{
        const DirectoryId *x = a, *y = b;

        return x->inode == y->inode && x->device == y->device;
}

/* False if the directory has been visited before. */
static bool reader_visit(CtfReader *reader, const struct stat *st)
{
        DirectoryId *id = g_new(DirectoryId, 1);

        *id = (DirectoryId){st->st_ino, st->st_dev};
        return g_hash_table_add(reader->visited, id);
}

/* An unreadable part may contain events: then nothing is read. */
static bool fail_unreadable(GError **error, const char *path)
{
        g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM,
                    "not all of it may be read (%s: %s): name a directory below, or ask as its "
                    "owner",
                    path, g_strerror(errno));
        return false;
}

static bool reader_find(CtfReader *reader, const char *path, unsigned level, GError **error);

/* Handles one entry of a directory that is not itself a trace. */
static bool reader_find_below(CtfReader *reader, const char *path, unsigned level, GError **error)
{
        struct stat st;

        if (stat(path, &st) < 0) /* the target of a link may be gone */
                return errno == ENOENT || errno == ELOOP || fail_unreadable(error, path);
        if (!S_ISDIR(st.st_mode) || !reader_visit(reader, &st))
                return true;
        if (level > MAX_LEVELS) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_UNSUPPORTED,
                            "%s: more than %u levels of directories", path, MAX_LEVELS);
                return false;
        }
        return reader_find(reader, path, level, error);
}

/*
 * Finds the directories of traces: PATH itself, or directories below it. A trace contains no other
 * trace.
 */
static bool reader_find(CtfReader *reader, const char *path, unsigned level, GError **error)
{
        g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
        g_autoptr(GPtrArray) names = directory_names(path);
        TraceDirectory *directory;
        guint i;

        if (!names)
                return fail_unreadable(error, path);
        if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR)) {
                directory = g_new0(TraceDirectory, 1);
                directory->path = g_strdup(path);
                g_ptr_array_add(reader->directories, directory);
                return true;
        }
        for (i = 0; i < names->len; i++) {
                g_autofree char *below = g_build_filename(path, names->pdata[i], NULL);

                if (!reader_find_below(reader, below, level + 1, error))
                        return false;
        }
        return true;
}

static bool fail_in(GError **error, const char *path)
{
        g_prefix_error(error, "%s: ", path);
        return false;
}

/*
 * A trace with an identity can lie in several directories. A conversion of it is another trace, as
 * for babeltrace2.
 */
static bool stream_is_of_trace(const CtfDataStream *stream, const CtfTraceClass *trace)
{
        const CtfDataFile *file = stream->files->pdata[0];
        uint8_t uuid[16];

        if (trace->major != file->layout->trace->major)
                return false;
        if (!trace->has_uuid && !trace->uid)
                return file->layout->trace == trace;
        ctf_trace_class_identity(trace, uuid);
        return !memcmp(stream->identity->trace_uuid, uuid, sizeof(uuid));
}

static CtfDataStream *reader_stream(CtfReader *reader, const CtfLayout *layout,
                                    const CtfPacket *packet, uint64_t unnamed)
{
        CtfDataStream *stream;
        guint i;

        for (i = 0; packet->has_stream_id && packet->has_begin && i < reader->streams->len; i++) {
                stream = reader->streams->pdata[i];
                if (stream->identity->stream_id == packet->stream_id &&
                    stream->identity->class_id == layout->stream->id &&
                    stream_is_of_trace(stream, layout->trace))
                        return stream;
        }
        stream = ctf_data_stream_of_packet(layout, packet, unnamed);
        g_ptr_array_add(reader->streams, stream);
        return stream;
}

/*
 * Reads each packet's head, so that a truncated file is refused before any event. *RET_LAST: the
 * latest begin of a packet.
 */
static bool reader_check_packets(int fd, uint64_t size, CtfLayout **layout, CtfPacket *ret_first,
                                 uint64_t *ret_last, GError **error)
{
        CtfPacket packet = {0};
        uint64_t offset = 0;

        *ret_last = 0;
        while (offset < size) {
                if (!ctf_packet_read(fd, size, offset, layout, &packet, error))
                        return false;
                if (offset == 0)
                        *ret_first = packet;
                *ret_last = MAX(*ret_last, packet.begin);
                offset += packet.size / 8;
        }
        return true;
}

/* *N_FILES counts files with data: it numbers a stream whose packets have no number. */
static bool reader_add_file(CtfReader *reader, const TraceDirectory *directory, const char *name,
                            uint64_t *n_files, GError **error)
{
        g_autofree char *path = g_build_filename(directory->path, name, NULL);
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        GHashTableIter iter;
        CtfDataStream *stream;
        CtfPacket first = {0};
        CtfLayout *layout;
        CtfDataFile *file;
        struct stat st;
        uint64_t last;
        void *value;

        if (fd < 0 || fstat(fd, &st) < 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "%s", g_strerror(errno));
                return fail_in(error, path);
        }
        if (st.st_size == 0)
                return true;
        g_hash_table_iter_init(&iter, directory->layouts);
        if (!g_hash_table_iter_next(&iter, NULL, &value)) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_DAMAGED,
                            "there is data, and the metadata declares no stream");
                return fail_in(error, path);
        }
        layout = value;
        if (!reader_check_packets(fd, (uint64_t)st.st_size, &layout, &first, &last, error))
                return fail_in(error, path);
        stream = reader_stream(reader, layout, &first, (*n_files)++);
        file = g_new0(CtfDataFile, 1);
        file->path = g_steal_pointer(&path);
        file->layout = layout;
        file->end = (uint64_t)st.st_size;
        file->begin = first.begin;
        file->last = last;
        g_ptr_array_add(stream->files, file);
        reader->n_bytes += file->end;
        return true;
}

static bool reader_open_directory(CtfReader *reader, TraceDirectory *directory, GError **error)
{
        FD_AUTO int fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        g_autoptr(GPtrArray) names = NULL;
        uint64_t n_files = 0;
        guint i;

        if (fd < 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "%s", g_strerror(errno));
                return fail_in(error, directory->path);
        }
        directory->trace = ctf_metadata_read(fd, error);
        if (!directory->trace)
                return fail_in(error, directory->path);
        directory->layouts = ctf_layouts_new(directory->trace, reader->use, reader->counts);
        names = directory_names(directory->path);
        if (!names)
                return fail_unreadable(error, directory->path);
        for (i = 0; i < names->len; i++) {
                const char *name = names->pdata[i];
                struct stat st;

                /* Hidden files are no streams, as for babeltrace2. */
                if (name[0] == '.' || !strcmp(name, "metadata") || fstatat(fd, name, &st, 0) < 0 ||
                    !S_ISREG(st.st_mode))
                        continue;
                if (!reader_add_file(reader, directory, name, &n_files, error))
                        return false;
        }
        return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

static int compare_identities(const CtfDataStream *a, const CtfDataStream *b)
{
        int order = memcmp(a->identity->trace_uuid, b->identity->trace_uuid, 16);

        if (!order)
                order = compare_u64(a->identity->class_id, b->identity->class_id);
        return order ? order : compare_u64(a->identity->stream_id, b->identity->stream_id);
}

static int compare_streams(const void *a, const void *b)
{
        return compare_identities(*(CtfDataStream *const *)a, *(CtfDataStream *const *)b);
}

static bool stream_is_before(const CtfDataStream *a, const CtfDataStream *b)
{
        if (a->order != b->order)
                return a->order < b->order;
        return compare_identities(a, b) < 0;
}

static void heap_sift_down(GPtrArray *heap, guint i)
{
        for (;;) {
                guint least = i, child;

                for (child = 2 * i + 1; child <= 2 * i + 2 && child < heap->len; child++)
                        if (stream_is_before(heap->pdata[child], heap->pdata[least]))
                                least = child;
                if (least == i)
                        return;
                {
                        void *other = heap->pdata[i];

                        heap->pdata[i] = heap->pdata[least];
                        heap->pdata[least] = other;
                }
                i = least;
        }
}

/* Restores the order after a change of the first stream's item. */
static void reader_sort_first(CtfReader *reader)
{
        const GPtrArray *heap = reader->heap;
        guint i;

        heap_sift_down(reader->heap, 0);
        reader->next_order = INT64_MAX;
        for (i = 1; i < MIN(heap->len, 3); i++)
                reader->next_order =
                        MIN(reader->next_order, ((const CtfDataStream *)heap->pdata[i])->order);
}

/* Moves a stream to its next item. */
static bool reader_advance(CtfReader *reader, CtfDataStream *stream, GError **error)
{
        const CtfDataFile *file;

        if (ctf_data_stream_next(stream, !reader->has_others, error))
                return true;
        file = stream->files->pdata[stream->i_file];
        return fail_in(error, file->path);
}

/* Bounds memory and descriptors, however many streams there are. */
static void reader_share_memory(CtfReader *reader)
{
        guint i, n = MAX(reader->streams->len, 1);

        for (i = 0; i < reader->streams->len; i++) {
                CtfDataStream *stream = reader->streams->pdata[i];

                stream->least_window = CLAMP(ALL_WINDOWS / n, LEAST_WINDOW, CTF_WINDOW);
                stream->keeps_open = i < MAX_OPEN_FILES;
        }
}

static bool reader_find_in(CtfReader *reader, const char *path, GError **error)
{
        guint n_before = reader->directories->len;
        struct stat st;

        if (stat(path, &st) == 0 && !reader_visit(reader, &st))
                return true; /* another path leads to the same directory */
        if (!reader_find(reader, path, 0, error))
                return false;
        if (reader->directories->len == n_before) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM,
                            "no CTF trace in it: there is no file \"metadata\", here or below");
                return false;
        }
        return true;
}

/* Moves each stream to its first item. */
static bool reader_begin(CtfReader *reader, GError **error)
{
        guint i;

        for (i = 0; i < reader->streams->len; i++) {
                CtfDataStream *stream = reader->streams->pdata[i];

                if (!reader_advance(reader, stream, error))
                        return false;
                if (stream->item != CTF_ITEM_END)
                        g_ptr_array_add(reader->heap, stream);
        }
        for (i = reader->heap->len / 2; i-- > 0;)
                heap_sift_down(reader->heap, i);
        reader->next_order = INT64_MIN;
        return true;
}

static bool reader_open(CtfReader *reader, const char *const *paths, size_t n_paths, GError **error)
{
        guint i;

        for (i = 0; i < n_paths; i++)
                if (!reader_find_in(reader, paths[i], error))
                        return n_paths > 1 ? fail_in(error, paths[i]) : false;
        for (i = 0; i < reader->directories->len; i++)
                if (!reader_open_directory(reader, reader->directories->pdata[i], error))
                        return false;
        g_ptr_array_sort(reader->streams, compare_streams);
        for (i = 0; i < reader->streams->len; i++)
                if (!ctf_stream_files_sort(reader->streams->pdata[i], error))
                        return false;
        reader_share_memory(reader);
        return reader_begin(reader, error);
}

bool ctf_reader_rewind(CtfReader *reader, GError **error)
{
        GHashTableIter iter;
        void *value;
        guint i;

        g_hash_table_iter_init(&iter, reader->counts);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                EventCounts *counts = value;

                counts->n_events = 0;
                memset(counts->n_results, 0, sizeof(counts->n_results));
        }
        g_ptr_array_set_size(reader->heap, 0);
        reader->current = NULL;
        for (i = 0; i < reader->streams->len; i++)
                ctf_data_stream_rewind(reader->streams->pdata[i]);
        return reader_begin(reader, error);
}

CtfReader *ctf_reader_new(const char *path, EventUse use, GError **error)
{
        return ctf_reader_new_of(&path, 1, use, false, error);
}

CtfReader *ctf_reader_new_of(const char *const *paths, size_t n_paths, EventUse use,
                             bool has_others, GError **error)
{
        CtfReader *reader = g_new0(CtfReader, 1);

        reader->use = use;
        reader->has_others = has_others;
        reader->visited =
                g_hash_table_new_full(directory_id_hash, directory_id_equal, g_free, NULL);
        reader->directories = g_ptr_array_new_with_free_func(trace_directory_free);
        reader->streams = g_ptr_array_new_with_free_func(data_stream_free);
        reader->heap = g_ptr_array_new();
        reader->counts = event_counts_new();
        if (!reader_open(reader, paths, n_paths, error)) {
                ctf_reader_free(reader);
                return NULL;
        }
        return reader;
}

void ctf_reader_free(CtfReader *reader)
{
        if (!reader)
                return;
        g_hash_table_destroy(reader->visited);
        g_ptr_array_unref(reader->heap);
        g_ptr_array_unref(reader->streams);
        g_ptr_array_unref(reader->directories);
        g_hash_table_destroy(reader->counts);
        decode_scratch_deinit(&reader->scratch);
        g_free(reader);
}

CtfReadResult ctf_reader_next(CtfReader *reader, CtfDataStream **ret_stream, GError **error)
{
        CtfDataStream *stream = reader->current;

        reader->current = NULL;
        if (stream && stream->item != CTF_ITEM_END) {
                if (!reader_advance(reader, stream, error))
                        return CTF_READ_ERROR;
                if (stream->item == CTF_ITEM_END) {
                        /* The stream leaves the heap; its end is returned as an item. */
                        g_ptr_array_remove_index_fast(reader->heap, 0);
                        reader_sort_first(reader);
                        *ret_stream = reader->current = stream;
                        return CTF_READ_ITEM;
                }
                if (stream->order >= reader->next_order)
                        reader_sort_first(reader);
        }
        if (reader->heap->len == 0)
                return CTF_READ_END;
        *ret_stream = reader->current = reader->heap->pdata[0];
        return CTF_READ_ITEM;
}

CtfDecode ctf_reader_decode(CtfReader *reader, CtfDataStream *stream, Record *ret_record)
{
        return ctf_data_stream_decode(stream, &reader->scratch, ret_record);
}

const GPtrArray *ctf_reader_streams(const CtfReader *reader)
{
        return reader->streams;
}

const char *ctf_reader_trace_name(const CtfReader *reader, const CtfDataStream *stream)
{
        const CtfDataFile *file = stream->files->pdata[0];

        return ctf_trace_class_environment_text(file->layout->trace, "trace_name");
}

void ctf_reader_report(const CtfReader *reader, FeederReport *ret_report)
{
        uint64_t n_events = 0;
        guint i;

        for (i = 0; i < reader->streams->len; i++)
                n_events += ((CtfDataStream *)reader->streams->pdata[i])->n_events;
        event_counts_report(reader->counts, n_events, ret_report);
}

GHashTable *ctf_reader_counts(const CtfReader *reader)
{
        return reader->counts;
}

uint64_t ctf_reader_n_read(const CtfReader *reader)
{
        uint64_t n_read = 0;
        guint i;

        for (i = 0; i < reader->streams->len; i++)
                n_read += ctf_data_stream_n_read(reader->streams->pdata[i]);
        return n_read;
}

uint64_t ctf_reader_n_bytes(const CtfReader *reader)
{
        return reader->n_bytes;
}
