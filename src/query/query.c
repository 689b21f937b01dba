/* SPDX-License-Identifier: MIT */
#include "query/query.h"

#include "core/json-text.h"
#include "query/call.h"

#include <string.h>
#include <time.h>

bool process_filter_matches(const ProcessFilter *filter, const Viewer *viewer,
                            const Process *process)
{
        return (!filter->has_pid || process->key.pid == filter->pid) &&
               (!filter->has_pid_ns || process->key.pid_ns == (uint64_t)filter->pid_ns) &&
               viewer_sees(viewer, process);
}

static bool is_known(const QueryContext *context, const ProcessKey *key)
{
        const Process *process = tracker_process(context->tracker, key);

        return process && viewer_sees(&context->viewer, process);
}

/* Gives a pid without a namespace the one that it is meant in, as questions have it. */
static void mean_pid(const QueryContext *context, ProcessFilter *filter)
{
        const Viewer *viewer = &context->viewer;
        const ProcessKey own = {viewer->pid_ns, (int32_t)filter->pid};
        ProcessKey key = own;

        if (!viewer->pid_ns || !is_known(context, &own)) {
                if (!viewer->find || !viewer->find(viewer->data, own.pid, &key))
                        return;
                if (!is_known(context, &key) && is_known(context, &(ProcessKey){0, key.pid}))
                        key.pid_ns = 0;
        }
        filter->pid = key.pid;
        filter->has_pid_ns = true;
        filter->pid_ns = (int64_t)key.pid_ns;
}

/* Of a call that goes on, the filter is what it was: what a pid stands for can have changed. */
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
                mean_pid(call->context, filter);
        call->progress->filter = *filter;
        return true;
}

void call_time_context(const Call *call, TimeContext *ret_context)
{
        const Tracker *tracker = call->context->tracker;
        const GPtrArray *processes = tracker_processes(tracker);
        struct timespec now;
        guint i;

        *ret_context = (TimeContext){.begin = UINT64_MAX};
        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                ret_context->begin = MIN(ret_context->begin, process->begin);
                ret_context->end = MAX(ret_context->end, process_horizon(process));
        }
        ret_context->has_offset = tracker_clock_offset(tracker, &ret_context->clock_offset);
        ret_context->now = ret_context->end;
        if (call->context->is_live) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                ret_context->now =
                        (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
        }
}

const char *time_from_json(const json_t *node, const TimeContext *times, uint64_t *ret_time)
{
        if (json_is_integer(node) && json_integer_value(node) >= 0) {
                *ret_time = (uint64_t)json_integer_value(node);
                return NULL;
        }
        return json_is_string(node) ? time_from_text(json_string_value(node), times, ret_time)
                                    : "time: not a time";
}

bool call_get_time(Call *call, const char *name, uint64_t *ret_time)
{
        TimeContext times;

        if (!param_has(call->parameters, name))
                return false;
        call_time_context(call, &times);
        if (time_from_json(json_object_get(call->parameters, name), &times, ret_time)) {
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

/* Without a word: what is told from now on comes from the session. */
void call_watch(Call *call)
{
        ProcessFilter filter;

        if (!call_get_filter(call, &filter)) /* the session takes it from the progress */
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

static QueryNext run(Call *call, void (*method)(Call *), const json_t *root, GString *out)
{
        const json_t *upgrade = json_object_get(root, "upgrade");

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
        if (call->next == QUERY_WAIT || call->next == QUERY_WATCH)
                return call->next;
        g_string_append(out, "{\"parameters\":");
        g_string_append_len(out, call->out->str, (gssize)call->out->len);
        g_string_append(out, call->next == QUERY_MORE ? ",\"continues\":true}" : "}");
        return call->next;
}

QueryNext query_call(const QueryContext *context, const char *text, size_t n_text,
                     QueryProgress *progress, GString *out)
{
        g_autoptr(GString) parameters = g_string_new(NULL);
        Call call = {.context = context, .progress = progress, .out = parameters};
        json_t *root = json_loadb(text, n_text, 0, NULL);
        const char *method = param_string(root, "method");
        const json_t *node = json_object_get(root, "parameters");
        QueryNext next = QUERY_DONE;
        size_t i;

        if (!json_is_object(root)) {
                query_append_error(out, INTERFACE "InvalidCall", "reason",
                                   "a call is one JSON object");
                json_decref(root);
                return QUERY_DONE;
        }
        call.parameters = json_is_object(node) ? node : NULL;
        call.is_more = param_bool(root, "more");
        /* All methods only ask: without a reply there is nothing to do. */
        if (param_bool(root, "oneway")) {
                json_decref(root);
                return QUERY_DONE;
        }
        for (i = 0; method && i < G_N_ELEMENTS(METHODS); i++)
                if (!strcmp(method, METHODS[i].name))
                        break;
        if (method && i < G_N_ELEMENTS(METHODS))
                next = run(&call, METHODS[i].run, root, out);
        else
                query_append_error(out, "org.varlink.service.MethodNotFound", "method", method);
        json_decref(root);
        return next;
}
