/* SPDX-License-Identifier: MIT */
#pragma once

/* Naive model: the rules of lifetimes and confidence, by linear searches in arrays */

#include "tracker/answer.h"

typedef struct World World;

enum { N_STREAMS = 3, N_KEYS = 3 };

/* The processes, and a stream's trace. */
extern const ProcessKey KEYS[N_KEYS];
extern const unsigned STREAM_TRACE[N_STREAMS];

typedef struct NaiveBody {
        uint32_t name, id; /* of the method; ids are reused */
        uint64_t start;
        uint32_t size; /* 0: not known */
        uint64_t since, until;
        uint64_t seen;   /* time of the event that made it known */
        GArray *sighted; /* or NULL: times of later events */
        BodyEnd end;
        BodySource source;
        bool is_jitted;
        unsigned module; /* number of the module's life, from 1 */
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
        uint64_t open_gap;   /* begin of a reported gap without an end; 0: none */
        Span deferred;       /* last rundown in that gap; begin 0: none */
        GArray *inferred;    /* of Span: process gaps, from rundowns */
        Span inference[2];   /* conclusions of the last rundown, by its rows and by missing rows;
                                begin 0: none */
        GArray *unannounced; /* of NaiveUnannounced: jitted bodies first seen in the rundown */
        bool has_trace[2];
        GPtrArray *bodies; /* owned NaiveBodies */
        GArray *modules, *rundowns;
} Naive;

typedef struct NaiveStream {
        uint64_t watermark, batch, progress, gap_end;
        bool is_away, has_ended;
} NaiveStream;

#define BODY(naive, i) ((NaiveBody *)(naive)->bodies->pdata[i])

/* Inline, because calls would take a third of the time. */
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

/* The last body at the address that ended by TIME, or NULL. */
const NaiveBody *naive_last_before(const Naive *naive, uint64_t address, uint64_t time);
/* True if its events may be missing in [begin, end]. */
bool naive_lost(const World *w, const Naive *naive, uint64_t begin, uint64_t end);
void naive_free(gpointer naive);
Naive *naive_new(World *w, ProcessKey key, unsigned generation, uint64_t time);
Naive *naive_newest_life(const World *w, ProcessKey key);
Naive *naive_life_at(const World *w, ProcessKey key, uint64_t time);
uint64_t naive_horizon(const World *w, const Naive *naive, bool *ret_is_open);
unsigned naive_module(Naive *naive, uint64_t id, uint64_t time);
void naive_load(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_sighting(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_row(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_unload(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time);
void naive_module_end(Naive *naive, unsigned module, uint64_t time);
void naive_module_load(Naive *naive, uint64_t id, unsigned path, uint64_t time);
void naive_rundown_begin(Naive *naive, uint64_t time);
void naive_rundown_end(World *w, Naive *naive, uint64_t time);
/* Reports a process gap [begin, end); end BODY_FOREVER: the gap continues. */
void naive_report_gap(World *w, ProcessKey key, uint64_t begin, uint64_t end);
void naive_refuse(Naive *naive, EventKind kind, const NaiveBody *incoming, uint64_t time);
void naive_expect(const World *w, const Question *question, Expected *e);
