/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Code map: the native code bodies of one process generation, each with its lifetime
 *
 * A code map knows addresses and times, not events. Two bodies never overlap in both address and
 * time.
 */

#include "codemap/body.h"
#include "codemap/pageindex.h"

typedef struct CodeMap CodeMap;

/* NAMES and ACCOUNT are borrowed and must outlive the map. */
CodeMap *codemap_new(Strtab *names, Account *account);
void codemap_free(CodeMap *map);

/*
 * Inserts a body with start, size, source, identity and names set; takes over its names, map and
 * extra. The source decides about its life. LOAD: from TIME on. RUNDOWN and R2R_ENTRY: from the end
 * of the previous body there. UNLOAD: from there until TIME. The body replaces live bodies at its
 * addresses. Returns the body, owned by the map. If other bodies lived there all the time, returns
 * NULL and releases the names.
 */
Body *codemap_insert(CodeMap *map, const Body *body, uint64_t time);

/*
 * Ends the life of a body that is alive at TIME. If the body was seen alive later (the end comes
 * late), the code was loaded again: a new body with an unknown begin of life takes the rest. If the
 * body was seen only later, its own life begins then; an unload however shows that it was alive
 * before, too.
 */
void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end);

/*
 * BODY was loaded at TIME, before it was first seen: its life begins then. No other body may be at
 * its addresses from TIME to its present begin.
 */
void codemap_begin(CodeMap *map, Body *body, uint64_t time);
/*
 * The body at BODY's addresses that begins during BODY's life or when it ends; NULL if there are
 * none or several.
 */
Body *codemap_next(const CodeMap *map, const Body *body);

/* Sets the size of a body of unknown extent that is alive at TIME. */
void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time);

/* A body at [first, last] replaces others: ends every living body that overlaps [first, last] and
 * began by TIME. */
void codemap_replace(CodeMap *map, uint64_t first, uint64_t last, uint64_t time);

/* Removes a body without any trace. */
void codemap_remove(CodeMap *map, Body *body);

/* Names a body that has no name. The body gets references of its own. */
void codemap_rename(CodeMap *map, Body *body, Str name_space, Str name, Str signature);

/* The body is an IL stub, made for TARGET, whose references are taken over. */
void codemap_set_stub_target(CodeMap *map, Body *body, const StubTarget *target);
/* NULL if the body is not a stub, or its event did not come. */
const StubTarget *codemap_stub_target(const CodeMap *map, const Body *body);
/* Sets the type arguments of BODY's method. Takes over the reference. */
void codemap_set_type_args(CodeMap *map, Body *body, Str type_args);
/* 0: not known. */
Str codemap_type_args(const CodeMap *map, const Body *body);
/* Sets the methods inlined into BODY. Takes over the reference. */
void codemap_set_inlining(CodeMap *map, Body *body, Inlining *inlining);
/* Borrowed; NULL: nothing is inlined, or the inlining is not known. */
Inlining *codemap_inlining(const CodeMap *map, const Body *body);

/* The body belongs to a module, given by number (from 1). */
void codemap_set_module(CodeMap *map, Body *body, uint32_t module);
/* Ends all of the module's bodies that began by TIME. */
void codemap_end_module(CodeMap *map, uint32_t module, uint64_t time);
/* The living bodies of module FROM belong to module TO instead. */
void codemap_move_module(CodeMap *map, uint32_t from, uint32_t to);
/* True if a living body belongs to the module. */
bool codemap_has_module(const CodeMap *map, uint32_t module);

/* Takes over IL_MAP, and frees an earlier one. */
void codemap_set_il_map(CodeMap *map, Body *body, IlMap *il_map);

/* The body was seen to be alive at TIME. */
void codemap_confirm(CodeMap *map, Body *body, uint64_t time);

/* The live body that covers ADDRESS, or NULL. */
Body *codemap_live(const CodeMap *map, uint64_t address);
/* The body alive at TIME that covers ADDRESS, or NULL. */
Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time);

/*
 * The index for many lookups at once, by pageindex_look_up(): with a time like codemap_at(), with
 * BODY_NOW like codemap_live().
 */
const PageIndex *codemap_index(const CodeMap *map);

/*
 * Sets the last body at ADDRESS that ended at or before TIME, and the first that began after it.
 * Either may be NULL.
 */
void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after);

/* Like pageindex_walk(). */
bool codemap_history(const CodeMap *map, uint64_t address, HistoryPlace *place, guint most,
                     GPtrArray *out);
/* Like pageindex_newest(). */
size_t codemap_newest(const CodeMap *map, uint64_t address, guint most, GPtrArray *out);

/* The living body of a native code version, or NULL. */
Body *codemap_method(const CodeMap *map, uint64_t method_id, uint32_t rejit_id);

/* Bodies by number, from 0 on; NULL: no body has the number (any longer). */
uint32_t codemap_n_numbers(const CodeMap *map);
Body *codemap_body(const CodeMap *map, uint32_t number);
uint32_t codemap_n_bodies(const CodeMap *map);
uint32_t codemap_n_live(const CodeMap *map);

/*
 * The epoch changes whenever an answer that was a name could change: when a body ends or is
 * evicted, and when a body is loaded where another one was before. The epoch stays when a body is
 * loaded at addresses that were never used, and when dead bodies are forgotten. While nobody has
 * asked for an epoch, it can stay in any case.
 */
uint64_t codemap_epoch(CodeMap *map);
/* Changes the epoch without any other change. */
void codemap_change_epoch(CodeMap *map);

/* A body that was added, or whose life ended. */
typedef struct CodeMapChange {
        uint32_t number;
        bool is_end;
} CodeMapChange;

/* From now on changes are appended to CHANGES, which is borrowed; NULL: to nothing. */
void codemap_set_changes(CodeMap *map, GArray *changes);

/* The dead body that ended first, NULL if none is dead. */
const Body *codemap_oldest_dead(const CodeMap *map);
void codemap_forget_oldest_dead(CodeMap *map);
/*
 * The time from which on the history is complete: no body that was alive since was forgotten. 0:
 * always complete; BODY_NOW: never, because living bodies were forgotten.
 */
uint64_t codemap_whole_since(const CodeMap *map);
/*
 * Forgets up to COUNT living bodies, lowest numbers first; returns how many. If a body appears
 * later without its load, its life then begins when it is first seen, because a forgotten body may
 * have been there before.
 */
uint32_t codemap_forget_living(CodeMap *map, uint32_t count);
/* Frees up to COUNT IL maps; false if the map has no IL maps. */
bool codemap_forget_il_maps(CodeMap *map, uint32_t count);

/* The most bytes that the next codemap_insert() allocates. */
size_t codemap_growth(const CodeMap *map);
