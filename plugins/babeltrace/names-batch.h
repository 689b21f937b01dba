/* SPDX-License-Identifier: MIT */
#pragma once

/* Names batch: finds the names of many addresses with few requests */

#include "clrsym/clrsym.h"
#include "perf/frames.h"

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

typedef struct NamesSettings {
        char *socket; /* owned; NULL: the daemon's default */
        char *trace;  /* owned: a trace or a snapshot; NULL: a daemon */
        clrsym_style style;
        bool has_lines;    /* find source lines */
        bool is_full_path; /* show full paths of modules and sources */
        unsigned wait_ms;  /* timeout for events that the daemon does not have yet */
} NamesSettings;

typedef struct NamesBatch {
        const NamesSettings *settings; /* borrowed */
        clrsym *handle;                /* owned */
        clrsym_lines *lines;           /* owned; NULL: no lines wanted */
        Frames frames;
        GArray *slots;          /* of NameSlot: the fields, in the order of the events */
        GArray *places;         /* of NamePlace: distinct addresses */
        HashIndex by_address;   /* index of places */
        GArray *queries;        /* of clrsym_query */
        clrsym_answer *answers; /* owned */
        size_t n_answers;       /* room for answers */
        clrsym_body callee;     /* body of the previous slot; its texts are invalid */
        bool has_osr_callee;    /* OSR has replaced it: see perf/osr-callers.h */
        gint64 next_wait; /* us of g_get_monotonic_time(): no waits before it, after a timeout */
        gint64 next_try;  /* us of g_get_monotonic_time(): no requests before it, after a failure */
        bool is_failing;  /* that failure was reported */
} NamesBatch;

/* An address in a process at a time. */
typedef struct NameQuestion {
        const clrsym_query *query; /* NULL: its process or time is not known */
        uint64_t ip;               /* as in the event */
        bool has_callee;           /* the previous question was about its callee */
} NameQuestion;

/*
 * Opens the trace, or connects to the daemon. False: RET_MESSAGE is the reason, freed by the caller
 * with free(); NULL: no memory. Deinitialize BATCH in both cases.
 */
bool names_batch_init(NamesBatch *batch, const NamesSettings *settings, char **ret_message);
void names_batch_deinit(NamesBatch *batch);

/*
 * Sets the texts of FIELD, a structure of NameMember, now or in names_batch_run(). Borrows FIELD
 * until then. False: no memory.
 */
bool names_batch_add(NamesBatch *batch, bt_field *field, const NameQuestion *question);
/* True if it is time for names_batch_run(). */
bool names_batch_is_full(const NamesBatch *batch);
/* Sets the texts of all added fields. False: no memory. */
bool names_batch_run(NamesBatch *batch);
/* Drops all added fields. */
void names_batch_clear(NamesBatch *batch);
