/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body: one native code body, and the store that bodies live in
 *
 * A body occupies [start, start + size) from `since` until `until`. Times are ns of
 * CLOCK_MONOTONIC. There can be millions: fields are as narrow as they can be.
 */

#include "core/account.h"
#include "core/ilmap.h"
#include "core/strtab.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* `until` of a body that is alive. */
#define BODY_FOREVER UINT64_MAX
/* Who is alive then is alive now: nobody ends in the last moment of all. */
#define BODY_NOW (BODY_FOREVER - 1)
/* Number of no body. */
#define BODY_NONE UINT32_MAX

/* What made a body known. */
typedef enum BodySource {
        BODY_SOURCE_LOAD,
        BODY_SOURCE_RUNDOWN,   /* listed as alive: its start of life is unknown */
        BODY_SOURCE_UNLOAD,    /* only its unload was seen */
        BODY_SOURCE_R2R_ENTRY, /* only its first address is known: size 0 */
        _BODY_SOURCE_MAX,
} BodySource;

typedef enum BodyEnd {
        BODY_END_NONE,    /* alive */
        BODY_END_UNLOAD,  /* its own unload */
        BODY_END_EVICTED, /* another body took its place: its unload was lost */
        BODY_END_MODULE,  /* its module was unloaded */
        BODY_END_RUNDOWN, /* a complete rundown did not list it: unloaded by then */
        BODY_END_FREE,    /* no body: the number is free */
} BodyEnd;

/* The method that the runtime made an IL stub for. References owned by who has it. */
typedef struct StubTarget {
        Str name_space;
        Str name; /* not 0 */
        Str signature;
} StubTarget;

/* What not every body has: owned by the body. */
typedef struct BodyExtra {
        uint64_t seen;         /* time of the event that made it known, if that was no load */
        GArray *confirmations; /* or NULL: times of rundown rows and repeated loads, sorted */
        IlMap *il_map;         /* owned or NULL */
} BodyExtra;

typedef struct Body {
        uint64_t start;
        uint64_t since; /* start of the time in which nothing else was here and it may have been */
        uint64_t until; /* end of life, exclusive */
        uint64_t method_id;
        BodyExtra *extra; /* owned or NULL */
        uint32_t size;    /* 0: extent not known, the body is its first address alone */
        uint32_t flags;
        uint32_t token;
        uint32_t rejit_id; /* native code version */
        uint32_t jit_time; /* how long its compilation took, in BODY_JIT_UNIT; 0: not known */
        uint32_t module;   /* number in the process's modules, 0: none */
        /* Of the living: the module's other bodies; of the dead: who ended before and after. */
        uint32_t next;
        uint32_t previous;
        uint32_t number; /* in the store */
        Str name_space;
        Str name;
        Str signature;
        uint8_t source; /* BodySource */
        uint8_t end;    /* BodyEnd */
        bool is_stub;   /* the store has its StubTarget */
} Body;

/* ns. 32 bits of it are more than an hour. */
#define BODY_JIT_UNIT 1000

static inline uint64_t body_extent(const Body *body)
{
        return body->size ? body->size : 1;
}

static inline uint64_t body_last(const Body *body)
{
        return body->start + body_extent(body) - 1;
}

static inline const IlMap *body_il_map(const Body *body)
{
        return body->extra ? body->extra->il_map : NULL;
}

/* Time of the event that made it known. */
static inline uint64_t body_seen(const Body *body)
{
        return body->extra && body->extra->seen ? body->extra->seen : body->since;
}

/* The last time that it was seen to be alive. */
static inline uint64_t body_last_seen(const Body *body)
{
        const GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        uint64_t last = confirmations && confirmations->len
                                ? g_array_index(confirmations, uint64_t, confirmations->len - 1)
                                : 0;

        return MAX(last, body_seen(body));
}

/* The first time after TIME that it was seen to be alive; BODY_FOREVER: none. */
static inline uint64_t body_next_seen(const Body *body, uint64_t time)
{
        const GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        uint64_t next = body_seen(body) > time ? body_seen(body) : BODY_FOREVER;
        guint i;

        for (i = 0; confirmations && i < confirmations->len; i++)
                if (g_array_index(confirmations, uint64_t, i) > time)
                        return MIN(next, g_array_index(confirmations, uint64_t, i));
        return next;
}

static inline bool body_covers(const Body *body, uint64_t address)
{
        return address - body->start < body_extent(body);
}

