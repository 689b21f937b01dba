/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Precompiled: IL offsets in precompiled code
 *
 * Events of the runtime lack them. They come from the image of the module, which must have the GUID
 * of the module's load event.
 */

#include "lines/image-sources.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Precompiled Precompiled;

/* NULL: no memory. */
Precompiled *precompiled_new(void);
/* NULL is accepted. */
void precompiled_free(Precompiled *precompiled);

typedef struct PrecompiledQuestion {
        pid_t pid; /* the process that sees the files; 0: this process */
        const char *module_path;
        const uint8_t *pdb_guid; /* 16 bytes, from its load event; all 0: not known */
        uint32_t token;          /* of the method */
        uint32_t size;           /* bytes of its code */
        uint64_t start;
        uint64_t offset; /* from START */
} PrecompiledQuestion;

typedef struct PrecompiledAnswer {
        bool has_il;     /* false: the code is before the first entry of its map */
        int32_t il;      /* IL offset, or R2R_IL_* of metadata/r2r-map.h */
        int32_t line_il; /* IL offset of its line: never negative */
} PrecompiledAnswer;

/* False: the image or the method's map is not known. */
bool precompiled_find(Precompiled *precompiled, ImageSources *sources,
                      const PrecompiledQuestion *question, PrecompiledAnswer *ret);
