/* SPDX-License-Identifier: MIT */

/*
 * Status and Metrics: counters, as JSON and as OpenMetrics
 */

#include "query/status.h"

#include "query/call.h"
#include "util/json-text.h"
#include "wire/bulk.h"
#include "wire/ingest.h"

#include <inttypes.h>

/* Processes counted between two checks of the clock. */
#define STRIDE 64

static void totals_add(Totals *totals, const Process *process)
{
        totals->n_processes++;
        totals->n_bodies += codemap_n_bodies(process->map);
        totals->n_live += codemap_n_live(process->map);
        totals->n_silent += process->gaps.open_since != BODY_FOREVER;
        if (process->exit == BODY_FOREVER)
                totals->horizon = MIN(totals->horizon, process_horizon(process));
}

bool totals_count(Totals *totals, const QueryContext *context)
{
        const GPtrArray *processes = tracker_processes(context->tracker);
        guint first = tracker_process_index(context->tracker, totals->serial), i;

        for (i = first; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                totals->serial = process->serial;
                if (i > first && (i - first) % STRIDE == 0 && context->turn_end &&
                    g_get_monotonic_time() >= context->turn_end)
                        return false;
                if (viewer_sees(&context->viewer, process))
                        totals_add(totals, process);
        }
        return true;
}

/* NULL: the turn ended before all processes were counted; the next turn continues. */
static const Totals *call_totals(Call *call)
{
        Totals *totals = call->progress->sums;

        if (!totals) {
                totals = call->progress->sums = g_new(Totals, 1);
                *totals = (Totals)TOTALS_INIT;
        }
        if (totals_count(totals, call->context))
                return totals;
        call->next = QUERY_AGAIN;
        return NULL;
}

static void status_append(Call *call, const Totals *totals)
{
        const TrackerStats *stats = tracker_stats(call->context->tracker);
        const Budget *budget = tracker_budget(call->context->tracker);
        const QueryStats none = {0}, *service = call->context->stats ? call->context->stats : &none;
        const struct {
                const char *name;
                uint64_t value;
                bool is_public; /* else about the whole daemon, so only for viewers that see all
                                   processes */
        } COUNTERS[] = {
                {"bulk_version", BULK_VERSION, true},
                {"ingest_version", INGEST_VERSION, true},
                {"processes", totals->n_processes, true},
                {"bodies", totals->n_bodies, true},
                {"live_bodies", totals->n_live, true},
                {"silent_processes", totals->n_silent, true},
                {"bytes", budget->account->n_bytes, false},
                {"memory_max", budget->limit, false},
                {"names", strtab_n_strings(budget->names), false},
                {"il_maps_kept", budget->account->n_il_maps, false},
                {"il_map_bytes", budget->account->n_il_map_bytes, false},
                {"evicted_processes", budget->n_processes, false},
                {"evicted_bodies", budget->n_bodies, false},
                {"evicted_il_maps", budget->n_il_maps, false},
                {"refused", stats->refused, false},
                {"feeders_connected", service->n_feeders, false},
                {"feeders_waiting", service->n_waiting_feeders, false},
                {"feeders_max", service->max_feeders, false},
                {"forged", stats->forged, false},
                {"method_loads", stats->records[EVENT_KIND_METHOD_LOAD], false},
                {"method_unloads", stats->records[EVENT_KIND_METHOD_UNLOAD], false},
                {"method_rundowns", stats->records[EVENT_KIND_METHOD_RUNDOWN], false},
                {"r2r_entries", stats->records[EVENT_KIND_R2R_ENTRY], false},
                {"il_maps", stats->records[EVENT_KIND_IL_MAP], false},
                {"module_loads", stats->records[EVENT_KIND_MODULE_LOAD], false},
                {"module_unloads", stats->records[EVENT_KIND_MODULE_UNLOAD], false},
                {"known_before", stats->known, false},
                {"impossible", stats->impossible, false},
                {"gaps", stats->gaps, false},
                {"discarded_events", stats->discarded_events, false},
                {"discarded_packets", stats->discarded_packets, false},
        };
        size_t i;

        g_string_append(call->out, "{\"version\":");
        json_append_string(call->out, CLRSYM_VERSION);
        for (i = 0; i < G_N_ELEMENTS(COUNTERS); i++) {
                if (!COUNTERS[i].is_public && !call->context->viewer.sees_all)
                        continue;
                g_string_append_printf(call->out, ",\"%s\":", COUNTERS[i].name);
                json_append_u64(call->out, COUNTERS[i].value);
        }
        g_string_append_c(call->out, '}');
}

void call_status(Call *call)
{
        const Totals *totals = call_totals(call);

        if (totals)
                status_append(call, totals);
}

