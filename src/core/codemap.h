/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Code map: the native code bodies of one process generation, each with its lifetime
 *
 * Knows addresses and times, not events. A body occupies [start, start + size) from `since` until
 * `until`. Two bodies never overlap in both address and time. codemap.c explains the index.
 */

#include "core/ilmap.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* `until` of a body that is alive. */
#define CODEMAP_FOREVER UINT64_MAX

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
} BodyEnd;

typedef struct Module {
        uint64_t id;
        char *path; /* owned; NULL: not known (yet) */
        uint64_t loaded;
        uint64_t unloaded; /* CODEMAP_FOREVER while it lives */
        bool has_load;     /* `loaded` is its own load event's time */
        GPtrArray *bodies; /* borrowed, of the code map: all of its bodies */
} Module;

typedef struct Body {
        uint64_t start;
        uint64_t since; /* start of the time in which nothing else was here and it may have been */
        uint64_t until; /* end of life, exclusive */
        uint64_t seen;  /* time of the event that made it known */
        uint64_t confirmed; /* time of the last event that showed it alive, or its unload */
        uint64_t method_id;
        uint64_t rejit_id;      /* native code version */
        uint64_t jit_begin;     /* time its compilation began, 0: not known */
        Module *module;         /* borrowed, of the process; NULL: none */
        GRefString *name_space; /* owned, interned */
        GRefString *name;
        GRefString *signature;
        IlMap *il_map;         /* owned or NULL */
        GArray *confirmations; /* owned or NULL: times of rundown rows and repeated loads, sorted */
        uint32_t size;         /* 0: extent not known, the body is its first address alone */
        uint32_t flags;
        uint32_t token;
        BodySource source : 8;
        BodyEnd end : 8;
} Body;

typedef struct CodeMap CodeMap;

CodeMap *codemap_new(void);
void codemap_free(CodeMap *map);

/*
 * Inserts a body (start, size, source, identity and names set; names are taken over). With source
 * LOAD it lives from TIME; RUNDOWN and R2R_ENTRY: from the end of whatever was there before;
 * UNLOAD: from there until TIME. Live bodies that it overlaps are evicted. Returns the body, owned
 * by the map and valid as long as that; NULL if there is no room in time for it (names are
 * released).
 */
Body *codemap_insert(CodeMap *map, const Body *body, uint64_t time);

/* Ends a live body's life. */
void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end);

/* Gives a body of unknown extent its size. */
void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time);

/* The live body that starts there, or NULL. */
Body *codemap_live_at_start(const CodeMap *map, uint64_t start);
/* The live body that covers ADDRESS, or NULL. */
Body *codemap_live(const CodeMap *map, uint64_t address);
/* The body alive at TIME that covers ADDRESS, or NULL. */
Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time);

/*
 * Of the bodies that ever covered ADDRESS: the last one that ended at or before TIME, and the
 * first that began after it. Either may be NULL.
 */
void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after);

/* Appends every body that ever covered ADDRESS to OUT, newest first. */
void codemap_history(const CodeMap *map, uint64_t address, GPtrArray *out);

/* All bodies in order of insertion. */
size_t codemap_n_bodies(const CodeMap *map);
Body *codemap_body(const CodeMap *map, size_t i);
size_t codemap_n_live(const CodeMap *map);

/* Changes whenever an answer given before could change. */
uint64_t codemap_epoch(const CodeMap *map);

static inline uint64_t body_extent(const Body *body)
{
        return body->size ? body->size : 1;
}

static inline bool body_covers(const Body *body, uint64_t address)
{
        return address - body->start < body_extent(body);
}
