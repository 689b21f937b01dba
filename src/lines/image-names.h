/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image names: the names that the file of precompiled code has for it
 *
 * They need no event of the runtime. A composite image has the code of several assemblies, whose
 * files are looked for as image_search() does, beside it. All is read when it is first asked for:
 * that takes some milliseconds and some megabytes.
 */

#include "lines/image-sources.h"
#include "metadata/r2r-names.h"

#include <sys/types.h>

typedef struct ImageNames ImageNames;

/* Where an image was found. */
typedef struct ImagePlace {
        pid_t pid;             /* files are those that this process sees; 0: those that we see */
        const char *path;      /* of the image's file */
        ImageSources *sources; /* borrowed */
} ImagePlace;

/* A method. */
typedef struct ImageMethod {
        R2RName name;        /* texts are valid until the next call with the names */
        const char *path;    /* borrowed: of the assembly */
        const uint8_t *guid; /* borrowed: 16 bytes, of the assembly's PDB; all 0: it has none */
} ImageMethod;

/*
 * Reads IMAGE. Returns 0; -ENOMEM; -EBADMSG, if there is no precompiled code that can be read; or
 * pread()'s error. At most 192 MiB of metadata, and the tables of r2r-code.h.
 */
int image_names_read(ImageNames **ret, const ImageBytes *image, const ImagePlace *place);
/* NULL is fine. */
void image_names_free(ImageNames *names);
/* Bytes of memory, about. */
size_t image_names_size(const ImageNames *names);

/* The method that has code at RVA. False: not known. */
bool image_names_find(ImageNames *names, uint32_t rva, ImageMethod *ret);

/* An instance of a generic method, as the runtime's events have it. */
typedef struct ImageBody {
        const char *module_path;
        const uint8_t *guid;    /* of the module's PDB, which has to have one */
        const char *name_space; /* with the type, and the arguments of that */
        uint32_t token;         /* MethodDef */
        uint32_t size;          /* bytes of its code */
        uint64_t start;
} ImageBody;

/*
 * The type arguments of the body's method, valid until the next call with the names. NULL: not
 * known, or the image has several instances that the body can be.
 */
const char *image_names_find_type_args(ImageNames *names, const ImageBody *body);
