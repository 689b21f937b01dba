/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * World: the tracker and the naive model side by side
 *
 * Each event goes to both, and each question is asked of both. The first difference is kept, and
 * nothing happens after it.
 */

#include "support/naive.h"

#define SECOND UINT64_C(1000000000)

/* The numbers of the streams in scripts. */
extern const unsigned STREAM_NAME[N_STREAMS];

/* The chance of each kind of operation, and what it is applied to. */
typedef struct Mix {
        unsigned n_episodes; /* each begins with nothing */
        unsigned n_steps;
        uint64_t span; /* of addresses */
        uint32_t max_size;
        unsigned load, race, unload, unannounced, module, r2r, rundown, gap, away, life;
        unsigned process_gap;   /* of 1000 steps: a process gap is reported */
        unsigned restart;       /* of 1000 steps: another tracker continues, from a checkpoint */
        unsigned late_percent;  /* of the events about bodies and modules, and of rundowns' ends */
        unsigned trace_percent; /* of the events come by the second trace */
        size_t budget;
        bool refuses; /* more lives than there is room for */
} Mix;

struct World {
        const Mix *mix;
        /* A number, of which the remainder by N is used. */
        uint32_t (*draw)(void *data, uint64_t n);
        void *draw_data;
        Tracker *tracker;
        TrackerStream *streams[N_STREAMS];
        uint64_t now;
        uint64_t batch;
        uint32_t n_names;
        NaiveStream naive_streams[N_STREAMS];
        GPtrArray *lives; /* of Naive, in order of appearance */
        GArray *gaps;     /* of Span */
        uint64_t n_forgotten, n_dropped, n_refused;
        uint64_t n_late;     /* events, late ones, of bodies that were there then */
        GString *log;        /* or NULL: a script of what happens (support/script.h) */
        char *failure;       /* owned; NULL while both are the same */
        unsigned *n_answers; /* by status */
};

bool world_chance(World *w, unsigned percent);
/* A number from 0 to N - 1. */
uint64_t world_below(World *w, uint64_t n);

/* Writes into the script, if there is one. */
void world_log(World *w, const char *format, ...) G_GNUC_PRINTF(2, 3);

void world_open_stream(World *w, unsigned s);
/* Replaces the tracker by another one, made from its checkpoint. */
void world_restart(World *w);
/* An event of the stream comes: what was emitted while its feeder was away is lost. */
void world_resume(World *w, unsigned s, uint64_t time);

/*
 * An event of process K on stream S, about BODY or MODULE or neither (NULL, 0); PATH 0: no path.
 * The naive model gets it if the stream does not have it yet.
 */
void world_emit(World *w, unsigned s, const char *event, unsigned k, const NaiveBody *body,
                uint64_t module, unsigned path, uint64_t time);
void world_ask(World *w, const Question *question);
