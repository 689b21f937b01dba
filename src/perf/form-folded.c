/* SPDX-License-Identifier: MIT */

/*
 * Folded stacks: a line for each stack, "comm;outermost;..;innermost 12"
 *
 * Stacks are counted until they reach a limit of memory. Then they are printed, and counting
 * restarts, because readers add up equal lines.
 */

#include "perf/form.h"
#include "perf/folded-labels.h"
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS (16u << 20) /* limit for all stacks: 64 MiB */

/* Labels: the thread's name first, the leaf last. */
typedef struct Stack {
        size_t first;
        uint32_t n;
        uint64_t count;
} Stack;

typedef struct Folded {
        FoldedLabels labels;
        Stack *stacks; /* owned */
        size_t n, n_stacks;
        uint32_t *words; /* owned: the labels of all stacks */
        size_t n_words, n_words_size;
        HashIndex index;
} Folded;

static void *folded_new(void)
{
        return calloc(1, sizeof(Folded));
}

static void folded_free(void *state)
{
        Folded *folded = state;

        if (folded) {
                folded_labels_deinit(&folded->labels);
                free(folded->stacks);
                free(folded->words);
                hash_index_deinit(&folded->index);
        }
        free(folded);
}

static bool equal_stack(const void *rows, uint32_t number, const void *key)
{
        const Folded *folded = rows;
        const Stack *stack = &folded->stacks[number], *other = key;

        return stack->n == other->n &&
               !memcmp(folded->words + stack->first, folded->words + other->first,
                       stack->n * sizeof(uint32_t));
}

/* Room for a stack of N words. */
static bool folded_make_room(Folded *folded, size_t n)
{
        return array_grow(&folded->stacks, &folded->n_stacks, folded->n + 1,
                          sizeof(*folded->stacks)) &&
               array_grow(&folded->words, &folded->n_words_size, folded->n_words + n,
                          sizeof(*folded->words));
}

static bool folded_forget(void *state, const FormContext *context)
{
        Folded *folded = state;
        size_t i;
        uint32_t j;

        for (i = 0; i < folded->n; i++) {
                const Stack *stack = &folded->stacks[i];

                for (j = 0; j < stack->n; j++) {
                        text_out_bytes(context->out, ";", j > 0);
                        text_out_text(context->out,
                                      folded_labels_text(&folded->labels,
                                                         folded->words[stack->first + j]));
                }
                text_out_bytes(context->out, " ", 1);
                text_out_decimal(context->out, stack->count, 0);
                text_out_bytes(context->out, "\n", 1);
        }
        folded->n = folded->n_words = 0;
        hash_index_clear(&folded->index);
        folded_labels_clear(&folded->labels);
        return true;
}

/* Writes the labels of a sample at the place of the next stack. */
static bool folded_put_words(Folded *folded, const FormContext *context, const BatchSample *sample,
                             const Entry *entries)
{
        uint32_t *word = folded->words + folded->n_words;
        size_t i;

        *word = folded_labels_comm(&folded->labels, context->frames, sample->comm);
        for (i = sample->n; i-- > 0 && *word != INDEX_NONE;)
                *++word = folded_labels_frame(&folded->labels, context->frames, entries[i].frame);
        return *word != INDEX_NONE;
}

static bool folded_add(void *state, const FormContext *context, const BatchSample *sample,
                       const Entry *entries)
{
        Folded *folded = state;
        Stack stack = {.n = (uint32_t)sample->n + 1, .count = 1};
        uint32_t number;
        uint64_t hash;

        folded->labels.is_annotated = context->settings->is_annotated;
        if (folded->n_words > MAX_WORDS)
                folded_forget(folded, context);
        if (!folded_make_room(folded, stack.n) ||
            !folded_put_words(folded, context, sample, entries))
                return false;
        stack.first = folded->n_words;
        hash = hash_index_bytes(0, folded->words + stack.first, stack.n * sizeof(uint32_t));
        number = hash_index_find(&folded->index, hash, equal_stack, folded, &stack);
        if (number != INDEX_NONE) {
                folded->stacks[number].count++;
                return true;
        }
        if (!hash_index_add(&folded->index, hash, (uint32_t)folded->n))
                return false;
        folded->stacks[folded->n++] = stack;
        folded->n_words += stack.n;
        return true;
}

const Form form_folded = {folded_new, folded_add, folded_forget, folded_forget, folded_free};
