/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recipe: the events and contexts that a session records of .NET processes
 *
 * The events report native code, its address and its name; the contexts identify the process.
 * Allocations, which are too many, and the runtime's Private provider are left out.
 */

#include <lttng/lttng.h>
#include <stdbool.h>
#include <stddef.h>

#define RECIPE_CHANNEL  "methods"
#define RECIPE_PROVIDER "DotNETRuntime"
/* A session without these events is useless. */
#define RECIPE_MOST_WANTED "DotNETRuntime:MethodLoadVerbose_V1"

typedef struct RecipeEvent {
        const char *pattern; /* in LTTng's form: provider:name, with * at its end */
        bool is_needed;      /* false: without it, only some answers have less */
} RecipeEvent;

typedef struct RecipeContext {
        enum lttng_event_context_type type;
        const char *name;  /* in the form of `lttng add-context --type` */
        const char *field; /* its name in a trace */
        bool is_needed;
} RecipeContext;

extern const RecipeEvent RECIPE_EVENTS[];
extern const size_t RECIPE_N_EVENTS;
extern const RecipeContext RECIPE_CONTEXTS[];
extern const size_t RECIPE_N_CONTEXTS;

/* Would an enabled event of that name or PATTERN let every event of ROW through? */
bool recipe_covers(const char *pattern, const RecipeEvent *row);
