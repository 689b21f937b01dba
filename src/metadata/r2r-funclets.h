/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R funclets: the functions of a ReadyToRun image that are handlers or filters of exceptions
 *
 * The image's table of exceptions (section ExceptionInfo of dotnet/runtime's readytorun-format.md)
 * has a row for each method with handlers, and each method has its clauses (CORCOMPILE_EXCEPTION_
 * CLAUSE of inc/corcompile.h). Nothing in a file is trusted.
 */

#include "metadata/pe-file.h"

typedef struct R2RFunclets {
        uint32_t *begins; /* owned: RVAs, sorted */
        size_t n;
} R2RFunclets;

/*
 * Reads the table at TABLE. Memory: less than the file's size, and less than 64 MiB. Returns 0;
 * -EBADMSG: contradicts the rest of the image; -ENOMEM; or pread()'s error. On failure RET is
 * empty.
 */
int r2r_funclets_read(R2RFunclets *ret, const PeFile *pe, PeRange table);
void r2r_funclets_deinit(R2RFunclets *funclets);

/* True if the function that begins at RVA is a handler or a filter. */
bool r2r_funclets_have(const R2RFunclets *funclets, uint32_t rva);
