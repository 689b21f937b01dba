/* SPDX-License-Identifier: MIT */
#pragma once

/* Verdict: whether the daemon's answers name a frame */

#include "clrsym/clrsym.h"
#include "perf/counts.h"
#include "perf/mapping-kind.h"

typedef struct Verdict {
        bool is_named, is_marked;
        Count reason; /* valid if not named */
} Verdict;

/*
 * N: 1, an answer for the time of the sample; 2, for begin and end of the window with the sample;
 * 0, the process is not known. KIND: of the memory at the address.
 */
Verdict verdict_of_answers(const clrsym_answer *answers, unsigned n, MappingKind kind);

/* True if lost or later events can change ANSWER, of status OK: the name gets a mark. */
bool verdict_marks(const clrsym_answer *answer);
/* True if both answers have one body with one lifetime. */
bool verdict_is_same_body(const clrsym_answer *one, const clrsym_answer *other);

/* False: code in such memory need not be managed, so only exact answers count. */
bool verdict_takes_marked(MappingKind kind);

/* ANSWER is valid if the verdict has a name. */
void verdict_count(Counts *counts, MappingKind kind, const Verdict *verdict,
                   const clrsym_answer *answer);
