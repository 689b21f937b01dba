/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lapses: times in which a process told nothing of what happened in it, though no stream lost
 * anything
 *
 * A runtime tells of its code only while somebody wants to know. Feeders tell when nobody did. What
 * they do not tell of is proven by a complete rundown: there is jitted code in it that was never
 * told of, or code that was is not in it.
 */

#include "core/account.h"
#include "core/gaps.h"

/* A complete rundown: everything alive was listed between the two times. */
typedef struct Rundown {
        uint64_t begin;
        uint64_t end;
} Rundown;

/* Jitted code that a rundown lists, and nobody knew. */
typedef struct Stranger {
        uint64_t start;
        uint64_t method_id;
        uint64_t time; /* of its row */
} Stranger;

typedef struct Lapses {
        Account *account; /* borrowed */
        GArray *told;     /* owned, of Gap */
        uint64_t open;    /* told, and not over: since when; BODY_FOREVER: none */
        Rundown waiting;  /* complete, but the one that is open has to end before; begin 0: none */
        GArray *proven;   /* owned, of Gap */
        /*
         * By the last rundown alone: its strangers prove a lapse from strangers_since on, what it
         * lacks one from lacking_since on (BODY_FOREVER: none), up to doubt_end.
         */
        uint64_t strangers_since;
        uint64_t lacking_since;
        uint64_t doubt_end;
        GArray *strangers;   /* owned, of Stranger: of the last rundown */
        uint32_t n_unlisted; /* that there was no room for */
} Lapses;

void lapses_init(Lapses *lapses, Account *account);
void lapses_deinit(Lapses *lapses);

/* True if there may have been a lapse in [begin, end]. */
bool lapses_touch(const Lapses *lapses, uint64_t begin, uint64_t end);

/* Somebody tells of one. What rundowns have proven is explained by it, if it touches that. */
void lapses_tell(Lapses *lapses, uint64_t begin, uint64_t end);
/* One that is not over. */
void lapses_open(Lapses *lapses, uint64_t begin);
/* It ends before END. False: there is none, or it is a later one. */
bool lapses_close(Lapses *lapses, uint64_t end);

/* What the last rundown proved stays so, and its strangers are forgotten. */
void lapses_settle(Lapses *lapses);
void lapses_add_stranger(Lapses *lapses, const Stranger *stranger);
/* It was told of, a moment after it was listed: it proves nothing. */
void lapses_remove_stranger(Lapses *lapses, guint i);
/* The last rundown proves a lapse; see above. */
void lapses_prove(Lapses *lapses, uint64_t strangers_since, uint64_t lacking_since, uint64_t end);
/* For one that is to be as another was. */
void lapses_restore(Lapses *lapses, bool is_told, Gap gap);
