/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live code: the code of one process that lives now, by its loads and unloads, as a perf map
 *
 * After a list of the process's code, events that are older than the list may come: a load and an
 * unload do not replace code that was loaded later.
 */

#include "clrsym/clrsym.h"

#include <glib.h>

typedef struct LiveCode LiveCode;

LiveCode *live_code_new(void);
void live_code_free(LiveCode *code);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveCode, live_code_free)

void live_code_clear(LiveCode *code);
/* BODY was loaded. What began at its address before is replaced. */
void live_code_add(LiveCode *code, const clrsym_body *body);
/* BODY was unloaded. */
void live_code_remove(LiveCode *code, const clrsym_body *body);

/*
 * Appends a perf map, sorted. No two entries cover one address: of two bodies that overlap, the one
 * that was loaded later is there. Returns the number of entries.
 */
unsigned live_code_append_map(const LiveCode *code, GString *out);

/* Appends the line of a perf map. SIZE: bytes; 0, not known, is 1. */
void perf_map_append(GString *out, uint64_t start, uint32_t size, const char *symbol);
