/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R functions: the begins and ends of the pieces of code in a ReadyToRun image
 *
 * The image's table has a row for each piece with unwind data: the body of a method, and each
 * handler that is a function of its own. Rows for x86-64 have begin and end; rows for arm64 have
 * the length in the unwind data (Microsoft's "ARM64 exception handling"). Other machines are
 * refused. The file is untrusted: functions must be sorted, not overlap, and lie in sections of
 * code.
 */

#include "metadata/pe-file.h"

/* RVAs: bytes from the address at which the image is mapped. END is exclusive. */
typedef struct R2RFunction {
        uint32_t begin, end;
} R2RFunction;

typedef struct R2RFunctions {
        R2RFunction *rows; /* owned */
        uint32_t n;
} R2RFunctions;

/* True if this file reads functions of the image's machine. */
bool r2r_functions_are_of_machine(const PeFile *pe);

/*
 * Reads the table at TABLE. Memory: less than the file's size, and less than 64 MiB. Returns 0;
 * -EBADMSG: contradicts the rest of the image; -ENOMEM; or pread()'s error. On failure RET is
 * empty.
 */
int r2r_functions_read(R2RFunctions *ret, const PeFile *pe, PeRange table);
void r2r_functions_deinit(R2RFunctions *functions);

/* The index, plus one, of the last function that begins at or before RVA; 0: none. */
uint32_t r2r_functions_last(const R2RFunctions *functions, uint32_t rva);
