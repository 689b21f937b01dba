/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image names: the names of precompiled code, from its file
 *
 * No event of the runtime is needed. A composite image has the code of several assemblies, whose
 * files are searched beside it and as in image_search(). Each part is read when it is first needed,
 * which takes some milliseconds and megabytes.
 */

#include "lines/image-sources.h"
#include "metadata/r2r-names.h"

#include <sys/types.h>

typedef struct ImageNames ImageNames;

/* The place of an image. */
typedef struct ImagePlace {
        pid_t pid;             /* process that sees the path; 0: this process */
        const char *path;      /* of the image's file */
        ImageSources *sources; /* borrowed */
} ImagePlace;

/* A method. */
typedef struct ImageMethod {
        R2RName name;        /* texts are valid until the next call with the names */
        const char *path;    /* borrowed: of the assembly */
        const uint8_t *guid; /* borrowed: 16 bytes, of the assembly's PDB; all 0: no PDB */
} ImageMethod;

/*
 * Reads IMAGE. Returns 0; -ENOMEM; -EBADMSG: no readable precompiled code; or pread()'s error.
 * Memory: at most 192 MiB of metadata, and the tables of r2r-code.h.
 */
int image_names_read(ImageNames **ret, const ImageBytes *image, const ImagePlace *place);
/* NULL is accepted. */
void image_names_free(ImageNames *names);
/* Approximate memory, in bytes. */
size_t image_names_size(const ImageNames *names);

/* The method with code at RVA. False: not known. */
bool image_names_find(ImageNames *names, uint32_t rva, ImageMethod *ret);

/* An instance of a generic method, in the spelling of the runtime's events. */
typedef struct ImageBody {
        const char *module_path;
        const uint8_t *guid;    /* of the module's PDB; required */
        const char *name_space; /* with the type and its type arguments */
        uint32_t token;         /* MethodDef */
        uint32_t size;          /* bytes of its code */
        uint64_t start;
} ImageBody;

/*
 * The type arguments of the body's method, valid until the next call with the names. NULL: not
 * known, or ambiguous between several instances of the image.
 */
const char *image_names_find_type_args(ImageNames *names, const ImageBody *body);
