/* SPDX-License-Identifier: MIT */
#include "feed/relay-files.h"

#include "feed/relay-metadata.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An index file: big-endian, a header of four u32 and entries of u64s. */
#define INDEX_MAGIC 0xC1F1DCC1
enum {
        INDEX_HEADER_SIZE = 16,
        INDEX_HEADER_ENTRY_SIZE = 12, /* offset of the entries' size */
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

/* Deep enough for .../ust/uid/1000/64-bit and .../ust/pid/NAME-PID-DATE. */
#define MAX_DEPTH 6
#define COPY_SIZE (1u << 20)

/* What is looked for, and what kept us from looking. */
typedef struct Scan {
        RelayWanted wanted;
        void *data;
        int error; /* errno; 0: everything was looked at */
} Scan;

/* The trouble is on our side, and may pass. */
static bool errno_is_local(int error)
{
        return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC ||
               error == EDQUOT;
}

static void scan_note(Scan *scan, int error)
{
        if (errno_is_local(error))
                scan->error = error;
}

static int scan_open(Scan *scan, const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                scan_note(scan, errno);
        return fd;
}

/* The same of a G_FILE_ERROR. */
static bool file_error_is_local(const GError *error)
{
        return g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_MFILE) ||
               g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NFILE) ||
               g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM);
}

/* NULL: it cannot be read. */
static GDir *scan_open_dir(Scan *scan, const char *path)
{
        g_autoptr(GError) error = NULL;
        GDir *directory = g_dir_open(path, 0, &error);

        if (file_error_is_local(error))
                scan_note(scan, EMFILE);
        return directory;
}

static void relay_stream_free(void *data)
{
        RelayStream *stream = data;

        g_ptr_array_unref(stream->files);
        g_array_unref(stream->packets);
        g_free(stream);
}

static void relay_trace_free(void *data)
{
        RelayTrace *trace = data;

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

static bool file_read_at(int fd, void *to, size_t n, uint64_t offset)
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
static RelayStream *relay_trace_stream(RelayTrace *trace, const StreamKey *key)
{
        RelayStream *stream;
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                stream = trace->streams->pdata[i];
                if (stream->key.class_id == key->class_id &&
                    stream->key.stream_id == key->stream_id)
                        return stream;
        }
        stream = g_new0(RelayStream, 1);
        stream->key = *key;
        stream->files = g_ptr_array_new_with_free_func(g_free);
        stream->packets = g_array_new(FALSE, FALSE, sizeof(RelayPacket));
        g_ptr_array_add(trace->streams, stream);
        return stream;
}

static uint64_t entry_member(const uint8_t *entry, unsigned number)
{
        return get_be(entry + number * sizeof(uint64_t), sizeof(uint64_t));
}

/* Adds the packets that are in the index and, by its size, in the file. */
static void relay_stream_add_packets(RelayStream *stream, const uint8_t *entries, size_t n,
                                     size_t entry_size, char *path)
{
        struct stat st;
        size_t i;

        if (stat(path, &st) < 0)
                st.st_size = 0;
        for (i = 0; i < n; i++) {
                const uint8_t *entry = entries + i * entry_size;
                RelayPacket packet = {
                        .offset = entry_member(entry, ENTRY_OFFSET),
                        .size = entry_member(entry, ENTRY_PACKET_BITS) / 8,
                        .begin = entry_member(entry, ENTRY_BEGIN),
                        .end = entry_member(entry, ENTRY_END),
                        .file = stream->files->len,
                };
                uint64_t end;

                if (packet.size == 0 || __builtin_add_overflow(packet.offset, packet.size, &end) ||
                    end > (uint64_t)st.st_size ||
                    entry_member(entry, ENTRY_CLASS) != stream->key.class_id ||
                    entry_member(entry, ENTRY_STREAM) != stream->key.stream_id)
                        break;
                g_array_append_val(stream->packets, packet);
        }
        g_ptr_array_add(stream->files, path);
}

