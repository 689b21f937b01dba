/* SPDX-License-Identifier: MIT */

/*
 * Text as `perf script --ns` prints it, in the columns of perf 6.1, but with absolute addresses.
 * Later versions give the tid two more columns.
 */

#include "perf/form.h"
#include "perf/text-frame.h"

#include <stdlib.h>
#include <string.h>

#define NS 1000000000

/* A form's state must not be NULL; text has none. */
static void *text_new(void)
{
        return calloc(1, 1);
}

static void add_seconds(TextOut *out, uint64_t ns)
{
        char digits[10];
        uint64_t rest = ns % NS;
        unsigned i;

        text_out_decimal(out, ns / NS, 5);
        for (i = sizeof(digits); i-- > 1; rest /= 10)
                digits[i] = (char)('0' + rest % 10);
        digits[0] = '.';
        text_out_bytes(out, digits, sizeof(digits));
}

/* perf pads the thread's name unless the sample has a callchain. */
static void add_head(const FormContext *context, const BatchSample *sample)
{
        const char *comm = frames_get(context->frames, sample->comm).name;
        TextOut *out = context->out;
        size_t n;

        if (!sample->has_chain)
                for (n = strlen(comm); n < 16; n++)
                        text_out_bytes(out, " ", 1);
        text_out_text(out, comm);
        text_out_bytes(out, " ", 1);
        if (sample->tid < 0)
                text_out_text(out, "   -1");
        else
                text_out_decimal(out, (uint32_t)sample->tid, 5);
        text_out_bytes(out, " ", 1);
        if (sample->cpu != NO_CPU) {
                text_out_text(out, sample->cpu < 10 ? "[00" : sample->cpu < 100 ? "[0" : "[");
                text_out_decimal(out, (uint32_t)sample->cpu, 0);
                text_out_text(out, "] ");
        }
        add_seconds(out, sample->time);
        text_out_text(out, ": ");
        text_out_decimal(out, sample->period, 10);
        text_out_bytes(out, " ", 1);
        text_out_text(out, frames_get(context->frames, sample->event).name);
        text_out_text(out, ": ");
}

static bool text_add(void *state, const FormContext *context, const BatchSample *sample,
                     const Entry *entries)
{
        size_t i;

        add_head(context, sample);
        if (sample->has_chain)
                text_out_bytes(context->out, "\n", 1);
        for (i = 0; i < sample->n; i++) {
                const NamedFrame frame = frames_get(context->frames, entries[i].frame);

                text_out_bytes(context->out, sample->has_chain ? "\t" : " ", 1);
                text_frame_put(context->out, &entries[i], &frame, context->settings->has_tier,
                               context->settings->has_source);
        }
        if (sample->has_chain)
                text_out_bytes(context->out, "\n", 1);
        return true;
}

static bool text_forget(void *state, const FormContext *context)
{
        return true;
}

const Form form_text = {text_new, text_add, text_forget, text_forget, free};
