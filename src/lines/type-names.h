/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type names: turns the daemon's types, tokens of modules, into names
 *
 * Input: TOKEN@GUID@PATH[ARGUMENT,...], see clrsym-protocol(7). Output: the type in reflection's
 * spelling, "System.Collections.Generic.List`1[System.Int32]". The names come from the metadata of
 * the module, which must have the GUID: a matching path is not enough.
 */

#include "lines/image-sources.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct TypeNames TypeNames;

/* NULL: no memory. */
TypeNames *type_names_new(void);
/* NULL is accepted. */
void type_names_free(TypeNames *names);

/* The names from a method's text. Texts are valid until the next call with the names. */
typedef struct TypeNamesInlined {
        const char *name_space; /* with type and type arguments, in the events' spelling */
        const char *name;
        const char *signature; /* in the events' spelling; NULL: not known */
        const char *type_args; /* in reflection's spelling; NULL: none */
        const char *module_path;
        uint8_t pdb_guid[PDB_GUID_SIZE];
        uint32_t token;
} TypeNamesInlined;

/*
 * Finds the method of TEXT, TOKEN@GUID@PATH[ARGUMENT,...][ARGUMENT,...]: the type's arguments are
 * in the first brackets, which may be empty. False: not found, or another form.
 */
bool type_names_find_inlined(TypeNames *names, ImageSources *sources, pid_t pid, const char *text,
                             TypeNamesInlined *ret);

/* A method of the metadata. */
typedef struct TypeNamesMethod {
        const char *module_path; /* NULL or "": not known */
        const uint8_t *pdb_guid; /* 16 bytes, from its load event; all 0: not known */
        uint32_t token;
} TypeNamesMethod;

/*
 * Finds the source's names of the type parameters of the method's type, and of the method,
 * comma-separated. Each is NULL if there are none, or if they are not found. Valid until the next
 * call of this function.
 */
void type_names_find_params(TypeNames *names, ImageSources *sources, pid_t pid,
                            const TypeNamesMethod *method, const char **ret_of_type,
                            const char **ret_of_method);

/*
 * True if the compiler generated the body of METHOD with SIGNATURE (in the events' spelling). Such
 * a body calls the method's other body, which has the method's code. If METHOD is async for the
 * runtime, the generated body returns a task; otherwise it returns the task's result. False also if
 * that is not known. SIGNATURE may be NULL.
 */
bool type_names_is_thunk(TypeNames *names, ImageSources *sources, pid_t pid,
                         const TypeNamesMethod *method, const char *signature);

/*
 * The names of TEXT, comma-separated types. NULL: one of them is not found, or another form. Valid
 * until the next call of this function. PID: process that sees the files; 0: this process.
 */
const char *type_names_find(TypeNames *names, ImageSources *sources, pid_t pid, const char *text);
