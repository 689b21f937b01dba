/* SPDX-License-Identifier: MIT */
#include "feed/tail.h"

typedef struct TailFrame {
        int64_t order;
        size_t at, n; /* in the bytes */
} TailFrame;

void tail_init(Tail *tail)
{
        tail->frames = g_array_new(FALSE, FALSE, sizeof(TailFrame));
        tail->bytes = g_byte_array_new();
        tail->n_taken = 0;
        tail->is_sorted = true;
}

void tail_deinit(Tail *tail)
{
        g_array_unref(tail->frames);
        g_byte_array_unref(tail->bytes);
}

void tail_clear(Tail *tail)
{
        tail_deinit(tail);
        tail_init(tail);
}

bool tail_is_empty(const Tail *tail)
{
        return tail->n_taken == tail->frames->len;
}

void tail_add(Tail *tail, int64_t order, const uint8_t *frame, size_t n)
{
        const TailFrame added = {.order = order, .at = tail->bytes->len, .n = n};

        if (!tail_is_empty(tail) &&
            g_array_index(tail->frames, TailFrame, tail->frames->len - 1).order > order)
                tail->is_sorted = false;
        g_byte_array_append(tail->bytes, frame, (guint)n);
        g_array_append_val(tail->frames, added);
}

static gint compare_frames(gconstpointer a, gconstpointer b)
{
        const TailFrame *one = a, *other = b;

        return one->order < other->order ? -1 : one->order > other->order;
}

/* Those that are gone need no order. */
static void sort(Tail *tail)
{
        if (tail->is_sorted)
                return;
        g_array_remove_range(tail->frames, 0, (guint)tail->n_taken);
        tail->n_taken = 0;
        g_array_sort(tail->frames, compare_frames); /* stable */
        tail->is_sorted = true;
}

void tail_take(Tail *tail, int64_t limit, GByteArray *out)
{
        if (tail_is_empty(tail))
                return;
        sort(tail);
        while (!tail_is_empty(tail)) {
                const TailFrame *frame = &g_array_index(tail->frames, TailFrame, tail->n_taken);

                if (frame->order > limit)
                        return;
                g_byte_array_append(out, tail->bytes->data + frame->at, (guint)frame->n);
                tail->n_taken++;
        }
        tail_clear(tail);
}
