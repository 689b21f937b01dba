/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Form: an output format, printed while perf reads samples. Forms that need all samples at once are
 * in src/profile. namer.c lists the first, src/profile/write.c the others.
 */

#include "perf/batch.h"
#include "perf/frames.h"
#include "perf/sample-sink.h"
#include "perf/text-out.h"
#include "perf/settings.h"

typedef struct FormContext {
        const Settings *settings; /* all borrowed */
        const Frames *frames;
        TextOut *out;
        const SampleSink *sink; /* FORM_SINK: receives the samples */
} FormContext;

/* Functions return false without memory. The TextOut keeps write errors. */
typedef struct Form {
        /* The form's state, owned by the caller; NULL if there is no memory. */
        void *(*new)(void);
        bool (*add)(void *state, const FormContext *context, const BatchSample *sample,
                    const Entry *entries);
        /* The Frames are cleared: numbers start again. False: no memory. */
        bool (*forget)(void *state, const FormContext *context);
        bool (*end)(void *state, const FormContext *context);
        void (*free)(void *state);
} Form;

extern const Form form_text, form_folded, form_sink;
