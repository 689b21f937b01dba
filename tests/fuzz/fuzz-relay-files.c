/* SPDX-License-Identifier: MIT */

/*
 * The relay daemon's files of one stream: u16 size of the index and its bytes, u16 size of the
 * metadata and its bytes, then the packets. What the scan finds can be copied, whatever is in them.
 */

#include "feed/relay-files.h"

#include "fuzz.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As a round of a catch-up has: packets may overlap, so that a copy can be larger than the file. */
#define MAX_COPY (1u << 20)

/* The files, made once. */
typedef struct RelayTree {
        char *output, *host, *session, *trace, *index_dir; /* owned for good */
        char *metadata, *index, *packets, *excerpt;
} RelayTree;

static const RelayTree *made; /* NULL: not yet */

static void tree_remove(void)
{
        g_autofree char *copied = g_build_filename(made->excerpt, "metadata", NULL);

        g_unlink(copied);
        g_rmdir(made->excerpt);
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
        tree.excerpt = g_build_filename(tree.output, "excerpt", NULL);
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

/* A part of the input with its size before it. */
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

static bool is_wanted(void *data, const StreamKey *key)
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

static void check_excerpt(const RelayTree *tree, const RelayTrace *trace, const RelayStream *stream)
{
        RelaySelection selection = {.stream = stream};
        g_autoptr(GError) error = NULL;
        g_autofree char *name = g_strdup_printf("stream_%" G_GUINT64_FORMAT "_%" G_GUINT64_FORMAT,
                                                stream->key.class_id, stream->key.stream_id);
        g_autofree char *path = g_build_filename(tree->excerpt, name, NULL);
        uint64_t n_bytes = 0;
        struct stat st;

        while (selection.n < stream->packets->len) {
                uint64_t n = g_array_index(stream->packets, RelayPacket, selection.n).size;

                if (n_bytes + n > MAX_COPY)
                        break;
                n_bytes += n;
                selection.n++;
        }
        if (relay_files_excerpt(trace, &selection, 1, tree->excerpt, &error))
                FUZZ_REQUIRE(stat(path, &st) == 0 && (uint64_t)st.st_size == n_bytes);
        else
                FUZZ_REQUIRE(error && error->domain == RELAY_FILES_ERROR);
        g_unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const RelayTree *tree = tree_get();
        g_autoptr(GPtrArray) traces = NULL;
        guint i;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        write_sized(tree->index, &data, &size);
        write_sized(tree->metadata, &data, &size);
        write_part(tree->packets, data, size);
        traces = relay_files_scan(tree->output, "fuzz", 0, is_wanted, NULL, NULL);
        FUZZ_REQUIRE(traces && traces->len <= 1);
        for (i = 0; traces->len && i < ((const RelayTrace *)traces->pdata[0])->streams->len; i++) {
                const RelayTrace *trace = traces->pdata[0];
                const RelayStream *stream = trace->streams->pdata[i];

                check_packets(stream, size);
                check_excerpt(tree, trace, stream);
        }
        return 0;
}
