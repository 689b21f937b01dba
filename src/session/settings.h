/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Settings of a session, as it was asked for: enough to make it once more
 */

#include "session/service.h"

typedef struct Settings {
        char *name;    /* owned */
        bool is_live;  /* else it is recorded, to output */
        char *output;  /* owned: an absolute path; NULL with is_live */
        GArray *track; /* owned, of int32_t: only these pids, as they see themselves; empty: all */
        uint64_t buffer_size; /* of a sub-buffer; 0: the default */
        uint64_t disk;        /* most bytes for each user; 0: no limit */
        /* Of a live session: the relay daemon's ports, and its directory. */
        uint16_t control_port, data_port, live_port;
        char *relay_output; /* owned; NULL: not known */
        char *relay_user;   /* owned: whose it is; NULL: ours */
        Service relay;      /* the process; the session dies with it */
} Settings;

Settings *settings_new(const char *name);
void settings_free(Settings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Settings, settings_free)

/* Can a session have that name? Nothing in it means something in a path, a URL or a pattern. */
bool settings_is_name(const char *name);

/* The caller's. */
json_t *settings_to_json(const Settings *settings);
/* NULL: VALUE is none. */
Settings *settings_from_json(const json_t *value);

/* The URL of a live session for viewers on this machine; the caller's. */
char *settings_url(const Settings *settings);
