/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Body: one native code body, and the store that bodies live in
 *
 * A body occupies [start, start + size) from `since` until `until`. Times are ns of
 * CLOCK_MONOTONIC. There can be millions of bodies: fields are as narrow as possible.
 */

#include "codemap/account.h"
#include "codemap/ilmap.h"
#include "codemap/inlining.h"
#include "codemap/strtab.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* `until` of a body that is alive. */
#define BODY_FOREVER UINT64_MAX
/* The newest moment: no body ends then, so a body that is alive then is alive now. */
#define BODY_NOW (BODY_FOREVER - 1)
/* The number that no body has. */
#define BODY_NONE UINT32_MAX

/* The event that made a body known. */
typedef enum BodySource {
        BODY_SOURCE_LOAD,
        BODY_SOURCE_RUNDOWN,   /* a rundown's row: its start of life is unknown */
        BODY_SOURCE_UNLOAD,    /* its unload: no load was seen */
        BODY_SOURCE_R2R_ENTRY, /* its first address alone is known: size 0 */
        _BODY_SOURCE_MAX,
} BodySource;

typedef enum BodyEnd {
        BODY_END_NONE,     /* alive */
        BODY_END_UNLOAD,   /* its own unload */
        BODY_END_REPLACED, /* another body took its place: its unload was lost */
        BODY_END_MODULE,   /* its module was unloaded */
        BODY_END_RUNDOWN,  /* missing from a complete rundown: unloaded by then */
        BODY_END_FREE,     /* no body: the number is free */
} BodyEnd;

/* The method that an IL stub was made for. The holder of a StubTarget owns its names. */
typedef struct StubTarget {
        Str name_space;
        Str name; /* not 0 */
        Str signature;
} StubTarget;

/* Facts that few bodies have. The holder owns the names. */
typedef struct BodyDetail {
        StubTarget stub;    /* name 0: no target is known */
        Str type_args;      /* of a generic method, in the notation of clrsym-protocol(7); 0: not
                             * known */
        Inlining *inlining; /* owned reference; NULL: nothing is inlined, or the inlining is not
                             * known */
} BodyDetail;

/* Members that only some bodies have; owned by the body. */
typedef struct BodyExtra {
        uint64_t seen;         /* ns: time of the event that made it known; 0: `since` */
        GArray *confirmations; /* or NULL: times of rundown rows and repeated loads, sorted */
        IlMap *il_map;         /* owned or NULL */
} BodyExtra;

typedef struct Body {
        uint64_t start;
        uint64_t since; /* begin of life; if that is unknown: the end of the previous body here */
        uint64_t until; /* end of life, exclusive */
        uint64_t method_id;
        BodyExtra *extra; /* owned or NULL */
        uint32_t size;    /* bytes; 0: not known, the body is its first address alone */
        uint32_t flags;
        uint32_t token;
        uint32_t rejit_id; /* native code version */
        uint32_t jit_time; /* how long its compilation took, in BODY_JIT_UNIT; 0: not known */
        uint32_t module;   /* number in the process's modules, 0: none */
        /* If alive: the module's other living bodies; if dead: the bodies that ended next to it. */
        uint32_t next;
        uint32_t previous;
        uint32_t number; /* in the store */
        Str name_space;
        Str name;
        Str signature;
        uint32_t il_size; /* bytes of its method's IL; 0: not known */
        uint8_t source;   /* BodySource */
        uint8_t end;      /* BodyEnd */
        bool has_detail;  /* the store has its BodyDetail */
} Body;

/* ns. 32 bits of this unit are more than an hour. */
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

/* Time of the event that made the body known. */
static inline uint64_t body_seen(const Body *body)
{
        return body->extra && body->extra->seen ? body->extra->seen : body->since;
}

/* The last time at which the body was seen to be alive. */
static inline uint64_t body_last_seen(const Body *body)
{
        const GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        uint64_t last = confirmations && confirmations->len
                                ? g_array_index(confirmations, uint64_t, confirmations->len - 1)
                                : 0;

        return MAX(last, body_seen(body));
}

/* The first time after TIME at which the body was seen to be alive; BODY_FOREVER: none. */
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
 * Bodies by number; a body does not move while it is in the store. They are kept in chunks. A chunk
 * is freed with its last body, so that its memory can be used for something else.
 */
#define BODY_CHUNK_BITS 10
#define BODY_CHUNK      (1u << BODY_CHUNK_BITS)