static void relay_trace_read_index(RelayTrace *trace, const uint8_t *uuid, const char *index,
                                   char *file, Scan *scan)
{
        g_autofree char *path = file;
        g_autofree uint8_t *entries = NULL;
        uint8_t head[INDEX_HEADER_SIZE + ENTRY_MIN_SIZE];
        FD_AUTO int fd = scan_open(scan, index);
        StreamKey key = {0};
        size_t entry_size, n;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !file_read_at(fd, head, sizeof(head), 0) ||
            get_be(head, 4) != INDEX_MAGIC)
                return;
        entry_size = (size_t)get_be(head + INDEX_HEADER_ENTRY_SIZE, 4);
        if (entry_size < ENTRY_MIN_SIZE || entry_size > ENTRY_MAX_SIZE)
                return;
        memcpy(key.uuid, uuid, sizeof(key.uuid));
        key.class_id = entry_member(head + INDEX_HEADER_SIZE, ENTRY_CLASS);
        key.stream_id = entry_member(head + INDEX_HEADER_SIZE, ENTRY_STREAM);
        if (!scan->wanted(scan->data, &key))
                return;
        n = ((size_t)st.st_size - INDEX_HEADER_SIZE) / entry_size;
        if (n == 0)
                return;
        entries = g_try_malloc(n * entry_size);
        if (!entries)
                scan_note(scan, ENOMEM);
        else if (file_read_at(fd, entries, n * entry_size, INDEX_HEADER_SIZE))
                relay_stream_add_packets(relay_trace_stream(trace, &key), entries, n, entry_size,
                                         g_steal_pointer(&path));
}

static gint packet_compare(gconstpointer a, gconstpointer b)
{
        const RelayPacket *one = a, *other = b;

        if (one->begin != other->begin)
                return one->begin < other->begin ? -1 : 1;
        if (one->end != other->end)
                return one->end < other->end ? -1 : 1;
        return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* NULL: there is no trace (yet). */
static RelayTrace *relay_trace_read(const char *path, Scan *scan)
{
        g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
        g_autofree char *indexes = g_build_filename(path, "index", NULL);
        g_autoptr(GDir) directory = NULL;
        RelayTrace *trace;
        uint8_t uuid[16];
        const char *name;
        guint i;
        FD_AUTO int fd = scan_open(scan, metadata);

        if (fd < 0 || !relay_metadata_identity(fd, uuid))
                return NULL;
        trace = g_new0(RelayTrace, 1);
        trace->path = g_strdup(path);
        trace->streams = g_ptr_array_new_with_free_func(relay_stream_free);
        directory = scan_open_dir(scan, indexes);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *index = g_build_filename(indexes, name, NULL), *file = NULL;

                if (!g_str_has_suffix(name, INDEX_SUFFIX))
                        continue;
                file = g_strndup(name, strlen(name) - strlen(INDEX_SUFFIX));
                relay_trace_read_index(trace, uuid, index, g_build_filename(path, file, NULL),
                                       scan);
        }
        for (i = 0; i < trace->streams->len; i++)
                g_array_sort(((RelayStream *)trace->streams->pdata[i])->packets, packet_compare);
        return trace;
}

/* Adds the traces at any depth below a session's directory. */
static void relay_files_find_traces(const char *path, unsigned depth, GPtrArray *traces, Scan *scan)
{
        RelayTrace *trace = relay_trace_read(path, scan);
        g_autoptr(GDir) directory = NULL;
        const char *name;

        if (trace) {
                g_ptr_array_add(traces, trace);
                return;
        }
        directory = depth > 0 ? scan_open_dir(scan, path) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                if (g_file_test(below, G_FILE_TEST_IS_DIR))
                        relay_files_find_traces(below, depth - 1, traces, scan);
        }
}

/* A directory, not a link to one, of the user that owns the relay daemon's directory, or of ours.
 */
