/* SPDX-License-Identifier: MIT */
#pragma once

/* Share: whose time a sample is, the JIT's, the collector's, ... */

#include "profile/data.h"

/* The owner of a sample's time. */
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

/* The share of a stack with FRAME; _SHARE_MAX: FRAME alone does not decide. */
Share frame_share(const Frame *frame);
/* The share of a stack with the leaf LEAF, in which no frame decides. */
Share frame_leaf_share(const Frame *leaf);
/* True if FRAME looks for a handler of an exception, or unwinds to it. It decides only if no other
 * managed code is nearer to the leaf. */
bool frame_handles_exceptions(const Frame *frame);
