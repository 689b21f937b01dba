/* SPDX-License-Identifier: MIT */
#include "ctf/resolve.h"

#include "ctf/error.h"

#include <string.h>

/* A structure being walked, and the present member. */
typedef struct ResolveFrame {
        const CtfClass *structure;
        guint index;
} ResolveFrame;

typedef struct CtfResolver {
        CtfClass *roots[_CTF_SCOPE_MAX]; /* NULL: the event has none */
        CtfScope scope;                  /* of the root being walked */
        ResolveFrame frames[CTF_MAX_DEPTH * 2];
        unsigned n_frames;
        const char *event; /* for messages */
        GError **error;
} CtfResolver;

static bool resolver_fail(CtfResolver *resolver, CtfError code, const char *what, const char *path)
{
        g_autofree char *text = g_strdelimit(g_strdup(path), (char[]){CTF_PATH_SEPARATOR, 0}, '.');

        g_set_error(resolver->error, CTF_ERROR, code, "metadata: event \"%s\": %s \"%s\"",
                    resolver->event, what, text);
        return false;
}

static int member_index(const CtfClass *class, const char *declared)
{
        guint i;

        if (!class || class->kind != CTF_KIND_STRUCTURE)
                return -1;
        for (i = 0; i < class->members->len; i++)
                if (!strcmp(g_array_index(class->members, CtfMember, i).declared, declared))
                        return (int)i;
        return -1;
}

/*
 * The field at PATH below STRUCTURE; FRAME is the number of its frame if it is being walked, else
 * -1.
 */
static CtfClass *resolver_descend(const CtfResolver *resolver, CtfClass *structure, int frame,
                                  char **path)
{
        CtfClass *class = structure;

        for (; *path; path++) {
                int i = member_index(class, *path);

                if (i < 0)
                        return NULL;
                /* A field that is read later has no value yet. */
                if (frame >= 0 && frame < (int)resolver->n_frames &&
                    resolver->frames[frame].structure == class) {
                        guint now = resolver->frames[frame].index;

                        if ((guint)i > now || ((guint)i == now && !path[1]))
                                return NULL;
                        frame = (guint)i == now ? frame + 1 : -1;
                } else {
                        frame = -1;
                }
                /* On the way to the present field: through this element, and this option. */
                class = frame > 0 && frame < (int)resolver->n_frames
                                ? (CtfClass *)resolver->frames[frame].structure
                                : g_array_index(class->members, CtfMember, i).class;
        }
        return class;
}

static CtfClass *resolver_in_scope(const CtfResolver *resolver, CtfScope scope, char **path)
{
        if (scope > resolver->scope || !resolver->roots[scope] || !*path)
                return NULL;
        return resolver_descend(resolver, resolver->roots[scope], scope == resolver->scope ? 0 : -1,
                                path);
}

/* Parses "stream.event.header.id" and the like: *PATH moves past the name of the scope. */
static CtfScope resolver_named_scope(char ***path)
{
        static const struct {
                const char *names[4];
                CtfScope scope;
        } SCOPES[] = {
                {{"trace", "packet", "header"}, CTF_SCOPE_PACKET_HEADER},
                {{"stream", "packet", "context"}, CTF_SCOPE_PACKET_CONTEXT},
                {{"stream", "event", "header"}, CTF_SCOPE_EVENT_HEADER},
                {{"stream", "event", "context"}, CTF_SCOPE_EVENT_CONTEXT},
                {{"event", "context"}, CTF_SCOPE_SPECIFIC_CONTEXT},
                {{"event", "fields"}, CTF_SCOPE_PAYLOAD},
        };
        size_t i, n;

        for (i = 0; i < G_N_ELEMENTS(SCOPES); i++) {
                for (n = 0; SCOPES[i].names[n]; n++)
                        if (g_strcmp0((*path)[n], SCOPES[i].names[n]))
                                break;
                if (!SCOPES[i].names[n]) {
                        *path += n;
                        return SCOPES[i].scope;
                }
        }
        return _CTF_SCOPE_MAX;
}

static CtfClass *resolver_find(CtfResolver *resolver, const CtfClass *class)
{
        g_auto(GStrv) names = g_strsplit(class->path, (char[]){CTF_PATH_SEPARATOR, 0}, -1);
        char **path = names;
        CtfScope scope = class->origin;
        CtfClass *found;
        int i;

        if (scope != _CTF_SCOPE_MAX)
                return resolver_in_scope(resolver, scope, path);
        scope = resolver_named_scope(&path);
        if (scope != _CTF_SCOPE_MAX)
                return resolver_in_scope(resolver, scope, path);
        for (i = (int)resolver->n_frames - 1; i >= 0; i--) {
                found = resolver_descend(resolver, (CtfClass *)resolver->frames[i].structure, i,
                                         path);
                if (found)
                        return found;
        }
        for (i = (int)resolver->scope - 1; i >= 0; i--) {
                found = resolver_in_scope(resolver, (CtfScope)i, path);
                if (found)
                        return found;
        }
        return NULL;
}

