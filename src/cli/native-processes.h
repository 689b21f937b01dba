/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native processes: names of native code for questions about any running process
 *
 * The last NATIVE_PROCESSES_MAX processes are kept.
 */

#include "cli/native-names.h"

#define NATIVE_PROCESSES_MAX 16u

typedef struct NativeProcesses NativeProcesses;

/* Both are borrowed. */
NativeProcesses *native_processes_new(clrsym *handle, const Options *options);
/* NULL is fine. */
void native_processes_free(NativeProcesses *processes);

/* Asks again whether processes run; call it before each batch of questions. */
void native_processes_refresh(NativeProcesses *processes);

/*
 * Finds the name of QUERY's address, valid until the next call. False: QUERY is not about a process
 * that runs now, or no file is mapped executable there. Invalidates answers of the handle.
 */
bool native_processes_find(NativeProcesses *processes, const clrsym_query *query, NativeName *ret);
