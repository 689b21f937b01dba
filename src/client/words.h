/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Words: the spelling of the enumerations in the daemon's JSON
 */

#include "clrsym/clrsym.h"

typedef enum Words {
        WORDS_STATUS,
        WORDS_CONFIDENCE,
        WORDS_SOURCE,
        WORDS_TIER,
        WORDS_IL_KIND,
} Words;

/* The number that TEXT is the word for. */
bool words_find(Words words, const char *text, unsigned *ret_i);
/* Numbers from here on have no word. */
unsigned words_n(Words words);
