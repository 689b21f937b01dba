/* SPDX-License-Identifier: MIT */
#include "profile/frame-share.h"

#include <string.h>

#define RUNTIME "libcoreclr.so"

/* Frames that make a stack the JIT's or the collector's, anywhere in it. */
static const struct {
        const char *name;
        Share share;
} MODULES[] = {
        {"libclrjit.so", SHARE_JIT},
        {"libclrgc.so", SHARE_GC},
        {"libclrgcexp.so", SHARE_GC},
};

/* The functions of collections, if libcoreclr.so has symbols; WKS:: and SVR:: are the collectors of
 * workstations and servers. Other functions of the collectors also serve allocations. */
static const char *const GC_SPACES[] = {"WKS::", "SVR::"};
static const char *const GC_FUNCTIONS[] = {
        "GCHeap::GarbageCollectGeneration",
        "gc_heap::garbage_collect",
        "gc_heap::gc1",
        "gc_heap::gc_thread_function",
        "gc_heap::bgc_thread_function",
        "gc_heap::background_gc",
};

/*
 * The search for a handler, and the unwinding to it: since .NET 9 these types, before that
 * functions of libcoreclr.so. They also call the handler, so they count only if no other managed
 * code is nearer to the leaf.
 */
static const char *const EXCEPTION_TYPES[] = {
        "System.Runtime.EH", "System.Runtime.StackFrameIterator", "System.Runtime.InternalCalls"};
static const char *const EXCEPTION_FUNCTIONS[] = {"IL_Throw", "IL_Rethrow", "ProcessCLRException",
                                                  "DispatchManagedException"};

/* NAME can have parameters. */
static bool function_collects(const char *name)
{
        size_t space, i;

        for (space = 0; space < G_N_ELEMENTS(GC_SPACES); space++) {
                const size_t n_space = strlen(GC_SPACES[space]);

                for (i = 0;
                     g_str_has_prefix(name, GC_SPACES[space]) && i < G_N_ELEMENTS(GC_FUNCTIONS);
                     i++)
                        if (g_str_has_prefix(name + n_space, GC_FUNCTIONS[i]) &&
                            strchr("(", name[n_space + strlen(GC_FUNCTIONS[i])]))
                                return true;
        }
        return false;
}

/* The runtime is in nearly every stack, so only its own time counts. */
static bool frame_is_runtime(const Frame *frame)
{
        g_autofree char *base = frame->module ? g_path_get_basename(frame->module) : NULL;

        return !g_strcmp0(base, RUNTIME);
}

/* True if NAME has the type, whose methods follow a point or two colons, in any style but the short
 * one. */
static bool name_is_of_type(const char *name, const char *type)
{
        const char *at = strstr(name, type);
        const char *end = at ? at + strlen(type) : NULL;

        return end && (at == name || at[-1] == ' ') && (*end == '.' || g_str_has_prefix(end, "::"));
}

bool frame_handles_exceptions(const Frame *frame)
{
        size_t i;

        if (frame->kind == FRAME_MANAGED)
                for (i = 0; i < G_N_ELEMENTS(EXCEPTION_TYPES); i++)
                        if (name_is_of_type(frame->name, EXCEPTION_TYPES[i]))
                                return true;
        if (frame->kind == FRAME_NATIVE && frame_is_runtime(frame))
                for (i = 0; i < G_N_ELEMENTS(EXCEPTION_FUNCTIONS); i++)
                        if (g_str_has_prefix(frame->name, EXCEPTION_FUNCTIONS[i]))
                                return true;
        return false;
}

Share frame_share(const Frame *frame)
{
        g_autofree char *base = NULL;
        size_t i;

        if (frame->kind == FRAME_COMM)
                return profile_comm_collects(frame->name) ? SHARE_GC : _SHARE_MAX;
        if (frame->kind == FRAME_SESSION)
                return SHARE_SESSION;
        if (frame->kind != FRAME_NATIVE || !frame->module)
                return _SHARE_MAX;
        base = g_path_get_basename(frame->module);
        for (i = 0; i < G_N_ELEMENTS(MODULES); i++)
                if (!strcmp(base, MODULES[i].name))
                        return MODULES[i].share;
        return frame_is_runtime(frame) && (g_str_has_prefix(frame->name, PROFILE_COLLECTION) ||
                                           function_collects(frame->name))
                       ? SHARE_GC
                       : _SHARE_MAX;
}

Share frame_leaf_share(const Frame *leaf)
{
        switch (leaf->kind) {
        case FRAME_MANAGED:
                return SHARE_MANAGED;
        case FRAME_NATIVE:
                return frame_is_runtime(leaf)                        ? SHARE_RUNTIME
                       : !g_strcmp0(leaf->name, PROFILE_NOT_MANAGED) ? SHARE_NOT_MANAGED
                                                                     : SHARE_NATIVE;
        case FRAME_KERNEL:
                return SHARE_KERNEL;
        case FRAME_UNKNOWN:
        case FRAME_SESSION:
        case _FRAME_KIND_MAX:
                break;
        }
        return SHARE_UNKNOWN;
}
