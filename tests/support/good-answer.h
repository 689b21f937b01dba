/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An answer of the binary form in which every member counts, and what a client makes of it
 */

#include "clrsym/clrsym.h"
#include "wire/bulk.h"

#include <glib.h>

enum { N_PROCESSES = 2 };

/* The processes that the answer counts in. */
extern const BulkProcess PROCESSES[N_PROCESSES];

BulkAnswer good_answer(void);
/* Names, processes, stubs and inlined methods that good_answer() counts in. */
GByteArray *good_frames(void);
void check_good(const clrsym_answer *answer);
