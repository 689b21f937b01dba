/* SPDX-License-Identifier: MIT */
#include "core/image-io.h"

#include <string.h>

/* A piece is handed out when it has grown to this. */
#define PIECE_SIZE (256u << 10)
/* Marks a text that is NULL. */
#define NO_TEXT UINT32_MAX

static void make_room(ImageIo *io, size_t n)
{
        if (io->n_allocated - io->n_bytes >= n)
                return;
        io->n_allocated = MAX(io->n_bytes + n, 2 * io->n_allocated);
        io->bytes = g_realloc(io->bytes, io->n_allocated);
}

void image_begin(ImageIo *io, ImageTag tag)
{
        uint8_t byte = (uint8_t)tag;

        if (io->n_bytes >= PIECE_SIZE) {
                io->is_bad = io->is_bad || !io->take(io->data, io->bytes, io->n_bytes);
                io->n_bytes = 0;
        }
        image_field(io, byte);
}

void image_raw(ImageIo *io, void *value, size_t n)
{
        if (!n)
                return;
        if (io->is_writing) {
                make_room(io, n);
                memcpy(io->bytes + io->n_bytes, value, n);
                io->n_bytes += n;
        } else if (!io->is_bad && (size_t)(io->end - io->at) >= n) {
                memcpy(value, io->at, n);
                io->at += n;
        } else {
                io->is_bad = true;
                memset(value, 0, n);
        }
}

void image_bool(ImageIo *io, bool *value)
{
        uint8_t byte = io->is_writing && *value;

        image_field(io, byte);
        if (byte > 1)
                image_refuse(io);
        if (!io->is_writing)
                *value = byte == 1;
}

void image_count(ImageIo *io, uint32_t *count, size_t size)
{
        image_field(io, *count);
        if (io->is_writing || *count <= (size_t)(io->end - io->at) / size)
                return;
        image_refuse(io);
        *count = 0;
}

void image_text(ImageIo *io, char **text)
{
        uint32_t n = io->is_writing && *text ? (uint32_t)strlen(*text) : NO_TEXT;

        image_field(io, n);
        if (io->is_writing) {
                if (*text)
                        image_raw(io, *text, n);
                return;
        }
        *text = NULL;
        if (io->is_bad || n == NO_TEXT)
                return;
        if (n > (size_t)(io->end - io->at)) {
                image_refuse(io);
                return;
        }
        *text = g_strndup((const char *)io->at, n);
        io->at += n;
}

void image_tell_name(ImageIo *io, Str str)
{
        const char *text = strtab_text(io->names, str);
        uint32_t n;

        if (!str || io->numbers[str])
                return;
        io->numbers[str] = ++io->n_numbers;
        n = (uint32_t)strtab_length(io->names, str);
        image_begin(io, IMAGE_NAME);
        image_field(io, n);
        make_room(io, n);
        memcpy(io->bytes + io->n_bytes, text, n);
        io->n_bytes += n;
}

void image_str(ImageIo *io, Str *str)
{
        uint32_t number = io->is_writing ? io->numbers[*str] : 0;

        image_field(io, number);
        if (io->is_writing)
                return;
        *str = 0;
        if (number > io->strs->len)
                image_refuse(io);
        else if (number)
                *str = strtab_ref(io->names, g_array_index(io->strs, Str, number - 1));
}

void image_refuse(ImageIo *io)
{
        io->is_bad = true;
}
