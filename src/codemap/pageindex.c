/* SPDX-License-Identifier: MIT */
#include "codemap/pageindex-struct.h"

#include <string.h>

/*
 * The structure
 *
 * A body is a rectangle, addresses by time; no two overlap. The address space is divided into
 * pages, and the time of a page into blocks. A block lists every body that overlaps its page and
 * was alive at some moment of the block's time, in order of `since`. When a block is full and at
 * least half of its bodies are dead, a new block begins with copies of the living entries. A block
 * is therefore about as long as the number of bodies that live on a page at a time, and each body
 * is in two or three blocks, however many bodies lived there before. A lookup hashes the page,
 * searches the block of the time, and walks back in it to the first entry that covers the address.
 * That body was the latest to begin there: either it was alive at that time, or no body was.
 *
 * Bodies larger than SMALL_MAX are on pages of another size, of which there are few. The units of
 * these entries are coarse: there the search compares the body itself.
 */

/* Largest body on small pages, bytes: 16 entries. Few methods are longer. */
#define SMALL_MAX (UINT64_C(64) << 10)
/* Entries of a page's first block: one, because known precompiled code is sparse. */
enum { FIRST_ENTRIES = 1, SPARE_ENTRIES = 8 };

PageIndex *pageindex_new(const BodyStore *store)
{
        PageIndex *index = g_new0(PageIndex, 1);

        index->store = store;
        index->account = store->account;
        index->tiers[0] = (PageTier){.page_shift = 12, .unit_shift = 0};
        index->tiers[1] = (PageTier){.page_shift = 24, .unit_shift = 8};
        return index;
}

/* The page's pointer to a block: the caller may replace the block by a larger one. */
static Block **page_block(IndexPage *page, uint32_t b)
{
        return page->n_allocated ? &page->many[b].block : &page->one;
}

static void page_free(PageIndex *index, IndexPage *page)
{
        uint32_t b;

        for (b = 0; b < page->n_blocks; b++) {
                account_remove(index->account, block_size(page_block_const(page, b)->n_allocated));
                block_free(*page_block(page, b));
        }
        if (page->n_allocated) {
                account_remove(index->account, page->n_allocated * sizeof(BlockSpan));
                g_free(page->many);
        }
        *page = (IndexPage){0};
}

static size_t tier_size(const PageTier *tier)
{
        return tier->pages ? sizeof(IndexPage) << tier->n_bits : 0;
}

void pageindex_free(PageIndex *index)
{
        size_t t, i;

        if (!index)
                return;
        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                PageTier *tier = &index->tiers[t];

                for (i = 0; tier->pages && i < (size_t)1 << tier->n_bits; i++)
                        if (tier->pages[i].n_blocks)
                                page_free(index, &tier->pages[i]);
                account_remove(index->account, tier_size(tier));
                g_free(tier->pages);
        }
        g_free(index);
}

static IndexPage *tier_slot(const PageTier *tier, uint64_t number)
{
        size_t mask = ((size_t)1 << tier->n_bits) - 1, i = page_hash(number, tier->n_bits);

        while (tier->pages[i].n_blocks && tier->pages[i].number != number)
                i = (i + 1) & mask;
        return &tier->pages[i];
}

static void tier_grow(PageIndex *index, PageTier *tier)
{
        IndexPage *old = tier->pages;
        size_t n = old ? (size_t)1 << tier->n_bits : 0, old_size = tier_size(tier), i;

        tier->n_bits = old ? tier->n_bits + 1 : 4;
        tier->pages = g_new0(IndexPage, (size_t)1 << tier->n_bits);
        account_change(index->account, old_size, tier_size(tier));
        for (i = 0; i < n; i++)
                if (old[i].n_blocks)
                        *tier_slot(tier, old[i].number) = old[i];
        g_free(old);
}

static Block *pageindex_make_block(PageIndex *index, uint32_t n_entries)
{
        account_add(index->account, block_size(n_entries));
        return block_new(n_entries);
}

static void pageindex_drop_block(PageIndex *index, Block *block)
{
        account_remove(index->account, block_size(block->n_allocated));
        block_free(block);
}

static IndexPage *tier_make(PageIndex *index, PageTier *tier, uint64_t number)
{
        IndexPage *page = tier_find(tier, number);

        if (page)
                return page;
        if (!tier->pages || (tier->n_pages + 1) * 4 > ((size_t)3 << tier->n_bits))
                tier_grow(index, tier);
        page = tier_slot(tier, number);
        *page = (IndexPage){
                .number = number, .one = pageindex_make_block(index, FIRST_ENTRIES), .n_blocks = 1};
        tier->n_pages++;
        return page;
}

