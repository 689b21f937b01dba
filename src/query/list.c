/* SPDX-License-Identifier: MIT */
#include "query/list.h"

/* Most rows of a part; when a part reaches this many bytes, it ends. */
#define MAX_ROWS       1000
#define MAX_PART_BYTES (1u << 20)
/* Processes and bodies handled between two checks of the clock. */
#define STRIDE 64

void list_begin(List *list, Call *call, const char *member)
{
        *list = (List){.call = call};
        if (!call->progress->n_rows)
                g_string_append_printf(call->out, "{\"%s\":[", member);
        /* Count a part without rows as begun, because its first bytes are written. */
        call->progress->n_rows = MAX(call->progress->n_rows, 1);
}

/* Sets where the list continues in another part or turn. */
static bool list_pause(List *list, QueryNext next)
{
        QueryProgress *progress = list->call->progress;

        list->call->next = next;
        progress->is_begun = true;
        progress->serial = list->at.serial;
        progress->number = list->at.number;
        progress->time = list->at.time;
        return false;
}

bool list_has_time(List *list)
{
        return ++list->n_looks % STRIDE || !call_is_turn_over(list->call) ||
               list_pause(list, QUERY_AGAIN);
}

bool list_row(List *list)
{
        Call *call = list->call;
        unsigned n_rows = call->progress->n_rows - 1;

        if (call->is_more && (n_rows == MAX_ROWS || call->out->len > MAX_PART_BYTES))
                return list_pause(list, QUERY_MORE);
        if (call_is_too_long(call, "16 MiB a reply: set \"more\", then a list comes in parts") ||
            !list_has_time(list))
                return false;
        if (n_rows)
                g_string_append_c(call->out, ',');
        call->progress->n_rows++;
        return true;
}

void list_end(List *list)
{
        if (list->call->next != QUERY_AGAIN)
                g_string_append(list->call->out, "]}");
}

void list_processes(List *list, const ProcessFilter *filter, ListProcess list_process,
                    const void *data)
{
        const Call *call = list->call;
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const QueryProgress from = *call->progress;
        guint i;

        for (i = tracker_process_index(call->context->tracker, from.serial); i < processes->len;
             i++) {
                const Process *process = processes->pdata[i];

                list->at = (ListPlace){.serial = process->serial};
                if (process->serial == from.serial)
                        list->at.number = from.number;
                if (!list_has_time(list))
                        break;
                if (process_filter_matches(filter, &call->context->viewer, process) &&
                    !list_process(list, process, list->at.number, data))
                        break;
        }
        list_end(list);
}
