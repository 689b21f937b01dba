/* SPDX-License-Identifier: MIT */
#include "feed/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK_ERROR (g_quark_from_static_string("clrsym-disk"))

/* An index file: big-endian, a header of four u32 and entries of u64s. */
#define INDEX_MAGIC 0xC1F1DCC1
enum {
        INDEX_HEADER_SIZE = 16,
        INDEX_HEADER_ENTRY_SIZE = 12, /* where in the header it is */
        /* Members of an entry; later versions have more of them. */
        ENTRY_OFFSET = 0,
        ENTRY_PACKET_BITS,
        ENTRY_CONTENT_BITS,
        ENTRY_BEGIN,
        ENTRY_END,
        ENTRY_DISCARDED,
        ENTRY_CLASS,
        ENTRY_STREAM,
        ENTRY_SEQUENCE,
        ENTRY_N,
};
#define ENTRY_MIN_SIZE (ENTRY_N * sizeof(uint64_t))
#define ENTRY_MAX_SIZE 4096
#define INDEX_SUFFIX   ".idx"

#define PACKET_MAGIC 0xC1FC1FC1

/* A packet of the metadata: magic, uuid, checksum, and its sizes in bits. */
#define METADATA_MAGIC 0x75D11D57
enum {
        METADATA_UUID = 4,
        METADATA_PACKET_BITS = 28,
        METADATA_HEADER_SIZE = 37,
};

/* Deep enough for .../ust/uid/1000/64-bit and .../ust/pid/NAME-PID-DATE. */
#define MAX_DEPTH 6
#define COPY_SIZE (1u << 20)

static void disk_stream_free(void *data)
{
        DiskStream *stream = data;

        g_ptr_array_unref(stream->files);
        g_array_unref(stream->packets);
        g_free(stream);
}

static void disk_trace_free(void *data)
{
        DiskTrace *trace = data;

        g_free(trace->path);
        g_ptr_array_unref(trace->streams);
        g_free(trace);
}

static uint64_t get_be(const uint8_t *bytes, unsigned n)
{
        uint64_t value = 0;

        while (n--)
                value = value << 8 | *bytes++;
        return value;
}

static uint32_t get_native(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return value;
}

static bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
        uint8_t *at = to;

        while (n > 0) {
                ssize_t got = pread(fd, at, n, (off_t)offset);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got <= 0)
                        return false;
                at += got;
                n -= (size_t)got;
                offset += (uint64_t)got;
        }
        return true;
}

/* The stream of that key in the trace, new or known. */
static DiskStream *trace_stream(DiskTrace *trace, const StreamKey *key)
{
        DiskStream *stream;
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                stream = trace->streams->pdata[i];
                if (stream->key.class_id == key->class_id &&
                    stream->key.stream_id == key->stream_id)
                        return stream;
        }
        stream = g_new0(DiskStream, 1);
        stream->key = *key;
        stream->files = g_ptr_array_new_with_free_func(g_free);
        stream->packets = g_array_new(FALSE, FALSE, sizeof(DiskPacket));
        g_ptr_array_add(trace->streams, stream);
        return stream;
}

static uint64_t member(const uint8_t *entry, unsigned number)
{
        return get_be(entry + number * sizeof(uint64_t), sizeof(uint64_t));
}

/* The packets that are in the index and, as far as its size says, in the file. */
static void add_packets(DiskStream *stream, const uint8_t *entries, size_t n, size_t entry_size,
                        char *path)
{
        struct stat st;
        size_t i;

        if (stat(path, &st) < 0)
                st.st_size = 0;
        for (i = 0; i < n; i++) {
                const uint8_t *entry = entries + i * entry_size;
                DiskPacket packet = {
                        .offset = member(entry, ENTRY_OFFSET),
                        .size = member(entry, ENTRY_PACKET_BITS) / 8,
                        .begin = member(entry, ENTRY_BEGIN),
                        .end = member(entry, ENTRY_END),
                        .file = stream->files->len,
                };
                uint64_t end;

                if (packet.size == 0 || __builtin_add_overflow(packet.offset, packet.size, &end) ||
                    end > (uint64_t)st.st_size ||
                    member(entry, ENTRY_CLASS) != stream->key.class_id ||
                    member(entry, ENTRY_STREAM) != stream->key.stream_id)
                        break;
                g_array_append_val(stream->packets, packet);
        }
        g_ptr_array_add(stream->files, path);
}

