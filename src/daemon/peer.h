/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Peer: one connected socket and its session
 *
 * Moves bytes between the socket and a session, without blocking. What the session is, is the
 * role's business.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Peer Peer;

typedef struct PeerRole {
        const char *name;
        /* Takes bytes. */
        void (*feed)(void *session, const uint8_t *bytes, size_t n);
        /* Turns what came into output; returns ms until it is to be called again, or -1. */
        int (*run)(void *session, int64_t now_ms);
        bool (*wants_input)(void *session);
        /* True once the session takes no more: hang up when its last words are sent. */
        bool (*is_over)(void *session);
        /* True while the peer owes the rest of a message: it has TIMEOUT_MS for it. */
        bool (*is_partial)(void *session);
        /* What is to be sent, and how much of it there is. */
        const uint8_t *(*output)(void *session, size_t *ret_n);
        void (*sent)(void *session, size_t n);
        void (*free)(void *session);
        unsigned read_size;  /* bytes fed at once, before others have their turn; 0: 64 KiB */
        unsigned timeout_ms; /* for the rest of a message, and for output to be taken; 0: none */
} PeerRole;

/* FD and SESSION are the peer's; GONE is called, once, when it is over (it may free the peer). */
Peer *peer_new(int fd, const PeerRole *role, void *session, void (*gone)(Peer *peer, void *data),
               void *data);
void peer_free(Peer *peer);

/* Lets the session run: what it waited for may have come. */
void peer_run(Peer *peer);
/* Takes no more input, and is gone once the output is sent. */
void peer_drain(Peer *peer);
void *peer_session(const Peer *peer);

/* Logs what happened with it: the message has its pid and uid behind it, and as CLRSYM_PID,
 * CLRSYM_UID. */
void peer_log(const Peer *peer, GLogLevelFlags level, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Who is at the other end: SO_PEERCRED, as of when it connected. */
typedef struct PeerCredentials {
        pid_t pid; /* in our own pid namespace; 0: it is outside of that */
        uid_t uid;
        bool is_in_group; /* of those that it runs with, not of those that the user could have */
} PeerCredentials;

bool peer_credentials(int fd, const char *group, PeerCredentials *ret_credentials);