typedef struct BodyChunk {
        Body bodies[BODY_CHUNK];
        uint32_t n_bodies;
        uint32_t n_touched;  /* entries from here on were never used */
        uint32_t first_free; /* index of an unused entry below n_touched; `next` links the others */
        uint32_t next_open;  /* of the chunks that have room; BODY_NONE: the last */
        uint32_t previous_open;
} BodyChunk;

typedef struct BodyStore {
        Account *account;   /* borrowed */
        BodyChunk **chunks; /* owned; NULL: freed */
        uint32_t n_chunks;
        uint32_t n_allocated; /* of chunks */
        uint32_t n_bodies;
        uint32_t first_open; /* a chunk that has room, or BODY_NONE */
        GArray *freed;       /* owned, of uint32_t: indexes in chunks to be used again */
        GHashTable *details; /* owned or NULL: number -> owned BodyDetail, of few bodies */
} BodyStore;

void body_store_init(BodyStore *store, Account *account);
void body_store_deinit(BodyStore *store, Strtab *names);
/*
 * True if both can be the same body. Flags are not compared, because an unload lacks some flags of
 * its load. The runtime reuses the MethodID of a freed method, and with dynamic methods the
 * address, too: then only the names differ. A body of unknown size fits any size: it is precompiled
 * code, and the ids of that are not reused.
 */
bool body_is_same(const Strtab *names, const Body *a, const Body *b);

/* Returns a zeroed body. */
Body *body_store_add(BodyStore *store);
BodyExtra *body_get_extra(BodyStore *store, Body *body);
/*
 * The body was seen to be alive at TIME. A bounded number of such times is kept, always with the
 * first and the last. With fewer times an answer may be less certain, but never wrong.
 */
#define BODY_MAX_CONFIRMATIONS 64u
void body_confirm(BodyStore *store, Body *body, uint64_t time);
/* Moves the confirmations after TIME and the IL map from BODY to REST. */
void body_hand_over(BodyStore *store, Body *body, Body *rest, uint64_t time);
/* Takes over MAP, which may be NULL, and frees an earlier one. */
void body_set_il_map(BodyStore *store, Body *body, IlMap *map);
/* NULL: no detail of the body is known. */
const BodyDetail *body_detail(const BodyStore *store, const Body *body);
/* Takes over the references of DETAIL, and releases the references of an earlier detail. */
void body_set_detail(BodyStore *store, Body *body, Strtab *names, const BodyDetail *detail);
/* Frees the body and everything that it owns. */
void body_store_remove(BodyStore *store, Body *body, Strtab *names);
/*
 * From a checkpoint: makes chunk I. Bodies will be restored into its first N_TOUCHED entries,
 * except the entries in FREE, which will be reused in that order. False if the chunk exists or its
 * data is inconsistent.
 */
bool body_store_restore_chunk(BodyStore *store, uint32_t i, uint32_t n_touched,
                              const uint16_t *free, uint32_t n_free);
/* From a checkpoint: a zeroed body with that number; NULL if its chunk expects no body there. */
Body *body_store_restore(BodyStore *store, uint32_t number);
/*
 * Ends the restoring: OPEN are the chunks that have room, in the order of use, and FREED the
 * indexes without a chunk. False if the lists contradict the restored bodies.
 */
bool body_store_restore_end(BodyStore *store, const uint32_t *open, uint32_t n_open,
                            const uint32_t *freed, uint32_t n_freed);
/* The most bytes that the next body_store_add() allocates. */
size_t body_store_growth(const BodyStore *store);

/* The body with a number that is in use. */
static inline Body *body_store_get(const BodyStore *store, uint32_t number)
{
        return &store->chunks[number >> BODY_CHUNK_BITS]->bodies[number & (BODY_CHUNK - 1)];
}

/* All numbers are below this one. */
static inline uint32_t body_store_end(const BodyStore *store)
{
        return store->n_chunks << BODY_CHUNK_BITS;
}

/* The body with that number, which is below body_store_end(); NULL if the number is free. */
static inline Body *body_store_find(const BodyStore *store, uint32_t number)
{
        BodyChunk *chunk = store->chunks[number >> BODY_CHUNK_BITS];
        uint32_t i = number & (BODY_CHUNK - 1);

        return chunk && i < chunk->n_touched && chunk->bodies[i].end != BODY_END_FREE
                       ? &chunk->bodies[i]
                       : NULL;
}
