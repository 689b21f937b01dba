/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fake daemon: a listening socket, and a thread that plays a daemon by a script of the test
 *
 * Its functions wait for the client, and end the test if that does not do its part.
 */

#include "wire/bulk.h"

#include <glib.h>

typedef struct FakeDaemon {
        char *directory; /* owned */
        char *path;      /* owned: of the socket */
        int listen_fd;
        int fd; /* of the client that was accepted last; -1: none */
        GThread *thread;
        void (*play)(struct FakeDaemon *fake);
        const void *data; /* of the test */
        size_t cut;       /* of what is sent, so many bytes come alone; 0: all comes together */
} FakeDaemon;

/* Listens, and starts to play. */
FakeDaemon *fake_daemon_new(void (*play)(FakeDaemon *fake), const void *data);
/* Waits for the end of the play. */
void fake_daemon_free(FakeDaemon *fake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeDaemon, fake_daemon_free)

void fake_accept(FakeDaemon *fake);
void fake_hang_up(FakeDaemon *fake);
void fake_stop_listening(FakeDaemon *fake);
void fake_listen(FakeDaemon *fake);

/* The next call, without its NUL; NULL if the client hung up. */
char *fake_read_call(FakeDaemon *fake);
/* Reads a call that must have TEXT in it. */
void fake_expect_call(FakeDaemon *fake, const char *text);
/* The client hangs up without a call. */
void fake_expect_end(FakeDaemon *fake);

void fake_send(FakeDaemon *fake, const void *bytes, size_t n);
/* TEXT with its NUL. */
void fake_reply(FakeDaemon *fake, const char *text);

/* Accepts, and changes to Bulk. */
void fake_accept_bulk(FakeDaemon *fake);
/* The next frame of queries: their number, and the header. At most BULK_MAX_QUERIES. */
size_t fake_read_queries(FakeDaemon *fake, BulkHeader *ret_header, BulkQuery *ret_queries);

/* Frames. */
void frame_append(GByteArray *out, BulkType type, uint32_t tag, const void *payload, size_t n);
/* A frame of one name. */
void frame_append_name(GByteArray *out, uint32_t id, const char *text, size_t n);
