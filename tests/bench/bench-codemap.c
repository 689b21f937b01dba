/* SPDX-License-Identifier: MIT */

/*
 * What a code map costs: loads and unloads, lookups at "now" and at random times, and bytes a body,
 * by number of bodies and by how often the same memory is used again. Each figure is also printed
 * as a ratio to the first row's.
 */

#include "codemap/codemap.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_LOOKUPS = 1 << 20, BATCH = 4096 };

static double now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* xorshift: fast, seeded, the same everywhere. */
static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}

/* Method sizes as a JIT makes them: many small ones, a long tail; aligned to 16. */
static uint32_t random_size(void)
{
        uint64_t r = next_random();

        return (uint32_t)(8 + r % (r % 16 ? 300 : 6000));
}

typedef struct Result {
        double load, unload, bytes;
        double live, past;             /* lookups, one by one */
        double live_batch, past_batch; /* the same, many at once */
} Result;

/* Takes each result, so that no lookup is optimized away. */
static volatile uintptr_t sink;

/* ns a lookup. TIMES: of each, or NULL for now. */
static double measure_single(const CodeMap *map, const uint64_t *addresses, const uint64_t *times)
{
        double t = now_ns();
        size_t i;

        for (i = 0; i < N_LOOKUPS; i++)
                sink += (uintptr_t)(times ? codemap_at(map, addresses[i], times[i])
                                          : codemap_live(map, addresses[i]));
        return (now_ns() - t) / N_LOOKUPS;
}

static double measure_batch(const CodeMap *map, const uint64_t *addresses, const uint64_t *times)
{
        static Lookup lookups[BATCH];
        double t = now_ns();
        size_t i, j;

        for (i = 0; i < N_LOOKUPS; i += BATCH) {
                for (j = 0; j < BATCH; j++)
                        lookups[j] = (Lookup){.index = codemap_index(map),
                                              .address = addresses[i + j],
                                              .time = times ? times[i + j] : BODY_NOW};
                pageindex_look_up(lookups, BATCH);
                for (j = 0; j < BATCH; j++)
                        sink += (uintptr_t)lookups[j].body;
        }
        return (now_ns() - t) / N_LOOKUPS;
}

/*
 * N_GENERATIONS times a heap is filled with bodies of other sizes and emptied; the last generation
 * lives. All in all about N_BODIES.
 */
static Result run(size_t n_bodies, size_t n_generations)
{
        size_t per_generation = n_bodies / n_generations, i, g, n = 0;
        const uint64_t base = UINT64_C(0x7f1000000000);
        uint64_t time = 1000, span = 0, begin_time = time;
        Body **bodies = g_new(Body *, per_generation);
        double t, load = 0, unload = 0;
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        Result result = {0};
        static uint64_t address[N_LOOKUPS], when[N_LOOKUPS];

        for (g = 0; g < n_generations; g++) {
                uint64_t at = base;

                t = now_ns();
                for (i = 0; i < per_generation; i++) {
                        Body body = {
                                .start = at, .size = random_size(), .source = BODY_SOURCE_LOAD};

                        at += (body.size + 31) & ~31u;
                        bodies[i] = codemap_insert(map, &body, time++);
                }
                load += now_ns() - t;
                span = MAX(span, at - base);
                n += per_generation;
                if (g + 1 == n_generations)
                        break;
                t = now_ns();
                for (i = 0; i < per_generation; i++)
                        codemap_end(map, bodies[i], time++, BODY_END_UNLOAD);
                unload += now_ns() - t;
        }
        result.bytes = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / (double)n;
        result.load = load / (double)n;
        result.unload = n_generations > 1 ? unload / (double)(n - per_generation) : 0;
        for (i = 0; i < N_LOOKUPS; i++) {
                address[i] = base + next_random() % span;
                when[i] = begin_time + next_random() % (time - begin_time);
        }
        result.live = measure_single(map, address, NULL);
        result.past = measure_single(map, address, when);
        result.live_batch = measure_batch(map, address, NULL);
        result.past_batch = measure_batch(map, address, when);
        codemap_free(map);
        strtab_free(names);
        g_free(bodies);
        return result;
}

int main(void)
{
        static const struct {
                size_t n_bodies, n_generations;
        } ROWS[] = {{10000, 1},   {100000, 1},   {1000000, 1},
                    {100000, 30}, {1000000, 30}, {1000000, 1000}};
        Result first = {0};
        size_t i;

        printf("%9s %6s | %6s %6s | %6s %6s | %6s %6s | %6s | batches to first row\n", "bodies",
               "reuse", "load", "unload", "live", "past", "live4k", "past4k", "B/body");
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                Result r = run(ROWS[i].n_bodies, ROWS[i].n_generations);

                if (!i)
                        first = r;
                printf("%9zu %6zu | %6.0f %6.0f | %6.0f %6.0f | %6.0f %6.0f | %6.0f | %5.2f "
                       "%5.2f\n",
                       ROWS[i].n_bodies, ROWS[i].n_generations, r.load, r.unload, r.live, r.past,
                       r.live_batch, r.past_batch, r.bytes, r.live_batch / first.live_batch,
                       r.past_batch / first.past_batch);
        }
        return 0;
}
