/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Configuration of the daemon: clrsymd.conf(5) in memory
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Read if no other file is given, with what is in CONFIG_FILE.d. It may be absent. */
#define CONFIG_FILE "/etc/clrsym/clrsymd.conf"

/* Every key with its range; config.c's table has the same for the program. */
typedef struct Config {
        uint64_t memory_max;       /* bytes; 8M to 16T, 0: no limit; default 1G */
        uint64_t retention;        /* s; 1 s to 3650 d, 0: no limit; default 1 d */
        uint64_t max_clients;      /* 1 to 65536; default 64 */
        uint64_t max_clients_user; /* 1 to 65536; default 1280 */
        uint64_t max_feeders;      /* 1 to 4096; default 16 */
        char *metrics_file;        /* owned, an absolute path; NULL, the default: none */
        uint64_t metrics_interval; /* s; 1 s to 1 d; default 15 s */
        char *state_directory;     /* owned, an absolute path; NULL, the default: nothing is kept */
        uint64_t rundown_after_gap; /* s; 1 s to 1 d, 0, the default: never */
        char *holder;               /* owned, an absolute path */
} Config;

/* Every default. What CONFIG held is overwritten, not freed. */
void config_init(Config *config);
/* Frees what it owns; may be called again, and on one that is all zeros. */
void config_clear(Config *config);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Config, config_clear)

/*
 * The defaults, then PATH (NULL: CONFIG_FILE), then PATH.d's *.conf by name; what comes later wins.
 * May be called again: what was read before has no influence. On success RET_CONFIG is overwritten,
 * and the caller clears it; on failure it is untouched, and ERROR names the file, the key, what is
 * wrong and what is allowed. An unknown key is logged as a warning.
 */
bool config_load(const char *path, Config *ret_config, GError **error);

/*
 * Sets the value of KEY, as in the file; no metrics file is "". LABEL is what the user who gave
 * TEXT knows the key as ("--memory-max"), for ERROR. KEY must exist.
 */
bool config_set(Config *config, const char *key, const char *text, const char *label,
                GError **error);
