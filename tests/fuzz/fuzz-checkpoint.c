/* SPDX-License-Identifier: MIT */

/*
 * A changed checkpoint: u8 number of the checkpoint, then changes, each u8 kind, u24 offset, u32
 * value. The input therefore stays useful when the layout changes. The reader may refuse the
 * checkpoint; a tracker that it returns is sound.
 */

#include "fuzz.h"
#include "known.h"
#include "support/feeding.h"
#include "tracker/checkpoint.h"

#include <string.h>

/*
 * Mostly short checkpoints, because inputs must be fast; together they have every kind of entry.
 * The long ones have numbers that a fuzzer seldom tries.
 */
enum { N_SHORT = 32, FIRST_LONG = 0xa0, N_LONG = 4, N_STEPS = 5, N_LONG_STEPS = 120 };

typedef enum ChangeKind {
        CHANGE_XOR,
        CHANGE_SET,
        CHANGE_ADD,
        CHANGE_REMOVE,
        CHANGE_INSERT,
        CHANGE_CUT,
        _CHANGE_MAX,
} ChangeKind;

static Tracker *fed_tracker(unsigned i)
{
        g_autoptr(GPtrArray) steps = feeding_new(i, i < FIRST_LONG ? N_STEPS : N_LONG_STEPS);
        Tracker *tracker = tracker_new();
        Fed fed;
        guint j;

        fed_init(&fed, tracker);
        for (j = 0; j < steps->len; j++)
                fed_take(&fed, steps->pdata[j]);
        fed_deinit(&fed);
        return tracker;
}

/* Returns a checkpoint; the cache owns it until the end of the program. */
static const GByteArray *whole_checkpoint(unsigned number)
{
        static GByteArray *wholes[FIRST_LONG + N_LONG];
        bool is_long = number >= FIRST_LONG && number < FIRST_LONG + N_LONG;
        unsigned i = is_long ? number : number % N_SHORT;

        if (!wholes[i]) {
                Tracker *tracker = fed_tracker(i);

                wholes[i] = tracker_image(tracker);
                tracker_free(tracker);
        }
        return wholes[i];
}

/* Doubles the N bytes from AT on. */
static void insert_again(GByteArray *bytes, guint at, guint n)
{
        guint n_rest = bytes->len - at;

        g_byte_array_set_size(bytes, bytes->len + n);
        memmove(bytes->data + at + n, bytes->data + at, n_rest);
}

static void change(GByteArray *bytes, FuzzInput *input)
{
        ChangeKind kind = (ChangeKind)(fuzz_take(input, 1) % _CHANGE_MAX);
        guint at = (guint)(fuzz_take(input, 3) % MAX(bytes->len, 1));
        uint32_t what = (uint32_t)fuzz_take(input, 4), old;
        guint n = MIN(what % 256, bytes->len - at);

        if (bytes->len < at + sizeof(old))
                return;
        memcpy(&old, bytes->data + at, sizeof(old));
        switch (kind) {
        case CHANGE_XOR:
                bytes->data[at] ^= (uint8_t)what;
                break;
        case CHANGE_SET:
                memcpy(bytes->data + at, &what, sizeof(what));
                break;
        case CHANGE_ADD:
                old += what;
                memcpy(bytes->data + at, &old, sizeof(old));
                break;
        case CHANGE_REMOVE:
                g_byte_array_remove_range(bytes, at, n);
                break;
        case CHANGE_INSERT:
                insert_again(bytes, at, n);
                break;
        case CHANGE_CUT:
                g_byte_array_set_size(bytes, at);
                break;
        case _CHANGE_MAX:
                break;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        const GByteArray *whole = whole_checkpoint((unsigned)fuzz_take(&input, 1));
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        CheckpointReader *reader;
        Tracker *tracker;
        size_t n_piece;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        n_piece = 1 + (size_t)fuzz_take(&input, 2);
        g_byte_array_append(bytes, whole->data, whole->len);
        while (input.n > 0)
                change(bytes, &input);
        copy = g_memdup2(bytes->data, bytes->len);
        tracker = tracker_new();
        reader = checkpoint_reader_new(tracker);
        for (size_t at = 0; at < bytes->len; at += n_piece)
                if (!checkpoint_reader_take(reader, copy + at, MIN(n_piece, bytes->len - at)))
                        break;
        if (checkpoint_reader_finish(reader))
                known_check(tracker);
        tracker_free(tracker);
        return 0;
}
