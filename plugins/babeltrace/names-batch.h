/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Names batch: addresses of events that wait for their names, which are asked for together
 */

#include "clrsym/clrsym.h"
#include "perf/frames.h"

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

typedef struct NamesSettings {
        char *socket; /* owned; NULL: the daemon's default */
        char *trace;  /* owned: a trace or a snapshot; NULL: a daemon is asked */
        clrsym_style style;
        bool has_lines;    /* source lines are looked for */
        bool is_full_path; /* of modules and sources */
        unsigned wait_ms;  /* for events that the daemon does not have yet */
} NamesSettings;

typedef struct NamesBatch {
        const NamesSettings *settings; /* borrowed */
        clrsym *handle;                /* owned */
        clrsym_lines *lines;           /* owned; NULL: no lines are wanted */
        Frames frames;
        GArray *slots;          /* of NameSlot: the fields, in the order of the events */
        GArray *places;         /* of NamePlace: the addresses, each once */
        HashIndex by_address;   /* of places */
        GArray *queries;        /* of clrsym_query */
        clrsym_answer *answers; /* owned */
        size_t n_answers;       /* that there is room for */
        clrsym_body callee;     /* of the slot before; its texts are not valid */
        bool has_osr_callee;    /* and that was replaced on the stack: see perf/osr-callers.h */
        gint64 next_wait; /* us of g_get_monotonic_time(): no wait before, the last was in vain */
        gint64 next_try;  /* the same: the daemon did not answer */
        bool is_failing;  /* which was reported */
} NamesBatch;

/* An address: whose, when, where. */
typedef struct NameQuestion {
        const clrsym_query *query; /* NULL: what its process or its time is, is not known */
        uint64_t ip;               /* as the event has it */
        bool has_callee;           /* the question before was about its callee */
} NameQuestion;

/*
 * Opens the trace or the connection to the daemon. False: RET_MESSAGE is the reason, which the
 * caller frees with free(), or NULL for not enough memory. To be deinitialized in both cases.
 */
bool names_batch_init(NamesBatch *batch, const NamesSettings *settings, char **ret_message);
void names_batch_deinit(NamesBatch *batch);

/*
 * FIELD, a structure of NameMember, gets its texts now or by names_batch_run(). It is borrowed
 * until then. False: not enough memory.
 */
bool names_batch_add(NamesBatch *batch, bt_field *field, const NameQuestion *question);
/* Is it time for names_batch_run()? */
bool names_batch_is_full(const NamesBatch *batch);
/* Asks for all that was added. False: not enough memory. */
bool names_batch_run(NamesBatch *batch);
/* Forgets what was added. */
void names_batch_clear(NamesBatch *batch);
