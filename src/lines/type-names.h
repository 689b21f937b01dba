/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type names: types by the tokens of their modules, as the daemon has them, made names
 *
 * In: TOKEN@GUID@PATH[ARGUMENT,...], as clrsym-protocol(7) has it. Out: the same as reflection
 * writes it, "System.Collections.Generic.List`1[System.Int32]". The names are in the metadata of
 * the module, which has to have the GUID: a path is not enough.
 */

#include "lines/image-sources.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct TypeNames TypeNames;

/* NULL: no memory. */
TypeNames *type_names_new(void);
/* NULL is fine. */
void type_names_free(TypeNames *names);

/* What a method's text says. Texts are valid until the next call with the names. */
typedef struct TypeNamesInlined {
        const char
                *name_space; /* with the type and its arguments, as the runtime's events have it */
        const char *name;
        const char *signature; /* as the runtime's events have it; NULL: not known */
        const char *type_args; /* as reflection writes types; NULL: it has none */
        const char *module_path;
        uint8_t pdb_guid[PDB_GUID_SIZE];
        uint32_t token;
} TypeNamesInlined;

/*
 * The method of TEXT, TOKEN@GUID@PATH[ARGUMENT,...][ARGUMENT,...], with the arguments of its type
 * in the first brackets, which may be empty. False if it is not found, or not of that form.
 */
bool type_names_find_inlined(TypeNames *names, ImageSources *sources, pid_t pid, const char *text,
                             TypeNamesInlined *ret);

/* A method of the metadata. */
typedef struct TypeNamesMethod {
        const char *module_path; /* NULL or "": not known */
        const uint8_t *pdb_guid; /* 16 bytes, as its load event had it; all 0: not known */
        uint32_t token;
} TypeNamesMethod;

/*
 * What the source calls the type parameters of the method's type, and of the method, with commas
 * between them. Each is NULL if it has none, or they are not found. Valid until the next call of
 * this function.
 */
void type_names_find_params(TypeNames *names, ImageSources *sources, pid_t pid,
                            const TypeNamesMethod *method, const char **ret_of_type,
                            const char **ret_of_method);

/*
 * Has the compiler made the body of METHOD that has SIGNATURE, as the runtime's events write it?
 * Such a body calls the other body of METHOD, which has the method's code. If METHOD is async for
 * the runtime, the compiler made the body that returns a task; if METHOD is not, the body that
 * returns the task's result. False if that is not known. SIGNATURE may be NULL.
 */
bool type_names_is_thunk(TypeNames *names, ImageSources *sources, pid_t pid,
                         const TypeNamesMethod *method, const char *signature);

/*
 * The names of TEXT, types with commas between them; NULL if one of them is not found, or TEXT is
 * not of that form. Valid until the next call of this function. PID: files are those that this
 * process sees; 0: those that we see.
 */
const char *type_names_find(TypeNames *names, ImageSources *sources, pid_t pid, const char *text);
