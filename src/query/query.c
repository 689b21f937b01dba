/* SPDX-License-Identifier: MIT */
#include "query/query.h"

#include "core/answer.h"
#include "core/json-text.h"
#include "core/time-text.h"
#include "query/answer-json.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <time.h>

/* A call under way. */
typedef struct Call {
        const QueryContext *context;
        Viewer viewer;
        JsonObject *parameters; /* borrowed, maybe NULL */
        GString *out;
        const char *wrong; /* name of the parameter that is wrong, if one is (static) */
        unsigned wait_ms;  /* the caller should ask again within this */
} Call;

/* JSON numbers that are integers in range; anything else is false. */
static bool get_integer(JsonObject *object, const char *name, int64_t min, int64_t max,
                        int64_t *ret_value)
{
        JsonNode *node = json_object_get_member(object, name);

        if (!node || json_node_get_value_type(node) != G_TYPE_INT64)
                return false;
        *ret_value = json_node_get_int(node);
        return *ret_value >= min && *ret_value <= max;
}

static bool has_member(JsonObject *object, const char *name)
{
        return object && json_object_has_member(object, name) &&
               !json_object_get_null_member(object, name);
}

static const char *get_string(JsonObject *object, const char *name)
{
        JsonNode *node = json_object_get_member(object, name);

        return node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node)
                                                                       : NULL;
}

static bool get_bool(JsonObject *object, const char *name)
{
        JsonNode *node = object ? json_object_get_member(object, name) : NULL;

        return node && json_node_get_value_type(node) == G_TYPE_BOOLEAN &&
               json_node_get_boolean(node);
}

static bool parse_address(const char *text, uint64_t *ret_address)
{
        const char *digits = text;
        char *end;

        if (g_str_has_prefix(digits, "0x") || g_str_has_prefix(digits, "0X"))
                digits += 2;
        if (!g_ascii_isxdigit(*digits) || strlen(digits) > 16)
                return false;
        *ret_address = g_ascii_strtoull(digits, &end, 16);
        return !*end;
}

/* The newest thing that is known: what "now" means for a trace. */
static void time_context(const QueryContext *context, TimeContext *ret_context)
{
        const GPtrArray *processes = tracker_processes(context->tracker);
        struct timespec now;
        guint i;

        *ret_context = (TimeContext){.begin = UINT64_MAX};
        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                ret_context->begin = MIN(ret_context->begin, process->begin);
                ret_context->end = MAX(ret_context->end, process_horizon(process));
        }
        ret_context->has_offset =
                tracker_clock_offset(context->tracker, &ret_context->clock_offset);
        ret_context->now = ret_context->end;
        if (context->is_live) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                ret_context->now =
                        (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
        }
}

/* NULL, or what is wrong with the query (static). */
static const char *parse_question(JsonNode *node, const TimeContext *times, Question *question)
{
        JsonObject *object;
        const char *text;
        int64_t i;

        *question = (Question){0};
        if (!JSON_NODE_HOLDS_OBJECT(node))
                return "a query is an object";
        object = json_node_get_object(node);
        if (!get_integer(object, "pid", 1, INT32_MAX, &i))
                return "pid: a number from 1 on";
        question->pid = (int32_t)i;
        if (has_member(object, "pid_ns")) {
                if (!get_integer(object, "pid_ns", 0, INT64_MAX, &i))
                        return "pid_ns: the inode number of a pid namespace";
                question->has_pid_ns = true;
                question->pid_ns = (uint64_t)i;
        }
        text = get_string(object, "addr");
        if (!text || !parse_address(text, &question->address))
                return "addr: not a hexadecimal address";
        if (!has_member(object, "time"))
                return NULL;
        question->has_time = true;
        if (get_integer(object, "time", 0, INT64_MAX, &i)) {
                question->time = (uint64_t)i;
                return NULL;
        }
        text = get_string(object, "time");
        return text ? time_from_text(text, times, &question->time) : "time: not a time";
}

