/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Viewer link: a connection to the viewers' port of lttng-relayd
 *
 * Requests may be sent without waiting for the replies to those before; the relay daemon takes one
 * after another.
 */

#include "feed/viewer-wire.h"

typedef struct ViewerLink ViewerLink;

typedef struct ViewerLinkCalls {
        /* A part of the reply to a request; SUBJECT is the request's. The callback may free the
         * viewer. */
        void (*reply)(void *data, ViewerCommand command, void *subject, const ViewerReply *reply);
        /* All received replies were taken. */
        void (*idle)(void *data);
        /* The connection has ended. REASON is borrowed. */
        void (*ended)(void *data, const char *reason, bool is_broken);
} ViewerLinkCalls;

/* Connects to HOST, a name or an address, in the network namespace of process NET (0: ours). A
 * relay daemon that cannot be reached may be reported later. NULL with ERROR set. */
ViewerLink *viewer_link_new(const char *host, uint16_t port, pid_t net,
                            const ViewerLinkCalls *calls, void *data, GError **error);
/* Hangs up. NULL is fine. */
void viewer_link_free(ViewerLink *viewer);

/* The buffer to which to append one request, with viewer_put_...(); then call viewer_link_put(). */
GByteArray *viewer_link_output(ViewerLink *viewer);
/* One request of COMMAND was appended. SUBJECT is for its reply; borrowed. */
void viewer_link_put(ViewerLink *viewer, ViewerCommand command, void *subject);
/* Sends the requests. After the callbacks above this happens anyway. */
void viewer_link_flush(ViewerLink *viewer);

/* Since when the relay daemon owes a reply, and has sent nothing: monotonic us; 0: it owes none. */
gint64 viewer_link_waits_since(const ViewerLink *viewer);
