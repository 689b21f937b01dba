/* SPDX-License-Identifier: MIT */
#include "core/pageindex.h"

#include "core/block.h"

/*
 * The structure
 *
 * A body is a rectangle, addresses by time; no two overlap. The address space is cut into pages,
 * and the time of a page into blocks: a block lists every body that overlaps its page and was alive
 * at some moment of the block's time, in order of `since`. When a block is full and at least half
 * of it has died, a new one begins with the living copied: so each block is about as long as what
 * lives in a page, however many generations came before, and each body is in two or three blocks. A
 * lookup hashes the page, searches the block of the time, and walks back in it to the first entry
 * that covers the address: that one was the last to come, so it or nobody was alive there.
 *
 * Bodies over SMALL_MAX go on pages of another size, of which there are few. Their entries are in
 * units too coarse to be exact: the body itself decides.
 */

/* A block of a page, by the time it begins: a search for a time reads no block but the last. */
typedef struct Span {
        uint64_t begin; /* up to the next span's begin */
        Block *block;   /* owned */
} Span;

typedef struct Page {
        uint64_t number;
        union {
                Block *one; /* while there is but one, which begins at 0 */
                Span *many;
        };
        uint32_t n_blocks; /* 0: a free slot */
        uint32_t n_allocated;
} Page;

/* Pages of one size: a hash table by number. */
typedef struct Tier {
        unsigned page_shift;
        unsigned unit_shift;
        Page *pages; /* open addressing */
        unsigned n_bits;
        size_t n_pages;
} Tier;

/* Largest body on small pages. Few methods are longer, and 16 entries are not many. */
#define SMALL_MAX (UINT64_C(64) << 10)
/* Entries of a page's first block: one, since precompiled code that is known is sparse. */
enum { FIRST_ENTRIES = 1, SPARE_ENTRIES = 8 };

struct PageIndex {
        const BodyStore *store; /* borrowed */
        Account *account;       /* borrowed, the store's */
        Tier tiers[2];
};

PageIndex *pageindex_new(const BodyStore *store)
{
        PageIndex *index = g_new0(PageIndex, 1);

        index->store = store;
        index->account = store->account;
        index->tiers[0] = (Tier){.page_shift = 12, .unit_shift = 0};
        index->tiers[1] = (Tier){.page_shift = 24, .unit_shift = 8};
        return index;
}

/* Where the page has its block, so that it can be replaced by a larger one. */
static Block **page_block(Page *page, uint32_t b)
{
        return page->n_allocated ? &page->many[b].block : &page->one;
}

static const Block *page_block_const(const Page *page, uint32_t b)
{
        return page->n_allocated ? page->many[b].block : page->one;
}

static uint64_t page_begin(const Page *page, uint32_t b)
{
        return page->n_allocated ? page->many[b].begin : 0;
}

static void page_free(PageIndex *index, Page *page)
{
        uint32_t b;

        for (b = 0; b < page->n_blocks; b++) {
                account_remove(index->account, block_size(page_block_const(page, b)->n_allocated));
                block_free(*page_block(page, b));
        }
        if (page->n_allocated) {
                account_remove(index->account, page->n_allocated * sizeof(Span));
                g_free(page->many);
        }
        *page = (Page){0};
}

static size_t tier_size(const Tier *tier)
{
        return tier->pages ? sizeof(Page) << tier->n_bits : 0;
}

void pageindex_free(PageIndex *index)
{
        size_t t, i;

        if (!index)
                return;
        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                Tier *tier = &index->tiers[t];

                for (i = 0; tier->pages && i < (size_t)1 << tier->n_bits; i++)
                        if (tier->pages[i].n_blocks)
                                page_free(index, &tier->pages[i]);
                account_remove(index->account, tier_size(tier));
                g_free(tier->pages);
        }
        g_free(index);
}

static inline size_t page_hash(uint64_t number, unsigned n_bits)
{
        return (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - n_bits));
}

