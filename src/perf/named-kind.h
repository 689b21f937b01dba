/* SPDX-License-Identifier: MIT */
#pragma once

/* The kind of a frame's code. */
typedef enum NamedKind {
        NAMED_MANAGED,
        NAMED_NATIVE,
        NAMED_KERNEL,
        NAMED_UNKNOWN,
        _NAMED_KIND_MAX,
} NamedKind;
