/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lines: the source line of an IL offset
 *
 * Only IL of the assembly's file has lines; IL from a profiler has none.
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
 * Call these before the first question. PATH: a symbol directory, searched before $CLRSYM_SYMBOLS
 * and the caches of debuggers. Paths of sources below FROM become paths below TO. False: no memory.
 */
bool lines_add_directory(Lines *lines, const char *path);
bool lines_add_map(Lines *lines, const char *from, const char *to);
/* The added and default directories, and the work spent. Borrowed. */
ImageSources *lines_sources(Lines *lines);

typedef struct LineQuestion {
        pid_t pid; /* the process that sees the files; 0: this process */
        const char *module_path;
        const uint8_t *pdb_guid; /* 16 bytes, from its load event; NULL or all 0: not known */
        const char *pdb_path;    /* path that the compiler wrote it to; NULL: not known */
        uint32_t token;          /* of the method */
        int32_t il;              /* negative: not known */
        bool is_other_il;        /* a profiler or hot reload may have replaced the IL */
} LineQuestion;

typedef enum LineStatus {
        LINE_FOUND,
        LINE_NO_MODULE,   /* the method is not in a file, or the file is not known */
        LINE_NO_IL,       /* the IL offset of the address is not known */
        LINE_OTHER_IL,    /* a profiler or hot reload may have replaced the IL */
        LINE_NO_PDB,      /* the assembly was compiled without a PDB */
        LINE_PDB_MISSING, /* its PDB was not found */
        LINE_PDB_OTHER,   /* only PDBs of other builds, or the assembly was replaced */
        LINE_PDB_WINDOWS, /* its only PDB is a Windows PDB */
        LINE_PDB_DAMAGED, /* the PDB is damaged */
        LINE_NONE,        /* compiler-generated code without a line */
        LINE_TOO_MUCH,    /* the process has used up its work: see lines/image-sources.h */
        _LINE_STATUS_MAX,
} LineStatus;

/* FILE is unchecked UTF-8, valid until the next question. */
typedef struct SourceLine {
        const char *file;
        uint32_t line, column; /* from 1 */
        /*
         * Checksum of the source's bytes at compilation: 20 bytes of SHA-1, or 32 of SHA-256. Valid
         * as long as `file`. NULL: not known.
         */
        const uint8_t *checksum;
        uint32_t n_checksum;
} SourceLine;

/* Finds the line of the IL offset. LINE_FOUND: RET is set. */
LineStatus lines_find(Lines *lines, const LineQuestion *question, SourceLine *ret);
/* Finds the method's first line; ignores the IL offset of QUESTION. */
LineStatus lines_find_first(Lines *lines, const LineQuestion *question, SourceLine *ret);
