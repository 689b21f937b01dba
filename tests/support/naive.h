/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Naive model: the rules of life, death and confidence by the dumbest means, arrays that are
 * searched from end to end
 */

#include "tracker/answer.h"

typedef struct World World;

enum { N_STREAMS = 3, N_KEYS = 3 };

/* The processes, and the trace that a stream is of. */
extern const ProcessKey KEYS[N_KEYS];
extern const unsigned STREAM_TRACE[N_STREAMS];

typedef struct NaiveBody {
        uint32_t name, id; /* of the method; an id can be given again */
        uint64_t start;
        uint32_t size; /* 0: not known */
        uint64_t since, until;
        uint64_t seen;   /* by the event that made it known */
        GArray *sighted; /* or NULL: by later ones */
        BodyEnd end;
        BodySource source;
        bool is_jitted;
        unsigned module; /* life of a module, from 1 */
} NaiveBody;

typedef struct NaiveModule {
        uint64_t id;
        unsigned path;
        bool is_living, has_load;
        uint64_t loaded;
} NaiveModule;

typedef struct Span {
        uint64_t begin, end;
        unsigned trace;
} Span;

typedef struct NaiveUnannounced {
        uint64_t start, time;
        uint32_t id;
} NaiveUnannounced;

/* One generation. */
typedef struct Naive {
        const Process *real;
        ProcessKey key;
        unsigned generation;
        bool is_from_start, is_dropped;
        uint64_t begin, exit, rundown_begin, refused_since;
        GArray *reported;    /* of Span: process gaps */
        uint64_t open_gap;   /* begin of a reported one without an end; 0: none */
        Span deferred;       /* the last rundown in that gap; begin 0: none */
        GArray *inferred;    /* of Span: process gaps, from rundowns */
        Span inference[2];   /* from the last one, by what it has and lacks; begin 0: none */
        GArray *unannounced; /* of NaiveUnannounced: jitted bodies that it made known */
        bool has_trace[2];
        GPtrArray *bodies; /* owned NaiveBodies */
        GArray *modules, *rundowns;
} Naive;

typedef struct NaiveStream {
        uint64_t watermark, batch, progress, gap_end;
        bool is_away, has_ended;
} NaiveStream;

#define BODY(naive, i) ((NaiveBody *)(naive)->bodies->pdata[i])

/* Asked of each body again and again: calls would take a third of the time. */
static inline uint64_t naive_extent(const NaiveBody *body)
{
        return MAX(body->size, 1);
}

static inline bool naive_covers(const NaiveBody *body, uint64_t address)
{
        return address >= body->start && address - body->start < naive_extent(body);
}

/* A body is alive in [since, until). */
static inline bool naive_is_alive(const NaiveBody *body, uint64_t time)
{
        return body->since <= time && time < body->until;
}

static inline bool naive_is_living(const NaiveBody *body)
{
        return body->until == BODY_FOREVER;
}

typedef struct Expected {
        AnswerStatus status;
        Confidence confidence;
        const Naive *naive;
        const NaiveBody *body; /* or the nearest one */
        int64_t distance;
        unsigned n_bodies;
} Expected;

/* The last body there that ended by then, or NULL. */
const NaiveBody *naive_last_before(const Naive *naive, uint64_t address, uint64_t time);
/* True if events of it may be missing in [begin, end]. */
bool naive_lost(const World *w, const Naive *naive, uint64_t begin, uint64_t end);
void naive_free(gpointer naive);
Naive *naive_new(World *w, ProcessKey key, unsigned generation, uint64_t time);
Naive *naive_newest_life(const World *w, ProcessKey key);
Naive *naive_life_at(const World *w, ProcessKey key, uint64_t time);
uint64_t naive_horizon(const World *w, const Naive *naive);
unsigned naive_module(Naive *naive, uint64_t id, uint64_t time);
void naive_load(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_sighting(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_row(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_unload(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_module_end(Naive *naive, unsigned module, uint64_t time);
void naive_module_load(Naive *naive, uint64_t id, unsigned path, uint64_t time);
void naive_rundown_begin(Naive *naive, uint64_t time);
void naive_rundown_end(World *w, Naive *naive, uint64_t time);
/* A process gap [begin, end) is reported; end BODY_FOREVER: it goes on. */
void naive_report_gap(World *w, ProcessKey key, uint64_t begin, uint64_t end);
void naive_refuse(Naive *naive, EventKind kind, const NaiveBody *incoming, uint64_t time);
void naive_expect(const World *w, const Question *question, Expected *e);
