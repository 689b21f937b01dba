/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Library: a shared library that is loaded when it is first needed
 *
 * Most runs of a program need few of its libraries, and loading each of them with its dependencies
 * takes time.
 */

#include <glib.h>
#include <stddef.h>

/* A function of the library, and the place of its pointer in a structure. */
typedef struct LibrarySymbol {
        const char *name;
        size_t offset; /* in bytes */
} LibrarySymbol;

typedef struct Library {
        const char *names[3]; /* up to NULL: the first installed one is loaded */
        const LibrarySymbol *symbols;
        size_t n_symbols;

        /* For messages */
        const char *name;
        const char *absent;  /* "X is not installed" */
        const char *package; /* the package to install */
        const char *version; /* the oldest that has all symbols */

        void *handle; /* for dlsym(); NULL: not loaded yet. It stays loaded. */
} Library;

/* Loads LIBRARY, and sets the pointers in API, unless both was done before. Returns API. NULL with
 * ERROR set: it is not installed, or too old. Not thread-safe. */
const void *library_load(Library *library, void *api, GError **error);
