/* SPDX-License-Identifier: MIT */
#include "query/query.h"

#include "query/call.h"
#include "query/call-text.h"
#include "util/clock.h"
#include "util/json-text.h"
#include "util/seconds-text.h"

#include <string.h>
#include <time.h>

bool process_filter_matches(const ProcessFilter *filter, const Viewer *viewer,
                            const Process *process)
{
        return (!filter->has_pid || process->key.pid == filter->pid) &&
               (!filter->has_pid_ns || process->key.pid_ns == (uint64_t)filter->pid_ns) &&
               viewer_sees(viewer, process);
}

static bool query_knows(const QueryContext *context, const ProcessKey *key)
{
        return viewer_knows(&context->viewer, context->tracker, key);
}

/*
 * Resolves a pid without a namespace to the process that the viewer knows by it: the filter gets
 * that process's pid in its own namespace. clrsym-protocol(7), VALUES, has the rules.
 */
static void process_filter_resolve_pid(const QueryContext *context, ProcessFilter *filter)
{
        const Viewer *viewer = &context->viewer;
        const ProcessKey own = {viewer->pid_ns, (int32_t)filter->pid};
        ProcessKey key = own;

        if (!viewer->pid_ns || !query_knows(context, &own)) {
                if (!viewer->find || !viewer->find(viewer->data, own.pid, &key))
                        return;
                if (!query_knows(context, &key) && query_knows(context, &(ProcessKey){0, key.pid}))
                        key.pid_ns = 0;
        }
        filter->pid = key.pid;
        filter->has_pid_ns = true;
        filter->pid_ns = (int64_t)key.pid_ns;
}

/* A continued call keeps its filter, because another process may have reused the pid. */
bool call_get_filter(Call *call, ProcessFilter *filter)
{
        if (call->progress->is_begun) {
                *filter = call->progress->filter;
                return true;
        }
        *filter = (ProcessFilter){.has_pid = param_has(call->parameters, "pid"),
                                  .has_pid_ns = param_has(call->parameters, "pid_ns")};
        call->wrong = "pid";
        if (filter->has_pid && !param_integer(call->parameters, "pid", 1, INT32_MAX, &filter->pid))
                return false;
        call->wrong = "pid_ns";
        if (filter->has_pid_ns &&
            !param_integer(call->parameters, "pid_ns", 0, INT64_MAX, &filter->pid_ns))
                return false;
        call->wrong = NULL;
        if (filter->has_pid && !filter->has_pid_ns)
                process_filter_resolve_pid(call->context, filter);
        call->progress->filter = *filter;
        return true;
}

/*
 * The end of a trace, its horizon. The search may read all processes, because no other client
 * waits.
 */
static uint64_t tracker_end(const Tracker *tracker)
{
        const GPtrArray *processes = tracker_processes(tracker);
        uint64_t end = 0;
        guint i;

        for (i = 0; i < processes->len; i++)
                end = MAX(end, process_horizon(processes->pdata[i]));
        return end;
}

uint64_t query_now(const QueryContext *context)
{
        return context->is_live ? (uint64_t)clock_ns(CLOCK_MONOTONIC) : 0;
}

/* The context that defines "now" and times of day. */
static const TimeContext *call_times(Call *call)
{
        const Tracker *tracker = call->context->tracker;
        TimeContext *times = &call->times;

        if (call->has_times)
                return times;
        call->has_times = true;
        tracker_range(tracker, &times->begin, &times->end);
        times->has_offset = tracker_clock_offset(tracker, &times->clock_offset);
        if (call->context->is_live) {
                times->now = query_now(call->context);
                /* Limit the end to now, because a program can forge times. */
                times->end = MIN(times->end, times->now);
        } else {
                times->now = times->end = tracker_end(tracker);
        }
        return times;
}

const char *call_time_from_json(Call *call, const json_t *node, uint64_t *ret_time)
{
        if (json_is_integer(node) && json_integer_value(node) >= 0) {
                *ret_time = (uint64_t)json_integer_value(node);
                return NULL;
        }
        if (!json_is_string(node))
                return "time: not a time";
        if (seconds_from_text(json_string_value(node), ret_time))
                return NULL;
        return time_from_text(json_string_value(node), call_times(call), ret_time);
}

bool call_get_time(Call *call, const char *name, uint64_t *ret_time)
{
        if (!param_has(call->parameters, name))
                return false;
        if (call_time_from_json(call, json_object_get(call->parameters, name), ret_time)) {
                call->wrong = name;
                return false;
        }
        return true;
}

void call_parse_time(Call *call)
{
        uint64_t time;

        if (!call_get_time(call, "text", &time)) {
                call->wrong = "text";
                return;
        }
        g_string_append(call->out, "{\"time\":");
        json_append_time(call->out, time);
        g_string_append_c(call->out, '}');
}

