/* SPDX-License-Identifier: MIT */

/*
 * The relay daemon's files of one stream: u16 size of the index and its bytes, u16 size of the
 * metadata and its bytes, then the packets. Packets that the scan finds can be read and fed,
 * whatever their contents are.
 */

#include "feed/relay-files.h"

#include "fuzz.h"
#include "support/lone-feed.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Packets may overlap, so the bytes that are read can exceed the file. */
#define MAX_READ (1u << 20)

/* The files, which are created once. */
typedef struct RelayTree {
        char *output, *host, *session, *trace, *index_dir; /* owned until the end of the program */
        char *metadata, *index, *packets;
} RelayTree;

static const RelayTree *made; /* NULL: not created yet */

static void tree_remove(void)
{
        g_unlink(made->metadata);
        g_unlink(made->index);
        g_unlink(made->packets);
        g_rmdir(made->index_dir);
        g_rmdir(made->trace);
        g_rmdir(made->session);
        g_rmdir(made->host);
        g_rmdir(made->output);
}

static const RelayTree *tree_get(void)
{
        static RelayTree tree;
        char hostname[HOST_NAME_MAX + 1] = "";
        const char *shm = "/dev/shm";

        if (made)
                return made;
        gethostname(hostname, sizeof(hostname) - 1);
        tree.output = g_build_filename(access(shm, W_OK) == 0 ? shm : g_get_tmp_dir(),
                                       "clrsym-fuzz-XXXXXX", NULL);
        FUZZ_REQUIRE(g_mkdtemp(tree.output) != NULL);
        tree.host = g_build_filename(tree.output, hostname, NULL);
        tree.session = g_build_filename(tree.host, "fuzz-20261121-075400", NULL);
        tree.trace = g_build_filename(tree.session, "ust", NULL);
        tree.index_dir = g_build_filename(tree.trace, "index", NULL);
        tree.metadata = g_build_filename(tree.trace, "metadata", NULL);
        tree.index = g_build_filename(tree.index_dir, "ch_0.idx", NULL);
        tree.packets = g_build_filename(tree.trace, "ch_0", NULL);
        FUZZ_REQUIRE(g_mkdir_with_parents(tree.index_dir, 0700) == 0);
        made = &tree;
        atexit(tree_remove);
        return made;
}

static void write_part(const char *path, const uint8_t *bytes, size_t n)
{
        g_unlink(path);
        FUZZ_REQUIRE(g_file_set_contents_full(path, (const char *)bytes, (gssize)n,
                                              G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* Writes a part of the input that begins with its size. */
static void write_sized(const char *path, const uint8_t **data, size_t *size)
{
        size_t n = *size < 2 ? 0 : (size_t)(*data)[0] | (size_t)(*data)[1] << 8;

        *data += MIN(*size, 2);
        *size -= MIN(*size, 2);
        n = MIN(n, *size);
        write_part(path, *data, n);
        *data += n;
        *size -= n;
}

static const uint8_t *identify(void *data, const char *path, int *ret_errno)
{
        static const uint8_t UUID[16] = {1};

        return UUID;
}

static bool wants(void *data, const StreamKey *key)
{
        return true;
}

static void check_packets(const RelayStream *stream, size_t n_file)
{
        guint i;

        for (i = 0; i < stream->packets->len; i++) {
                const RelayPacket *packet = &g_array_index(stream->packets, RelayPacket, i);

                FUZZ_REQUIRE(packet->size > 0 && packet->offset <= n_file &&
                             packet->size <= n_file - packet->offset);
                FUZZ_REQUIRE(packet->file < stream->files->len);
                FUZZ_REQUIRE(i == 0 || g_array_index(stream->packets, RelayPacket, i - 1).begin <=
                                               packet->begin);
        }
}

static void feed_packets(LoneFeed *lone, const RelayStream *disk)
{
        FeedStream *stream = stream_table_get(&lone->table, &disk->key);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        uint64_t n_bytes = 0;
        guint i;

        for (i = 0; i < disk->packets->len && n_bytes < MAX_READ; i++) {
                const RelayPacket *packet = &g_array_index(disk->packets, RelayPacket, i);
                g_autoptr(GError) error = NULL;
                FeedPacket feed_packet;

                n_bytes += packet->size;
                if (!relay_stream_read(disk, packet, bytes, &error)) {
                        FUZZ_REQUIRE(error && error->domain == RELAY_FILES_ERROR);
                        continue;
                }
                FUZZ_REQUIRE(bytes->len == packet->size);
                if (!lone->metadata || !trace_metadata_identify(lone->metadata, stream))
                        continue;
                stream->has_printed_damage = true;
                feed_packet = (FeedPacket){lone->metadata, bytes->data, bytes->len, packet->begin,
                                           packet->end};
                if (i % 4 == 3)
                        packet_feed_pass(&lone->feed, stream, &feed_packet);
                else if (packet_feed_begin(&lone->feed, OUTLET_DISK, stream, &feed_packet))
                        while (packet_feed_take(&lone->feed, OUTLET_DISK, stream))
                                ;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const RelayCalls CALLS = {identify, wants};
        const RelayTree *tree = tree_get();
        g_autoptr(GPtrArray) traces = NULL;
        const uint8_t *metadata;
        char *unread;
        size_t n_metadata;
        LoneFeed lone;
        guint i;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        write_sized(tree->index, &data, &size);
        metadata = data + MIN(size, 2);
        write_sized(tree->metadata, &data, &size);
        n_metadata = (size_t)(data - metadata);
        write_part(tree->packets, data, size);
        FUZZ_REQUIRE(trace_metadata_whole(metadata, n_metadata) <= n_metadata);
        lone_feed_init(&lone, metadata, trace_metadata_whole(metadata, n_metadata));
        traces = relay_files_scan(tree->output, "fuzz", 0, &CALLS, NULL, &unread, NULL);
        FUZZ_REQUIRE(!unread);
        FUZZ_REQUIRE(traces && traces->len == 1);
        for (i = 0; i < ((const RelayTrace *)traces->pdata[0])->streams->len; i++) {
                const RelayTrace *trace = traces->pdata[0];
                const RelayStream *stream = trace->streams->pdata[i];

                check_packets(stream, size);
                feed_packets(&lone, stream);
        }
        lone_feed_deinit(&lone);
        return 0;
}
