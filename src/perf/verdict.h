/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Verdict: whether the daemon's answers about a frame are its name
 */

#include "clrsym/clrsym.h"
#include "perf/counts.h"
#include "perf/mapping-kind.h"

typedef struct Verdict {
        bool is_named, is_marked;
        Count reason; /* the reason, if it is not named */
} Verdict;

/*
 * N answers: 1, for the time of the sample, or 2, for the begin and the end of the window in which
 * it was; 0: the process is not known. KIND: of the memory at the address.
 */
Verdict verdict_of_answers(const clrsym_answer *answers, unsigned n, MappingKind kind);

/* An answer OK that lost events, or later ones, can change: its name is marked. */
bool verdict_marks(const clrsym_answer *answer);
/* Is the body of both answers one, in the same life? */
bool verdict_is_same_body(const clrsym_answer *one, const clrsym_answer *other);

/* False: it is not even certain that code in such memory is managed, and only exact answers count.
 */
bool verdict_takes_marked(MappingKind kind);

/* ANSWER has the body, if there is a name. */
void verdict_count(Counts *counts, MappingKind kind, const Verdict *verdict,
                   const clrsym_answer *answer);