static void resolve(Call *call)
{
        JsonNode *node =
                call->parameters ? json_object_get_member(call->parameters, "queries") : NULL;
        TimeContext times;
        JsonArray *queries;
        int64_t wait_ms = 0;
        guint i;

        call->wrong = "queries";
        if (!node || !JSON_NODE_HOLDS_ARRAY(node))
                return;
        queries = json_node_get_array(node);
        if (json_array_get_length(queries) > QUERY_MAX_BATCH)
                return;
        call->wrong = "wait_ms";
        if (has_member(call->parameters, "wait_ms") &&
            !get_integer(call->parameters, "wait_ms", 0, G_MAXINT32, &wait_ms))
                return;
        call->wrong = NULL;
        time_context(call->context, &times);
        g_string_append(call->out, "{\"answers\":[");
        for (i = 0; i < json_array_get_length(queries); i++) {
                JsonNode *element = json_array_get_element(queries, i);
                Question question;
                const char *wrong = parse_question(element, &times, &question);
                Answer answer;

                if (i)
                        g_string_append_c(call->out, ',');
                if (wrong) {
                        JsonObject *object = JSON_NODE_HOLDS_OBJECT(element)
                                                     ? json_node_get_object(element)
                                                     : NULL;

                        answer_json_append_invalid(
                                call->out, object ? get_string(object, "addr") : NULL, wrong);
                        continue;
                }
                answer_question(call->context->tracker, &call->viewer, &question, &answer);
                if (question.has_time && question.time > answer.horizon)
                        call->wait_ms = (unsigned)wait_ms;
                answer_json_append(call->out, &question, &answer);
                answer_clear(&answer);
        }
        g_string_append(call->out, "]}");
}

static void list_processes(Call *call)
{
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const char *separator = "";
        guint i;

        g_string_append(call->out, "{\"processes\":[");
        for (i = 0; i < processes->len; i++) {
                if (!viewer_sees(&call->viewer, processes->pdata[i]))
                        continue;
                g_string_append(call->out, separator);
                process_json_append(call->out, processes->pdata[i]);
                separator = ",";
        }
        g_string_append(call->out, "]}");
}

/* Which processes a call is about: all, those of a pid, or of a pid in a namespace. */
typedef struct ProcessFilter {
        bool has_pid, has_pid_ns;
        int64_t pid, pid_ns;
} ProcessFilter;

static bool get_process_filter(Call *call, ProcessFilter *filter)
{
        *filter = (ProcessFilter){.has_pid = has_member(call->parameters, "pid"),
                                  .has_pid_ns = has_member(call->parameters, "pid_ns")};
        call->wrong = "pid";
        if (filter->has_pid && !get_integer(call->parameters, "pid", 1, INT32_MAX, &filter->pid))
                return false;
        call->wrong = "pid_ns";
        if (filter->has_pid_ns &&
            !get_integer(call->parameters, "pid_ns", 0, INT64_MAX, &filter->pid_ns))
                return false;
        call->wrong = NULL;
        return true;
}

static bool process_matches(const Call *call, const ProcessFilter *filter, const Process *process)
{
        return (!filter->has_pid || process->key.pid == filter->pid) &&
               (!filter->has_pid_ns || process->key.pid_ns == (uint64_t)filter->pid_ns) &&
               viewer_sees(&call->viewer, process);
}

static void append_row(Call *call, const char **separator, const Process *process, const Body *body,
                       const uint64_t *address)
{
        g_string_append(call->out, *separator);
        body_json_append(call->out, process, body, address);
        *separator = ",";
}

/* Which bodies a list is of. */
typedef bool (*BodyTest)(const Process *process, const Body *body, const void *data);

static void append_bodies(Call *call, const ProcessFilter *filter, BodyTest is_wanted,
                          const void *data)
{
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const char *separator = "";
        uint32_t i, j;

        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                if (!process_matches(call, filter, process))
                        continue;
                for (j = 0; j < codemap_n_numbers(process->map); j++) {
                        const Body *body = codemap_body(process->map, j);

                        if (body && is_wanted(process, body, data))
                                append_row(call, &separator, process, body, NULL);
                }
        }
}

