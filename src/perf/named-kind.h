/* SPDX-License-Identifier: MIT */
#pragma once

/* What kind of code a frame is of. */
typedef enum NamedKind {
        NAMED_MANAGED,
        NAMED_NATIVE,
        NAMED_KERNEL,
        NAMED_UNKNOWN,
        _NAMED_KIND_MAX,
} NamedKind;
