/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Library: a shared library that is loaded when it is first needed
 *
 * Most runs of a program need few of its libraries; each costs all of them the time to load it, and
 * what it needs itself.
 */

#include <glib.h>
#include <stddef.h>

/* A function of the library, and where a structure has the pointer to it. */
typedef struct LibrarySymbol {
        const char *name;
        size_t offset; /* in bytes */
} LibrarySymbol;

typedef struct Library {
        const char *names[3]; /* up to NULL: the first that is installed is loaded */
        const LibrarySymbol *symbols;
        size_t n_symbols;

        /* For messages */
        const char *name;
        const char *absent;  /* "X is not installed" */
        const char *package; /* to install then */
        const char *version; /* the oldest that has all symbols */

        void *handle; /* for dlsym(); NULL: not loaded yet. It stays loaded. */
} Library;

/*
 * Loads LIBRARY, and sets the pointers in API, unless that was done before. Returns API. NULL with
 * ERROR set: it is not installed, or too old. Not for use by several threads.
 */
const void *library_load(Library *library, void *api, GError **error);
