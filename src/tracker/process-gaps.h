/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process gaps: intervals in which the events of one process were not recorded, although no stream
 * of its traces lost anything
 *
 * A runtime emits events only while a session asks for them. A process gap is
 *   - reported by the holder of the process's session: the interval in which it held none;
 *   - inferred, where nobody reported it, from a complete rundown: the rundown has jitted code that
 *     no load event announced, or lacks code that no unload event ended.
 * A report of a process that is not known yet is pending: the tracker keeps it (tracker-gaps.c).
 *
 *        process_gaps_report_open()            process_gaps_report_end()
 *   none -----------------------------> open ----------------------------> reported
 *
 *        process_gaps_infer()                  process_gaps_settle()
 *   none -----------------------> inference -----------------------------> inferred
 *                                     | every unannounced body's load follows,
 *                                     v or a reported gap explains it
 *                                   none
 */

#include "codemap/account.h"
#include "tracker/gaps.h"

/* A complete rundown: it lists everything that was alive between the two times (ns). */
typedef struct Rundown {
        uint64_t begin;
        uint64_t end;
} Rundown;

/* Jitted code that became known by a rundown's row, not by its load. */
typedef struct UnannouncedBody {
        uint64_t start;
        uint64_t method_id;
        uint64_t time; /* of the row */
} UnannouncedBody;

typedef struct ProcessGaps {
        Account *account;    /* borrowed */
        GArray *reported;    /* owned, of Gap */
        uint64_t open_since; /* begin of the open gap; BODY_FOREVER: none is open */
        /*
         * A complete rundown that counts if the open gap turns out to have ended before it; begin
         * 0: none.
         */
        Rundown deferred;
        GArray *inferred; /* owned, of Gap */
        /*
         * The inference from the last rundown alone. Its unannounced bodies show a gap from
         * unannounced_since on; the bodies missing from it show a gap from missing_since on.
         * BODY_FOREVER: no such gap. Both end at inference_end.
         */
        uint64_t unannounced_since;
        uint64_t missing_since;
        uint64_t inference_end;
        GArray *unannounced;         /* owned, of UnannouncedBody: of the last rundown */
        uint32_t n_more_unannounced; /* dropped, because `unannounced` was full */
} ProcessGaps;

void process_gaps_init(ProcessGaps *gaps, Account *account);
void process_gaps_deinit(ProcessGaps *gaps);

/* True if there may have been a process gap in [begin, end]. */
bool process_gaps_touch(const ProcessGaps *gaps, uint64_t begin, uint64_t end);

/*
 * Reports a gap [begin, end]. The gap explains, and so replaces, the inferred gaps that it touches.
 */
void process_gaps_report(ProcessGaps *gaps, uint64_t begin, uint64_t end);
/* Reports a gap that has begun and has no end yet. */
void process_gaps_report_open(ProcessGaps *gaps, uint64_t begin);
/* Ends the open gap just before END. False if no gap was open that began by END. */
bool process_gaps_report_end(ProcessGaps *gaps, uint64_t end);

/* Makes the inference from the last rundown final, and forgets its unannounced bodies. */
void process_gaps_settle(ProcessGaps *gaps);
void process_gaps_add_unannounced(ProcessGaps *gaps, const UnannouncedBody *body);
/* The load of unannounced body I came shortly after its row, so that the body shows no gap. */
void process_gaps_remove_unannounced(ProcessGaps *gaps, guint i);
/* Sets the inference from the last rundown; the parameters are the fields of that name. */
void process_gaps_infer(ProcessGaps *gaps, uint64_t unannounced_since, uint64_t missing_since,
                        uint64_t end);
/* Adds a gap from a checkpoint. */
void process_gaps_restore(ProcessGaps *gaps, bool is_reported, Gap gap);
