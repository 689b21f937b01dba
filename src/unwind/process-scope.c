/* SPDX-License-Identifier: MIT */
#include "unwind/process-scope.h"

#include "perfdata/perf-data.h"

#include <glib.h>

/* Whether the process with a pid belongs to the recording, from TIME on. */
typedef struct ScopeChange {
        uint64_t time;
        bool is_inside;
} ScopeChange;

struct ProcessScope {
        GHashTable *changes; /* int32_t pid -> owned GArray of ScopeChange, by time */
};

static void scope_add(ProcessScope *scope, int32_t pid, uint64_t time, bool is_inside)
{
        GArray *changes = g_hash_table_lookup(scope->changes, GINT_TO_POINTER(pid));
        const ScopeChange change = {time, is_inside};

        if (!changes) {
                changes = g_array_new(FALSE, FALSE, sizeof(ScopeChange));
                g_hash_table_insert(scope->changes, GINT_TO_POINTER(pid), changes);
        }
        g_array_append_val(changes, change);
}

ProcessScope *process_scope_new(const pid_t *pids, size_t n)
{
        ProcessScope *scope = g_new(ProcessScope, 1);
        size_t i;

        scope->changes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        for (i = 0; i < n; i++)
                scope_add(scope, pids[i], 0, true);
        return scope;
}

void process_scope_free(ProcessScope *scope)
{
        if (!scope)
                return;
        g_hash_table_unref(scope->changes);
        g_free(scope);
}

bool process_scope_has(const ProcessScope *scope, int32_t pid, uint64_t time)
{
        const GArray *changes = g_hash_table_lookup(scope->changes, GINT_TO_POINTER(pid));
        guint i;

        for (i = changes ? changes->len : 0; i > 0; i--) {
                const ScopeChange *change = &g_array_index(changes, ScopeChange, i - 1);

                if (change->time <= time)
                        return change->is_inside;
        }
        return false;
}

bool process_scope_had(const ProcessScope *scope, int32_t pid)
{
        return g_hash_table_contains(scope->changes, GINT_TO_POINTER(pid));
}

void process_scope_take(ProcessScope *scope, const struct perf_event_header *record)
{
        ForkRecord fork;
        bool is_inside;

        /* Else it is a new thread, or a child that ran before. */
        if (!fork_record_read(&fork, record) || fork.pid == fork.parent || !fork.time)
                return;
        is_inside = process_scope_has(scope, (int32_t)fork.parent, fork.time);
        if (process_scope_has(scope, (int32_t)fork.pid, fork.time) != is_inside)
                scope_add(scope, (int32_t)fork.pid, fork.time, is_inside);
}
