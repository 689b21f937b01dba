/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attach manner: turns the options of `clrsym attach` into requests to the holder
 */

#include "cli/options.h"
#include "lttng/live-session.h"

typedef struct AttachManner {
        RequestVerb verb;
        AttachVia via;
        AttachList list;
        LiveSessions *sessions; /* owned or NULL: of no interest, or not asked for yet */
} AttachManner;

AttachManner attach_manner_new(const Options *options);
void attach_manner_clear(AttachManner *manner);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AttachManner, attach_manner_clear)

/* Queries the live sessions again. */
void attach_manner_refresh(AttachManner *manner);
/* The request for process PID. */
Request attach_manner_request(const AttachManner *manner, pid_t pid);
