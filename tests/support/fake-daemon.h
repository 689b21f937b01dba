/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fake daemon: a listening socket, and a thread that runs the test's script of a daemon
 *
 * Functions wait for the client, and abort the test if the client does not do what they expect.
 */

#include "wire/bulk.h"

#include <glib.h>

typedef struct FakeDaemon {
        char *directory; /* owned */
        char *path;      /* owned: of the socket */
        int listen_fd;
        int fd; /* of the last accepted client; -1: none */
        GThread *thread;
        void (*play)(struct FakeDaemon *fake);
        const void *data; /* the test's */
        size_t cut;       /* bytes that are sent alone, before the rest; 0: all at once */
} FakeDaemon;

/* Listens, and starts PLAY in a thread. */
FakeDaemon *fake_daemon_new(void (*play)(FakeDaemon *fake), const void *data);
/* Waits until the script ends. */
void fake_daemon_free(FakeDaemon *fake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeDaemon, fake_daemon_free)

void fake_accept(FakeDaemon *fake);
void fake_hang_up(FakeDaemon *fake);
void fake_stop_listening(FakeDaemon *fake);
void fake_listen(FakeDaemon *fake);

/* The next call, without its NUL; NULL: the client disconnected. */
char *fake_read_call(FakeDaemon *fake);
/* Reads a call, which must contain TEXT. */
void fake_expect_call(FakeDaemon *fake, const char *text);
/* The client must disconnect without a call. */
void fake_expect_end(FakeDaemon *fake);

void fake_send(FakeDaemon *fake, const void *bytes, size_t n);
/* Sends TEXT with its NUL. */
void fake_reply(FakeDaemon *fake, const char *text);

/* Accepts a client, and changes to Bulk. */
void fake_accept_bulk(FakeDaemon *fake);
/*
 * Reads the next frame of queries: its header, and at most BULK_MAX_QUERIES queries. Returns their
 * number.
 */
size_t fake_read_queries(FakeDaemon *fake, BulkHeader *ret_header, BulkQuery *ret_queries);

/* Append frames. */
void frame_append(GByteArray *out, BulkType type, uint32_t tag, const void *payload, size_t n);
/* Appends a frame of one name. */
void frame_append_name(GByteArray *out, uint32_t id, const char *text, size_t n);
