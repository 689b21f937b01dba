/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Feeding: random input of several feeders, from a seed, for any number of daemons
 *
 * There are some processes with methods, modules, rundowns, IL maps and statistics; streams are
 * opened, closed, left and fed again; events are lost.
 */

#include "wire/ingest-connection.h"

/* The kinds of steps. */
typedef enum FeedStepKind {
        FEED_OPEN,  /* one STREAM_OPEN */
        FEED_BATCH, /* frames, without the COMMIT */
        FEED_GONE,  /* the feeder disconnects */
} FeedStepKind;

typedef struct FeedStep {
        FeedStepKind kind;
        unsigned feeder;    /* from 0; each connection is a new feeder */
        GByteArray *frames; /* owned */
} FeedStep;

/* Owned FeedSteps. */
GPtrArray *feeding_new(guint32 seed, unsigned n_steps);

/* A daemon and its feeders: sessions by feeder. */
typedef struct Fed {
        Tracker *tracker;    /* borrowed */
        GPtrArray *sessions; /* owned or NULL; by feeder */
        /* Called when a session begins, and before it ends; may be NULL. */
        void *(*come)(void *data, IngestConnection *session);
        void (*go)(void *connection);
        void *data;
        GPtrArray *connections; /* results of come() */
} Fed;

void fed_init(Fed *fed, Tracker *tracker);
void fed_take(Fed *fed, const FeedStep *step);
/* Disconnects all feeders. */
void fed_deinit(Fed *fed);

/* The checkpoint as one piece. The caller owns it. */
GByteArray *tracker_image(const Tracker *tracker);
/* The list of bodies, as for a client. The caller owns the text. */
char *tracker_bodies(const Tracker *tracker);