/* The page, or NULL. */
static Page *tier_find(const Tier *tier, uint64_t number)
{
        size_t mask = ((size_t)1 << tier->n_bits) - 1, i;

        if (!tier->pages)
                return NULL;
        for (i = page_hash(number, tier->n_bits); tier->pages[i].n_blocks; i = (i + 1) & mask)
                if (tier->pages[i].number == number)
                        return &tier->pages[i];
        return NULL;
}

static Page *tier_slot(const Tier *tier, uint64_t number)
{
        size_t mask = ((size_t)1 << tier->n_bits) - 1, i = page_hash(number, tier->n_bits);

        while (tier->pages[i].n_blocks && tier->pages[i].number != number)
                i = (i + 1) & mask;
        return &tier->pages[i];
}

static void tier_grow(PageIndex *index, Tier *tier)
{
        Page *old = tier->pages;
        size_t n = old ? (size_t)1 << tier->n_bits : 0, old_size = tier_size(tier), i;

        tier->n_bits = old ? tier->n_bits + 1 : 4;
        tier->pages = g_new0(Page, (size_t)1 << tier->n_bits);
        account_change(index->account, old_size, tier_size(tier));
        for (i = 0; i < n; i++)
                if (old[i].n_blocks)
                        *tier_slot(tier, old[i].number) = old[i];
        g_free(old);
}

static Block *make_block(PageIndex *index, uint32_t n_entries)
{
        account_add(index->account, block_size(n_entries));
        return block_new(n_entries);
}

static void drop_block(PageIndex *index, Block *block)
{
        account_remove(index->account, block_size(block->n_allocated));
        block_free(block);
}

static Page *tier_make(PageIndex *index, Tier *tier, uint64_t number)
{
        Page *page = tier_find(tier, number);

        if (page)
                return page;
        if (!tier->pages || (tier->n_pages + 1) * 4 > ((size_t)3 << tier->n_bits))
                tier_grow(index, tier);
        page = tier_slot(tier, number);
        *page = (Page){.number = number, .one = make_block(index, FIRST_ENTRIES), .n_blocks = 1};
        tier->n_pages++;
        return page;
}

static uint16_t tier_unit(const Tier *tier, uint64_t address)
{
        return (uint16_t)((address & ((UINT64_C(1) << tier->page_shift) - 1)) >> tier->unit_shift);
}

/* The block that has TIME. */
static uint32_t page_block_at(const Page *page, uint64_t time)
{
        uint32_t low = 0, high = page->n_blocks;

        if (page_begin(page, high - 1) <= time)
                return high - 1;
        while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                if (page_begin(page, middle) <= time)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static void page_append_block(PageIndex *index, Page *page, uint64_t begin, Block *block)
{
        if (!page->n_allocated) {
                Block *one = page->one;

                page->many = g_new(Span, 4);
                page->many[0] = (Span){0, one};
                page->n_allocated = 4;
                account_add(index->account, 4 * sizeof(Span));
        } else if (page->n_blocks == page->n_allocated) {
                account_change(index->account, page->n_allocated * sizeof(Span),
                               2 * page->n_allocated * sizeof(Span));
                page->n_allocated *= 2;
                page->many = g_renew(Span, page->many, page->n_allocated);
        }
        page->many[page->n_blocks++] = (Span){begin, block};
}

static void page_insert(PageIndex *index, Page *page, uint32_t b, const Entry *entry)
{
        Block **block = page_block(page, b);
        uint32_t n = (*block)->n_allocated;

        if ((*block)->n_entries == n) {
                account_change(index->account, block_size(n), block_size(n + MAX(1, n / 2)));
                *block = block_grow(*block, n + MAX(1, n / 2));
        }
        block_insert(*block, entry);
}

/* Room in the newest block for a body that comes at TIME: if half of it is dead, in a new one. */
static void page_make_room(PageIndex *index, Page *page, uint64_t time)
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
        block = make_block(index, n_live * 2 + SPARE_ENTRIES);
        for (i = 0; i < newest->n_entries; i++)
                if (body_store_get(index->store, numbers[i])->until > time) {
                        const Entry entry = block_entry(newest, i);

                        block_insert(block, &entry);
                }
        page_append_block(index, page, time, block);
}

