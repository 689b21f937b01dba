/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapped: what the files that a process has mapped tell of its runtime
 *
 * By their exact names: what only has such a name somewhere in its path tells nothing.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Mapped {
        char *runtime; /* owned: the directory of its libcoreclr.so, as it sees it; or NULL */
        bool has_provider;
        bool has_mono;
        bool has_musl;
} Mapped;

/* MAPS: text as of /proc/PID/maps. ROOT: the target's root directory as we see it, or NULL. */
void mapped_read(const char *maps, const char *root, Mapped *ret_mapped);
void mapped_clear(Mapped *mapped);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Mapped, mapped_clear)