static void page_append_block(PageIndex *index, IndexPage *page, uint64_t begin, Block *block)
{
        if (!page->n_allocated) {
                Block *one = page->one;

                page->many = g_new(BlockSpan, 4);
                page->many[0] = (BlockSpan){0, one};
                page->n_allocated = 4;
                account_add(index->account, 4 * sizeof(BlockSpan));
        } else if (page->n_blocks == page->n_allocated) {
                account_change(index->account, page->n_allocated * sizeof(BlockSpan),
                               2 * page->n_allocated * sizeof(BlockSpan));
                page->n_allocated *= 2;
                page->many = g_renew(BlockSpan, page->many, page->n_allocated);
        }
        page->many[page->n_blocks++] = (BlockSpan){begin, block};
}

static void page_insert(PageIndex *index, IndexPage *page, uint32_t b, const BlockEntry *entry)
{
        Block **block = page_block(page, b);
        uint32_t n = (*block)->n_allocated;

        if ((*block)->n_entries == n) {
                account_change(index->account, block_size(n), block_size(n + MAX(1, n / 2)));
                *block = block_grow(*block, n + MAX(1, n / 2));
        }
        block_insert(*block, entry);
}

/* Makes room for a body that begins at TIME: a new block, if half of the newest one is dead. */
static void page_make_room(PageIndex *index, IndexPage *page, uint64_t time)
{
        const Block *newest = page_block_const(page, page->n_blocks - 1);
        const uint32_t *numbers = block_numbers(newest);
        uint32_t n_live = 0, i;
        Block *block;

        if (newest->n_entries < newest->n_allocated || newest->n_entries < SPARE_ENTRIES ||
            time <= page_begin(page, page->n_blocks - 1))
                return;
        for (i = 0; i < newest->n_entries; i++)
                n_live += body_store_get(index->store, numbers[i])->until > time;
        if (n_live * 2 > newest->n_entries)
                return;
        block = pageindex_make_block(index, n_live * 2 + SPARE_ENTRIES);
        for (i = 0; i < newest->n_entries; i++)
                if (body_store_get(index->store, numbers[i])->until > time) {
                        const BlockEntry entry = block_entry(newest, i);

                        block_insert(block, &entry);
                }
        page_append_block(index, page, time, block);
}

static PageTier *body_tier(const PageIndex *index, const Body *body)
{
        return (PageTier *)&index->tiers[body_extent(body) > SMALL_MAX];
}

static void page_add(PageIndex *index, PageTier *tier, uint64_t number, const Body *body,
                     const BlockEntry *template)
{
        IndexPage *page = tier_make(index, tier, number);
        uint64_t page_first = number << tier->page_shift;
        uint64_t page_last = page_first + ((UINT64_C(1) << tier->page_shift) - 1);
        BlockEntry entry = *template;
        uint32_t b;

        entry.first = (uint16_t)((MAX(body->start, page_first) - page_first) >> tier->unit_shift);
        entry.width =
                (uint16_t)(((MIN(body_last(body), page_last) - page_first) >> tier->unit_shift) -
                           entry.first);
        if (body->since >= page_begin(page, page->n_blocks - 1))
                page_make_room(index, page, body->since);
        for (b = page_block_at(page, body->since); b < page->n_blocks; b++) {
                if (page_begin(page, b) > body->since && page_begin(page, b) >= body->until)
                        break;
                page_insert(index, page, b, &entry);
        }
}

void pageindex_add(PageIndex *index, uint32_t number)
{
        const Body *body = body_store_get(index->store, number);
        const BlockEntry entry = {.since = body->since, .number = number};
        PageTier *tier = body_tier(index, body);
        uint64_t page;

        for (page = body->start >> tier->page_shift; page <= body_last(body) >> tier->page_shift;
             page++)
                page_add(index, tier, page, body, &entry);
}

/* Blocks of a page that follow each other. */
typedef struct BlockRange {
        uint32_t first;
        uint32_t end; /* the one after the last; `first` if there is none */
} BlockRange;

/*
 * Removes a body from the consecutive blocks that list it, and returns them. The block of its since
 * is one of them, unless the body died in that very moment. If its end was set in hindsight, blocks
 * after the end list it, too.
 */
static BlockRange page_remove(IndexPage *page, uint64_t since, uint32_t number)
{
        uint32_t at = page_block_at(page, since);
        BlockRange range = {at, at};

        while (range.end < page->n_blocks && block_remove(*page_block(page, range.end), number))
                range.end++;
        while (range.first > 0 && block_remove(*page_block(page, range.first - 1), number))
                range.first--;
        return range;
}

