/* SPDX-License-Identifier: MIT */
#include "tracker/checkpoint-io.h"

#include <string.h>

/* Bytes: a piece is handed out when it has grown to this size. */
#define PIECE_SIZE (256u << 10)
/* The length that stands for a NULL text. */
#define NO_TEXT UINT32_MAX

static void checkpoint_make_room(CheckpointIo *io, size_t n)
{
        if (io->n_allocated - io->n_bytes >= n)
                return;
        io->n_allocated = MAX(io->n_bytes + n, 2 * io->n_allocated);
        io->bytes = g_realloc(io->bytes, io->n_allocated);
}

void checkpoint_begin(CheckpointIo *io, CheckpointTag tag)
{
        uint8_t byte = (uint8_t)tag;

        if (io->n_bytes >= PIECE_SIZE) {
                io->is_bad = io->is_bad || !io->take(io->data, io->bytes, io->n_bytes);
                io->n_bytes = 0;
        }
        checkpoint_u8(io, &byte);
}

void checkpoint_raw(CheckpointIo *io, void *value, size_t n)
{
        if (!n)
                return;
        if (io->is_writing) {
                checkpoint_make_room(io, n);
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

void checkpoint_bool(CheckpointIo *io, bool *value)
{
        uint8_t byte = io->is_writing && *value;

        checkpoint_u8(io, &byte);
        if (byte > 1)
                checkpoint_refuse(io);
        if (!io->is_writing)
                *value = byte == 1;
}

void checkpoint_count(CheckpointIo *io, uint32_t *count, size_t size)
{
        checkpoint_u32(io, count);
        if (io->is_writing || *count <= (size_t)(io->end - io->at) / size)
                return;
        checkpoint_refuse(io);
        *count = 0;
}

void checkpoint_text(CheckpointIo *io, char **text)
{
        uint32_t n = io->is_writing && *text ? (uint32_t)strlen(*text) : NO_TEXT;

        checkpoint_u32(io, &n);
        if (io->is_writing) {
                if (*text)
                        checkpoint_raw(io, *text, n);
                return;
        }
        *text = NULL;
        if (io->is_bad || n == NO_TEXT)
                return;
        if (n > (size_t)(io->end - io->at) || !g_utf8_validate_len((const char *)io->at, n, NULL)) {
                checkpoint_refuse(io);
                return;
        }
        *text = g_strndup((const char *)io->at, n);
        io->at += n;
}

void checkpoint_put_name(CheckpointIo *io, Str str)
{
        const char *text = strtab_text(io->names, str);
        uint32_t n;

        if (!str || io->numbers[str])
                return;
        io->numbers[str] = ++io->n_numbers;
        n = (uint32_t)strtab_length(io->names, str);
        checkpoint_begin(io, CHECKPOINT_NAME);
        checkpoint_u32(io, &n);
        checkpoint_make_room(io, n);
        memcpy(io->bytes + io->n_bytes, text, n);
        io->n_bytes += n;
}

/* A new reference. A checkpoint has each name once, even if processes of several users have it. */
static Str checkpoint_own_name(CheckpointIo *io, Str str)
{
        if (strtab_is_of(io->names, str, io->account))
                return strtab_ref(io->names, str);
        return strtab_add_for(io->names, io->account, strtab_text(io->names, str),
                              strtab_length(io->names, str));
}

void checkpoint_str(CheckpointIo *io, Str *str)
{
        uint32_t number = io->is_writing ? io->numbers[*str] : 0;

        checkpoint_u32(io, &number);
        if (io->is_writing)
                return;
        *str = 0;
        if (number > io->strs->len)
                checkpoint_refuse(io);
        else if (number)
                *str = checkpoint_own_name(io, g_array_index(io->strs, Str, number - 1));
}

void checkpoint_refuse(CheckpointIo *io)
{
        io->is_bad = true;
}
