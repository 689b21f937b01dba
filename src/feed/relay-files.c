/* SPDX-License-Identifier: MIT */
#include "feed/relay-files.h"

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
        /* Members of an entry; later versions append more. */
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
/* Larger packets are refused before anything is allocated. */
#define MAX_PACKET (64u << 20)

/* Deep enough for .../ust/uid/1000/64-bit and .../ust/pid/NAME-PID-DATE. */
#define MAX_DEPTH 6

/* The settings and the errors of a scan. */
typedef struct Scan {
        const RelayCalls *calls;
        void *data;
        int error;    /* errno; 0: everything was looked at */
        char *unread; /* owned: the paths with errors of the disk; NULL: none */
} Scan;

bool relay_errno_is_local(int error)
{
        return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC ||
               error == EDQUOT;
}

/* True for errors of the disk. Other errors can mean that the file is missing. */
static bool errno_is_of_disk(int error)
{
        return error == EIO || error == ESTALE || error == EUCLEAN || error == EBADMSG;
}

static void scan_note(Scan *scan, const char *path, int error)
{
        if (relay_errno_is_local(error))
                scan->error = error;
        else if (errno_is_of_disk(error) && !scan->unread)
                scan->unread = g_strdup_printf("cannot read %s: %s", path, g_strerror(error));
}

static int scan_open(Scan *scan, const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                scan_note(scan, path, errno);
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
                scan_note(scan, path, EMFILE);
        else if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_IO))
                scan_note(scan, path, EIO);
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

/* False: errno is set, or unchanged if the file is shorter. */
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

static bool scan_read_at(Scan *scan, const char *path, int fd, void *to, size_t n, uint64_t offset)
{
        bool ok;

        errno = 0;
        ok = file_read_at(fd, to, n, offset);
        if (!ok)
                scan_note(scan, path, errno);
        return ok;
}

/* The stream of that key in the trace, which is added if it is new. */
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

        if (fd < 0 || fstat(fd, &st) < 0 || !scan_read_at(scan, index, fd, head, sizeof(head), 0) ||
            get_be(head, 4) != INDEX_MAGIC)
                return;
        entry_size = (size_t)get_be(head + INDEX_HEADER_ENTRY_SIZE, 4);
        if (entry_size < ENTRY_MIN_SIZE || entry_size > ENTRY_MAX_SIZE)
                return;
        memcpy(key.uuid, uuid, sizeof(key.uuid));
        key.class_id = entry_member(head + INDEX_HEADER_SIZE, ENTRY_CLASS);
        key.stream_id = entry_member(head + INDEX_HEADER_SIZE, ENTRY_STREAM);
        if (!scan->calls->wants(scan->data, &key))
                return;
        n = ((size_t)st.st_size - INDEX_HEADER_SIZE) / entry_size;
        if (n == 0)
                return;
        entries = g_try_malloc(n * entry_size);
        if (!entries)
                scan_note(scan, index, ENOMEM);
        else if (scan_read_at(scan, index, fd, entries, n * entry_size, INDEX_HEADER_SIZE))
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
        g_autofree char *indexes = g_build_filename(path, "index", NULL);
        g_autoptr(GDir) directory = NULL;
        int code = 0;
        const uint8_t *uuid = scan->calls->identify(scan->data, path, &code);
        RelayTrace *trace;
        const char *name;
        guint i;

        scan_note(scan, path, code);
        if (!uuid)
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

/*
 * True for a directory, not a link, of the user who owns the relay daemon's directory, or of ours.
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

        /* Compares the times, because the beginnings of the names can differ. */
        return strcmp(one + strlen(one) - n, other + strlen(other) - n);
}

/* Seconds since the last write below PATH. */
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
                            const RelayCalls *calls, void *data, char **ret_unread, GError **error)
{
        Scan scan = {.calls = calls, .data = data};
        g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(relay_trace_free);
        char hostname[HOST_NAME_MAX + 1] = "";
        g_autofree char *by_host = NULL, *by_session = NULL;
        struct stat st;
        guint i;

        *ret_unread = NULL;
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
        if (scan.error == 0) {
                *ret_unread = scan.unread;
                return g_steal_pointer(&traces);
        }
        g_free(scan.unread);
        g_set_error(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_LOCAL, "cannot read %s: %s", output,
                    g_strerror(scan.error));
        return NULL;
}

static bool relay_stream_fail(GError **error, const char *path)
{
        int code = relay_errno_is_local(errno) ? RELAY_FILES_ERROR_LOCAL : RELAY_FILES_ERROR_GONE;

        g_set_error(error, RELAY_FILES_ERROR, code, "cannot read a packet of %s: %s", path,
                    g_strerror(errno));
        return false;
}

bool relay_stream_read(const RelayStream *stream, const RelayPacket *packet, GByteArray *bytes,
                       GError **error)
{
        const char *path = stream->files->pdata[packet->file];
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return relay_stream_fail(error, path);
        if (packet->size > MAX_PACKET) {
                errno = EFBIG;
                return relay_stream_fail(error, path);
        }
        g_byte_array_set_size(bytes, (guint)packet->size);
        errno = ESTALE; /* the ring has replaced the file by a shorter one */
        if (!file_read_at(fd, bytes->data, (size_t)packet->size, packet->offset) ||
            packet->size < sizeof(uint32_t) ||
            (get_native(bytes->data) != PACKET_MAGIC &&
             get_native(bytes->data) != GUINT32_SWAP_LE_BE(PACKET_MAGIC)))
                return relay_stream_fail(error, path);
        return true;
}
