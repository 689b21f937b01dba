/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CodeCopy: the jitted code of a process whose runtime has no file with it
 *
 * With DOTNET_EnableWriteXorExecute=0, the code is in anonymous memory, which ends with the
 * process. The copy is made while the process runs, and does not stop it.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of one copy; code beyond them is not known. */
#define CODE_COPY_MAX (UINT64_C(64) << 20)

typedef struct CodeCopy {
        int fd;              /* owned: a file in memory */
        GArray *code;        /* owned, of MomentCode: its parts, at their places in FD */
        uint64_t n;          /* bytes of FD */
        uint64_t begin, end; /* ns of perf's clock: when it was made */
} CodeCopy;

/* False: the process has ended, has no such memory, or may not be read. */
bool code_copy_make(pid_t pid, CodeCopy *ret);
void code_copy_deinit(CodeCopy *copy);
