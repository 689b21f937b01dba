/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native names: names of code in the files that a running process has mapped: symbols of native
 * code, and the methods of precompiled assemblies
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"
#include "perf/batch.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct NativeNames NativeNames;

/*
 * For the process of QUERY. Returns NULL if there are no mappings of it: OPTIONS name a trace,
 * QUERY has a time, the process has ended, or we cannot see its mappings. OPTIONS is borrowed.
 */
NativeNames *native_names_new(const clrsym_query *query, const Options *options);
/* NULL is fine. */
void native_names_free(NativeNames *names);

/* Reads the current mappings; call it before each batch of questions. After the end of the process,
 * its last mappings count. */
void native_names_refresh(NativeNames *names);
bool native_names_have_ended(const NativeNames *names);

/* Texts are valid until the next call for the same NativeNames. */
typedef struct NativeName {
        FrameSource source; /* FRAME_SOURCE_SYMBOL, or FRAME_SOURCE_IMAGE */
        const char *symbol; /* NULL: no source has a name */
        uint64_t offset;    /* offset of the address in the code of SYMBOL, or else in the file */
        const char *file;   /* path, or "[vdso]" */
} NativeName;

/* False: no file is mapped executable at ADDRESS. */
bool native_names_find(NativeNames *names, uint64_t address, NativeName *ret);
/* Appends "symbol+0xOFFSET", or "[FILE]+0xOFFSET". */
void native_name_append(const NativeName *name, GString *out);