static void read_index(DiskTrace *trace, const uint8_t *uuid, const char *index, char *file,
                       DiskWanted wanted, void *data)
{
        g_autofree char *path = file;
        g_autofree uint8_t *entries = NULL;
        uint8_t head[INDEX_HEADER_SIZE + ENTRY_MIN_SIZE];
        int fd = open(index, O_RDONLY | O_CLOEXEC);
        StreamKey key = {0};
        size_t entry_size, n;
        struct stat st;

        if (fd < 0)
                return;
        if (fstat(fd, &st) < 0 || !read_at(fd, head, sizeof(head), 0) ||
            get_be(head, 4) != INDEX_MAGIC)
                goto out;
        entry_size = (size_t)get_be(head + INDEX_HEADER_ENTRY_SIZE, 4);
        if (entry_size < ENTRY_MIN_SIZE || entry_size > ENTRY_MAX_SIZE)
                goto out;
        memcpy(key.uuid, uuid, sizeof(key.uuid));
        key.class_id = member(head + INDEX_HEADER_SIZE, ENTRY_CLASS);
        key.stream_id = member(head + INDEX_HEADER_SIZE, ENTRY_STREAM);
        if (!wanted(data, &key))
                goto out;
        n = ((size_t)st.st_size - INDEX_HEADER_SIZE) / entry_size;
        entries = g_malloc(n * entry_size);
        if (read_at(fd, entries, n * entry_size, INDEX_HEADER_SIZE))
                add_packets(trace_stream(trace, &key), entries, n, entry_size,
                            g_steal_pointer(&path));
out:
        close(fd);
}

static gint compare_packets(gconstpointer a, gconstpointer b)
{
        const DiskPacket *one = a, *other = b;

        if (one->begin != other->begin)
                return one->begin < other->begin ? -1 : 1;
        if (one->end != other->end)
                return one->end < other->end ? -1 : 1;
        return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* NULL: there is no trace, or not yet. */
static DiskTrace *read_trace(const char *path, DiskWanted wanted, void *data)
{
        g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
        g_autofree char *indexes = g_build_filename(path, "index", NULL);
        uint8_t head[METADATA_HEADER_SIZE];
        g_autoptr(GDir) directory = NULL;
        DiskTrace *trace;
        const char *name;
        guint i;
        int fd = open(metadata, O_RDONLY | O_CLOEXEC);
        bool is_there =
                fd >= 0 && read_at(fd, head, sizeof(head), 0) && get_native(head) == METADATA_MAGIC;

        if (fd >= 0)
                close(fd);
        if (!is_there)
                return NULL;
        trace = g_new0(DiskTrace, 1);
        trace->path = g_strdup(path);
        trace->streams = g_ptr_array_new_with_free_func(disk_stream_free);
        directory = g_dir_open(indexes, 0, NULL);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *index = g_build_filename(indexes, name, NULL), *file = NULL;

                if (!g_str_has_suffix(name, INDEX_SUFFIX))
                        continue;
                file = g_strndup(name, strlen(name) - strlen(INDEX_SUFFIX));
                read_index(trace, head + METADATA_UUID, index, g_build_filename(path, file, NULL),
                           wanted, data);
        }
        for (i = 0; i < trace->streams->len; i++)
                g_array_sort(((DiskStream *)trace->streams->pdata[i])->packets, compare_packets);
        return trace;
}

/* Traces at any depth below a session's directory. */
static void find_traces(const char *path, unsigned depth, GPtrArray *traces, DiskWanted wanted,
                        void *data)
{
        DiskTrace *trace = read_trace(path, wanted, data);
        g_autoptr(GDir) directory = NULL;
        const char *name;

        if (trace) {
                g_ptr_array_add(traces, trace);
                return;
        }
        directory = depth > 0 ? g_dir_open(path, 0, NULL) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (g_file_test(below, G_FILE_TEST_IS_DIR))
                        find_traces(below, depth - 1, traces, wanted, data);
        }
}

/* Directories in PARENT called PREFIX-20261121-075400. */
static void find_sessions(const char *parent, const char *prefix, GPtrArray *sessions)
{
        g_autoptr(GDir) directory = g_dir_open(parent, 0, NULL);
        size_t n = strlen(prefix);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                unsigned date, time;
                int n_read = 0;

                if (!strncmp(name, prefix, n) &&
                    sscanf(name + n, "-%8u-%6u%n", &date, &time, &n_read) == 2 &&
                    name[n + (size_t)n_read] == '\0')
                        g_ptr_array_add(sessions, g_build_filename(parent, name, NULL));
        }
}

static gint compare_sessions(gconstpointer a, gconstpointer b)
{
        const char *one = *(const char *const *)a, *other = *(const char *const *)b;
        size_t n = strlen("20261121-075400");

        /* By the time; the two kinds of names differ in what is before it. */
        return strcmp(one + strlen(one) - n, other + strlen(other) - n);
}

/* When something below was last written to: seconds ago. */
static gint64 age(const char *path, unsigned depth)
{
        g_autoptr(GDir) directory = NULL;
        struct stat st;
        const char *name;
        gint64 least = stat(path, &st) == 0 ? time(NULL) - st.st_mtime : G_MAXINT64;

        directory = depth > 0 ? g_dir_open(path, 0, NULL) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                least = MIN(least, age(below, depth - 1));
        }
        return least;
}