/*
 * Bodies by number; a body does not move while it is in the store. They are kept in chunks, and a
 * chunk goes when its last body does: what many bodies took is there for others when they are gone.
 */
#define BODY_CHUNK_BITS 10
#define BODY_CHUNK      (1u << BODY_CHUNK_BITS)

typedef struct BodyChunk {
        Body bodies[BODY_CHUNK];
        uint32_t n_bodies;
        uint32_t n_touched;  /* from here on nobody ever was */
        uint32_t first_free; /* below that: an index, and on by `next`; BODY_NONE: none */
        uint32_t next_open;  /* chunks that have room; BODY_NONE: the last */
        uint32_t previous_open;
} BodyChunk;

typedef struct BodyStore {
        Account *account;   /* borrowed */
        BodyChunk **chunks; /* owned; NULL: freed */
        uint32_t n_chunks;
        uint32_t n_allocated; /* chunks that there is room for */
        uint32_t n_bodies;
        uint32_t first_open; /* a chunk that has room, or BODY_NONE */
        GArray *freed;       /* owned: uint32_t, places in chunks to be used again */
        GHashTable *stubs;   /* owned or NULL: number -> owned StubTarget; few bodies have one */
} BodyStore;

void body_store_init(BodyStore *store, Account *account);
void body_store_deinit(BodyStore *store, Strtab *names);
/*
 * True if both can be one. Never by flags: a load has some that its unload lacks. A MethodID is
 * given to another method when its first is gone, and with dynamic methods the address with it:
 * names tell the two apart. A body of unknown extent fits any size; it is precompiled code, whose
 * ids stay.
 */
bool body_is_same(const Strtab *names, const Body *a, const Body *b);

/* A zeroed body. */
Body *body_store_add(BodyStore *store);
BodyExtra *body_get_extra(BodyStore *store, Body *body);
/* The body was seen to be alive at TIME. */
void body_confirm(BodyStore *store, Body *body, uint64_t time);
/* What BODY was seen by after TIME, and its IL map, are REST's from now on. */
void body_hand_over(BodyStore *store, Body *body, Body *rest, uint64_t time);
/* Takes over MAP, which may be NULL, in place of an earlier one. */
void body_set_il_map(BodyStore *store, Body *body, IlMap *map);
/* Takes over the references of TARGET, in place of an earlier one. */
void body_set_stub_target(BodyStore *store, Body *body, Strtab *names, const StubTarget *target);
/* NULL if none is known. */
const StubTarget *body_stub_target(const BodyStore *store, const Body *body);
/* Gives back what the body owns. */
void body_store_remove(BodyStore *store, Body *body, Strtab *names);
/*
 * For one that is to be as another was: chunk I, which is not there, with bodies in the first
 * N_TOUCHED places but those of FREE, of which the first is the first to be used again. False if
 * that makes no sense.
 */
bool body_store_restore_chunk(BodyStore *store, uint32_t i, uint32_t n_touched,
                              const uint16_t *free, uint32_t n_free);
/* A zeroed body with that number; NULL if its chunk has none there, or has it already. */
Body *body_store_restore(BodyStore *store, uint32_t number);
/*
 * Then at last: N_OPEN chunks have room, of which the first is the first to be used, and N_FREED
 * places are without a chunk. False if that is not as it is.
 */
bool body_store_restore_end(BodyStore *store, const uint32_t *open, uint32_t n_open,
                            const uint32_t *freed, uint32_t n_freed);
/* Bytes that the next body_store_add() may take. */
size_t body_store_growth(const BodyStore *store);

/* Of a number that is in use. */
static inline Body *body_store_get(const BodyStore *store, uint32_t number)
{
        return &store->chunks[number >> BODY_CHUNK_BITS]->bodies[number & (BODY_CHUNK - 1)];
}

/* All numbers are below it. */
static inline uint32_t body_store_end(const BodyStore *store)
{
        return store->n_chunks << BODY_CHUNK_BITS;
}

/* NULL for a number that is free. */
static inline Body *body_store_find(const BodyStore *store, uint32_t number)
{
        BodyChunk *chunk = store->chunks[number >> BODY_CHUNK_BITS];
        uint32_t i = number & (BODY_CHUNK - 1);

        return chunk && i < chunk->n_touched && chunk->bodies[i].end != BODY_END_FREE
                       ? &chunk->bodies[i]
                       : NULL;
}
