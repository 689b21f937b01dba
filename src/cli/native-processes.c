/* SPDX-License-Identifier: MIT */
#include "cli/native-processes.h"

typedef struct NativeProcess {
        int32_t pid;
        bool has_pid_ns;
        uint64_t pid_ns;
        NativeNames *names; /* owned; NULL: the process does not run */
} NativeProcess;

struct NativeProcesses {
        clrsym *handle;         /* borrowed */
        const Options *options; /* borrowed */
        GArray *rows;           /* owned, of NativeProcess, the oldest one first */
};

static void native_process_clear(gpointer data)
{
        native_names_free(((NativeProcess *)data)->names);
}

NativeProcesses *native_processes_new(clrsym *handle, const Options *options)
{
        NativeProcesses *processes = g_new0(NativeProcesses, 1);

        processes->handle = handle;
        processes->options = options;
        processes->rows = g_array_new(FALSE, FALSE, sizeof(NativeProcess));
        g_array_set_clear_func(processes->rows, native_process_clear);
        return processes;
}

void native_processes_free(NativeProcesses *processes)
{
        if (!processes)
                return;
        g_array_unref(processes->rows);
        g_free(processes);
}

void native_processes_refresh(NativeProcesses *processes)
{
        guint i;

        for (i = processes->rows->len; i > 0; i--) {
                const NativeProcess *row = &g_array_index(processes->rows, NativeProcess, i - 1);

                if (!row->names || native_names_have_ended(row->names))
                        g_array_remove_index(processes->rows, i - 1);
                else
                        native_names_refresh(row->names);
        }
}

/* The process of a query, and whether it runs. */
typedef struct RunningProcess {
        const clrsym_query *query;
        bool is_running;
} RunningProcess;

static int native_processes_take(const clrsym_process *process, void *data)
{
        RunningProcess *running = data;
        const clrsym_query *query = running->query;

        if (process->pid == query->pid && (!query->has_pid_ns || process->pid_ns == query->pid_ns))
                running->is_running |= process->is_running;
        return running->is_running;
}

/* A recorded process has no mappings, although another one can have its pid now. */
static NativeNames *native_processes_open(const NativeProcesses *processes,
                                          const clrsym_query *query)
{
        RunningProcess running = {.query = query};

        if (clrsym_processes(processes->handle, native_processes_take, &running) < 0 ||
            !running.is_running)
                return NULL;
        return native_names_new(query, processes->options);
}

static NativeNames *native_processes_of(NativeProcesses *processes, const clrsym_query *query)
{
        NativeProcess added = {query->pid, query->has_pid_ns, query->pid_ns, NULL};
        guint i;

        for (i = 0; i < processes->rows->len; i++) {
                const NativeProcess *row = &g_array_index(processes->rows, NativeProcess, i);

                if (row->pid == query->pid && row->has_pid_ns == query->has_pid_ns &&
                    row->pid_ns == query->pid_ns)
                        return row->names;
        }
        if (processes->rows->len == NATIVE_PROCESSES_MAX)
                g_array_remove_index(processes->rows, 0);
        added.names = native_processes_open(processes, query);
        g_array_append_val(processes->rows, added);
        return added.names;
}

bool native_processes_find(NativeProcesses *processes, const clrsym_query *query, NativeName *ret)
{
        NativeNames *names = query->has_time ? NULL : native_processes_of(processes, query);

        return names && native_names_find(names, query->address, ret);
}
