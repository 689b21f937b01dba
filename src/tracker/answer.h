/* SPDX-License-Identifier: MIT */
#pragma once

/* Answer: the body at an address of a process at a time, or the reason why it is not known */

#include "tracker/tracker.h"

typedef enum AnswerStatus {
        ANSWER_OK,
        ANSWER_NO_PROCESS,
        ANSWER_NO_METHOD, /* no body was ever there */
        ANSWER_UNLOADED,  /* a body was there earlier */
        ANSWER_NOT_YET,   /* a body is there later */
        ANSWER_AMBIGUOUS, /* several bodies were there, or several processes have the pid */
        ANSWER_PENDING,   /* the time asked about is past the horizon, and no body is known there */
        ANSWER_EVICTED,   /* the body there was evicted to save memory */
        ANSWER_INVALID,   /* the question is malformed */
        _ANSWER_STATUS_MAX,
} AnswerStatus;

/* Best first. */
typedef enum Confidence {
        CONFIDENCE_EXACT,
        CONFIDENCE_ASSUMED,     /* the start or the end of its life was not seen */
        CONFIDENCE_PROVISIONAL, /* past the horizon: later events may change the answer */
        CONFIDENCE_GAP,         /* events that could change the answer may have been lost */
        _CONFIDENCE_MAX,
} Confidence;

typedef struct Question {
        int32_t pid;
        bool has_pid_ns; /* else any namespace, if only one has the pid */
        uint64_t pid_ns;
        uint64_t address;
        bool has_time; /* else the newest state */
        uint64_t time;
        uint64_t asked; /* ns: without a time, when the question came; 0: none, as for a trace */
} Question;

/* For hash tables with keys of type Question *. */
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

/* No form of an answer lists more. */
#define ANSWER_MAX_BODIES 17u

typedef struct Answer {
        AnswerStatus status;
        Confidence confidence;
        const Process *process; /* borrowed; NULL with NO_PROCESS and among several processes */
        const Body *body;       /* with OK */
        const Body *nearest;    /* with UNLOADED and NOT_YET; with PENDING if a nearest body is
                                 * known */
        /* ns from the time asked about to the nearest body's life; negative: that life is over */
        int64_t distance;
        /*
         * Owned or NULL. AMBIGUOUS: the newest ANSWER_MAX_BODIES bodies, newest first, and their
         * number (at most PAGEINDEX_MAX_COUNT, which means that many or more).
         */
        GPtrArray *bodies;
        size_t n_bodies;
        GPtrArray *processes; /* owned or NULL; AMBIGUOUS: one of each namespace */
        uint64_t horizon;
        /*
         * Question without a time: earlier events of a running process may still arrive, and the
         * answer is not a living body.
         */
        bool is_early;
} Answer;

/*
 * Returns how many of the questions were answered. With TURN_END (us of g_get_monotonic_time(); 0:
 * none) it stops at that time, after at least one answer. Free each answer's contents with
 * answer_clear(). Many questions at once are much faster than one by one.
 */
size_t answer_questions(const Tracker *tracker, const Viewer *viewer, const Question *questions,
                        size_t n, int64_t turn_end, Answer *ret_answers);
void answer_question(const Tracker *tracker, const Viewer *viewer, const Question *question,
                     Answer *ret_answer);
void answer_clear(Answer *answer);
/*
 * A caller can wait until the horizon reaches this time, because later events may change the
 * answer; 0: the answer is final.
 */
uint64_t answer_wait_time(const Question *question, const Answer *answer);

bool viewer_sees(const Viewer *viewer, const Process *process);
/* True if the viewer sees a process with that key. */
bool viewer_knows(const Viewer *viewer, const Tracker *tracker, const ProcessKey *key);

const char *answer_status_name(AnswerStatus status);
const char *confidence_name(Confidence confidence);
const char *body_source_name(BodySource source);
