/* SPDX-License-Identifier: MIT */
#include "core/codemap.h"

#include <string.h>

/*
 * The index
 *
 * A body is a rectangle: addresses by time; no two overlap. Each body hangs on one node: the pivot
 * of the smallest aligned power-of-two block that holds it whole, that is the first address of the
 * block's upper half. Every body of a node contains the pivot, so they all overlap in address and
 * hence never in time: a node is a list sorted by time, with at most one body alive at any moment.
 *
 * Whatever covers an address is on the pivot of one of the blocks around it, one block a level. A
 * lookup is thus a binary search by time in the few nodes that exist on the way up, however often
 * the memory was used again. Nodes are in a hash table by pivot; a bit mask has the levels in use.
 *
 * A tree of the live bodies by start finds what a new body overlaps.
 */

typedef struct Node {
        uint64_t pivot;
        Body **bodies; /* owned array of borrowed bodies, sorted by since; NULL: free slot */
        uint32_t n_bodies;
        uint32_t n_allocated;
} Node;

struct CodeMap {
        GPtrArray *bodies; /* owned bodies, in order of insertion */
        GTree *live;       /* borrowed body -> same body, by start */
        Node *nodes;       /* open addressing, 2^n_bits slots */
        unsigned n_bits;
        size_t n_nodes;
        uint64_t levels; /* bit l: a body is on level l */
        uint64_t newest; /* latest time of any insertion or end */
        uint64_t epoch;
};

static Body *body_free(Body *body)
{
        if (!body)
                return NULL;
        g_clear_pointer(&body->name_space, g_ref_string_release);
        g_clear_pointer(&body->name, g_ref_string_release);
        g_clear_pointer(&body->signature, g_ref_string_release);
        g_clear_pointer(&body->il_map, ilmap_free);
        if (body->confirmations)
                g_array_unref(body->confirmations);
        g_free(body);
        return NULL;
}

static void body_destroy(gpointer data)
{
        body_free(data);
}

static gint live_compare(gconstpointer a, gconstpointer b, gpointer unused)
{
        const Body *x = a, *y = b;

        return x->start < y->start ? -1 : x->start > y->start;
}

CodeMap *codemap_new(void)
{
        CodeMap *map = g_new0(CodeMap, 1);

        map->bodies = g_ptr_array_new_with_free_func(body_destroy);
        map->live = g_tree_new_full(live_compare, NULL, NULL, NULL);
        map->n_bits = 6;
        map->nodes = g_new0(Node, (size_t)1 << map->n_bits);
        map->epoch = 1;
        return map;
}

void codemap_free(CodeMap *map)
{
        size_t i;

        if (!map)
                return;
        for (i = 0; i < (size_t)1 << map->n_bits; i++)
                g_free(map->nodes[i].bodies);
        g_free(map->nodes);
        g_tree_unref(map->live);
        g_ptr_array_unref(map->bodies);
        g_free(map);
}

static inline size_t node_hash(uint64_t pivot, unsigned n_bits)
{
        return (size_t)((pivot * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - n_bits));
}

/* The pivot's slot: the node itself, or the free slot where it would be. */
static Node *node_slot(const CodeMap *map, uint64_t pivot)
{
        size_t mask = ((size_t)1 << map->n_bits) - 1, i = node_hash(pivot, map->n_bits);

        while (map->nodes[i].bodies && map->nodes[i].pivot != pivot)
                i = (i + 1) & mask;
        return &map->nodes[i];
}

static void nodes_grow(CodeMap *map)
{
        Node *old = map->nodes;
        size_t n = (size_t)1 << map->n_bits, i;

        map->n_bits++;
        map->nodes = g_new0(Node, n * 2);
        for (i = 0; i < n; i++)
                if (old[i].bodies)
                        *node_slot(map, old[i].pivot) = old[i];
        g_free(old);
}

/* Level of a range's smallest block: 2^level bytes, 0 for a single address. */
static inline unsigned range_level(uint64_t first, uint64_t last)
{
        return first == last ? 0 : 64 - (unsigned)__builtin_clzll(first ^ last);
}

static inline uint64_t level_pivot(uint64_t address, unsigned level)
{
        return level ? (address >> level << level) | UINT64_C(1) << (level - 1) : address;
}

static inline uint64_t body_last(const Body *body)
{
        return body->start + body_extent(body) - 1;
}

static Node *body_node(const CodeMap *map, const Body *body, unsigned *ret_level)
{
        *ret_level = range_level(body->start, body_last(body));
        return node_slot(map, level_pivot(body->start, *ret_level));
}