GPtrArray *disk_scan(const char *output, const char *name, unsigned since, DiskWanted wanted,
                     void *data)
{
        g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func(g_free);
        GPtrArray *traces = g_ptr_array_new_with_free_func(disk_trace_free);
        char hostname[HOST_NAME_MAX + 1] = "";
        g_autofree char *by_host = NULL, *by_session = NULL;
        guint i;

        gethostname(hostname, sizeof(hostname) - 1);
        by_host = g_build_filename(output, hostname, NULL);
        by_session = g_build_filename(output, name, NULL);
        find_sessions(by_host, name, sessions);
        find_sessions(by_session, hostname, sessions);
        g_ptr_array_sort(sessions, compare_sessions);
        for (i = 0; i < sessions->len; i++) {
                bool is_over = i + 1 < sessions->len;
                guint first = traces->len;

                if (!is_over || age(sessions->pdata[i], MAX_DEPTH) <= since)
                        find_traces(sessions->pdata[i], MAX_DEPTH, traces, wanted, data);
                for (; first < traces->len; first++) {
                        DiskTrace *trace = traces->pdata[first];

                        trace->session = i;
                        trace->is_over = is_over;
                }
        }
        return traces;
}

static bool fail(GError **error, const char *what, const char *path)
{
        g_set_error(error, DISK_ERROR, 0, "cannot %s %s: %s", what, path, g_strerror(errno));
        return false;
}

static bool write_all(int fd, const uint8_t *bytes, size_t n)
{
        while (n > 0) {
                ssize_t done = write(fd, bytes, n);

                if (done < 0 && errno == EINTR)
                        continue;
                if (done <= 0)
                        return false;
                bytes += done;
                n -= (size_t)done;
        }
        return true;
}

static bool copy_bytes(int from, uint64_t offset, uint64_t n, int to, uint8_t *buffer)
{
        while (n > 0) {
                size_t part = (size_t)MIN(n, COPY_SIZE);

                errno = ESTALE; /* shorter than it was */
                if (!read_at(from, buffer, part, offset) || !write_all(to, buffer, part))
                        return false;
                offset += part;
                n -= part;
        }
        return true;
}

static bool copy_packets(const DiskSelection *selection, int to, uint8_t *buffer, GError **error)
{
        const DiskStream *stream = selection->stream;
        const char *path = "";
        int fd = -1, file = -1;
        bool ok = true;
        unsigned i;

        for (i = 0; ok && i < selection->n; i++) {
                const DiskPacket *packet =
                        &g_array_index(stream->packets, DiskPacket, selection->first + i);
                uint8_t magic[4];

                if ((int)packet->file != file) {
                        if (fd >= 0)
                                close(fd);
                        file = (int)packet->file;
                        path = stream->files->pdata[file];
                        fd = open(path, O_RDONLY | O_CLOEXEC);
                }
                errno = ESTALE; /* the ring has come around */
                ok = fd >= 0 && read_at(fd, magic, sizeof(magic), packet->offset) &&
                     (get_native(magic) == PACKET_MAGIC ||
                      get_native(magic) == GUINT32_SWAP_LE_BE(PACKET_MAGIC)) &&
                     copy_bytes(fd, packet->offset, packet->size, to, buffer);
        }
        if (fd >= 0)
                close(fd);
        return ok || fail(error, "copy packets of", path);
}

/* As many whole packets of the metadata as there are: it grows. */
static bool copy_metadata(const char *from, const char *to, GError **error)
{
        g_autofree char *text = NULL;
        gsize n, at = 0;

        if (!g_file_get_contents(from, &text, &n, error))
                return false;
        while (n - at >= METADATA_HEADER_SIZE) {
                const uint8_t *head = (const uint8_t *)text + at;
                uint32_t bits = get_native(head + METADATA_PACKET_BITS);

                if (get_native(head) != METADATA_MAGIC || bits / 8 < METADATA_HEADER_SIZE ||
                    bits / 8 > n - at)
                        break;
                at += bits / 8;
        }
        return g_file_set_contents_full(to, text, (gssize)at, G_FILE_SET_CONTENTS_NONE, 0600,
                                        error);
}

bool disk_excerpt(const DiskTrace *trace, const DiskSelection *selections, size_t n,
                  const char *path, GError **error)
{
        g_autofree char *from = g_build_filename(trace->path, "metadata", NULL);
        g_autofree char *to = g_build_filename(path, "metadata", NULL);
        g_autofree uint8_t *buffer = g_malloc(COPY_SIZE);
        size_t i;

        if (g_mkdir_with_parents(path, 0700) < 0)
                return fail(error, "make", path);
        for (i = 0; i < n; i++) {
                const StreamKey *key = &selections[i].stream->key;
                g_autofree char *name =
                        g_strdup_printf("stream_%" G_GUINT64_FORMAT "_%" G_GUINT64_FORMAT,
                                        key->class_id, key->stream_id);
                g_autofree char *file = g_build_filename(path, name, NULL);
                int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
                bool ok;

                if (fd < 0)
                        return fail(error, "write", file);
                ok = copy_packets(&selections[i], fd, buffer, error);
                close(fd);
                if (!ok)
                        return false;
        }
        /* Last: it describes all events that are in packets which came before. */
        return copy_metadata(from, to, error);
}

void disk_remove(const char *path)
{
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (g_unlink(below) < 0)
                        disk_remove(below);
        }
        g_rmdir(path);
}
