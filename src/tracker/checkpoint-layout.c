/* SPDX-License-Identifier: MIT */
#include "tracker/checkpoint-layout.h"

#include "codemap/codemap-struct.h"
#include "tracker/checkpoint-io.h"
#include "tracker/stub.h"
#include "tracker/tracker-struct.h"

#include <assert.h>

#define PIN(version, value, expected)                                                              \
        static_assert((version) <= CHECKPOINT_VERSION, "increment CHECKPOINT_VERSION");            \
        static_assert(sizeof(void *) != 8 || (value) == (expected),                                \
                      "the layout of a checkpoint changes: see checkpoint-layout.h");

CHECKPOINT_PINS(PIN)
