/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type args: the type arguments of precompiled instances of generic methods
 *
 * No event that lists precompiled code has them: the image of the module is their source, if it is
 * the file that was loaded. It has to have the GUID that the module's load event had.
 */

#include "lines/image-names.h"

typedef struct TypeArgs TypeArgs;

/* NULL: no memory. */
TypeArgs *type_args_new(void);
/* NULL is fine. */
void type_args_free(TypeArgs *args);

/*
 * The type arguments of the body's method, as reflection writes types, with commas between them;
 * valid until the next call. NULL: they are not known. PID: files are those that this process sees;
 * 0: those that we see. SOURCES: borrowed, and the same in all calls.
 */
const char *type_args_find(TypeArgs *args, ImageSources *sources, pid_t pid, const ImageBody *body);
