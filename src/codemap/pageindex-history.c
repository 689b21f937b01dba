/* SPDX-License-Identifier: MIT */

/*
 * All bodies that were ever at an address, newest first
 *
 * A body is in several blocks of a page. Its own block is the block of its since. If the body died
 * in the moment in which that block began, the block may lack it: then the block before is its own.
 */

#include "codemap/pageindex-struct.h"

/* Entries that a step reads, about: some us. */
#define STEP_ENTRIES 4096

static bool block_lists(const Block *block, uint64_t since, uint32_t number)
{
        uint32_t i;

        for (i = block_upper_bound(block, since); i-- > 0 && block_sinces(block)[i] == since;)
                if (block_numbers(block)[i] == number)
                        return true;
        return false;
}

static bool place_is_before(const HistoryPlace *place, const HistoryPlace *other)
{
        return place->since != other->since ? place->since < other->since
                                            : place->number < other->number;
}

static HistoryPlace body_place(const Body *body)
{
        return (HistoryPlace){body->since, body->number};
}

/* A step of a walk. */
typedef struct Walk {
        const PageIndex *index;
        uint64_t address;
        HistoryPlace from;
        guint most;
        GPtrArray *found; /* owned: of Body, newest first, at most `most` */
} Walk;

static bool walk_is_full(const Walk *walk)
{
        return walk->found->len == walk->most;
}

static HistoryPlace walk_last(const Walk *walk)
{
        return body_place(walk->found->pdata[walk->found->len - 1]);
}

/* True if no body that began before TIME can be among the wanted ones. */
static bool walk_has_enough(const Walk *walk, uint64_t time)
{
        return walk_is_full(walk) && walk_last(walk).since >= time;
}

/* Bodies usually come in the right order. */
static void walk_take(Walk *walk, Body *body)
{
        GPtrArray *found = walk->found;
        const HistoryPlace own = body_place(body);
        guint i = found->len;

        for (; i > 0; i--) {
                const HistoryPlace other = body_place(found->pdata[i - 1]);

                if (!place_is_before(&other, &own))
                        break;
        }
        if (i == walk->most)
                return;
        g_ptr_array_insert(found, (gint)i, body);
        if (found->len > walk->most)
                g_ptr_array_set_size(found, (gint)walk->most);
}

/* Takes the bodies of BLOCK with a since from FIRST to LAST that NEXT (or NULL) does not list. */
static void walk_block(Walk *walk, const PageTier *tier, const Block *block, uint64_t first,
                       uint64_t last, const Block *next)
{
        uint16_t unit = tier_unit(tier, walk->address);
        uint32_t i = block_upper_bound(block, MIN(last, walk->from.since));

        while ((i = block_find(block, i, unit)) != BLOCK_NONE) {
                const HistoryPlace place = {block_sinces(block)[i], block_numbers(block)[i]};
                Body *body;

                if (place.since < first ||
                    (walk_is_full(walk) && place.since < walk_last(walk).since))
                        break;
                if (!place_is_before(&place, &walk->from) ||
                    (next && block_lists(next, place.since, place.number)))
                        continue;
                body = body_store_get(walk->index->store, place.number);
                if (!tier->unit_shift || body_covers(body, walk->address))
                        walk_take(walk, body);
        }
}

/*
 * Reads the blocks backwards, from the block of the walk's place on. Returns the place that the
 * step reached.
 */
static HistoryPlace walk_tier(Walk *walk, const PageTier *tier)
{
        const IndexPage *page = tier_find(tier, walk->address >> tier->page_shift);
        uint64_t since = walk->from.number ? walk->from.since : walk->from.since - 1;
        uint32_t b, n_entries = 0;

        if (!page || (!walk->from.since && !walk->from.number))
                return (HistoryPlace){0, 0};
        for (b = page_block_at(page, since);; b--) {
                const Block *block = page_block_const(page, b);
                uint64_t begin = b ? page_begin(page, b) : 0;

                walk_block(walk, tier, block, begin,
                           b + 1 < page->n_blocks ? page_begin(page, b + 1) - 1 : UINT64_MAX, NULL);
                if (b)
                        walk_block(walk, tier, page_block_const(page, b - 1), begin, begin, block);
                n_entries += block->n_entries;
                if (!b || walk_has_enough(walk, begin) || n_entries >= STEP_ENTRIES)
                        return (HistoryPlace){begin, 0};
        }
}

bool pageindex_walk(const PageIndex *index, uint64_t address, HistoryPlace *place, guint most,
                    GPtrArray *out)
{
        g_autoptr(GPtrArray) found = g_ptr_array_new();
        Walk walk = {index, address, *place, most, found};
        HistoryPlace end = {0, 0};
        guint i;
        size_t t;

        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const HistoryPlace reached = walk_tier(&walk, &index->tiers[t]);

                if (place_is_before(&end, &reached))
                        end = reached;
        }
        if (walk_is_full(&walk)) {
                const HistoryPlace last = walk_last(&walk);

                if (place_is_before(&end, &last))
                        end = last;
        }
        /* Below that time, bodies of the other tier may be missing. */
        for (i = 0; i < found->len; i++) {
                const HistoryPlace own = body_place(found->pdata[i]);

                if (place_is_before(&own, &end))
                        break;
                g_ptr_array_add(out, found->pdata[i]);
        }
        *place = end;
        return end.since || end.number;
}

static size_t page_count(const PageIndex *index, const PageTier *tier, const IndexPage *page,
                         uint64_t address, size_t n)
{
        uint16_t unit = tier_unit(tier, address);
        uint32_t b = page->n_blocks;

        while (b-- > 0) {
                const Block *block = page_block_const(page, b);
                const Block *next = b + 1 < page->n_blocks ? page_block_const(page, b + 1) : NULL;
                uint64_t begin = b ? page_begin(page, b) : 0;
                uint64_t end = next ? page_begin(page, b + 1) : UINT64_MAX;
                uint32_t i = block_upper_bound(block, end);

                while ((i = block_find(block, i, unit)) != BLOCK_NONE) {
                        uint64_t since = block_sinces(block)[i];
                        uint32_t number = block_numbers(block)[i];

                        if (since < begin)
                                break; /* so are all bodies before it */
                        if (next && since == end && block_lists(next, since, number))
                                continue;
                        if (tier->unit_shift &&
                            !body_covers(body_store_get(index->store, number), address))
                                continue;
                        if (++n >= PAGEINDEX_MAX_COUNT)
                                return PAGEINDEX_MAX_COUNT;
                }
        }
        return n;
}

size_t pageindex_newest(const PageIndex *index, uint64_t address, guint most, GPtrArray *out)
{
        HistoryPlace place = HISTORY_NEWEST;
        size_t n = 0, t;
        guint end = out->len + most;

        while (out->len < end && pageindex_walk(index, address, &place, end - out->len, out))
                ;
        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const PageTier *tier = &index->tiers[t];
                const IndexPage *page = tier_find(tier, address >> tier->page_shift);

                if (page)
                        n = page_count(index, tier, page, address, n);
        }
        return n;
}