static bool is_listed(const Process *process, const Body *body, const void *data)
{
        const bool *is_all = data;

        return *is_all || body->until == BODY_FOREVER;
}

static void list_methods(Call *call)
{
        bool is_all = get_bool(call->parameters, "all");
        ProcessFilter filter;

        if (!get_process_filter(call, &filter))
                return;
        g_string_append(call->out, "{\"methods\":[");
        append_bodies(call, &filter, is_listed, &is_all);
        g_string_append(call->out, "]}");
}

/* What lived at an address, and when: newest first, generation by generation. */
static void history(Call *call)
{
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const char *text = call->parameters ? get_string(call->parameters, "addr") : NULL;
        const char *separator = "";
        ProcessFilter filter;
        uint64_t address;
        uint32_t i, j;

        if (!get_process_filter(call, &filter))
                return;
        call->wrong = "addr";
        if (!text || !parse_address(text, &address))
                return;
        call->wrong = NULL;
        g_string_append(call->out, "{\"bodies\":[");
        for (i = processes->len; i-- > 0;) {
                const Process *process = processes->pdata[i];
                g_autoptr(GPtrArray) bodies = g_ptr_array_new();

                if (!process_matches(call, &filter, process))
                        continue;
                codemap_history(process->map, address, bodies);
                for (j = 0; j < bodies->len; j++)
                        append_row(call, &separator, process, bodies->pdata[j], &address);
        }
        g_string_append(call->out, "]}");
}

/* "Namespace.Type.Method", as symbols begin. */
static bool has_name(const Process *process, const Body *body, const char *name)
{
        const char *name_space = strtab_text(process->names, body->name_space);
        const char *own = strtab_text(process->names, body->name);
        size_t n = name_space ? strlen(name_space) : 0;

        if (!own)
                return false;
        if (n && (strncmp(name, name_space, n) || name[n] != '.'))
                return false;
        return !strcmp(name + (n ? n + 1 : 0), own);
}

/* The versions that are asked for: of a method by id or by name, of one IL or of any. */
typedef struct VersionFilter {
        const char *name; /* NULL: by id */
        uint64_t id;
        bool has_il_version;
        int64_t il_version;
} VersionFilter;

static bool is_version(const Process *process, const Body *body, const void *data)
{
        const VersionFilter *filter = data;
        const IlMap *map = body_il_map(body);

        if (filter->name ? !has_name(process, body, filter->name) : body->method_id != filter->id)
                return false;
        return !filter->has_il_version ||
               (map && ilmap_version(map) == (uint64_t)filter->il_version);
}

/*
 * Every native body of a method, in order of number: tier-up, OSR, ReJIT. With il_version only
 * those of that IL: the profiling API's pair of FunctionID and ReJITID.
 */
static void versions(Call *call)
{
        const char *method = call->parameters ? get_string(call->parameters, "method") : NULL;
        VersionFilter version = {.has_il_version = has_member(call->parameters, "il_version")};
        ProcessFilter filter;

        if (!get_process_filter(call, &filter))
                return;
        call->wrong = "method";
        if (!method)
                return;
        if (!g_str_has_prefix(method, "0x"))
                version.name = method;
        else if (!parse_address(method, &version.id))
                return;
        call->wrong = "il_version";
        if (version.has_il_version &&
            !get_integer(call->parameters, "il_version", 0, INT64_MAX, &version.il_version))
                return;
        call->wrong = NULL;
        g_string_append(call->out, "{\"bodies\":[");
        append_bodies(call, &filter, is_version, &version);
        g_string_append(call->out, "]}");
}

typedef struct Totals {
        uint64_t n_bodies, n_live;
} Totals;

static Totals count_bodies(const GPtrArray *processes)
{
        Totals totals = {0};
        guint i;

        for (i = 0; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                totals.n_bodies += codemap_n_bodies(process->map);
                totals.n_live += codemap_n_live(process->map);
        }
        return totals;
}

