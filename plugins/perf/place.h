/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Place: what kind of memory perf found an address in, by the name of its mapping
 */

#include <stdbool.h>

typedef enum Place {
        PLACE_NOWHERE, /* perf knows of no mapping */
        PLACE_JITTED,  /* memory that code is made in: anonymous, or the runtime's memfd */
        PLACE_IMAGE,   /* a .NET assembly, which may hold precompiled code */
        PLACE_LIBRARY, /* an ELF library: never managed code */
        PLACE_OTHER,   /* another file: a single-file program holds assemblies */
} Place;

/* DSO may be NULL. */
Place place_of(const char *dso);

/* Can managed code be there although perf has SYMBOL (or NULL) for it? */
bool place_may_be_managed(Place place, const char *symbol);
