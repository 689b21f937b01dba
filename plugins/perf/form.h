/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Form: how named samples are printed
 */

#include "batch.h"
#include "frames.h"
#include "out.h"
#include "settings.h"

typedef struct FormContext {
        const Settings *settings; /* all borrowed */
        const Frames *frames;
        Out *out;
} FormContext;

/* Functions return false if there is no memory; what cannot be written, Out keeps. */
typedef struct Form {
        /* State of the form, owned by who calls; NULL if there is no memory. */
        void *(*new)(void);
        bool (*add)(void *state, const FormContext *context, const Sample *sample,
                    const Entry *entries);
        /* The numbers of frames stand for others from now on. */
        bool (*forget)(void *state, const FormContext *context);
        bool (*end)(void *state, const FormContext *context);
        void (*free)(void *state);
} Form;

extern const Form form_text, form_folded, form_stream;
