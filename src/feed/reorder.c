/* SPDX-License-Identifier: MIT */
#include "feed/reorder.h"

typedef struct ReorderFrame {
        int64_t order;
        size_t at, n; /* place in the bytes */
} ReorderFrame;

void reorder_init(ReorderBuffer *buffer)
{
        buffer->frames = g_array_new(FALSE, FALSE, sizeof(ReorderFrame));
        buffer->bytes = g_byte_array_new();
        buffer->n_taken = 0;
        buffer->is_sorted = true;
}

void reorder_deinit(ReorderBuffer *buffer)
{
        g_array_unref(buffer->frames);
        g_byte_array_unref(buffer->bytes);
}

void reorder_clear(ReorderBuffer *buffer)
{
        reorder_deinit(buffer);
        reorder_init(buffer);
}

bool reorder_is_empty(const ReorderBuffer *buffer)
{
        return buffer->n_taken == buffer->frames->len;
}

void reorder_add(ReorderBuffer *buffer, int64_t order, const uint8_t *frame, size_t n)
{
        const ReorderFrame added = {.order = order, .at = buffer->bytes->len, .n = n};

        if (!reorder_is_empty(buffer) &&
            g_array_index(buffer->frames, ReorderFrame, buffer->frames->len - 1).order > order)
                buffer->is_sorted = false;
        g_byte_array_append(buffer->bytes, frame, (guint)n);
        g_array_append_val(buffer->frames, added);
}

static gint frame_compare(gconstpointer a, gconstpointer b)
{
        const ReorderFrame *one = a, *other = b;

        return one->order < other->order ? -1 : one->order > other->order;
}

/* Taken frames need no order. */
static void reorder_sort(ReorderBuffer *buffer)
{
        if (buffer->is_sorted)
                return;
        g_array_remove_range(buffer->frames, 0, (guint)buffer->n_taken);
        buffer->n_taken = 0;
        g_array_sort(buffer->frames, frame_compare); /* stable */
        buffer->is_sorted = true;
}

void reorder_take(ReorderBuffer *buffer, int64_t limit, GByteArray *out)
{
        if (reorder_is_empty(buffer))
                return;
        reorder_sort(buffer);
        while (!reorder_is_empty(buffer)) {
                const ReorderFrame *frame =
                        &g_array_index(buffer->frames, ReorderFrame, buffer->n_taken);

                if (frame->order > limit)
                        return;
                g_byte_array_append(out, buffer->bytes->data + frame->at, (guint)frame->n);
                buffer->n_taken++;
        }
        reorder_clear(buffer);
}
