/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * vDSO: the code that the kernel maps into each process
 *
 * It is in no file; on one kernel, all processes have the same.
 */

#include <stdbool.h>

bool vdso_is(const char *path);
/* A file with that code, which the caller closes; -1: none. */
int vdso_open(void);
