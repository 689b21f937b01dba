/* SPDX-License-Identifier: MIT */
#include "tracker/edits.h"

#include "event/method-flags.h"

#include <string.h>

#define UPDATER_TYPE   "System.Reflection.Metadata.MetadataUpdater"
#define UPDATER_METHOD "ApplyUpdate"

/* Only code of a debug build, which is never optimized, can be edited. */
static bool body_is_editable(const Body *body)
{
        return body->flags & METHOD_FLAG_JITTED && !(body->flags & METHOD_FLAG_DYNAMIC) &&
               (body->flags >> METHOD_TIER_SHIFT & METHOD_TIER_MASK) == METHOD_TIER_MIN_OPT_JITTED;
}

void edits_mark(const Process *process, Body *incoming)
{
        const Body *other;

        if (!body_is_editable(incoming) || incoming->rejit_id)
                return;
        other = codemap_method(process->map, incoming->method_id, 0);
        if (other && other->start != incoming->start && body_is_editable(other) &&
            other->token == incoming->token)
                incoming->flags |= METHOD_FLAG_EDITED;
}

static bool name_is(const Process *process, Str name, const char *wanted)
{
        const char *text = name ? strtab_text(process->names, name) : NULL;

        return text && !strcmp(text, wanted);
}

void edits_note(Process *process, const Body *body)
{
        if (!name_is(process, body->name, UPDATER_METHOD) ||
            !name_is(process, body->name_space, UPDATER_TYPE))
                return;
        /* A rundown lists the method after its call, at an unknown time. */
        process->edited =
                MIN(process->edited, body->source == BODY_SOURCE_RUNDOWN ? 0 : body_seen(body));
}

bool edits_concern(const Process *process, const Body *body)
{
        return body_is_editable(body) &&
               (body->flags & METHOD_FLAG_EDITED || body_seen(body) >= process->edited);
}