/* Watch has no reply: the connection sends events from now on. */
void call_watch(Call *call)
{
        ProcessFilter filter;

        if (!call_get_filter(call, &filter)) /* the connection takes it from the progress */
                return;
        if (!call->is_more)
                call->error = "org.varlink.service.ExpectedMore";
        call->next = QUERY_WATCH;
}

#define INTERFACE "org.clrsym.Symbolizer."

static const struct {
        const char *name;
        void (*run)(Call *call);
} METHODS[] = {
        {INTERFACE "Resolve", call_resolve},
        {INTERFACE "ParseTime", call_parse_time},
        {INTERFACE "ListProcesses", call_list_processes},
        {INTERFACE "ListMethods", call_list_methods},
        {INTERFACE "ListModules", call_list_modules},
        {INTERFACE "ListAssemblies", call_list_assemblies},
        {INTERFACE "History", call_history},
        {INTERFACE "Versions", call_versions},
        {INTERFACE "JitStatistics", call_jit_statistics},
        {INTERFACE "Status", call_status},
        {INTERFACE "Metrics", call_metrics},
        {INTERFACE "Watch", call_watch},
        {INTERFACE "Bulk", call_bulk},
        {"org.varlink.service.GetInfo", call_get_info},
        {"org.varlink.service.GetInterfaceDescription", call_get_interface_description},
};

void query_append_error(GString *out, const char *error, const char *key, const char *value)
{
        g_string_append(out, "{\"error\":");
        json_append_string(out, error);
        g_string_append(out, ",\"parameters\":{");
        if (key) {
                json_append_string(out, key);
                g_string_append_c(out, ':');
                json_append_string(out, value);
        }
        g_string_append(out, "}}");
}

bool call_is_turn_over(const Call *call)
{
        return call->context->turn_end && g_get_monotonic_time() >= call->context->turn_end;
}

bool call_is_too_long(Call *call, const char *instead)
{
        if (call->out->len <= QUERY_MAX_REPLY)
                return false;
        call->error = INTERFACE "LimitExceeded";
        call->error_key = "limit";
        call->error_value = instead;
        return true;
}

/* The parameters that a continued call keeps; the others would waste memory. */
static const char *const KEPT[] = {"addr", "all",    "il_version", "method",
                                   "pid",  "pid_ns", "time",       "wait_ms"};

static json_t *call_to_keep(const json_t *root)
{
        static const char *const MEMBERS[] = {"method", "more", "oneway", "upgrade"};
        const json_t *given = json_object_get(root, "parameters");
        json_t *kept = json_object(), *parameters = json_object();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(MEMBERS); i++)
                if (param_has(root, MEMBERS[i]))
                        json_object_set(kept, MEMBERS[i], json_object_get(root, MEMBERS[i]));
        for (i = 0; i < G_N_ELEMENTS(KEPT); i++)
                if (param_has(given, KEPT[i]))
                        json_object_set(parameters, KEPT[i], json_object_get(given, KEPT[i]));
        json_object_set_new(kept, "parameters", parameters);
        return kept;
}

void query_progress_clear(QueryProgress *progress)
{
        json_decref(progress->call);
        resolve_free(progress->resolve);
        if (progress->reply)
                g_string_free(progress->reply, TRUE);
        g_free(progress->sums);
        *progress = (QueryProgress){0};
}

size_t query_progress_size(const QueryProgress *progress)
{
        return (progress->call ? progress->n_text : 0) +
               (progress->reply ? progress->reply->len : 0) +
               (progress->resolve ? resolve_size(progress->resolve) : 0);
}

static uint64_t tracker_n_changes(const Tracker *tracker)
{
        return tracker_n_processes_ever(tracker) + tracker_budget(tracker)->n_processes;
}

QueryWait query_wait_begin(const Tracker *tracker, const Process *process, uint64_t time)
{
        QueryWait wait = {.time = time, .n_changes = tracker_n_changes(tracker)};

        if (process) {
                wait.key = process->key;
                wait.uid = process->uid;
                wait.serial = process->serial;
        }
        return wait;
}

bool query_wait_is_over(const QueryWait *wait, const Tracker *tracker)
{
        const Process *process;

        if (wait->n_changes != tracker_n_changes(tracker))
                return true;
        if (!wait->serial)
                return false;
        process = tracker_process_of(tracker, &wait->key, wait->uid);
        return !process || process->serial != wait->serial ||
               process_horizon(process) >= wait->time || process_is_closed(process);
}

/* Moves the reply to OUT, without a copy if OUT is empty. */
static void progress_end_reply(QueryProgress *progress, GString *out)
{
        if (!out->len) {
                GString empty = *out;

                *out = *progress->reply;
                *progress->reply = empty;
        } else {
                g_string_append_len(out, progress->reply->str, (gssize)progress->reply->len);
        }
        g_string_free(g_steal_pointer(&progress->reply), TRUE);
        progress->n_rows = 0;
}

