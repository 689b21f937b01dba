/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Form: how named samples are printed, while perf reads them. Forms that need all samples at once
 * are in src/profile; src/cli/perf.c lists both.
 */

#include "batch.h"
#include "frames.h"
#include "text-out.h"
#include "settings.h"

typedef struct FormContext {
        const Settings *settings; /* all borrowed */
        const Frames *frames;
        TextOut *out;
} FormContext;

/* Functions return false if there is no memory. Write errors stay in the TextOut. */
typedef struct Form {
        /* The form's state, owned by the caller; NULL if there is no memory. */
        void *(*new)(void);
        bool (*add)(void *state, const FormContext *context, const Sample *sample,
                    const Entry *entries);
        /* Frames are numbered again from now on. */
        bool (*forget)(void *state, const FormContext *context);
        bool (*end)(void *state, const FormContext *context);
        void (*free)(void *state);
} Form;

extern const Form form_text, form_folded, form_stream;