static bool resolver_refer(CtfResolver *resolver, CtfClass *class)
{
        CtfClass *found = class->path ? resolver_find(resolver, class) : NULL;

        if (!class->path)
                return resolver_fail(resolver, CTF_ERROR_UNSUPPORTED,
                                     "a variant without a selector", "");
        if (!found || found->kind != CTF_KIND_INTEGER ||
            (class->kind == CTF_KIND_SEQUENCE && found->is_signed))
                return resolver_fail(resolver, CTF_ERROR_DAMAGED, "no earlier integer of the name",
                                     class->path);
        class->reference = found;
        found->slot = 0; /* keep its value */
        return true;
}

/* TSDL names an option after the label of its selector's values. */
static bool resolver_set_ranges(CtfResolver *resolver, CtfClass *variant)
{
        guint i, k;

        for (i = 0; i < variant->members->len; i++) {
                CtfMember *option = &g_array_index(variant->members, CtfMember, i);

                if (option->ranges)
                        continue;
                if (!variant->reference->labels)
                        return resolver_fail(resolver, CTF_ERROR_DAMAGED,
                                             "a selector without labels", variant->path);
                option->ranges = g_array_new(FALSE, FALSE, sizeof(CtfRange));
                for (k = 0; k < variant->reference->labels->len; k++) {
                        const CtfLabel *label =
                                &g_array_index(variant->reference->labels, CtfLabel, k);

                        if (!strcmp(label->name, option->declared))
                                g_array_append_val(option->ranges, label->range);
                }
        }
        return true;
}

static bool resolver_walk(CtfResolver *resolver, CtfClass *class)
{
        guint i;

        switch (class->kind) {
        case CTF_KIND_STRUCTURE:
                if (resolver->n_frames == G_N_ELEMENTS(resolver->frames))
                        return resolver_fail(resolver, CTF_ERROR_UNSUPPORTED,
                                             "fields that are nested too deep", "");
                resolver->frames[resolver->n_frames++] = (ResolveFrame){.structure = class};
                for (i = 0; i < class->members->len; i++) {
                        resolver->frames[resolver->n_frames - 1].index = i;
                        if (!resolver_walk(resolver,
                                           g_array_index(class->members, CtfMember, i).class))
                                return false;
                }
                resolver->n_frames--;
                return true;
        case CTF_KIND_ARRAY:
                return resolver_walk(resolver, class->element);
        case CTF_KIND_SEQUENCE:
                return resolver_refer(resolver, class) && resolver_walk(resolver, class->element);
        case CTF_KIND_VARIANT:
                if (!resolver_refer(resolver, class) || !resolver_set_ranges(resolver, class))
                        return false;
                for (i = 0; i < class->members->len; i++)
                        if (!resolver_walk(resolver,
                                           g_array_index(class->members, CtfMember, i).class))
                                return false;
                return true;
        default:
                return true;
        }
}

static bool resolver_walk_root(CtfResolver *resolver, CtfScope scope, CtfClass *root)
{
        resolver->roots[scope] = root;
        resolver->scope = scope;
        resolver->n_frames = 0;
        return !root || resolver_walk(resolver, root);
}

static bool resolve_stream(CtfTraceClass *trace, CtfStreamClass *stream, GError **error)
{
        CtfResolver resolver = {.event = "", .error = error};
        GHashTableIter iter;
        void *value;

        if (!resolver_walk_root(&resolver, CTF_SCOPE_PACKET_HEADER, trace->packet_header) ||
            !resolver_walk_root(&resolver, CTF_SCOPE_PACKET_CONTEXT, stream->packet_context) ||
            !resolver_walk_root(&resolver, CTF_SCOPE_EVENT_HEADER, stream->event_header) ||
            !resolver_walk_root(&resolver, CTF_SCOPE_EVENT_CONTEXT, stream->event_context))
                return false;
        g_hash_table_iter_init(&iter, stream->events);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                CtfEventClass *event = value;

                resolver.event = event->name;
                if (!resolver_walk_root(&resolver, CTF_SCOPE_SPECIFIC_CONTEXT,
                                        event->specific_context) ||
                    !resolver_walk_root(&resolver, CTF_SCOPE_PAYLOAD, event->payload))
                        return false;
        }
        return true;
}

bool ctf_resolve(CtfTraceClass *trace, GError **error)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, trace->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (!resolve_stream(trace, value, error))
                        return false;
        return true;
}
