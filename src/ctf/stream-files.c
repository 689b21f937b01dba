/* SPDX-License-Identifier: MIT */
#include "ctf/stream-files.h"

#include "ctf/error.h"
#include "util/fd.h"

#include <fcntl.h>
#include <string.h>

/* A packet of one of several files that overlap. */
typedef struct FilePacket {
        const CtfDataFile *file; /* borrowed */
        uint64_t offset, size;   /* in bytes */
        uint64_t begin, end, sequence_number;
} FilePacket;

static int compare_u64(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

static int compare_files(const void *a, const void *b)
{
        const CtfDataFile *x = *(CtfDataFile *const *)a, *y = *(CtfDataFile *const *)b;
        int order = compare_u64(x->begin, y->begin);

        return order ? order : strcmp(x->path, y->path);
}

static int compare_packets(const void *a, const void *b)
{
        const FilePacket *x = a, *y = b;
        int order = compare_u64(x->begin, y->begin);

        if (!order)
                order = compare_u64(x->sequence_number, y->sequence_number);
        if (!order) /* a file without events ends at once */
                order = compare_u64(x->end, y->end);
        if (!order)
                order = strcmp(x->file->path, y->file->path);
        return order ? order : compare_u64(x->offset, y->offset);
}

/* True for the same packet, by babeltrace2's rule: two snapshots contain it. */
static bool is_same_packet(const FilePacket *a, const FilePacket *b)
{
        return a->begin == b->begin && a->end == b->end && a->size == b->size &&
               a->sequence_number == b->sequence_number;
}

static bool add_packets(GArray *packets, const CtfDataFile *file, GError **error)
{
        FD_AUTO int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        CtfLayout *layout = file->layout;
        uint64_t offset = 0;
        CtfPacket packet;

        if (fd < 0) {
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "%s: %s", file->path,
                            g_strerror(errno));
                return false;
        }
        for (; offset < file->end; offset += packet.size / 8) {
                FilePacket entry;

                if (!ctf_packet_read(fd, file->end, offset, &layout, &packet, error)) {
                        g_prefix_error(error, "%s: ", file->path);
                        return false;
                }
                entry = (FilePacket){.file = file,
                                     .offset = offset,
                                     .size = packet.size / 8,
                                     .begin = packet.begin,
                                     .end = packet.end,
                                     .sequence_number = packet.sequence_number};
                g_array_append_val(packets, entry);
        }
        return true;
}

/* Joins consecutive packets of one file to one piece. */
static void add_piece(GPtrArray *pieces, const FilePacket *packet)
{
        CtfDataFile *last = pieces->len ? pieces->pdata[pieces->len - 1] : NULL, *piece;

        if (last && last->end == packet->offset && !strcmp(last->path, packet->file->path)) {
                last->end += packet->size;
                return;
        }
        piece = g_new0(CtfDataFile, 1);
        piece->path = g_strdup(packet->file->path);
        piece->layout = packet->file->layout;
        piece->offset = packet->offset;
        piece->end = packet->offset + packet->size;
        piece->begin = packet->begin;
        g_ptr_array_add(pieces, piece);
}

/* The files overlap: divides the stream into packets, each once. */
static bool stream_divide_files(CtfDataStream *stream, GError **error)
{
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(FilePacket));
        GPtrArray *pieces = g_ptr_array_new_with_free_func(ctf_data_file_free);
        bool is_ok = true;
        guint i;

        for (i = 0; is_ok && i < stream->files->len; i++)
                is_ok = add_packets(packets, stream->files->pdata[i], error);
        g_array_sort(packets, compare_packets);
        for (i = 0; is_ok && i < packets->len; i++) {
                const FilePacket *packet = &g_array_index(packets, FilePacket, i);

                if (i == 0 || !is_same_packet(packet - 1, packet))
                        add_piece(pieces, packet);
        }
        if (!is_ok) {
                g_ptr_array_unref(pieces);
                return false;
        }
        g_ptr_array_unref(stream->files);
        stream->files = pieces;
        return true;
}

static bool files_overlap(const GPtrArray *files)
{
        guint i;

        for (i = 1; i < files->len; i++) {
                const CtfDataFile *before = files->pdata[i - 1], *file = files->pdata[i];

                if (file->begin <= before->last)
                        return true;
        }
        return false;
}

bool ctf_stream_files_sort(CtfDataStream *stream, GError **error)
{
        uint64_t before = 0;
        guint i;

        g_ptr_array_sort(stream->files, compare_files);
        if (files_overlap(stream->files) && !stream_divide_files(stream, error))
                return false;
        for (i = 0; i < stream->files->len; i++) {
                CtfDataFile *file = stream->files->pdata[i];

                file->before = before;
                before += file->end - file->offset;
        }
        return true;
}