/* Appends a sample. LABELS: the text between the braces, or NULL. */
static void metrics_sample(GString *out, const char *name, const char *labels, double value)
{
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(out, "clrsym_%s", name);
        if (labels)
                g_string_append_printf(out, "{%s}", labels);
        g_string_append_printf(out, " %s\n", g_ascii_dtostr(number, sizeof(number), value));
}

static void metrics_family(GString *out, const char *name, const char *type, const char *unit,
                           const char *help)
{
        g_string_append_printf(out, "# HELP clrsym_%s %s\n# TYPE clrsym_%s %s\n", name, help, name,
                               type);
        if (unit)
                g_string_append_printf(out, "# UNIT clrsym_%s %s\n", name, unit);
}

static void metrics_gauge(GString *out, const char *name, const char *unit, const char *help,
                          double value)
{
        metrics_family(out, name, "gauge", unit, help);
        metrics_sample(out, name, NULL, value);
}

/* A counter's family has no "_total" in its name; its samples have. */
static void metrics_counter(GString *out, const char *name, const char *help, uint64_t value)
{
        g_autofree char *total = g_strconcat(name, "_total", NULL);

        metrics_family(out, name, "counter", NULL, help);
        metrics_sample(out, total, NULL, (double)value);
}

typedef struct LabelRow {
        const char *labels;
        uint64_t value;
} LabelRow;

static void status_rows(GString *out, const char *name, const char *type, const char *help,
                        const LabelRow *values, size_t n)
{
        g_autofree char *sample_name =
                g_strconcat(name, g_str_equal(type, "counter") ? "_total" : "", NULL);
        size_t i;

        metrics_family(out, name, type, NULL, help);
        for (i = 0; i < n; i++)
                metrics_sample(out, sample_name, values[i].labels, (double)values[i].value);
}

#define ROWS(out, name, type, help, ...)                                                           \
        status_rows(out, name, type, help, (const LabelRow[]){__VA_ARGS__},                        \
                    G_N_ELEMENTS(((const LabelRow[]){__VA_ARGS__})))

/* Memory is freed at the expense of the user with the most. */
static void status_append_users(GString *out, const Owners *owners)
{
        GHashTableIter iter;
        gpointer key, value;

        if (!g_hash_table_size(owners->table))
                return;
        metrics_family(out, "user_memory_bytes", "gauge", "bytes",
                       "Bytes that the code maps of a user's processes take.");
        g_hash_table_iter_init(&iter, owners->table);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                const uint32_t uid = GPOINTER_TO_UINT(key);
                g_autofree char *label = uid == PROCESS_OF_NOBODY
                                                 ? g_strdup("uid=\"unknown\"")
                                                 : g_strdup_printf("uid=\"%" PRIu32 "\"", uid);

                metrics_sample(out, "user_memory_bytes", label,
                               (double)((const Account *)value)->n_bytes);
        }
}

/* Metrics of the code maps and of the applied events. */
static void append_tracker(GString *out, const QueryContext *context, const Totals *totals)
{
        const TrackerStats *stats = tracker_stats(context->tracker);
        const Budget *budget = tracker_budget(context->tracker);
        const uint64_t *records = stats->records;

        metrics_gauge(out, "processes", NULL, "Processes known, running and finished.",
                      (double)totals->n_processes);
        metrics_gauge(out, "silent_processes", NULL,
                      "Processes in a process gap: no session is held for them.",
                      (double)totals->n_silent);
        ROWS(out, "bodies", "gauge", "Native code bodies known.",
             {"state=\"live\"", totals->n_live},
             {"state=\"unloaded\"", totals->n_bodies - totals->n_live});
        metrics_gauge(out, "names", NULL, "Names kept, each once.",
                      (double)strtab_n_strings(budget->names));
        metrics_gauge(out, "il_maps", NULL, "IL maps kept.", (double)budget->account->n_il_maps);
        metrics_gauge(out, "memory_bytes", "bytes", "Bytes that code maps and names take.",
                      (double)budget->account->n_bytes);
        status_append_users(out, budget->owners);
        metrics_gauge(out, "memory_limit_bytes", "bytes", "Limit of these bytes; 0: no limit.",
                      (double)budget->limit);
        ROWS(out, "evicted", "counter", "Forgotten because there is no memory for them.",
             {"what=\"process\"", budget->n_processes}, {"what=\"body\"", budget->n_bodies},
             {"what=\"il_map\"", budget->n_il_maps});
        metrics_counter(out, "refused_events",
                        "Events refused because the loaded bodies alone fill the memory.",
                        stats->refused);
        metrics_counter(out, "forged_events",
                        "Events dropped because process and buffers belong to different users.",
                        stats->forged);
        ROWS(out, "events", "counter", "Events applied, by kind.",
             {"kind=\"method_load\"", records[EVENT_KIND_METHOD_LOAD]},
             {"kind=\"method_unload\"", records[EVENT_KIND_METHOD_UNLOAD]},
             {"kind=\"method_rundown\"", records[EVENT_KIND_METHOD_RUNDOWN]},
             {"kind=\"r2r_entry\"", records[EVENT_KIND_R2R_ENTRY]},
             {"kind=\"il_map\"", records[EVENT_KIND_IL_MAP]},
             {"kind=\"module_load\"", records[EVENT_KIND_MODULE_LOAD]},
             {"kind=\"module_unload\"", records[EVENT_KIND_MODULE_UNLOAD]});
        metrics_counter(out, "known_events", "Events that were known already.", stats->known);
        metrics_counter(out, "impossible_events",
                        "Events of code at addresses that no program can have.", stats->impossible);
        metrics_counter(out, "gaps", "Intervals in which events were lost.", stats->gaps);
        metrics_family(out, "gap_seconds", "counter", "seconds",
                       "Length of all these intervals together.");
        metrics_sample(out, "gap_seconds_total", NULL, tracker_gap_seconds(context->tracker));
        metrics_counter(out, "discarded_events",
                        "Events that the tracer discarded, where it counted.",
                        stats->discarded_events);
        metrics_counter(out, "discarded_packets", "Packets that the tracer discarded.",
                        stats->discarded_packets);
        if (!context->is_live || totals->horizon == UINT64_MAX)
                return;
        metrics_gauge(
                out, "ingest_lag_seconds", "seconds",
                "How old the lowest horizon of a running process is.",
                MAX(0, (double)(g_get_monotonic_time() * 1000 - (int64_t)totals->horizon) / 1e9));
}