static void status(Call *call)
{
        const TrackerStats *stats = tracker_stats(call->context->tracker);
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const Budget *budget = tracker_budget(call->context->tracker);
        const Totals totals = count_bodies(processes);
        const struct {
                const char *name;
                uint64_t value;
        } COUNTERS[] = {
                {"processes", processes->len},
                {"bodies", totals.n_bodies},
                {"live_bodies", totals.n_live},
                {"bytes", budget->account->n_bytes},
                {"memory_max", budget->limit},
                {"names", strtab_n_strings(budget->names)},
                {"il_maps_kept", budget->account->n_il_maps},
                {"il_map_bytes", budget->account->n_il_map_bytes},
                {"evicted_processes", budget->n_processes},
                {"evicted_bodies", budget->n_bodies},
                {"evicted_il_maps", budget->n_il_maps},
                {"refused", stats->refused},
                {"method_loads", stats->records[EVENT_KIND_METHOD_LOAD]},
                {"method_unloads", stats->records[EVENT_KIND_METHOD_UNLOAD]},
                {"method_rundowns", stats->records[EVENT_KIND_METHOD_RUNDOWN]},
                {"r2r_entries", stats->records[EVENT_KIND_R2R_ENTRY]},
                {"il_maps", stats->records[EVENT_KIND_IL_MAP]},
                {"module_loads", stats->records[EVENT_KIND_MODULE_LOAD]},
                {"module_unloads", stats->records[EVENT_KIND_MODULE_UNLOAD]},
                {"known_before", stats->known},
                {"impossible", stats->impossible},
                {"gaps", stats->gaps},
                {"discarded_events", stats->discarded_events},
                {"discarded_packets", stats->discarded_packets},
        };
        size_t i;

        g_string_append(call->out, "{\"version\":");
        json_append_string(call->out, CLRSYM_VERSION);
        for (i = 0; i < G_N_ELEMENTS(COUNTERS); i++) {
                g_string_append_printf(call->out, ",\"%s\":", COUNTERS[i].name);
                json_append_u64(call->out, COUNTERS[i].value);
        }
        g_string_append_c(call->out, '}');
}

static const struct {
        const char *name;
        void (*run)(Call *call);
} METHODS[] = {
        {"org.clrsym.Symbolizer.Resolve", resolve},
        {"org.clrsym.Symbolizer.ListProcesses", list_processes},
        {"org.clrsym.Symbolizer.ListMethods", list_methods},
        {"org.clrsym.Symbolizer.History", history},
        {"org.clrsym.Symbolizer.Versions", versions},
        {"org.clrsym.Symbolizer.Status", status},
};

static void append_error(GString *out, const char *error, const char *key, const char *value)
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

unsigned query_call(const QueryContext *context, const char *text, size_t n_text, GString *out)
{
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        g_autoptr(GString) parameters = g_string_new(NULL);
        Call call = {
                .context = context, .viewer = {context->sees_all, context->uid}, .out = parameters};
        JsonNode *root = NULL, *node;
        const char *method;
        size_t i;

        if (g_utf8_validate(text, (gssize)n_text, NULL) &&
            json_parser_load_from_data(parser, text, (gssize)n_text, NULL))
                root = json_parser_get_root(parser);
        if (!root || !JSON_NODE_HOLDS_OBJECT(root)) {
                append_error(out, "org.clrsym.Symbolizer.InvalidCall", "reason",
                             "a call is one JSON object");
                return 0;
        }
        method = get_string(json_node_get_object(root), "method");
        node = json_object_get_member(json_node_get_object(root), "parameters");
        call.parameters = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
        for (i = 0; method && i < G_N_ELEMENTS(METHODS); i++) {
                if (strcmp(method, METHODS[i].name))
                        continue;
                METHODS[i].run(&call);
                if (call.wrong) {
                        append_error(out, "org.varlink.service.InvalidParameter", "parameter",
                                     call.wrong);
                        return 0;
                }
                if (call.wait_ms && !context->is_final)
                        return call.wait_ms;
                g_string_append(out, "{\"parameters\":");
                g_string_append_len(out, parameters->str, (gssize)parameters->len);
                g_string_append_c(out, '}');
                return 0;
        }
        append_error(out, "org.varlink.service.MethodNotFound", "method", method);
        return 0;
}
