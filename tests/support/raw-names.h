/* SPDX-License-Identifier: MIT */
#pragma once

/* Raw names: pieces of the runtime's names of methods, and similar texts */

#include <glib.h>

typedef enum RawPlace {
        RAW_PATHS,
        RAW_METHODS,
        RAW_TYPES,
        RAW_RESULTS,
        _RAW_PLACE_MAX,
} RawPlace;

/* The I-th piece of a place; NULL past the last. */
const char *raw_piece(RawPlace place, size_t i);
const char *raw_token(GRand *random, RawPlace place);
/* N random pieces in a row. Owned by the caller. */
GString *raw_tokens(GRand *random, RawPlace place, int n);

/* A path in the runtime's spelling, of few names, so that names repeat. Owned by the caller. */
char *raw_path(GRand *random);
char *raw_method(GRand *random);
char *raw_arguments(GRand *random);
