/* SPDX-License-Identifier: MIT */
#include "perf/stack-roots.h"

#include "util/array.h"

#include <stdlib.h>

/* FRAME: the outermost frame of a stack of process ID; or one of these facts about thread ID. */
enum { THREAD_IS_MANAGED, THREAD_BEGINS_NATIVE };
struct StackRootRow {
        uint64_t frame;
        int32_t id;
};

static bool equal_row(const void *rows, uint32_t number, const void *key)
{
        const struct StackRootRow *row = (const struct StackRootRow *)rows + number, *other = key;

        return row->frame == other->frame && row->id == other->id;
}

static uint64_t row_hash(const struct StackRootRow *row)
{
        return hash_number(hash_number(0, row->frame), (uint64_t)row->id);
}

static bool roots_have(const StackRoots *roots, const struct StackRootRow *row)
{
        return hash_index_find(&roots->index, row_hash(row), equal_row, roots->rows, row) !=
               INDEX_NONE;
}

/* False: no memory. */
static bool roots_add(StackRoots *roots, const struct StackRootRow *row)
{
        if (roots_have(roots, row))
                return true;
        if (!array_grow(&roots->rows, &roots->n_rows, roots->n + (size_t)1, sizeof(*roots->rows)) ||
            !hash_index_add(&roots->index, row_hash(row), roots->n))
                return false;
        roots->rows[roots->n++] = *row;
        return true;
}

void stack_roots_deinit(StackRoots *roots)
{
        free(roots->rows);
        hash_index_deinit(&roots->index);
        *roots = (StackRoots){0};
}

/* False: no memory. */
static bool roots_judge(StackRoots *roots, Batch *batch, const Frames *frames,
                        const BatchSample *sample, StackRoot *ret_root)
{
        const struct StackRootRow managed = {THREAD_IS_MANAGED, sample->tid};
        const struct StackRootRow native = {THREAD_BEGINS_NATIVE, sample->tid};
        struct StackRootRow outermost = {.id = sample->pid};
        NamedKind begin = NAMED_UNKNOWN; /* the kind of the outermost frame */
        bool is_managed = false, is_user = false;
        bool is_cut, is_torn;
        bool is_lost = false; /* a caller in no mapping was read: drop it and all further ones */
        size_t i;

        *ret_root = sample->is_walked ? sample->cut : STACK_WHOLE;
        if (sample->is_walked)
                return true;
        for (i = sample->first; i < sample->first + sample->n; i++) {
                Entry *entry = &batch->entries[i];
                const NamedFrame frame = frames_get(frames, entry->frame);
                const NamedKind kind = frame.kind;

                /* The others may be no callers of this sample: nothing follows from them. */
                if (entry->role != ENTRY_FRAME)
                        continue;
                is_lost |= is_user && kind == NAMED_UNKNOWN && !frame.name && !frame.module;
                if (is_lost) {
                        entry->role = ENTRY_DROPPED;
                        entry->caller = 0;
                        batch->has_dropped = true;
                        continue;
                }
                is_managed |= kind == NAMED_MANAGED;
                is_user = kind != NAMED_KERNEL;
                outermost.frame = entry->ip;
                begin = kind;
        }
        /* A lost caller may have led beyond the copy, or to the begin of the thread. */
        is_cut = sample->cut != STACK_WHOLE && !(is_lost && sample->cut == STACK_CUT_COPY);
        *ret_root = is_user && is_cut ? sample->cut : STACK_WHOLE;
        if (!is_user || is_cut || !sample->has_chain)
                return true;
        is_torn = begin == NAMED_MANAGED ? roots_have(roots, &native)
                                         : !is_managed && roots_have(roots, &managed) &&
                                                   !roots_have(roots, &outermost);
        if (sample->has_begin ? is_lost : is_torn) {
                *ret_root = STACK_TORN;
                return true;
        }
        if (is_managed && begin == NAMED_NATIVE && !roots_add(roots, &native))
                return false;
        return !is_managed || (roots_add(roots, &outermost) && roots_add(roots, &managed));
}

/* The text of the added root frame; NULL: none. */
static const char *root_name(StackRoot root)
{
        static const char *const NAMES[_STACK_ROOT_MAX] = {
                [STACK_CUT_FRAMES] = "[truncated]",
                [STACK_CUT_COPY] = "[truncated]",
                [STACK_TORN] = "[no caller]",
        };

        return NAMES[root];
}

_Static_assert(COUNT_STACK_TORN - COUNT_STACK_WHOLE == STACK_TORN, "another order");

bool stack_roots_mark(StackRoots *roots, Batch *batch, Frames *frames, Counts *counts)
{
        size_t i;

        for (i = 0; i < batch->n_samples; i++) {
                const BatchSample *sample = &batch->samples[i];
                Entry *added;
                StackRoot root;

                if (!roots_judge(roots, batch, frames, sample, &root))
                        return false;
                counts->n[COUNT_STACK_WHOLE + root] += sample->has_chain;
                if (root == STACK_WHOLE)
                        continue;
                added = batch_add_root(batch, sample);
                if (!added)
                        return false;
                added->source = FRAME_SOURCE_MARK;
                added->frame = frames_symbol(frames, NAMED_UNKNOWN, root_name(root), NULL);
                if (added->frame == INDEX_NONE)
                        return false;
        }
        return true;
}