/* Number of bodies in the node with since <= time. */
static uint32_t node_upper_bound(const Node *node, uint64_t time)
{
        uint32_t low = 0, high = node->n_bodies;

        /* The newest is the most wanted, and the one that an insertion goes behind. */
        if (high && node->bodies[high - 1]->since <= time)
                return high;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (node->bodies[middle]->since <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void index_add(CodeMap *map, Body *body)
{
        unsigned level;
        Node *node;
        uint32_t i;

        if ((map->n_nodes + 1) * 4 > ((size_t)3 << map->n_bits))
                nodes_grow(map);
        node = body_node(map, body, &level);
        map->levels |= UINT64_C(1) << level;
        if (!node->bodies) {
                node->pivot = level_pivot(body->start, level);
                map->n_nodes++;
        }
        if (node->n_bodies == node->n_allocated) {
                node->n_allocated = node->n_allocated ? node->n_allocated * 2 : 1;
                node->bodies = g_renew(Body *, node->bodies, node->n_allocated);
        }
        i = node_upper_bound(node, body->since);
        memmove(node->bodies + i + 1, node->bodies + i,
                (node->n_bodies - i) * sizeof(*node->bodies));
        node->bodies[i] = body;
        node->n_bodies++;
}

/* The node stays, maybe empty: its slot is part of other pivots' probe sequence. */
static void index_remove(CodeMap *map, Body *body)
{
        unsigned level;
        Node *node = body_node(map, body, &level);
        uint32_t i;

        for (i = 0; i < node->n_bodies; i++)
                if (node->bodies[i] == body) {
                        node->n_bodies--;
                        memmove(node->bodies + i, node->bodies + i + 1,
                                (node->n_bodies - i) * sizeof(*node->bodies));
                        return;
                }
}

static void node_overlaps(const Node *node, uint64_t first, uint64_t last, GPtrArray *out)
{
        uint32_t i;

        for (i = 0; i < node->n_bodies; i++)
                if (node->bodies[i]->start <= last && body_last(node->bodies[i]) >= first)
                        g_ptr_array_add(out, node->bodies[i]);
}

/* Every body that ever overlapped the range, in no order. */
static void index_overlaps(const CodeMap *map, uint64_t first, uint64_t last, GPtrArray *out)
{
        uint64_t levels, n_probes = 0, prefix;
        size_t i;

        for (levels = map->levels; levels; levels &= levels - 1) {
                unsigned level = (unsigned)__builtin_ctzll(levels);

                n_probes += (last >> level) - (first >> level) + 1;
                if (n_probes > map->n_nodes)
                        break;
        }
        if (levels) { /* the range is so long that reading every node is less work */
                for (i = 0; i < (size_t)1 << map->n_bits; i++)
                        node_overlaps(&map->nodes[i], first, last, out);
                return;
        }
        for (levels = map->levels; levels; levels &= levels - 1) {
                unsigned level = (unsigned)__builtin_ctzll(levels);

                for (prefix = first >> level; prefix <= last >> level; prefix++)
                        node_overlaps(node_slot(map, level_pivot(prefix << level, level)), first,
                                      last, out);
        }
}

void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end)
{
        if (body->until == CODEMAP_FOREVER)
                g_tree_remove(map->live, body);
        body->until = MAX(time, body->since);
        body->end = end;
        map->newest = MAX(map->newest, time);
        map->epoch++;
}

static Body *live_floor(const CodeMap *map, uint64_t address)
{
        const Body key = {.start = address};
        GTreeNode *node = g_tree_upper_bound(map->live, &key);

        node = node ? g_tree_node_previous(node) : g_tree_node_last(map->live);
        return node ? g_tree_node_key(node) : NULL;
}

/* Ends every live body in the range but for SPARED. */
static void evict_live(CodeMap *map, uint64_t first, uint64_t last, const Body *spared,
                       uint64_t time)
{
        for (;;) {
                Body *body = live_floor(map, last);

                if (body == spared && body) /* only what is below it can still be in the range */
                        body = body->start ? live_floor(map, body->start - 1) : NULL;
                if (!body || body_last(body) < first)
                        return;
                codemap_end(map, body, time, BODY_END_EVICTED);
        }
}

/*
 * Makes room in time for BODY, which is known to be alive at TIME (UNLOAD: up to TIME): cuts others
 * that claim that moment, sets its since, and cuts its until by what is known to come later.
 */
static void claim(CodeMap *map, Body *body, uint64_t time)
{
        g_autoptr(GPtrArray) others = g_ptr_array_new();
        bool is_unload = body->source == BODY_SOURCE_UNLOAD;
        guint i;

        body->since = body->source == BODY_SOURCE_LOAD ? time : 0;
        body->until = is_unload ? time : CODEMAP_FOREVER;
        index_overlaps(map, body->start, body_last(body), others);
        for (i = 0; i < others->len; i++) {
                Body *other = others->pdata[i];

                if (other == body)
                        continue;
                if (other->since > time || (is_unload && other->until >= time))
                        body->until = MIN(body->until, other->since);
                else if (other->until > time)
                        codemap_end(map, other, time, BODY_END_EVICTED);
                if (body->source != BODY_SOURCE_LOAD && other->until <= time)
                        body->since = MAX(body->since, other->until);
        }
        if (body->until != CODEMAP_FOREVER && !is_unload)
                body->end = BODY_END_EVICTED;
}

Body *codemap_insert(CodeMap *map, const Body *template, uint64_t time)
{
        Body *body = g_memdup2(template, sizeof(*template));

        body->seen = time;
        body->confirmed = time;
        body->end = body->source == BODY_SOURCE_UNLOAD ? BODY_END_UNLOAD : BODY_END_NONE;
        if (body->source == BODY_SOURCE_LOAD && time >= map->newest) {
                /* The common case: news. Only what is alive can be in the way. */
                evict_live(map, body->start, body_last(body), NULL, time);
                body->since = time;
                body->until = CODEMAP_FOREVER;
        } else {
                claim(map, body, time);
                if (body->source == BODY_SOURCE_UNLOAD && body->since >= body->until)
                        return body_free(body);
        }
        map->newest = MAX(map->newest, time);
        map->epoch++;
        g_ptr_array_add(map->bodies, body);
        index_add(map, body);
        if (body->until == CODEMAP_FOREVER)
                g_tree_insert(map->live, body, body);
        return body;
}

void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time)
{
        bool was_live = body->until == CODEMAP_FOREVER;
        uint64_t until = body->until;
        BodyEnd end = body->end;

        index_remove(map, body);
        if (was_live)
                g_tree_remove(map->live, body);
        body->size = size;
        claim(map, body, time);
        if (!was_live && until < body->until) {
                body->until = until;
                body->end = end;
        }
        index_add(map, body);
        if (body->until == CODEMAP_FOREVER)
                g_tree_insert(map->live, body, body);
        map->newest = MAX(map->newest, time);
        map->epoch++;
}