static bool directory_is_owned_by(const char *path, uid_t owner)
{
        struct stat st;

        return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
               (st.st_uid == owner || st.st_uid == geteuid());
}

/* Adds OWNER's directories in PARENT that are called PREFIX-20261121-075400. */
static void relay_files_find_sessions(const char *parent, const char *prefix, uid_t owner,
                                      GPtrArray *sessions, Scan *scan)
{
        g_autoptr(GDir) directory = NULL;
        size_t n = strlen(prefix);
        const char *name;

        if (!directory_is_owned_by(parent, owner))
                return;
        directory = scan_open_dir(scan, parent);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(parent, name, NULL);
                unsigned date, time;
                int n_read = 0;

                if (!strncmp(name, prefix, n) &&
                    sscanf(name + n, "-%8u-%6u%n", &date, &time, &n_read) == 2 &&
                    name[n + (size_t)n_read] == '\0' && directory_is_owned_by(path, owner))
                        g_ptr_array_add(sessions, g_steal_pointer(&path));
        }
}

static gint session_path_compare(gconstpointer a, gconstpointer b)
{
        const char *one = *(const char *const *)a, *other = *(const char *const *)b;
        size_t n = strlen("20261121-075400");

        /* By the time; the two kinds of names differ before it. */
        return strcmp(one + strlen(one) - n, other + strlen(other) - n);
}

/* Seconds since something below PATH was last written to. */
static gint64 directory_age(const char *path, unsigned depth, Scan *scan)
{
        g_autoptr(GDir) directory = NULL;
        struct stat st;
        const char *name;
        gint64 least = stat(path, &st) == 0 ? time(NULL) - st.st_mtime : G_MAXINT64;

        directory = depth > 0 ? scan_open_dir(scan, path) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *below = g_build_filename(path, name, NULL);

                least = MIN(least, directory_age(below, depth - 1, scan));
        }
        return least;
}

GPtrArray *relay_files_scan(const char *output, const char *name, unsigned since,
                            RelayWanted wanted, void *data, GError **error)
{
        Scan scan = {.wanted = wanted, .data = data};
        g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(relay_trace_free);
        char hostname[HOST_NAME_MAX + 1] = "";
        g_autofree char *by_host = NULL, *by_session = NULL;
        struct stat st;
        guint i;

        gethostname(hostname, sizeof(hostname) - 1);
        by_host = g_build_filename(output, hostname, NULL);
        by_session = g_build_filename(output, name, NULL);
        if (stat(output, &st) < 0)
                return g_steal_pointer(&traces);
        relay_files_find_sessions(by_host, name, st.st_uid, sessions, &scan);
        relay_files_find_sessions(by_session, hostname, st.st_uid, sessions, &scan);
        g_ptr_array_sort(sessions, session_path_compare);
        for (i = 0; i < sessions->len; i++) {
                bool is_over = i + 1 < sessions->len;
                guint first = traces->len;

                if (!is_over || directory_age(sessions->pdata[i], MAX_DEPTH, &scan) <= since)
                        relay_files_find_traces(sessions->pdata[i], MAX_DEPTH, traces, &scan);
                for (; first < traces->len; first++) {
                        RelayTrace *trace = traces->pdata[first];

                        trace->session = i;
                        trace->is_over = is_over;
                }
        }
        if (scan.error == 0)
                return g_steal_pointer(&traces);
        g_set_error(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_LOCAL, "cannot read %s: %s", output,
                    g_strerror(scan.error));
        return NULL;
}

static bool relay_files_fail(GError **error, const char *what, const char *path)
{
        int code = errno_is_local(errno) ? RELAY_FILES_ERROR_LOCAL : RELAY_FILES_ERROR_GONE;

        g_set_error(error, RELAY_FILES_ERROR, code, "cannot %s %s: %s", what, path,
                    g_strerror(errno));
        return false;
}

static bool file_write_all(int fd, const uint8_t *bytes, size_t n)
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

