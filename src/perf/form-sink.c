/* SPDX-License-Identifier: MIT */
#include "perf/form.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* A frame that has no number in the sink yet. */
#define NO_NUMBER UINT32_MAX

typedef struct SinkState {
        uint32_t *numbers; /* owned: the sink's numbers of frames, by number in Frames */
        size_t n;
        uint32_t next;
        uint32_t *stack; /* owned: the frames of a sample */
        size_t n_stack;
} SinkState;

static void *sink_new(void)
{
        return calloc(1, sizeof(SinkState));
}

static void sink_free(void *state)
{
        SinkState *sink = state;

        if (sink) {
                free(sink->numbers);
                free(sink->stack);
        }
        free(sink);
}

/* Makes room for N numbers at *ROW, which has room for *N_ROW. */
static bool sink_make_room(uint32_t **row, size_t *n_row, size_t n)
{
        const size_t n_old = *n_row;

        if (!array_grow(row, n_row, n, sizeof(**row)))
                return false;
        if (*n_row > n_old)
                memset(*row + n_old, 0xff, (*n_row - n_old) * sizeof(**row));
        return true;
}

/* Removes the kernel's mark of a deleted file. The caller frees it; NULL: no memory. */
static char *sink_module(const char *module)
{
        static const char DELETED[] = " (deleted)";
        const size_t n = strlen(module), n_mark = sizeof(DELETED) - 1;

        return n > n_mark && !strcmp(module + n - n_mark, DELETED) ? strndup(module, n - n_mark)
                                                                   : strdup(module);
}

static bool sink_put_frame(SinkState *state, const FormContext *context, uint32_t number)
{
        NamedFrame frame = frames_get(context->frames, number);
        char *module = NULL;

        if (state->numbers[number] != NO_NUMBER)
                return true;
        if (frame.module && !(module = sink_module(frame.module)))
                return false;
        frame.module = module;
        context->sink->frame(context->sink->data, &frame);
        free(module);
        state->numbers[number] = state->next++;
        return true;
}

static bool sink_add(void *data, const FormContext *context, const BatchSample *sample,
                     const Entry *entries)
{
        SinkState *state = data;
        size_t i;

        if (!sink_make_room(&state->numbers, &state->n, context->frames->n) ||
            !sink_make_room(&state->stack, &state->n_stack, sample->n))
                return false;
        for (i = 0; i < sample->n; i++) {
                if (!sink_put_frame(state, context, entries[i].frame))
                        return false;
                state->stack[i] = state->numbers[entries[i].frame];
        }
        if (context->sink->entries)
                context->sink->entries(context->sink->data, entries, sample->n);
        context->sink->sample(
                context->sink->data, sample, frames_get(context->frames, sample->comm).name,
                frames_get(context->frames, sample->event).name, state->stack, sample->n);
        return true;
}

static bool sink_forget(void *data, const FormContext *context)
{
        SinkState *state = data;

        if (state->n)
                memset(state->numbers, 0xff, state->n * sizeof(*state->numbers));
        return true;
}

static bool sink_end(void *data, const FormContext *context)
{
        return true;
}

const Form form_sink = {sink_new, sink_add, sink_forget, sink_end, sink_free};