Body *codemap_live_at_start(const CodeMap *map, uint64_t start)
{
        const Body key = {.start = start};

        return g_tree_lookup(map->live, &key);
}

Body *codemap_live(const CodeMap *map, uint64_t address)
{
        Body *body = live_floor(map, address);

        return body && body_covers(body, address) ? body : NULL;
}

Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time)
{
        uint64_t levels;

        for (levels = map->levels; levels; levels &= levels - 1) {
                const Node *node =
                        node_slot(map, level_pivot(address, (unsigned)__builtin_ctzll(levels)));
                uint32_t n = node_upper_bound(node, time);
                Body *body = n ? node->bodies[n - 1] : NULL;

                if (body && time < body->until && body_covers(body, address))
                        return body;
        }
        return NULL;
}

/* A body that was replaced in the very moment of its load never was. */
static bool has_lived_at(const Body *body, uint64_t address)
{
        return body->since < body->until && body_covers(body, address);
}

void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after)
{
        Body *before = NULL, *after = NULL;
        uint64_t levels;

        for (levels = map->levels; levels; levels &= levels - 1) {
                const Node *node =
                        node_slot(map, level_pivot(address, (unsigned)__builtin_ctzll(levels)));
                uint32_t n = node_upper_bound(node, time), i;

                for (i = n; i-- > 0;)
                        if (node->bodies[i]->until <= time &&
                            has_lived_at(node->bodies[i], address)) {
                                if (!before || node->bodies[i]->until > before->until)
                                        before = node->bodies[i];
                                break;
                        }
                for (i = n; i < node->n_bodies; i++)
                        if (has_lived_at(node->bodies[i], address)) {
                                if (!after || node->bodies[i]->since < after->since)
                                        after = node->bodies[i];
                                break;
                        }
        }
        *ret_before = before;
        *ret_after = after;
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
        const Body *x = *(Body *const *)a, *y = *(Body *const *)b;

        return x->since > y->since ? -1 : x->since < y->since;
}

void codemap_history(const CodeMap *map, uint64_t address, GPtrArray *out)
{
        uint64_t levels;
        uint32_t i;

        for (levels = map->levels; levels; levels &= levels - 1) {
                const Node *node =
                        node_slot(map, level_pivot(address, (unsigned)__builtin_ctzll(levels)));

                for (i = 0; i < node->n_bodies; i++)
                        if (has_lived_at(node->bodies[i], address))
                                g_ptr_array_add(out, node->bodies[i]);
        }
        g_ptr_array_sort(out, newest_first);
}

size_t codemap_n_bodies(const CodeMap *map)
{
        return map->bodies->len;
}

Body *codemap_body(const CodeMap *map, size_t i)
{
        return map->bodies->pdata[i];
}

size_t codemap_n_live(const CodeMap *map)
{
        return (size_t)g_tree_nnodes(map->live);
}

uint64_t codemap_epoch(const CodeMap *map)
{
        return map->epoch;
}
