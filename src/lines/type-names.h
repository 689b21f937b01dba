/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type names: types by the tokens of their modules, as the daemon has them, made names
 *
 * In: TOKEN@GUID@PATH[ARGUMENT,...], as clrsym-protocol(7) has it. Out: the same as reflection
 * writes it, "System.Collections.Generic.List`1[System.Int32]". The names are in the metadata of
 * the module, which has to have the GUID: a path is not enough.
 */

#include "lines/symbol-dirs.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct TypeNames TypeNames;

/* NULL: no memory. */
TypeNames *type_names_new(void);
/* NULL is fine. */
void type_names_free(TypeNames *names);

/*
 * The names of TEXT, types with commas between them; NULL if one of them is not found, or TEXT is
 * not of that form. Valid until the next call. PID: files are those that this process sees; 0:
 * those that we see.
 */
const char *type_names_find(TypeNames *names, const SymbolDirs *dirs, pid_t pid, const char *text);
