/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer: what was at an address of a process at a time, or the reason why that is not known
 */

#include "tracker/tracker.h"

typedef enum AnswerStatus {
        ANSWER_OK,
        ANSWER_NO_PROCESS,
        ANSWER_NO_METHOD, /* nothing was ever there */
        ANSWER_UNLOADED,  /* something was, earlier */
        ANSWER_NOT_YET,   /* something is, later */
        ANSWER_AMBIGUOUS, /* several bodies were there, or several processes have the pid */
        ANSWER_PENDING,   /* the moment meant is past the horizon, and nothing is known there */
        ANSWER_EVICTED,   /* what was there has been forgotten, to save memory */
        ANSWER_INVALID,   /* the question is malformed */
        _ANSWER_STATUS_MAX,
} AnswerStatus;

/* From best to worst. */
typedef enum Confidence {
        CONFIDENCE_EXACT,
        CONFIDENCE_ASSUMED,     /* its start of life, or its end, was not seen */
        CONFIDENCE_PROVISIONAL, /* that moment is past the horizon: events to come may change it */
        CONFIDENCE_GAP,         /* events that could change it may have been lost */
        _CONFIDENCE_MAX,
} Confidence;

typedef struct Question {
        int32_t pid;
        bool has_pid_ns; /* else any namespace, if only one has the pid */
        uint64_t pid_ns;
        uint64_t address;
        bool has_time; /* else the newest state */
        uint64_t time;
        uint64_t
                asked; /* ns, without a time: the moment of the question; 0: none, as for a trace */
} Question;

/* Hash tables take these for keys that are Question *. */
guint question_hash(gconstpointer question);
gboolean question_equal(gconstpointer a, gconstpointer b);

/* The user who asks: which processes are visible, and what a pid without a namespace means. */
typedef struct Viewer {
        bool sees_all;
        uint32_t uid;    /* else those of this user */
        uint64_t pid_ns; /* of the viewer; 0: not known, as for a trace */
        /*
         * Or NULL. Sets the running process that has that pid in the viewer's namespace. False if
         * there is none: then the question is about any process that had the pid, in any
         * namespace.
         */
        bool (*find)(void *data, int32_t pid, ProcessKey *ret_key);
        void *data;
} Viewer;

/* More than any form of an answer lists. */
#define ANSWER_MAX_BODIES 17u

typedef struct Answer {
        AnswerStatus status;
        Confidence confidence;
        const Process *process; /* borrowed; NULL with NO_PROCESS and among several processes */
        const Body *body;       /* with OK */
        const Body *nearest;    /* with UNLOADED, NOT_YET, and PENDING where there is one */
        /* ns from the time asked about to the nearest body's life: negative if that is over. */
        int64_t distance;
        /* Owned or NULL; AMBIGUOUS: the newest ANSWER_MAX_BODIES, newest first, and how many there
         * are (PAGEINDEX_MAX_COUNT: so many or more). */
        GPtrArray *bodies;
        size_t n_bodies;
        GPtrArray *processes; /* owned or NULL; AMBIGUOUS: one of each namespace */
        uint64_t horizon;
        /* To a question without a time: what a running process did before it may still arrive, and
         * the answer is not a body that is alive. */
        bool is_early;
} Answer;

/*
 * Returns how many of the questions are answered: all, but at least one if TURN_END (us of
 * g_get_monotonic_time(); 0: never) comes before that. Clear each answer with answer_clear(). Many
 * at once are much faster than one by one.
 */
size_t answer_questions(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                        size_t n, int64_t turn_end, Answer *ret_answers);
void answer_question(const Tracker *tracker, const Viewer *viewer, const Question *question,
                     Answer *ret_answer);
void answer_clear(Answer *answer);
/*
 * The time for whose horizon it is worth while to wait, because events to come may change the
 * answer; 0: none.
 */
uint64_t answer_wait_time(const Question *question, const Answer *answer);

bool viewer_sees(const Viewer *viewer, const Process *process);
/* True if the viewer sees a process with that key. */
bool viewer_knows(const Viewer *viewer, const Tracker *tracker, const ProcessKey *key);

const char *answer_status_name(AnswerStatus status);
const char *confidence_name(Confidence confidence);
const char *body_source_name(BodySource source);
