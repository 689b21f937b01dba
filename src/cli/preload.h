/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Preload: the library that connects the tracepoints of a runtime that has lost their table
 * (attach/tracepoints.h), and the installed runtimes that need it
 */

/* The libcoreclr.so of an installed runtime that needs the library; NULL: none was found. The
 * caller frees it. */
char *preload_find_runtime(void);

/* The path of the library, beside this clrsym; NULL: not installed. The caller frees it. */
char *preload_library(void);

/* Prints a note if an installed runtime needs the library. */
void preload_note(void);
