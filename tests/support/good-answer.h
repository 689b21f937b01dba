/* SPDX-License-Identifier: MIT */
#pragma once

/* An answer of the binary form with a valid value in every member, and a client's result of it */

#include "clrsym/clrsym.h"
#include "wire/bulk.h"

#include <glib.h>

enum { N_PROCESSES = 2 };

/* The processes that the answer refers to. */
extern const BulkProcess PROCESSES[N_PROCESSES];

BulkAnswer good_answer(void);
/* Names, processes, stubs and inlined methods that good_answer() refers to. */
GByteArray *good_frames(void);
void check_good(const clrsym_answer *answer);
