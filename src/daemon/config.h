/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Configuration of the daemon: clrsymd.conf(5) in memory
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The default file; files in CONFIG_FILE.d are read after it. The file may be absent. */
#define CONFIG_FILE "/etc/clrsym/clrsymd.conf"

/* Every key with its range, as in config.c's table. */
typedef struct Config {
        uint64_t memory_max;       /* bytes; 8M to 16T, 0: no limit; default 1G */
        uint64_t retention;        /* s; 1 s to 3650 d, 0: no limit; default 1 d */
        uint64_t max_clients;      /* 1 to 65536; default 64 */
        uint64_t max_clients_user; /* 1 to 65536; default 16 */
        uint64_t max_feeders;      /* 1 to 4096; default 1280 */
        char *metrics_file;        /* owned, an absolute path; NULL, the default: none */
        uint64_t metrics_interval; /* s; 1 s to 1 d; default 15 s */
        char *state_directory;     /* owned, an absolute path; NULL, the default: nothing is kept */
        uint64_t rundown_after_gap; /* s; 1 s to 1 d, 0, the default: never */
        char *holder;               /* owned, an absolute path */
} Config;

/* Sets every default. The old contents of CONFIG are overwritten, not freed. */
void config_init(Config *config);
/* Frees the contents; CONFIG may be all zeros, or cleared before. */
void config_clear(Config *config);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Config, config_clear)

/*
 * Reads the defaults, then PATH (NULL: CONFIG_FILE), then the *.conf files of PATH.d by name; later
 * values win. A second call does not depend on the first. On success RET_CONFIG is overwritten, and
 * the caller clears it. On failure it is untouched, and ERROR names the file, the key, the error
 * and the allowed values. An unknown key is logged as a warning.
 */
bool config_load(const char *path, Config *ret_config, GError **error);

/*
 * Sets the value of KEY, in the file's notation; "" means no metrics file. LABEL is the user's name
 * of the key ("--memory-max"), for ERROR. KEY must exist.
 */
bool config_set(Config *config, const char *key, const char *text, const char *label,
                GError **error);
