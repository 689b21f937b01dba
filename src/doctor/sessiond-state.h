/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session daemon state: what the LTTng session daemon reports, read in a child process because the
 * daemon may not answer
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct SessiondChannel {
        char *name;          /* owned */
        GPtrArray *events;   /* owned, of char *: names and patterns that are enabled */
        GPtrArray *contexts; /* owned, of char *; NULL: they cannot be read */
        int64_t buffer_size; /* bytes of a sub-buffer */
        int64_t n_buffers;   /* sub-buffers per CPU */
        int64_t n_discarded; /* events */
} SessiondChannel;

typedef struct SessiondSession {
        char *name; /* owned */
        char *path; /* owned: where it writes; "" or NULL: nowhere on this machine */
        bool is_live;
        bool is_active;
        bool has_dotnet;     /* it lets the runtime's events through */
        GPtrArray *channels; /* owned SessiondChannels */
} SessiondSession;

/* What the child reports. */
typedef struct SessiondReport {
        bool is_installed;   /* LTTng is */
        bool has_daemon;     /* there is a session daemon that we may talk to */
        bool is_complete;    /* sessions and providers are all there are */
        char *error;         /* owned or NULL: why LTTng cannot be used */
        GPtrArray *sessions; /* owned SessiondSessions, or NULL */
        GArray *providers;   /* owned int64_t, or NULL: pids of .NET programs, each in its own pid
                                namespace */
} SessiondReport;

typedef struct SessiondState {
        SessiondReport report;
        bool is_unresponsive; /* the session daemon does not answer */
        bool is_unclear;      /* whether there is a session daemon is not known */
        bool has_roots;       /* root's has a socket, which we may not use */
        uid_t daemon_uid;     /* of the session daemon that we would talk to */
        unsigned app_abi;     /* the version that programs must have to register; 0: unknown */
} SessiondState;

/* The directory below which our own user's session daemon is: $LTTNG_HOME or $HOME. The caller
 * frees it. */
char *sessiond_home(void);

/*
 * The version in the name of the socket in DIRECTORY at which programs register, lttng-ust-sock-8
 * or -11: the least if there are several; 0: there is none.
 */
unsigned sessiond_app_abi(const char *directory);

void sessiond_state_read(SessiondState *ret_state);
void sessiond_state_clear(SessiondState *state);

/* The session that matters: active, with .NET events, and live before others. NULL: there is none.
 * Borrowed. */
const SessiondSession *sessiond_state_best_session(const SessiondState *state);