/* Frees a page without bodies, and moves up others to close the hole in the probe sequence. */
static void tier_remove(PageIndex *index, PageTier *tier, IndexPage *page)
{
        size_t mask = ((size_t)1 << tier->n_bits) - 1, i = (size_t)(page - tier->pages), j = i;

        page_free(index, page);
        tier->n_pages--;
        for (;;) {
                size_t home;

                j = (j + 1) & mask;
                if (!tier->pages[j].n_blocks)
                        return;
                home = page_hash(tier->pages[j].number, tier->n_bits);
                if (((j - home) & mask) >= ((j - i) & mask)) {
                        tier->pages[i] = tier->pages[j];
                        tier->pages[j] = (IndexPage){0};
                        i = j;
                }
        }
}

/*
 * Frees the empty blocks among RANGE, and the page if it is empty. The block before an empty one
 * takes over its time: none of its bodies was alive then, and a search checks entries against their
 * bodies anyway.
 */
static void page_drop_empty(PageIndex *index, PageTier *tier, IndexPage *page, BlockRange range)
{
        uint32_t b, n = range.first;

        for (b = range.first; b < range.end; b++) {
                Block *block = *page_block(page, b);

                if (!block->n_entries) {
                        pageindex_drop_block(index, block);
                        continue;
                }
                if (page->n_allocated)
                        page->many[n] = page->many[b];
                n++;
        }
        if (n == range.end)
                return;
        if (page->n_allocated)
                memmove(&page->many[n], &page->many[b], (page->n_blocks - b) * sizeof(BlockSpan));
        page->n_blocks -= b - n;
        if (!page->n_blocks)
                tier_remove(index, tier, page);
        else
                page->many[0].begin = 0;
}

void pageindex_remove(PageIndex *index, uint32_t number)
{
        const Body *body = body_store_get(index->store, number);
        PageTier *tier = body_tier(index, body);
        uint64_t i;

        for (i = body->start >> tier->page_shift; i <= body_last(body) >> tier->page_shift; i++) {
                IndexPage *page = tier_find(tier, i);
                BlockRange range = page_remove(page, body->since, number);

                page_drop_empty(index, tier, page, range);
        }
}

/* The body of a tier that was alive at TIME and covers ADDRESS, or NULL. */
static Body *tier_at(const PageIndex *index, const PageTier *tier, uint64_t address, uint64_t time)
{
        const IndexPage *page = tier_find(tier, address >> tier->page_shift);
        uint16_t unit = tier_unit(tier, address);
        const Block *block;
        uint32_t i;

        if (!page)
                return NULL;
        block = page_block_const(page, page_block_at(page, time));
        for (i = block->n_entries; (i = block_find(block, i, unit)) != BLOCK_NONE;) {
                Body *body = body_store_get(index->store, block_numbers(block)[i]);

                if (block_sinces(block)[i] <= time &&
                    (!tier->unit_shift || body_covers(body, address)))
                        return time < body->until ? body : NULL;
        }
        return NULL;
}

Body *pageindex_at(const PageIndex *index, uint64_t address, uint64_t time)
{
        Body *body = tier_at(index, &index->tiers[0], address, time);

        return body ? body : tier_at(index, &index->tiers[1], address, time);
}

/*
 * Many lookups at once. In a large map a lookup is four dependent reads that miss the cache: the
 * slot of the page, its block, the entry, the body. Lookups are therefore made in groups, step by
 * step, and each step prefetches the data of the next.
 */
enum { GROUP = 64, LINE = 64 };

typedef struct LookupProbe {
        const IndexPage *page;
        const BlockSpan *span; /* the candidate spans: the first, and their number */
        uint32_t n_spans;
        const Block *block;
        uint32_t entry;
        const Body *body;
} LookupProbe;

/* A slot can be in two cache lines, like a body. */
static void prefetch_slot(const PageTier *tier, uint64_t address)
{
        const IndexPage *slot;

        if (!tier->pages)
                return;
        slot = &tier->pages[page_hash(address >> tier->page_shift, tier->n_bits)];
        __builtin_prefetch(slot);
        __builtin_prefetch((const char *)(slot + 1) - 1);
}

/* Prefetches its head, and the addresses of as many entries as most blocks have. */
static void prefetch_block(const Block *block)
{
        __builtin_prefetch(block);
        __builtin_prefetch((const char *)block + LINE);
}

static void probe_page(LookupProbe *probe, const Lookup *lookup)
{
        const PageTier *tier = &lookup->index->tiers[0];
        const IndexPage *page = tier_find(tier, lookup->address >> tier->page_shift);

        *probe = (LookupProbe){.page = page};
        if (!page)
                return;
        if (!page->n_allocated) {
                probe->block = page->one;
                prefetch_block(probe->block);
                return;
        }
        probe->span = page->many;
        probe->n_spans = page->n_blocks;
        __builtin_prefetch(&page->many[page->n_blocks - 1]);
}