static bool file_copy_bytes(int from, uint64_t offset, uint64_t n, int to, uint8_t *buffer)
{
        while (n > 0) {
                size_t part = (size_t)MIN(n, COPY_SIZE);

                errno = ESTALE; /* the file is shorter than it was */
                if (!file_read_at(from, buffer, part, offset) || !file_write_all(to, buffer, part))
                        return false;
                offset += part;
                n -= part;
        }
        return true;
}

static bool relay_stream_copy_packets(const RelaySelection *selection, int to, uint8_t *buffer,
                                      GError **error)
{
        const RelayStream *stream = selection->stream;
        const char *path = "";
        FD_AUTO int fd = -1;
        int file = -1;
        unsigned i;

        for (i = 0; i < selection->n; i++) {
                const RelayPacket *packet =
                        &g_array_index(stream->packets, RelayPacket, selection->first + i);
                uint8_t magic[4];

                if ((int)packet->file != file) {
                        fd_clear(&fd);
                        file = (int)packet->file;
                        path = stream->files->pdata[file];
                        fd = open(path, O_RDONLY | O_CLOEXEC);
                        if (fd < 0)
                                return relay_files_fail(error, "copy packets of", path);
                }
                errno = ESTALE; /* the ring has replaced the file */
                if (!file_read_at(fd, magic, sizeof(magic), packet->offset) ||
                    (get_native(magic) != PACKET_MAGIC &&
                     get_native(magic) != GUINT32_SWAP_LE_BE(PACKET_MAGIC)) ||
                    !file_copy_bytes(fd, packet->offset, packet->size, to, buffer))
                        return relay_files_fail(error, "copy packets of", path);
        }
        return true;
}

/* Copies what is whole of the metadata: the file grows. */
static bool relay_trace_copy_metadata(const char *from, const char *to, GError **error)
{
        g_autofree char *text = NULL;
        g_autoptr(GError) failed = NULL;
        gsize n;

        if (!g_file_get_contents(from, &text, &n, &failed)) {
                g_set_error_literal(error, RELAY_FILES_ERROR,
                                    file_error_is_local(failed) ? RELAY_FILES_ERROR_LOCAL
                                                                : RELAY_FILES_ERROR_GONE,
                                    failed->message);
                return false;
        }
        n = relay_metadata_whole((const uint8_t *)text, n);
        /* babeltrace2 2.1 aborts on an empty file. */
        if (n == 0) {
                g_set_error(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_GONE,
                            "nothing is whole in %s", from);
                return false;
        }
        if (!g_file_set_contents_full(to, text, (gssize)n, G_FILE_SET_CONTENTS_NONE, 0600,
                                      &failed)) {
                g_set_error_literal(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_LOCAL,
                                    failed->message);
                return false;
        }
        return true;
}

bool relay_files_excerpt(const RelayTrace *trace, const RelaySelection *selections, size_t n,
                         const char *path, GError **error)
{
        g_autofree char *from = g_build_filename(trace->path, "metadata", NULL);
        g_autofree char *to = g_build_filename(path, "metadata", NULL);
        g_autofree uint8_t *buffer = g_malloc(COPY_SIZE);
        size_t i;

        if (g_mkdir_with_parents(path, 0700) < 0)
                return relay_files_fail(error, "make", path);
        for (i = 0; i < n; i++) {
                const StreamKey *key = &selections[i].stream->key;
                g_autofree char *name =
                        g_strdup_printf("stream_%" G_GUINT64_FORMAT "_%" G_GUINT64_FORMAT,
                                        key->class_id, key->stream_id);
                g_autofree char *file = g_build_filename(path, name, NULL);
                FD_AUTO int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

                if (fd < 0)
                        return relay_files_fail(error, "write", file);
                if (!relay_stream_copy_packets(&selections[i], fd, buffer, error))
                        return false;
        }
        /* Last: then it describes all events in the packets that were copied before. */
        return relay_trace_copy_metadata(from, to, error);
}