static void append_service(GString *out, const QueryStats *stats)
{
        int i;

        metrics_family(out, "lookups", "counter", NULL,
                       "Questions answered, by status of the answer.");
        for (i = 0; i < _ANSWER_STATUS_MAX; i++) {
                g_autofree char *label =
                        g_strdup_printf("status=\"%s\"", answer_status_name((AnswerStatus)i));

                metrics_sample(out, "lookups_total", label, (double)stats->answers[i]);
        }
        metrics_gauge(out, "clients", NULL, "Connections on the query socket.", stats->n_clients);
        metrics_gauge(out, "feeders", NULL, "Connections on the ingest socket.", stats->n_feeders);
        metrics_gauge(
                out, "waiting_feeders", NULL,
                "Connections that wait for a place: MaxFeeders= is reached, or a user's share.",
                stats->n_waiting_feeders);
        metrics_gauge(out, "feeders_limit", NULL, "MaxFeeders=.", stats->max_feeders);
        metrics_counter(out, "decode_errors",
                        "Events that could not be decoded, as feeders report them.",
                        stats->decode_errors);
        metrics_counter(out, "unknown_events", "Events of the runtime that clrsym does not know.",
                        stats->unknown_events);
        metrics_counter(
                out, "later_events",
                "Events of a later version than clrsym knows: what it knows of them is used.",
                stats->later_events);
        if (stats->has_again)
                ROWS(out, "again_requests", "counter",
                     "Requests for another rundown of a process, after events were lost.",
                     {"outcome=\"listed\"", stats->again_listed},
                     {"outcome=\"not-held\"", stats->again_not_held},
                     {"outcome=\"failed\"", stats->again_failed});
        if (!stats->has_journal)
                return;
        metrics_gauge(out, "journal_bytes", "bytes", "Bytes of the journal on disk.",
                      (double)stats->journal_bytes);
        metrics_gauge(
                out, "journal_failed", NULL,
                "1 if the journal cannot be written, so that a restart would lose new events.",
                stats->journal_is_failed);
}

void metrics_append(GString *out, const QueryContext *context, const Totals *totals)
{
        metrics_family(out, "build", "info", NULL, "The program.");
        metrics_sample(out, "build_info", "version=\"" CLRSYM_VERSION "\"", 1);
        append_tracker(out, context, totals);
        if (context->stats)
                append_service(out, context->stats);
        g_string_append(out, "# EOF\n");
}

/* The metrics are about the whole daemon. */
void call_metrics(Call *call)
{
        g_autoptr(GString) text = g_string_new(NULL);
        const Totals *totals;

        if (!call->context->viewer.sees_all) {
                call->error = "org.clrsym.Symbolizer.PermissionDenied";
                call->error_key = "reason";
                call->error_value = "metrics are for root and the group clrsym";
                return;
        }
        totals = call_totals(call);
        if (!totals)
                return;
        metrics_append(text, call->context, totals);
        g_string_append(call->out, "{\"text\":");
        json_append_text(call->out, text->str, text->len);
        g_string_append_c(call->out, '}');
}
