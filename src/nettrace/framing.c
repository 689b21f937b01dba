/* SPDX-License-Identifier: MIT */
#include "nettrace/framing.h"

#include "nettrace/cursor.h"
#include "nettrace/error.h"

#include <inttypes.h>

#define MAGIC         "Nettrace"
#define SERIALIZATION "!FastSerialization.1"

enum {
        SIZE_MAGIC = 8,
        SIZE_HEAD_OBJECTS = 32, /* of versions 4 and 5 */
        SIZE_HEAD_BLOCKS = 20,  /* of version 6 */
        SIZE_TRACE = 48,        /* the object Trace, which has no size field */
        MAX_NAME = 64,          /* of an object's type */
        ALIGNMENT = 4,
        VERSION_OF_OBJECTS = 5, /* the latest */
        VERSION_OF_BLOCKS = 6,
        OLDEST_VERSION = 4,
};

/* Tags of FastSerialization. */
enum {
        TAG_NULL = 1,
        TAG_BEGIN = 5,
        TAG_END = 6,
};

static const struct {
        const char *name;
        NettraceBlockKind kind;
} OBJECTS[] = {
        {"Trace", NETTRACE_BLOCK_TRACE},
        {"EventBlock", NETTRACE_BLOCK_EVENT},
        {"StackBlock", NETTRACE_BLOCK_STACK},
        {"MetadataBlock", NETTRACE_BLOCK_METADATA},
        {"SPBlock", NETTRACE_BLOCK_SEQUENCE_POINT},
};

GQuark nettrace_error_quark(void)
{
        return g_quark_from_static_string("clrsym-nettrace");
}

void nettrace_framing_init(NettraceFraming *framing)
{
        *framing = (NettraceFraming){.input = g_byte_array_new()};
}

void nettrace_framing_deinit(NettraceFraming *framing)
{
        g_byte_array_unref(framing->input);
}

void nettrace_framing_push(NettraceFraming *framing, const uint8_t *bytes, size_t n)
{
        if (framing->has_ended)
                return;
        if (framing->n_used) {
                g_byte_array_remove_range(framing->input, 0, (guint)framing->n_used);
                framing->position += framing->n_used;
                framing->n_used = 0;
        }
        g_byte_array_append(framing->input, bytes, (guint)n);
}

static NettraceFrame framing_fail(const NettraceFraming *framing, GError **error, const char *what)
{
        g_set_error(error, NETTRACE_ERROR, NETTRACE_ERROR_DAMAGED,
                    "damaged at byte %" PRIu64 " (%s): copy or record it again",
                    framing->position + framing->n_used, what);
        return NETTRACE_FRAME_ERROR;
}

static NettraceFrame framing_refuse(GError **error, const char *what)
{
        g_set_error_literal(error, NETTRACE_ERROR, NETTRACE_ERROR_FORMAT, what);
        return NETTRACE_FRAME_ERROR;
}

static NettraceFrame framing_refuse_version(GError **error, unsigned version)
{
        g_autofree char *what = g_strdup_printf(
                "nettrace of version %u: this program reads the versions 4 to 6. Record it with "
                "another version of the tool",
                version);

        return framing_refuse(error, what);
}

/* The bytes not yet handled. */
static NettraceCursor framing_cursor(const NettraceFraming *framing)
{
        const uint8_t *data = framing->input->data; /* NULL before the first byte */

        return nettrace_cursor(framing->n_used ? data + framing->n_used : data,
                               framing->input->len - framing->n_used);
}

/* Marks the bytes before CURSOR as handled. */
static void framing_use(NettraceFraming *framing, const NettraceCursor *cursor)
{
        framing->n_used = (size_t)(cursor->at - framing->input->data);
}

static NettraceFrame framing_take_head(NettraceFraming *framing, GError **error)
{
        NettraceCursor cursor = framing_cursor(framing);
        const uint8_t *magic = nettrace_bytes(&cursor, SIZE_MAGIC);
        uint32_t length = nettrace_u32(&cursor);

        if (cursor.is_short)
                return NETTRACE_FRAME_MORE;
        if (memcmp(magic, MAGIC, SIZE_MAGIC) != 0)
                return framing_refuse(error, "it does not begin as nettrace does");
        if (length == 0) {
                uint32_t version = nettrace_u32(&cursor);

                nettrace_u32(&cursor); /* the minor version does not matter to a reader */
                if (cursor.is_short)
                        return NETTRACE_FRAME_MORE;
                if (version != VERSION_OF_BLOCKS)
                        return framing_refuse_version(error, version);
                framing->version = version;
        } else {
                const uint8_t *name = nettrace_bytes(&cursor, strlen(SERIALIZATION));

                if (length != strlen(SERIALIZATION) ||
                    (name && memcmp(name, SERIALIZATION, strlen(SERIALIZATION)) != 0))
                        return framing_fail(framing, error, "the head is not that of nettrace");
                if (!name)
                        return NETTRACE_FRAME_MORE;
        }
        framing->has_head = true;
        framing_use(framing, &cursor);
        return NETTRACE_FRAME_BLOCK;
}

static NettraceFrame framing_end(NettraceFraming *framing, const NettraceCursor *cursor)
{
        framing_use(framing, cursor);
        framing->has_ended = true;
        return NETTRACE_FRAME_END;
}

