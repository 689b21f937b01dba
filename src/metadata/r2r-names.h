/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R names: what the methods with code in a ReadyToRun image are called
 *
 * The tables of the image have for each function which method it is of, and for instances of
 * generic methods their type arguments. The texts are those that the runtime's events would have;
 * but no event is needed. Nothing in a file is trusted: what does not fit together has no name.
 *
 * Plain C: what is loaded into perf reads images too.
 */

#include "metadata/r2r-code.h"

typedef struct R2RNames R2RNames;

/* Texts are valid until the next call with the names. */
typedef struct R2RName {
        R2RMethod method;
        uint32_t token;         /* MethodDef */
        const char *name_space; /* with the type, and the arguments of that */
        const char *name;
        const char *signature; /* "": the runtime's spelling of it is not known */
        const char *type_args; /* of a generic method, as reflection writes types, with commas
                                  between them; NULL: it is not generic */
} R2RName;

/*
 * Reads the image's tables and metadata, 192 MiB at most. Returns 0; -ENOMEM; -EBADMSG if there is
 * no precompiled code that can be read, and *RET_REASON (static) is why; or pread()'s error. The
 * code of a composite image has no names here.
 */
int r2r_names_read(R2RNames **ret, const PeFile *pe, const char **ret_reason);
/* NULL is fine. */
void r2r_names_free(R2RNames *names);
/* Bytes of memory, about. */
size_t r2r_names_size(const R2RNames *names);

/* The method that has code at RVA, also if that is in one of its handlers. False: not known. */
bool r2r_names_find(R2RNames *names, uint32_t rva, R2RName *ret);
/* The same for the method that begins with FUNCTION. */
bool r2r_names_of_function(R2RNames *names, uint32_t function, R2RName *ret);