/* Most lookups find their time in the newest block. */
static void probe_newest_span(LookupProbe *probe, const Lookup *lookup)
{
        if (probe->n_spans && probe->span[probe->n_spans - 1].begin <= lookup->time) {
                probe->span += probe->n_spans - 1;
                probe->n_spans = 1;
        }
        if (probe->n_spans)
                __builtin_prefetch(&probe->span[probe->n_spans / 2]);
}

/* A step of the search; false once the span is found. */
static bool probe_span(LookupProbe *probe, const Lookup *lookup)
{
        uint32_t half = probe->n_spans / 2;

        if (!half)
                return false;
        probe->span += probe->span[half].begin <= lookup->time ? half : 0;
        probe->n_spans -= half;
        __builtin_prefetch(&probe->span[probe->n_spans / 2]);
        return true;
}

static void probe_block(LookupProbe *probe)
{
        if (probe->n_spans) {
                probe->block = probe->span->block;
                prefetch_block(probe->block);
        }
}

/* Prefetches the addresses of the entries on the page. */
static void probe_addresses(const LookupProbe *probe)
{
        const char *p, *end;

        if (!probe->block)
                return;
        p = (const char *)(probe->block + 1);
        end = p + 2 * sizeof(uint16_t) * probe->block->n_allocated;
        for (p += 2 * LINE - sizeof(Block); p < end; p += LINE)
                __builtin_prefetch(p);
}

static void probe_entry(LookupProbe *probe, const Lookup *lookup)
{
        uint16_t unit = tier_unit(&lookup->index->tiers[0], lookup->address);

        probe->entry =
                probe->block ? block_find(probe->block, probe->block->n_entries, unit) : BLOCK_NONE;
        if (probe->entry == BLOCK_NONE)
                return;
        if (lookup->time != BODY_NOW)
                __builtin_prefetch(&block_sinces(probe->block)[probe->entry]);
        __builtin_prefetch(&block_numbers(probe->block)[probe->entry]);
}

static void probe_body(LookupProbe *probe, const Lookup *lookup)
{
        uint16_t unit = tier_unit(&lookup->index->tiers[0], lookup->address);

        /* At the newest moment, all entries have begun. */
        while (probe->entry != BLOCK_NONE && lookup->time != BODY_NOW &&
               block_sinces(probe->block)[probe->entry] > lookup->time)
                probe->entry = block_find(probe->block, probe->entry, unit);
        if (probe->entry == BLOCK_NONE)
                return;
        probe->body =
                body_store_get(lookup->index->store, block_numbers(probe->block)[probe->entry]);
        __builtin_prefetch(probe->body);
        __builtin_prefetch((const char *)(probe->body + 1) - 1);
}

static void pageindex_look_up_group(Lookup *lookups, size_t n)
{
        LookupProbe probes[GROUP];
        bool is_found;
        size_t i;

        for (i = 0; i < n; i++) {
                prefetch_slot(&lookups[i].index->tiers[0], lookups[i].address);
                prefetch_slot(&lookups[i].index->tiers[1], lookups[i].address);
        }
        for (i = 0; i < n; i++)
                probe_page(&probes[i], &lookups[i]);
        for (i = 0; i < n; i++)
                probe_newest_span(&probes[i], &lookups[i]);
        for (is_found = false; !is_found;) {
                is_found = true;
                for (i = 0; i < n; i++)
                        is_found &= !probe_span(&probes[i], &lookups[i]);
        }
        for (i = 0; i < n; i++)
                probe_block(&probes[i]);
        for (i = 0; i < n; i++)
                probe_addresses(&probes[i]);
        for (i = 0; i < n; i++)
                probe_entry(&probes[i], &lookups[i]);
        for (i = 0; i < n; i++)
                probe_body(&probes[i], &lookups[i]);
        for (i = 0; i < n; i++) {
                Lookup *lookup = &lookups[i];

                if (probes[i].body && lookup->time < probes[i].body->until)
                        lookup->body = (Body *)probes[i].body;
                else
                        lookup->body = tier_at(lookup->index, &lookup->index->tiers[1],
                                               lookup->address, lookup->time);
        }
}

void pageindex_look_up(Lookup *lookups, size_t n)
{
        size_t i;

        for (i = 0; i < n; i += GROUP)
                pageindex_look_up_group(lookups + i, MIN(GROUP, n - i));
}

size_t pageindex_growth(const PageIndex *index)
{
        size_t growth = 0, t;

        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const PageTier *tier = &index->tiers[t];

                /* A body is on up to 256 pages, though rarely on more than two. */
                if (tier->pages && (tier->n_pages + 256) * 4 > ((size_t)3 << tier->n_bits))
                        growth += sizeof(IndexPage) << (tier->n_bits + 1);
        }
        return growth;
}
