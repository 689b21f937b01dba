/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lines: the source line of an IL offset
 *
 * Only the IL of the assembly's file has lines; a profiler's IL has none.
 */

#include "lines/image-sources.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Lines Lines;

/* NULL: no memory. */
Lines *lines_new(void);
/* NULL is accepted. */
void lines_free(Lines *lines);

/*
 * Call these before the first question. PATH: a symbol directory, searched before those of
 * $CLRSYM_SYMBOLS and the caches of debuggers. Paths of sources below FROM become paths below TO.
 * False: no memory.
 */
bool lines_add_directory(Lines *lines, const char *path);
bool lines_add_map(Lines *lines, const char *from, const char *to);
/* The added and the default directories, with the work spent there. Borrowed. */
ImageSources *lines_sources(Lines *lines);

typedef struct LineQuestion {
        pid_t pid; /* the process that sees the files; 0: this process */
        const char *module_path;
        const uint8_t *pdb_guid; /* 16 bytes, from its load event; NULL or all 0: not known */
        const char *pdb_path;    /* where the compiler wrote the PDB; NULL: not known */
        uint32_t token;          /* of the method */
        int32_t il;              /* negative: not known */
        bool is_other_il;        /* its IL may differ from its assembly's */
} LineQuestion;

typedef enum LineStatus {
        LINE_FOUND,
        LINE_NO_MODULE,   /* the method is in no file, or the file is not known */
        LINE_NO_IL,       /* the IL offset of the address is not known */
        LINE_OTHER_IL,    /* a profiler or hot reload may have replaced the IL */
        LINE_NO_PDB,      /* the assembly was compiled without a PDB */
        LINE_PDB_MISSING, /* its PDB was not found */
        LINE_PDB_OTHER,   /* only PDBs of other builds were found, or the assembly was replaced */
        LINE_PDB_WINDOWS, /* it has a PDB for Windows only */
        LINE_PDB_DAMAGED, /* the PDB is damaged */
        LINE_NONE,        /* the PDB has no line for it: the compiler generated the code */
        LINE_TOO_MUCH,    /* the process has used up its work: see lines/image-sources.h */
        _LINE_STATUS_MAX,
} LineStatus;

/* FILE is unchecked UTF-8, valid until the next question. */
typedef struct SourceLine {
        const char *file;
        uint32_t line, column; /* from 1 */
        /*
         * The checksum of the source's bytes at compilation: 20 bytes are SHA-1, 32 SHA-256. Valid
         * as long as `file`. NULL: not known.
         */
        const uint8_t *checksum;
        uint32_t n_checksum;
} SourceLine;

/* The line of the IL offset. RET is set with LINE_FOUND. */
LineStatus lines_find(Lines *lines, const LineQuestion *question, SourceLine *ret);
/* The method's first line; the IL offset of QUESTION is ignored. */
LineStatus lines_find_first(Lines *lines, const LineQuestion *question, SourceLine *ret);
