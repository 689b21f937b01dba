/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R names: the names of the methods with code in a ReadyToRun image
 *
 * The tables of the image have each function's method, and the type arguments of generic instances.
 * Texts are in the spelling of the runtime's events, but no event is needed. The file is untrusted:
 * inconsistent data gives no name.
 *
 * Names come from the metadata of the assembly, or of a composite image's assemblies. Metadata is
 * read when it is needed: r2r_names_missing() returns the assembly whose metadata is missing.
 *
 * Plain C, because perf's filter reads images, too.
 */

#include "metadata/r2r-code.h"

typedef struct R2RNames R2RNames;

/* Texts are valid until the next call with the names. */
typedef struct R2RName {
        R2RMethod method;
        uint32_t assembly;      /* the method's, a number like r2r_names_take()'s */
        uint32_t token;         /* MethodDef; 0: no method, as for a stub */
        const char *name_space; /* with the type and its type arguments */
        const char *name;
        const char *signature; /* "": the runtime's spelling is not known */
        bool is_thunk; /* of an async method: the generated body, which calls the body with the
                          method's code */
        /* A stub's target method; else NULL. */
        const char *stub_name_space, *stub_name, *stub_signature;
        const char *type_args; /* of a generic method, comma-separated, in reflection's spelling;
                                  NULL: not generic */
} R2RName;

/* CODE is borrowed: an assembly's, or a composite image's. NULL: no memory. */
R2RNames *r2r_names_new(const R2RCode *code);
/* NULL is accepted. */
void r2r_names_free(R2RNames *names);
/* Approximate memory in bytes, without the code. */
size_t r2r_names_size(const R2RNames *names);

/*
 * Reads an assembly's metadata from its file. ASSEMBLY: a component of a composite image, with the
 * same MVID; 0: the image itself. Limit of all metadata: 192 MiB. False: not readable, or another
 * assembly.
 */
bool r2r_names_take(R2RNames *names, uint32_t assembly, const PeFile *pe);
/* The metadata was not found: it counts no longer as missing. */
void r2r_names_skip(R2RNames *names, uint32_t assembly);
/* True if the last search failed because the metadata of *RET was neither taken nor skipped. */
bool r2r_names_missing(const R2RNames *names, uint32_t *ret_assembly);

/* Finds the method with code at RVA, also in a handler. False: not known. */
bool r2r_names_find(R2RNames *names, uint32_t rva, R2RName *ret);
/* The same for the method that begins with FUNCTION. */
bool r2r_names_of_function(R2RNames *names, uint32_t function, R2RName *ret);