static QueryNext call_run(Call *call, void (*method)(Call *), const json_t *root, GString *out)
{
        const json_t *upgrade = json_object_get(root, "upgrade");
        QueryProgress *progress = call->progress;

        if (!progress->reply)
                progress->reply = g_string_new("{\"parameters\":");
        call->out = progress->reply;
        method(call);
        if (call->wrong) {
                query_append_error(out, "org.varlink.service.InvalidParameter", "parameter",
                                   call->wrong);
                return QUERY_DONE;
        }
        if (call->next == QUERY_BULK && !json_is_true(upgrade))
                call->error = INTERFACE "UpgradeExpected";
        if (call->error) {
                query_append_error(out, call->error, call->error_key, call->error_value);
                return QUERY_DONE;
        }
        if (call->next == QUERY_WAIT || call->next == QUERY_AGAIN || call->next == QUERY_WATCH)
                return call->next;
        g_string_append(progress->reply, call->next == QUERY_MORE ? ",\"continues\":true}" : "}");
        progress_end_reply(progress, out);
        return call->next;
}

/* ROOT is borrowed; a method may take over *QUERIES. */
static QueryNext query_run(const QueryContext *context, const json_t *root, GString **queries,
                           QueryProgress *progress, GString *out)
{
        Call call = {.context = context, .queries = queries, .progress = progress};
        const char *method = param_string(root, "method");
        const json_t *node = json_object_get(root, "parameters");
        size_t i;

        if (!json_is_object(root)) {
                query_append_error(out, INTERFACE "InvalidCall", "reason", CALL_NO_OBJECT);
                return QUERY_DONE;
        }
        call.parameters = json_is_object(node) ? node : NULL;
        call.is_more = param_bool(root, "more");
        /* No method changes anything, so a call without a reply needs no work. */
        if (param_bool(root, "oneway"))
                return QUERY_DONE;
        for (i = 0; method && i < G_N_ELEMENTS(METHODS); i++)
                if (!strcmp(method, METHODS[i].name))
                        return call_run(&call, METHODS[i].run, root, out);
        query_append_error(out, "org.varlink.service.MethodNotFound", "method", method);
        return QUERY_DONE;
}

/* True if the queries of the call are read from its text, one by one. */
static bool query_is_resolve(const json_t *root)
{
        const char *method = param_string(root, "method");

        return method && !strcmp(method, INTERFACE "Resolve");
}

/*
 * Parses a call, except the queries of a Resolve: RET_QUERIES gets their text. NULL: as for
 * call_text_parse().
 */
static json_t *query_parse(const char *text, size_t n_text, GString **ret_queries,
                           bool *ret_is_large)
{
        size_t begin, end;

        if (call_text_find_queries(text, n_text, &begin, &end)) {
                g_autoptr(GString) rest = g_string_new_len(text, (gssize)begin);
                json_t *root;

                g_string_append_len(rest, text + end, (gssize)(n_text - end));
                root = call_text_parse(rest->str, rest->len, ret_is_large);
                if (!root)
                        return NULL;
                if (query_is_resolve(root)) {
                        *ret_queries = g_string_new_len(text + begin, (gssize)(end - begin));
                        return root;
                }
                json_decref(root);
        }
        return call_text_parse(text, n_text, ret_is_large);
}

void call_refuse_size(Call *call)
{
        call->error = INTERFACE "LimitExceeded";
        call->error_key = "limit";
        call->error_value =
                "64 KiB, and 1 MiB for its values, for a call without its queries and for "
                "each query: ask for less at once";
}

static QueryNext query_refuse(GString *out)
{
        Call call = {0};

        call_refuse_size(&call);
        query_append_error(out, call.error, call.error_key, call.error_value);
        return QUERY_DONE;
}

QueryNext query_call(const QueryContext *context, const char *text, size_t n_text,
                     QueryProgress *progress, GString *out)
{
        g_autoptr(GString) queries = NULL;
        bool is_large = false;
        json_auto_t *root = progress->call ? json_incref(progress->call)
                                           : query_parse(text, n_text, &queries, &is_large);
        size_t n_queries = queries ? queries->len : 0;
        QueryNext next =
                is_large ? query_refuse(out) : query_run(context, root, &queries, progress, out);

        if (next == QUERY_WAIT || next == QUERY_AGAIN || next == QUERY_MORE) {
                if (!progress->call) {
                        progress->call = call_to_keep(root);
                        progress->n_text = n_text - n_queries;
                }
        } else {
                ProcessFilter filter = progress->filter;
                unsigned bulk_version = progress->bulk_version;

                query_progress_clear(progress);
                progress->filter = filter;
                progress->bulk_version = bulk_version;
        }
        return next;
}
