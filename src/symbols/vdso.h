/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * vDSO: the code that the kernel gives to each process
 *
 * It is in no file; that of our own process is the same as that of all others on one kernel.
 */

#include <stdbool.h>

bool vdso_is(const char *path);
/* A file with it, which the caller closes; -1: there is none. */
int vdso_open(void);