static Tier *body_tier(const PageIndex *index, const Body *body)
{
        return (Tier *)&index->tiers[body_extent(body) > SMALL_MAX];
}

static void page_add(PageIndex *index, Tier *tier, uint64_t number, const Body *body,
                     const Entry *template)
{
        Page *page = tier_make(index, tier, number);
        uint64_t page_first = number << tier->page_shift;
        uint64_t page_last = page_first + ((UINT64_C(1) << tier->page_shift) - 1);
        Entry entry = *template;
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
        const Entry entry = {.since = body->since, .number = number};
        Tier *tier = body_tier(index, body);
        uint64_t page;

        for (page = body->start >> tier->page_shift; page <= body_last(body) >> tier->page_shift;
             page++)
                page_add(index, tier, page, body, &entry);
}

/*
 * The blocks that list a body are a run. It has the block of its since, but for a body that died in
 * that very moment; and may be longer than the body's life, if that was cut short in hindsight.
 */
static void page_remove(Page *page, uint64_t since, uint32_t number)
{
        uint32_t at = page_block_at(page, since), b;

        for (b = at; b < page->n_blocks && block_remove(*page_block(page, b), number);)
                b++;
        for (b = at; b > 0 && block_remove(*page_block(page, b - 1), number);)
                b--;
}

/* A page without bodies goes; whoever may close the hole in the probe sequence moves up. */
static void tier_remove(PageIndex *index, Tier *tier, Page *page)
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
                        tier->pages[j] = (Page){0};
                        i = j;
                }
        }
}

/*
 * Blocks that are empty go: the block before an empty one may take over its time, for nobody in it
 * was alive then, and entries are checked against their body anyway. So does a page that is empty.
 */
static void page_drop_empty(PageIndex *index, Tier *tier, Page *page)
{
        uint32_t b, n = 0;

        for (b = 0; b < page->n_blocks; b++) {
                Block *block = *page_block(page, b);

                if (!block->n_entries) {
                        drop_block(index, block);
                        continue;
                }
                if (page->n_allocated)
                        page->many[n] = page->many[b];
                n++;
        }
        page->n_blocks = n;
        if (!n)
                tier_remove(index, tier, page);
        else if (page->n_allocated)
                page->many[0].begin = 0;
}

void pageindex_remove(PageIndex *index, uint32_t number)
{
        const Body *body = body_store_get(index->store, number);
        Tier *tier = body_tier(index, body);
        uint64_t i;

        for (i = body->start >> tier->page_shift; i <= body_last(body) >> tier->page_shift; i++) {
                Page *page = tier_find(tier, i);

                page_remove(page, body->since, number);
                page_drop_empty(index, tier, page);
        }
}

