/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Peer: a connected socket and the conversation over it
 *
 * Moves bytes between the two without blocking. All peers of a program share turns: in one
 * iteration of the main loop they are served for 10 ms, then other sources are. The rest continues
 * in the next iteration, in turn by user, so that many connections of one user get no more time
 * than one connection of another. A peer that always has work, and that nobody waits for, gives way
 * to the others.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Conversation: our side of a protocol, without a socket. Bytes come in, bytes go out. The first
 * member of a protocol's own type. */
typedef struct Conversation Conversation;

typedef struct ConversationType {
        /* Takes bytes. */
        void (*feed)(Conversation *conversation, const uint8_t *bytes, size_t n);
        /* Turns input into output. Returns the ms until the next call, or -1. NULL: feed() does
         * everything. */
        int (*run)(Conversation *conversation, int64_t now_ms);
        bool (*wants_input)(const Conversation *conversation);
        /* True if no more input is accepted: the peer disconnects once the output is sent. */
        bool (*is_over)(const Conversation *conversation);
        /* True while the rest of a message is missing, for which the other side has timeout_ms.
         * NULL: no timeout. */
        bool (*is_partial)(const Conversation *conversation);
        /* The output, RET_N bytes; valid until the conversation is used again. */
        const uint8_t *(*output)(const Conversation *conversation, size_t *ret_n);
        /* The first N bytes of the output were sent. */
        void (*sent)(Conversation *conversation, size_t n);
} ConversationType;

struct Conversation {
        const ConversationType *type;
};

typedef struct Peer Peer;

/* The common part of all peers of a listener. */
typedef struct PeerRole {
        const char *name; /* for the log */
        /* Called once, when the peer has gone; may free the peer. */
        void (*gone)(Peer *peer, void *data);
        /* Called after the conversation was fed or run; must not free the peer. NULL: not at all.
         */
        void (*moved)(void *data);
        unsigned read_size;  /* bytes fed at once, before others have their turn; 0: 256 KiB */
        bool gives_way;      /* while others are served, it gets a third of the time */
        bool finishes;       /* unfinished work of a peer that has gone is done in turns */
        unsigned timeout_ms; /* ms for the rest of a message, and for reading output; 0: none */
} PeerRole;

/* Takes over FD, which is non-blocking. CONVERSATION is borrowed. DATA is for ROLE's functions. */
Peer *peer_new(int fd, const PeerRole *role, Conversation *conversation, void *data);
void peer_free(Peer *peer);

/* Lets the conversation run, because what it waited for may have come. */
void peer_run(Peer *peer);
/* The same, soon, when it is its user's turn. */
void peer_wake(Peer *peer);
/* Accepts no more input, and ends once the output is sent. */
void peer_drain(Peer *peer);

/*
 * Logs a message about the peer, followed by its pid and uid, which are also in the fields
 * CLRSYM_PID and CLRSYM_UID. For a user other than root at most 5 in 10 s are logged; the next
 * message has the number of those left out.
 */
void peer_log(const Peer *peer, GLogLevelFlags level, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The process at the other end when it connected: SO_PEERCRED. */
typedef struct PeerCredentials {
        pid_t pid; /* in our own pid namespace; 0: outside of it */
        uid_t uid;
        bool is_in_group; /* by the groups that it runs with, not by the user's groups */
} PeerCredentials;

#define PEER_NO_GROUP ((gid_t)-1)

/* GROUP may be PEER_NO_GROUP. False: FD is not a connected Unix socket. */
bool peer_credentials(int fd, gid_t group, PeerCredentials *ret_credentials);

/*
 * A pidfd of the process at the other end of FD; before Linux 6.5, which cannot provide it, of the
 * process that has PID now. -1: it has ended. The caller closes it. Until the process has ended, no
 * other process has its pid.
 */
int peer_open_process(int fd, pid_t pid);
