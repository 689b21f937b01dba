/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recipe: what a session records of .NET processes
 *
 * The events that report native code, its address and its name, and the contexts that identify the
 * process.
 * Without allocations, of which there are too many, and the runtime's Private provider.
 */

#include <lttng/lttng.h>
#include <stdbool.h>
#include <stddef.h>

#define RECIPE_CHANNEL  "methods"
#define RECIPE_PROVIDER "DotNETRuntime"
/* A session without these events is useless. */
#define RECIPE_MOST_WANTED "DotNETRuntime:MethodLoadVerbose_V1"

typedef struct RecipeEvent {
        const char *pattern; /* as LTTng takes it: provider:name, with * at its end */
        bool is_needed;      /* else some answers have less without it */
} RecipeEvent;

typedef struct RecipeContext {
        enum lttng_event_context_type type;
        const char *name;  /* as `lttng add-context --type` has it */
        const char *field; /* the name it has in a trace */
        bool is_needed;
} RecipeContext;

extern const RecipeEvent RECIPE_EVENTS[];
extern const size_t RECIPE_N_EVENTS;
extern const RecipeContext RECIPE_CONTEXTS[];
extern const size_t RECIPE_N_CONTEXTS;

/* Would an enabled event of that name or PATTERN let every event of ROW through? */
bool recipe_covers(const char *pattern, const RecipeEvent *row);