/* The body of a tier that was alive at TIME and covers ADDRESS, or NULL. */
static Body *tier_at(const PageIndex *index, const Tier *tier, uint64_t address, uint64_t time)
{
        const Page *page = tier_find(tier, address >> tier->page_shift);
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
 * Many at once. In a large map a lookup is four reads that miss the cache, each of which has to
 * wait for the one before: the slot of the page, its block, the entry, the body. So lookups go in
 * groups, step by step, and each step fetches what the next one reads.
 */
enum { GROUP = 32, LINE = 64 };

typedef struct Probe {
        const Page *page;
        const Span *span; /* of the spans that can have the time: the first, and how many */
        uint32_t n_spans;
        const Block *block;
        uint32_t entry;
        const Body *body;
} Probe;

static void prefetch_slot(const Tier *tier, uint64_t address)
{
        if (tier->pages)
                __builtin_prefetch(
                        &tier->pages[page_hash(address >> tier->page_shift, tier->n_bits)]);
}

/* Its head, and the places of as many entries as most blocks have. */
static void prefetch_block(const Block *block)
{
        __builtin_prefetch(block);
        __builtin_prefetch((const char *)block + LINE);
}

static void probe_page(Probe *probe, const Lookup *lookup)
{
        const Tier *tier = &lookup->index->tiers[0];
        const Page *page = tier_find(tier, lookup->address >> tier->page_shift);

        *probe = (Probe){.page = page};
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

/* Most ask about the newest block. */
static void probe_newest_span(Probe *probe, const Lookup *lookup)
{
        if (probe->n_spans && probe->span[probe->n_spans - 1].begin <= lookup->time) {
                probe->span += probe->n_spans - 1;
                probe->n_spans = 1;
        }
        if (probe->n_spans)
                __builtin_prefetch(&probe->span[probe->n_spans / 2]);
}

/* A step of the search; false once the span is found. */
static bool probe_span(Probe *probe, const Lookup *lookup)
{
        uint32_t half = probe->n_spans / 2;

        if (!half)
                return false;
        probe->span += probe->span[half].begin <= lookup->time ? half : 0;
        probe->n_spans -= half;
        __builtin_prefetch(&probe->span[probe->n_spans / 2]);
        return true;
}

static void probe_block(Probe *probe)
{
        if (probe->n_spans) {
                probe->block = probe->span->block;
                prefetch_block(probe->block);
        }
}

/* Where on the page the entries are. */
static void probe_places(const Probe *probe)
{
        const char *p = (const char *)(probe->block + 1), *end;

        if (!probe->block)
                return;
        end = p + 2 * sizeof(uint16_t) * probe->block->n_allocated;
        for (p += 2 * LINE - sizeof(Block); p < end; p += LINE)
                __builtin_prefetch(p);
}

static void probe_entry(Probe *probe, const Lookup *lookup)
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

static void probe_body(Probe *probe, const Lookup *lookup)
{
        uint16_t unit = tier_unit(&lookup->index->tiers[0], lookup->address);

        /* Now, all have come. */
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

static void look_up_group(Lookup *lookups, size_t n)
{
        Probe probes[GROUP];
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
                probe_places(&probes[i]);
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
                look_up_group(lookups + i, MIN(GROUP, n - i));
}

/* A body that was replaced in the very moment of its load never was. */
static bool has_lived_at(const Body *body, uint64_t address)
{
        return body->since < body->until && body_covers(body, address);
}

static Body *page_before(const PageIndex *index, const Page *page, uint64_t address, uint64_t time)
{
        uint32_t b = page_block_at(page, time) + 1, i;

        while (b-- > 0) {
                const Block *block = page_block_const(page, b);

                for (i = block_upper_bound(block, time); i-- > 0;) {
                        Body *body = body_store_get(index->store, block_numbers(block)[i]);

                        /* One that ended before the block began is there in error: see page_remove.
                         */
                        if (body->until <= time && (!b || body->until > page_begin(page, b)) &&
                            has_lived_at(body, address))
                                return body;
                }
        }
        return NULL;
}

static Body *page_after(const PageIndex *index, const Page *page, uint64_t address, uint64_t time)
{
        uint32_t b, i;

        for (b = page_block_at(page, time); b < page->n_blocks; b++) {
                const Block *block = page_block_const(page, b);
                uint64_t end = b + 1 < page->n_blocks ? page_begin(page, b + 1) : UINT64_MAX;

                for (i = block_upper_bound(block, time); i < block->n_entries; i++) {
                        Body *body = body_store_get(index->store, block_numbers(block)[i]);

                        if (body->since >=
                            end) /* the next block has it too, and maybe earlier ones */
                                break;
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
                const Tier *tier = &index->tiers[t];
                const Page *page = tier_find(tier, address >> tier->page_shift);
                Body *before, *after;

                if (!page)
                        continue;
                before = page_before(index, page, address, time);
                after = page_after(index, page, address, time);
                if (before && (!*ret_before || before->until > (*ret_before)->until))
                        *ret_before = before;
                if (after && (!*ret_after || after->since < (*ret_after)->since))
                        *ret_after = after;
        }
}

/* A body is listed in several blocks and pages. Mostly there is little to look through. */
static void append_once(GPtrArray *out, guint first, GHashTable **seen, Body *body)
{
        guint i;

        if (out->len - first < 32) {
                for (i = out->len; i-- > first;)
                        if (out->pdata[i] == body)
                                return;
        } else {
                if (!*seen) {
                        *seen = g_hash_table_new(NULL, NULL);
                        for (i = first; i < out->len; i++)
                                g_hash_table_add(*seen, out->pdata[i]);
                }
                if (!g_hash_table_add(*seen, body))
                        return;
        }
        g_ptr_array_add(out, body);
}

/* A search for bodies by place. */
typedef struct Overlaps {
        const BodyStore *store;
        uint64_t first, last, time;
        bool (*found)(struct Overlaps *overlaps, Body *body); /* false: enough */
        GHashTable *seen;
        GPtrArray *out;
        guint n_before; /* in OUT */
} Overlaps;

static bool collect(Overlaps *overlaps, Body *body)
{
        append_once(overlaps->out, overlaps->n_before, &overlaps->seen, body);
        return true;
}

static bool stop(Overlaps *overlaps, Body *body)
{
        return false;
}

static bool page_overlaps(Overlaps *overlaps, const Tier *tier, const Page *page)
{
        uint64_t page_first = page->number << tier->page_shift;
        uint64_t page_last = page_first + ((UINT64_C(1) << tier->page_shift) - 1);
        uint16_t first = tier_unit(tier, MAX(overlaps->first, page_first));
        uint16_t last = tier_unit(tier, MIN(overlaps->last, page_last));
        uint32_t first_block = page_block_at(page, overlaps->time), b, i;

        /* From the newest on: that is at hand, and mostly has what ends a search early. */
        for (b = page->n_blocks; b-- > first_block;) {
                const Block *block = page_block_const(page, b);

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

/* False if it was ended early. */
static bool find_overlaps(const PageIndex *index, Overlaps *overlaps)
{
        size_t t, i;

        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const Tier *tier = &index->tiers[t];
                uint64_t from = overlaps->first >> tier->page_shift;
                uint64_t to = overlaps->last >> tier->page_shift, number;

                if (!tier->pages)
                        continue;
                if (to - from < tier->n_pages) {
                        for (number = from; number <= to; number++) {
                                const Page *page = tier_find(tier, number);

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

void pageindex_overlaps(const PageIndex *index, uint64_t first, uint64_t last, uint64_t time,
                        GPtrArray *out)
{
        Overlaps overlaps = {.store = index->store,
                             .first = first,
                             .last = last,
                             .time = time,
                             .found = collect,
                             .out = out,
                             .n_before = out->len};

        find_overlaps(index, &overlaps);
        g_clear_pointer(&overlaps.seen, g_hash_table_unref);
}

bool pageindex_was_used(const PageIndex *index, uint64_t first, uint64_t last)
{
        Overlaps overlaps = {.store = index->store, .first = first, .last = last, .found = stop};

        return !find_overlaps(index, &overlaps);
}

size_t pageindex_growth(const PageIndex *index)
{
        size_t growth = 0, t;

        for (t = 0; t < G_N_ELEMENTS(index->tiers); t++) {
                const Tier *tier = &index->tiers[t];

                /* A body is on up to 256 pages, though hardly ever on more than two. */
                if (tier->pages && (tier->n_pages + 256) * 4 > ((size_t)3 << tier->n_bits))
                        growth += sizeof(Page) << (tier->n_bits + 1);
        }
        return growth;
}
