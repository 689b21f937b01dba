/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Library: a shared library that is loaded when it is first needed
 *
 * Most runs of a program need few of its libraries; each costs all of them the time to load it, and
 * what it needs itself.
 */

#include <stddef.h>

/* A function of the library, and where a structure has the pointer to it. */
typedef struct LibrarySymbol {
        const char *name;
        size_t offset; /* in bytes */
} LibrarySymbol;

/*
 * Loads the first of NAMES, up to NULL, that is installed, and sets the N pointers of API. Returns
 * the library, which stays loaded. NULL: there is none (*RET_MISSING is NULL then, and dlerror()
 * has the reason), or it has no function *RET_MISSING; API is not to be used.
 */
void *library_load(const char *const *names, const LibrarySymbol *symbols, size_t n, void *api,
                   const char **ret_missing);