static NettraceFrame framing_next_block(NettraceFraming *framing, NettraceBlock *ret_block)
{
        NettraceCursor cursor = framing_cursor(framing);
        uint32_t head = nettrace_u32(&cursor);
        NettraceBlock block = {.kind = head >> 24, .n_bytes = head & 0xffffff};

        block.bytes = nettrace_bytes(&cursor, block.n_bytes);
        if (cursor.is_short)
                return NETTRACE_FRAME_MORE;
        if (block.kind > NETTRACE_BLOCK_LABEL_LIST)
                block.kind = NETTRACE_BLOCK_OTHER;
        if (block.kind == NETTRACE_BLOCK_END)
                return framing_end(framing, &cursor);
        block.offset = framing->position + (uint64_t)(block.bytes - framing->input->data);
        *ret_block = block;
        framing_use(framing, &cursor);
        return NETTRACE_FRAME_BLOCK;
}

static NettraceBlockKind object_kind(const uint8_t *name, size_t n)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(OBJECTS); i++)
                if (strlen(OBJECTS[i].name) == n && !memcmp(OBJECTS[i].name, name, n))
                        return OBJECTS[i].kind;
        return NETTRACE_BLOCK_OTHER;
}

/* Moves to the content of a block, after its size and the padding. */
static bool framing_take_size(const NettraceFraming *framing, NettraceCursor *cursor,
                              NettraceBlock *block)
{
        uint64_t position;

        block->n_bytes = nettrace_u32(cursor);
        position =
                framing->position + (uint64_t)(cursor->at - framing->input->data) - framing->begin;
        nettrace_bytes(cursor, (size_t)(-position % ALIGNMENT));
        return block->n_bytes <= NETTRACE_MAX_BLOCK;
}

static NettraceFrame framing_next_object(NettraceFraming *framing, NettraceBlock *ret_block,
                                         GError **error)
{
        NettraceCursor cursor = framing_cursor(framing);
        uint8_t tag = (uint8_t)nettrace_number(&cursor, 1);
        NettraceBlock block = {0};
        uint32_t oldest_reader, n_name;
        const uint8_t *name;

        if (cursor.is_short)
                return NETTRACE_FRAME_MORE;
        if (tag == TAG_NULL)
                return framing_end(framing, &cursor);
        if (tag != TAG_BEGIN)
                return framing_fail(framing, error, "no object begins there");
        if (nettrace_number(&cursor, 1) != TAG_BEGIN && !cursor.is_short)
                return framing_fail(framing, error, "an object without a type");
        if (nettrace_number(&cursor, 1) != TAG_NULL && !cursor.is_short)
                return framing_fail(framing, error, "an object of an unknown type");
        nettrace_u32(&cursor); /* its version */
        oldest_reader = nettrace_u32(&cursor);
        n_name = nettrace_u32(&cursor);
        if (n_name > MAX_NAME)
                return framing_fail(framing, error, "an object of a type with a long name");
        name = nettrace_bytes(&cursor, n_name);
        if (nettrace_number(&cursor, 1) != TAG_END && !cursor.is_short)
                return framing_fail(framing, error, "a type that does not end");
        if (cursor.is_short)
                return NETTRACE_FRAME_MORE;
        block.kind = object_kind(name, n_name);
        if (block.kind == NETTRACE_BLOCK_TRACE) {
                if (oldest_reader < OLDEST_VERSION || oldest_reader > VERSION_OF_OBJECTS)
                        return framing_refuse_version(error, oldest_reader);
                framing->version = oldest_reader;
                block.n_bytes = SIZE_TRACE;
        } else if (!framing_take_size(framing, &cursor, &block)) {
                return framing_fail(framing, error, "a block of more than 16 MiB");
        }
        block.bytes = nettrace_bytes(&cursor, block.n_bytes);
        if (nettrace_number(&cursor, 1) != TAG_END && !cursor.is_short)
                return framing_fail(framing, error, "an object that does not end");
        if (cursor.is_short)
                return NETTRACE_FRAME_MORE;
        block.offset = framing->position + (uint64_t)(block.bytes - framing->input->data);
        framing->has_blocks |= block.kind != NETTRACE_BLOCK_TRACE;
        *ret_block = block;
        framing_use(framing, &cursor);
        return NETTRACE_FRAME_BLOCK;
}

/* True if the head may be repeated here: at the first byte, before any block. */
static bool framing_is_at_second_head(const NettraceFraming *framing)
{
        NettraceCursor cursor = framing_cursor(framing);

        return framing->version && framing->version <= VERSION_OF_OBJECTS && !framing->has_blocks &&
               nettrace_left(&cursor) && *cursor.at == *MAGIC;
}

NettraceFrame nettrace_framing_next(NettraceFraming *framing, NettraceBlock *ret_block,
                                    GError **error)
{
        if (framing->has_ended)
                return NETTRACE_FRAME_END;
        while (!framing->has_head || framing_is_at_second_head(framing)) {
                NettraceFrame frame;

                framing->begin = framing->position + framing->n_used;
                framing->has_head = false;
                frame = framing_take_head(framing, error);
                if (frame != NETTRACE_FRAME_BLOCK)
                        return frame;
        }
        if (framing->version == VERSION_OF_BLOCKS)
                return framing_next_block(framing, ret_block);
        return framing_next_object(framing, ret_block, error);
}
