/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native names: the symbols of native code of a process that runs, by its mappings and its files
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct NativeNames NativeNames;

/* Of process PID of our own namespace. SYMBOLS: paths of directories with debug files, borrowed; or
 * NULL. NULL: the process has no mappings that we may see. */
NativeNames *native_names_new(pid_t pid, const GPtrArray *symbols);
/* NULL is fine. */
void native_names_free(NativeNames *names);

/* Before questions that come together: looks what is mapped now. After the end of the process, what
 * was mapped last counts. */
void native_names_refresh(NativeNames *names);

/*
 * Appends "symbol+0xOFFSET"; without a symbol "[FILE]+0xOFFSET", the offset being that in the file.
 * False: no file is mapped executable at ADDRESS.
 */
bool native_names_append(NativeNames *names, uint64_t address, GString *out);
