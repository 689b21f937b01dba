/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Share: whose time a sample is
 */

#include "profile/data.h"

/* The part of a sample's stack that decides whose time it is. */
typedef enum Share {
        SHARE_JIT,
        SHARE_GC,
        SHARE_EXCEPTIONS,
        SHARE_MANAGED,
        SHARE_RUNTIME,
        SHARE_NATIVE,
        SHARE_KERNEL,
        SHARE_NOT_MANAGED,
        SHARE_UNKNOWN,
        SHARE_SESSION,
        _SHARE_MAX,
} Share;

/* That of a stack with FRAME; _SHARE_MAX: FRAME decides nothing by itself. */
Share frame_share(const Frame *frame);
/* That of a stack with the leaf LEAF, of which no frame decides. */
Share frame_leaf_share(const Frame *leaf);
/* Does FRAME look for a handler of an exception, or unwind to it? That counts if no other managed
 * code is nearer to the leaf. */
bool frame_handles_exceptions(const Frame *frame);
