/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live code: the current code of one process, from its loads and unloads, as a perf map
 *
 * Events older than the list of the process's code may arrive after it. Such a load or unload does
 * not replace code that was loaded later.
 */

#include "clrsym/clrsym.h"

#include <glib.h>

typedef struct LiveCode LiveCode;

LiveCode *live_code_new(void);
void live_code_free(LiveCode *code);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveCode, live_code_free)

void live_code_clear(LiveCode *code);
/* Adds BODY, which replaces the body that began at its address. */
void live_code_add(LiveCode *code, const clrsym_body *body);
/* Removes BODY, which was unloaded. */
void live_code_remove(LiveCode *code, const clrsym_body *body);

/*
 * Appends a perf map, sorted, and returns the number of entries. Entries do not overlap: where two
 * bodies do, the map has the later load.
 */
unsigned live_code_append_map(const LiveCode *code, GString *out);

/* Appends a line of a perf map. SIZE: bytes; 0 (not known) is written as 1. */
void perf_map_append(GString *out, uint64_t start, uint32_t size, const char *symbol);
