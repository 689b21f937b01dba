/* SPDX-License-Identifier: MIT */
#pragma once

/* Session settings: the settings with which a session was started, enough to restart it */

#include "lttng/daemon-process.h"
#include "lttng/trace-format.h"

typedef struct SessionSettings {
        char *name;        /* owned */
        bool keeps_traces; /* the relay daemon's directories of the session are never removed */
        bool is_live;      /* false: it is recorded to OUTPUT */
        char *output;      /* owned: an absolute path; NULL if live */
        GArray *track; /* owned, of int32_t: only these pids, in their own namespaces; empty: all */
        uint64_t buffer_size; /* bytes of a sub-buffer; 0: the default */
        uint64_t disk;        /* maximum of bytes for each user; 0: no limit */
        TraceFormat format;
        /* For a live session: the relay daemon's ports and directory. */
        uint16_t control_port, data_port, live_port;
        char *relay_output;  /* owned; NULL: not known */
        char *relay_user;    /* owned: the other user who runs it; NULL: our own */
        DaemonProcess relay; /* the relay daemon, with which the session dies */
} SessionSettings;

SessionSettings *session_settings_new(const char *name);
void session_settings_free(SessionSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SessionSettings, session_settings_free)

/* True for a valid name: no character of it is special in a path, a URL or a pattern. */
bool session_settings_is_name(const char *name);

/* The caller owns it. */
json_t *session_settings_to_json(const SessionSettings *settings);
/* NULL: VALUE is not such an object. */
SessionSettings *session_settings_from_json(const json_t *value);

/* The URL of a live session for viewers on this machine. The caller owns it. */
char *session_settings_url(const SessionSettings *settings);
