/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Code map: the native code bodies of one process generation, each with its lifetime
 *
 * Knows addresses and times, not events. Two bodies never overlap in both address and time.
 */

#include "core/body.h"
#include "core/pageindex.h"

typedef struct CodeMap CodeMap;

/* NAMES and ACCOUNT are borrowed, and outlive the map. */
CodeMap *codemap_new(Strtab *names, Account *account);
void codemap_free(CodeMap *map);

/*
 * Inserts a body (start, size, source, identity and names set; names, map and extra are taken
 * over). With source LOAD it lives from TIME; RUNDOWN and R2R_ENTRY: from the end of whatever was
 * there before; UNLOAD: from there until TIME. Live bodies that it overlaps are evicted. Returns
 * the body, owned by the map; NULL if there is no room in time for it (what it had is released).
 */
Body *codemap_insert(CodeMap *map, const Body *body, uint64_t time);

/*
 * Ends the life of a body that is alive at TIME. If it has been seen later (the end comes late), it
 * was there again: from then on it is a body of its own, its start of life unknown. If it has been
 * seen only later, its own life begins then; but an unload is a sighting, too.
 */
void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end);

/*
 * BODY was loaded at TIME, before it was first seen: its life begins then. From there on to its
 * present beginning nothing else may be where it is.
 */
void codemap_begin(CodeMap *map, Body *body, uint64_t time);
/* The one body, if it is one, that begins where BODY is before or when BODY ends. Or NULL. */
Body *codemap_next(const CodeMap *map, const Body *body);

/* Gives a body of unknown extent, alive at TIME, its size. */
void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time);

/* Ends the life of every living body that overlaps [first, last] and was there by TIME. */
void codemap_evict(CodeMap *map, uint64_t first, uint64_t last, uint64_t time);

/* Forgets a body as if it had never been. */
void codemap_remove(CodeMap *map, Body *body);

/* Names for a body that has none. */
void codemap_rename(CodeMap *map, Body *body, Str name_space, Str name, Str signature);

/* The body is an IL stub, made for TARGET, whose references are taken over. */
void codemap_set_stub_target(CodeMap *map, Body *body, const StubTarget *target);
/* NULL if the body is none, or no event told. */
const StubTarget *codemap_stub_target(const CodeMap *map, const Body *body);

/* The body is of a module, given by number (from 1). */
void codemap_set_module(CodeMap *map, Body *body, uint32_t module);
/* Ends the lives of all of the module's bodies that were there by TIME. */
void codemap_end_module(CodeMap *map, uint32_t module, uint64_t time);
/* The module's living bodies are of another one. */
void codemap_move_module(CodeMap *map, uint32_t from, uint32_t to);
/* True if a living body is of the module. */
bool codemap_has_module(const CodeMap *map, uint32_t module);

/* Takes over IL_MAP, in place of an earlier one. */
void codemap_set_il_map(CodeMap *map, Body *body, IlMap *il_map);

/* The body was seen to be alive at TIME. */
void codemap_confirm(CodeMap *map, Body *body, uint64_t time);

/* The live body that starts there, or NULL. */
Body *codemap_live_at_start(const CodeMap *map, uint64_t start);
/* The live body that covers ADDRESS, or NULL. */
Body *codemap_live(const CodeMap *map, uint64_t address);
/* The body alive at TIME that covers ADDRESS, or NULL. */
Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time);

/* The question of codemap_at(), or with BODY_NOW of codemap_live(): one of many that
 * pageindex_look_up() answers together. */
Lookup codemap_lookup(const CodeMap *map, uint64_t address, uint64_t time);

/*
 * Of the bodies that ever covered ADDRESS: the last one that ended at or before TIME, and the
 * first that began after it. Either may be NULL.
 */
void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after);

/* Appends every body that ever covered ADDRESS to OUT, newest first. */
void codemap_history(const CodeMap *map, uint64_t address, GPtrArray *out);

/* The living body of a native code version, or NULL. */
Body *codemap_method(const CodeMap *map, uint64_t method_id, uint32_t rejit_id);

/* Bodies by number, from 0 on: NULL where there is none (any longer). */
uint32_t codemap_n_numbers(const CodeMap *map);
Body *codemap_body(const CodeMap *map, uint32_t number);
uint32_t codemap_n_bodies(const CodeMap *map);
uint32_t codemap_n_live(const CodeMap *map);

/*
 * Changes whenever an answer that was a name could change: by an end, an eviction, a load where
 * something was before. Not by a load where nothing ever was, nor where the dead are forgotten.
 */
uint64_t codemap_epoch(const CodeMap *map);
/* As if such an answer could. */
void codemap_change_epoch(CodeMap *map);

/* A body that came, or whose life ended. */
typedef struct CodeMapChange {
        uint32_t number;
        bool is_end;
} CodeMapChange;

/* From now on changes are appended to CHANGES (borrowed; NULL: no longer). */
void codemap_set_changes(CodeMap *map, GArray *changes);

/*
 * Eviction. Of the bodies that are dead, the one that ended first; NULL if there is none.
 */
const Body *codemap_oldest_dead(const CodeMap *map);
void codemap_forget_oldest_dead(CodeMap *map);
/* Since when history is whole: nothing that was alive then has been forgotten. 0: always. */
uint64_t codemap_whole_since(const CodeMap *map);
/* Forgets about COUNT IL maps; false if none is left. */
bool codemap_forget_il_maps(CodeMap *map, uint32_t count);

/* Bytes that the next codemap_insert() may take at once. */
size_t codemap_growth(const CodeMap *map);
