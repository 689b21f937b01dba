/* SPDX-License-Identifier: MIT */
#pragma once

/* ProcessKey: the process of an event, by the pid in its own namespace */

#include <glib.h>
#include <stdint.h>

/* pid_ns is the inode of the pid namespace (0: not recorded), pid the pid in it. */
typedef struct ProcessKey {
        uint64_t pid_ns;
        int32_t pid;
} ProcessKey;

/* For GHashTables by ProcessKey. */
guint process_key_hash(gconstpointer key);
gboolean process_key_equal(gconstpointer a, gconstpointer b);
