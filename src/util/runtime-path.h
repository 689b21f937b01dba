/* SPDX-License-Identifier: MIT */
#pragma once

/* Runtime path: the sockets of clrsym's services, in $XDG_RUNTIME_DIR/clrsym for a user's own
 * services, in /run/clrsym for the system's */

#define RUNTIME_SYSTEM "/run/clrsym"

#define RUNTIME_QUERY  "query"
#define RUNTIME_INGEST "ingest"

/* The value of an environment variable that is set and not empty, or NULL (also in a setuid
 * program). */
const char *runtime_variable(const char *name);

/* $XDG_RUNTIME_DIR; NULL if it is not set, or belongs to another user: after su or sudo -E it can
 * be that user's, whose services root would feed and believe. Owned by the environment. */
const char *runtime_directory_own(void);

/* NAME in clrsym/ of that directory; NULL: none. The caller frees it. */
char *runtime_path_own(const char *name);

/* The path at which a service of this user makes NAME: root's in the system's directory, another
 * user's in the user's own, if there is one. The caller frees it; NULL: no memory. */
char *runtime_path_service(const char *name);

/*
 * The socket NAME to connect to: $VARIABLE, else the user's own if it exists, else the system's.
 * The caller frees it; NULL: no memory.
 */
char *runtime_path_find(const char *variable, const char *name);
