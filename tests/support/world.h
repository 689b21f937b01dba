/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * World: the tracker and the naive model side by side
 *
 * Both get each event and each question. The first difference is kept, and ends the run.
 */

#include "support/naive.h"

#define SECOND UINT64_C(1000000000)

/* The streams' numbers in scripts. */
extern const unsigned STREAM_NAME[N_STREAMS];

/* The chances of each kind of step, and its objects. */
typedef struct Mix {
        unsigned n_episodes; /* each starts with a new tracker */
        unsigned n_steps;
        uint64_t span; /* range of addresses */
        uint32_t max_size;
        unsigned load, race, unload, unannounced, module, r2r, rundown, gap, away, life;
        unsigned process_gap;   /* of 1000 steps: process gaps */
        unsigned restart;       /* of 1000 steps: restarts from a checkpoint */
        unsigned late_percent;  /* of events about bodies and modules, and of rundowns' ends: late
                                   ones */
        unsigned trace_percent; /* of events: from the second trace */
        size_t budget;
        bool refuses; /* more lives than the tracker has room for */
} Mix;

struct World {
        const Mix *mix;
        /* A random number; its remainder by N is used. */
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
        uint64_t n_late;     /* events: late ones about bodies that were present */
        GString *log;        /* or NULL: the steps as a script (support/script.h) */
        char *failure;       /* owned; NULL: no difference so far */
        unsigned *n_answers; /* numbers of answers, by status */
};

bool world_chance(World *w, unsigned percent);
/* A random number from 0 to N - 1. */
uint64_t world_below(World *w, uint64_t n);

/* Appends to the script, if there is one. */
void world_log(World *w, const char *format, ...) G_GNUC_PRINTF(2, 3);

void world_open_stream(World *w, unsigned s);
/* Replaces the tracker by a new one from its checkpoint. */
void world_restart(World *w);
/* The stream's feeder is back: events emitted meanwhile are lost. */
void world_resume(World *w, unsigned s, uint64_t time);

/*
 * An event of process K on stream S, about BODY, MODULE or neither (NULL, 0). PATH 0: no path. The
 * naive model gets it unless the stream has had it.
 */
void world_emit(World *w, unsigned s, const char *event, unsigned k, const NaiveBody *body,
                uint64_t module, unsigned path, uint64_t time);
void world_ask(World *w, const Question *question);
