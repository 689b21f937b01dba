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
        /*
         * A part of the reply to a request; SUBJECT is the request's. The viewer may be freed by
         * it.
         */
        void (*reply)(void *data, ViewerCommand command, void *subject, const ViewerReply *reply);
        /* All that was received was taken. */
        void (*idle)(void *data);
        /* The connection is over: nothing more comes. REASON is borrowed. */
        void (*ended)(void *data, const char *reason, bool is_broken);
} ViewerLinkCalls;

/*
 * Connects to HOST, a name or an address, in the network namespace of process NET (0: ours). That
 * the relay daemon cannot be reached may be reported later. NULL with ERROR set.
 */
ViewerLink *viewer_link_new(const char *host, uint16_t port, pid_t net,
                            const ViewerLinkCalls *calls, void *data, GError **error);
/* Hangs up. NULL is fine. */
void viewer_link_free(ViewerLink *viewer);

/* To append one request to, with viewer_put_...(); then viewer_link_put() is next. */
GByteArray *viewer_link_output(ViewerLink *viewer);
/* One request of COMMAND was appended. SUBJECT is for its reply; borrowed. */
void viewer_link_put(ViewerLink *viewer, ViewerCommand command, void *subject);
/* Sends what was put. After the calls above this is done anyway. */
void viewer_link_flush(ViewerLink *viewer);

/* Since when the relay daemon owes a reply, and has sent nothing: monotonic us; 0: it owes none. */
gint64 viewer_link_waits_since(const ViewerLink *viewer);
