/* SPDX-License-Identifier: MIT */

/* Searches in a page index that read more than one body */

#include "codemap/pageindex-struct.h"

/* A body that was replaced in the moment of its load was never alive. */
static bool has_lived_at(const Body *body, uint64_t address)
{
        return body->since < body->until && body_covers(body, address);
}

static Body *page_before(const PageIndex *index, const PageTier *tier, const IndexPage *page,
                         uint64_t address, uint64_t time)
{
        uint32_t b = page_block_at(page, time) + 1, i;
        uint16_t unit = tier_unit(tier, address);

        while (b-- > 0) {
                const Block *block = page_block_const(page, b);

                i = block_upper_bound(block, time);
                while ((i = block_find(block, i, unit)) != BLOCK_NONE) {
                        Body *body = body_store_get(index->store, block_numbers(block)[i]);

                        /* An entry that ended before the block began: see page_remove(). */
                        if (body->until <= time && (!b || body->until > page_begin(page, b)) &&
                            has_lived_at(body, address))
                                return body;
                }
        }
        return NULL;
}

static Body *page_after(const PageIndex *index, const PageTier *tier, const IndexPage *page,
                        uint64_t address, uint64_t time)
{
        uint16_t unit = tier_unit(tier, address);
        uint32_t b, i;

        for (b = page_block_at(page, time); b < page->n_blocks; b++) {
                const Block *block = page_block_const(page, b);
                uint64_t end = b + 1 < page->n_blocks ? page_begin(page, b + 1) : UINT64_MAX;

                if (!block_has_overlap(block, unit, unit))
                        continue;
                for (i = block_upper_bound(block, time); i < block->n_entries; i++) {
                        Body *body;

                        if (block_sinces(block)[i] >=
                            end) /* the next block has it too, and maybe earlier ones */
                                break;
                        if (!block_overlaps(block, i, unit, unit))
                                continue;
                        body = body_store_get(index->store, block_numbers(block)[i]);
                        if (has_lived_at(body, address))
                                return body;
                }
        }
        return NULL;
}

void pageindex_neighbours(const PageIndex *index, uint64_t address, uint64_t time,
                          Body **ret_before, Body **ret_after)
{
        size_t t;

        *ret_before = NULL;
        *ret_after = NULL;
        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const PageTier *tier = &index->tiers[t];
                const IndexPage *page = tier_find(tier, address >> tier->page_shift);
                Body *before, *after;

                if (!page)
                        continue;
                before = page_before(index, tier, page, address, time);
                after = page_after(index, tier, page, address, time);
                if (before && (!*ret_before || before->until > (*ret_before)->until))
                        *ret_before = before;
                if (after && (!*ret_after || after->since < (*ret_after)->since))
                        *ret_after = after;
        }
}

/* A body is in several blocks and pages. There are usually few to compare with. */
static void overlaps_append_once(GPtrArray *out, GHashTable **seen, Body *body)
{
        guint i;

        if (out->len < 32) {
                for (i = out->len; i-- > 0;)
                        if (out->pdata[i] == body)
                                return;
        } else {
                if (!*seen) {
                        *seen = g_hash_table_new(NULL, NULL);
                        for (i = 0; i < out->len; i++)
                                g_hash_table_add(*seen, out->pdata[i]);
                }
                if (!g_hash_table_add(*seen, body))
                        return;
        }
        g_ptr_array_add(out, body);
}

/* A search for bodies by address. */
typedef struct Overlaps {
        const BodyStore *store;
        uint64_t first, last, time;
        bool (*found)(struct Overlaps *overlaps, Body *body); /* false: enough */
        GHashTable *seen;
        GPtrArray *out; /* NULL: none was found */
} Overlaps;

static bool overlaps_collect(Overlaps *overlaps, Body *body)
{
        if (!overlaps->out)
                overlaps->out = g_ptr_array_new();
        overlaps_append_once(overlaps->out, &overlaps->seen, body);
        return true;
}

static bool overlaps_stop(Overlaps *overlaps, Body *body)
{
        return false;
}

static bool page_overlaps(Overlaps *overlaps, const PageTier *tier, const IndexPage *page)
{
        uint64_t page_first = page->number << tier->page_shift;
        uint64_t page_last = page_first + ((UINT64_C(1) << tier->page_shift) - 1);
        uint16_t first = tier_unit(tier, MAX(overlaps->first, page_first));
        uint16_t last = tier_unit(tier, MIN(overlaps->last, page_last));
        uint32_t first_block = page_block_at(page, overlaps->time), b, i;

        /* Newest first: the newest block usually ends the search early. */
        for (b = page->n_blocks; b-- > first_block;) {
                const Block *block = page_block_const(page, b);

                if (!block_has_overlap(block, first, last))
                        continue;
                for (i = 0; i < block->n_entries; i++) {
                        Body *body;

                        if (!block_overlaps(block, i, first, last))
                                continue;
                        body = body_store_get(overlaps->store, block_numbers(block)[i]);
                        if (body->start <= overlaps->last && body_last(body) >= overlaps->first &&
                            body->until > overlaps->time && !overlaps->found(overlaps, body))
                                return false;
                }
        }
        return true;
}

/* False if FOUND ended the search early. */
static bool overlaps_find(const PageIndex *index, Overlaps *overlaps)
{
        size_t t, i;

        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const PageTier *tier = &index->tiers[t];
                uint64_t from = overlaps->first >> tier->page_shift;
                uint64_t to = overlaps->last >> tier->page_shift, number;

                if (!tier->pages)
                        continue;
                if (to - from < tier->n_pages) {
                        for (number = from; number <= to; number++) {
                                const IndexPage *page = tier_find(tier, number);

                                if (page && !page_overlaps(overlaps, tier, page))
                                        return false;
                        }
                        continue;
                }
                for (i = 0; i < (size_t)1 << tier->n_bits; i++)
                        if (tier->pages[i].n_blocks && tier->pages[i].number >= from &&
                            tier->pages[i].number <= to &&
                            !page_overlaps(overlaps, tier, &tier->pages[i]))
                                return false;
        }
        return true;
}

GPtrArray *pageindex_overlaps(const PageIndex *index, uint64_t first, uint64_t last, uint64_t time)
{
        Overlaps overlaps = {.store = index->store,
                             .first = first,
                             .last = last,
                             .time = time,
                             .found = overlaps_collect};

        overlaps_find(index, &overlaps);
        g_clear_pointer(&overlaps.seen, g_hash_table_unref);
        return overlaps.out;
}

bool pageindex_was_used(const PageIndex *index, uint64_t first, uint64_t last)
{
        Overlaps overlaps = {
                .store = index->store, .first = first, .last = last, .found = overlaps_stop};

        return !overlaps_find(index, &overlaps);
}
