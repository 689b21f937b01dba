/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Feeding: what several feeders send, drawn from a seed, to any number of daemons
 *
 * Some processes with methods, modules, rundowns, IL maps and statistics; streams that are opened,
 * closed, left and fed again; losses.
 */

#include "wire/ingest-connection.h"

/* What happens, in order. */
typedef enum FeedStepKind {
        FEED_OPEN,  /* one STREAM_OPEN */
        FEED_BATCH, /* frames, without the COMMIT */
        FEED_GONE,  /* the feeder */
} FeedStepKind;

typedef struct FeedStep {
        FeedStepKind kind;
        unsigned feeder;    /* counted from 0: each connection is another */
        GByteArray *frames; /* owned */
} FeedStep;

/* Owned FeedSteps. */
GPtrArray *feeding_new(guint32 seed, unsigned n_steps);

/* A daemon that is fed: sessions by feeder. */
typedef struct Fed {
        Tracker *tracker;    /* borrowed */
        GPtrArray *sessions; /* owned or NULL; by feeder */
        /* When a session has come, and before it goes; may be NULL. */
        void *(*come)(void *data, IngestConnection *session);
        void (*go)(void *connection);
        void *data;
        GPtrArray *connections; /* what come() returned */
} Fed;

void fed_init(Fed *fed, Tracker *tracker);
void fed_take(Fed *fed, const FeedStep *step);
/* All feeders are gone. */
void fed_deinit(Fed *fed);

/* A checkpoint as one piece. The caller owns it. */
GByteArray *tracker_image(const Tracker *tracker);
/* Bodies as a client lists them. The caller owns the text. */
char *tracker_bodies(const Tracker *tracker);
