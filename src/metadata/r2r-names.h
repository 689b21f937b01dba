/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R names: the names of the methods with code in a ReadyToRun image
 *
 * The tables of the image have, for each function, its method, and for instances of generic methods
 * their type arguments. The texts are spelled as in the runtime's events, but need no event.
 * Nothing in a file is trusted: inconsistent data gives no name.
 *
 * The names are in the metadata of the assembly, or of the assemblies of a composite image.
 * Metadata is read when it is needed: r2r_names_missing() has the assembly whose metadata was not
 * there.
 *
 * Plain C, because perf's filter reads images, too.
 */

#include "metadata/r2r-code.h"

typedef struct R2RNames R2RNames;

/* Texts are valid until the next call with the names. */
typedef struct R2RName {
        R2RMethod method;
        uint32_t assembly;      /* the method's, a number like r2r_names_take()'s */
        uint32_t token;         /* MethodDef; 0: code of no method, as a stub's */
        const char *name_space; /* with the type, and the arguments of that */
        const char *name;
        const char *signature; /* "": the runtime's spelling is not known */
        bool is_thunk; /* of an async method: the body that the compiler made, which calls the
                          one with the method's code */
        /* A stub's target method; else NULL. */
        const char *stub_name_space, *stub_name, *stub_signature;
        const char *type_args; /* of a generic method, as reflection writes types, with commas
                                  between them; NULL: it is not generic */
} R2RName;

/* CODE is borrowed: an assembly's, or a composite image's. NULL: no memory. */
R2RNames *r2r_names_new(const R2RCode *code);
/* NULL is accepted. */
void r2r_names_free(R2RNames *names);
/* Bytes of memory, about; without the code. */
size_t r2r_names_size(const R2RNames *names);

/*
 * Reads the metadata of an assembly from its file: of component ASSEMBLY of a composite image, with
 * the same MVID; or of the image itself, with ASSEMBLY 0. All metadata together has at most 192
 * MiB. False if it cannot be read, or belongs to another assembly.
 */
bool r2r_names_take(R2RNames *names, uint32_t assembly, const PeFile *pe);
/* The metadata was not found: it is not reported missing again. */
void r2r_names_skip(R2RNames *names, uint32_t assembly);
/* True if the last search failed because *RET's metadata was neither taken nor skipped yet. */
bool r2r_names_missing(const R2RNames *names, uint32_t *ret_assembly);

/* The method with code at RVA, even in one of its handlers. False: not known. */
bool r2r_names_find(R2RNames *names, uint32_t rva, R2RName *ret);
/* The same for the method that begins with FUNCTION. */
bool r2r_names_of_function(R2RNames *names, uint32_t function, R2RName *ret);
