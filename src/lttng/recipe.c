/* SPDX-License-Identifier: MIT */
#include "lttng/recipe.h"

#include <glib.h>
#include <string.h>

const RecipeEvent RECIPE_EVENTS[] = {
        {"DotNETRuntime:Method*", true},
        {"DotNETRuntime:Module*", true},
        {"DotNETRuntime:RuntimeInformation*", true},
        {"DotNETRuntime:AppDomain*", true},
        {"DotNETRuntime:R2RGetEntryPoint*", true},
        {"DotNETRuntimeRundown:*", true},
        {"DotNETRuntime:Assembly*", false},
        {"DotNETRuntime:Tiered*", false},
        {"DotNETRuntime:ILStubGenerated", false},
        {"DotNETRuntime:BulkType", false},
        {"DotNETRuntimePrivate:JittedMethodRichDebugInfo", false},
};
const size_t RECIPE_N_EVENTS = G_N_ELEMENTS(RECIPE_EVENTS);

const RecipeContext RECIPE_CONTEXTS[] = {
        {LTTNG_EVENT_CONTEXT_VPID, "vpid", "vpid", true},
        {LTTNG_EVENT_CONTEXT_PID_NS, "pid_ns", "pid_ns", true},
        {LTTNG_EVENT_CONTEXT_VTID, "vtid", "vtid", false},
        {LTTNG_EVENT_CONTEXT_PROCNAME, "procname", "procname", false},
};
const size_t RECIPE_N_CONTEXTS = G_N_ELEMENTS(RECIPE_CONTEXTS);

bool recipe_covers(const char *pattern, const RecipeEvent *row)
{
        /* As a text, the row's own pattern is one of the names that it matches. */
        return g_pattern_match_simple(pattern, row->pattern);
}
