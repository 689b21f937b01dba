/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type args: the type arguments of precompiled instances of generic methods
 *
 * Events that list precompiled code lack them. They come from the image of the module, which must
 * have the GUID of the module's load event.
 */

#include "lines/image-names.h"

typedef struct TypeArgs TypeArgs;

/* NULL: no memory. */
TypeArgs *type_args_new(void);
/* NULL is accepted. */
void type_args_free(TypeArgs *args);

/*
 * The type arguments of the body's method, comma-separated, in reflection's spelling; valid until
 * the next call. NULL: not known. PID: process that sees the files; 0: this process. SOURCES:
 * borrowed, and the same in all calls.
 */
const char *type_args_find(TypeArgs *args, ImageSources *sources, pid_t pid, const ImageBody *body);
