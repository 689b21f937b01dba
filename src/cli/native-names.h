/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native names: names of code in the files that a running process has mapped: symbols of native
 * code, and the methods of precompiled assemblies
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct NativeNames NativeNames;

/* For process PID of our own namespace. SYMBOLS: paths of directories with debug files, borrowed;
 * or NULL. Returns NULL if we cannot see mappings of the process. */
NativeNames *native_names_new(pid_t pid, const GPtrArray *symbols);
/* NULL is fine. */
void native_names_free(NativeNames *names);

/* Reads the current mappings; call it before each batch of questions. After the end of the process,
 * its last mappings count. */
void native_names_refresh(NativeNames *names);

/*
 * Appends "symbol+0xOFFSET"; without a symbol "[FILE]+0xOFFSET", where OFFSET is that in the file.
 * False: no file is mapped executable at ADDRESS.
 */
bool native_names_append(NativeNames *names, uint64_t address, GString *out);
