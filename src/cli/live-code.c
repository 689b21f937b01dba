/* SPDX-License-Identifier: MIT */
#include "cli/live-code.h"

#include <assert.h>
#include <stdlib.h>

/* The address is the key. */
typedef struct LiveBody {
        uint64_t start;
        uint64_t loaded; /* ns; CLRSYM_NO_TIME, which is earliest: not known */
        uint32_t size;   /* bytes; 0: not known */
        char symbol[];
} LiveBody;

struct LiveCode {
        GHashTable *bodies; /* owned: START, in a LiveBody, -> that body, owned */
};

static_assert(CLRSYM_NO_TIME == 0, "a time that is not known is earlier than all others");

LiveCode *live_code_new(void)
{
        LiveCode *code = g_new(LiveCode, 1);

        code->bodies = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        return code;
}

void live_code_free(LiveCode *code)
{
        if (!code)
                return;
        g_hash_table_unref(code->bodies);
        g_free(code);
}

void live_code_clear(LiveCode *code)
{
        g_hash_table_remove_all(code->bodies);
}

void live_code_add(LiveCode *code, const clrsym_body *body)
{
        const LiveBody *old = g_hash_table_lookup(code->bodies, &body->start);
        LiveBody *live;
        size_t n;

        /* A body that is unloaded already is not shown. */
        if (body->unloaded != CLRSYM_ALIVE || (old && old->loaded > body->loaded))
                return;
        n = clrsym_symbol(body, CLRSYM_STYLE_CLR, NULL, 0) + 1;
        live = g_malloc(sizeof(*live) + n);
        live->start = body->start;
        live->loaded = body->loaded;
        live->size = body->size;
        clrsym_symbol(body, CLRSYM_STYLE_CLR, live->symbol, n);
        g_hash_table_replace(code->bodies, &live->start, live);
}

void live_code_remove(LiveCode *code, const clrsym_body *body)
{
        const LiveBody *live = g_hash_table_lookup(code->bodies, &body->start);

        if (live && live->loaded <= body->unloaded)
                g_hash_table_remove(code->bodies, &body->start);
}

static int live_body_compare(const void *a, const void *b)
{
        const LiveBody *const *first = a, *const *second = b;

        return (*first)->start < (*second)->start ? -1 : (*first)->start > (*second)->start;
}

static uint64_t live_body_end(const LiveBody *body)
{
        return body->start + MAX(body->size, 1);
}

unsigned live_code_append_map(const LiveCode *code, GString *out)
{
        guint n = g_hash_table_size(code->bodies), n_kept = 0, i = 0;
        g_autofree const LiveBody **bodies = g_new(const LiveBody *, n);
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, code->bodies);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                bodies[i++] = value;
        if (n)
                qsort(bodies, n, sizeof(*bodies), live_body_compare);
        for (i = 0; i < n; i++) {
                const LiveBody *last = n_kept ? bodies[n_kept - 1] : NULL;

                if (!last || live_body_end(last) <= bodies[i]->start)
                        bodies[n_kept++] = bodies[i];
                else if (bodies[i]->loaded >= last->loaded)
                        bodies[n_kept - 1] = bodies[i];
        }
        for (i = 0; i < n_kept; i++)
                perf_map_append(out, bodies[i]->start, bodies[i]->size, bodies[i]->symbol);
        return n_kept;
}

void perf_map_append(GString *out, uint64_t start, uint32_t size, const char *symbol)
{
        g_string_append_printf(out, "%" G_GINT64_MODIFIER "x %x %s\n", (guint64)start, MAX(size, 1),
                               symbol);
}
