/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lines: the source line of an IL offset
 *
 * Only for the IL that the assembly's file has: a profiler's IL has no lines.
 */

#include "lines/image-sources.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Lines Lines;

/* NULL: no memory. */
Lines *lines_new(void);
/* NULL is fine. */
void lines_free(Lines *lines);

/*
 * These come before the first question. PATH: a directory to look for PDBs in, before those of
 * $CLRSYM_SYMBOLS and the caches of debuggers. Paths of sources that begin with FROM begin with TO
 * instead. False: no memory.
 */
bool lines_add_directory(Lines *lines, const char *path);
bool lines_add_map(Lines *lines, const char *from, const char *to);
/* The directories that were added, and the default ones; what is looked for there. Borrowed. */
ImageSources *lines_sources(Lines *lines);

typedef struct LineQuestion {
        pid_t pid; /* files are those that this process sees; 0: those that we see */
        const char *module_path;
        const uint8_t *pdb_guid; /* 16 bytes, as its load event had it; NULL or all 0: not known */
        const char *pdb_path;    /* where its compiler wrote the PDB; NULL: not known */
        uint32_t token;          /* of the method */
        int32_t il;              /* negative: not known */
        bool is_other_il;        /* its IL may be other than its assembly's */
} LineQuestion;

typedef enum LineStatus {
        LINE_FOUND,
        LINE_NO_MODULE,   /* the method is in no file, or it is not known in which */
        LINE_NO_IL,       /* it is not known which IL offset the address has */
        LINE_OTHER_IL,    /* a profiler or hot reload may have replaced the IL */
        LINE_NO_PDB,      /* the assembly was compiled without a PDB */
        LINE_PDB_MISSING, /* its PDB is nowhere */
        LINE_PDB_OTHER,   /* only PDBs of other builds are there, or the assembly was replaced */
        LINE_PDB_WINDOWS, /* it has one of the kind that only Windows has */
        LINE_PDB_DAMAGED, /* it cannot be read */
        LINE_NONE,        /* the PDB has no line for it: the compiler made the code up */
        LINE_TOO_MUCH,    /* the files of the process cost too much: see lines/image-sources.h */
        _LINE_STATUS_MAX,
} LineStatus;

/* FILE is UTF-8 that nobody has checked, valid until the next question. */
typedef struct SourceLine {
        const char *file;
        uint32_t line, column; /* from 1 */
        /* The checksum of the source's bytes as they were compiled: 20 bytes are SHA-1, 32 SHA-256.
         * Valid as the file. NULL: not known. */
        const uint8_t *checksum;
        uint32_t n_checksum;
} SourceLine;

/* The line that counts at the IL offset. RET is set with LINE_FOUND. */
LineStatus lines_find(Lines *lines, const LineQuestion *question, SourceLine *ret);
/* The method's first line; the IL offset of QUESTION does not count. */
LineStatus lines_find_first(Lines *lines, const LineQuestion *question, SourceLine *ret);
