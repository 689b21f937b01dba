/* SPDX-License-Identifier: MIT */

/*
 * Lists: processes, modules, assemblies and bodies
 */

#include "query/answer-json.h"
#include "query/list.h"
#include "util/json-text.h"

#include <string.h>

/* Bodies of a history found at once. */
#define HISTORY_STEP 64

static bool list_process(List *list, const Process *process, uint32_t first, const void *data)
{
        const QueryContext *context = list->call->context;

        if (!list_row(list))
                return false;
        process_json_append(list->call->out, process,
                            tracker_process_life(context->tracker, process),
                            context->viewer.sees_all);
        return true;
}

void call_list_processes(Call *call)
{
        ProcessFilter filter;
        List list;

        if (!call_get_filter(call, &filter))
                return;
        list_begin(&list, call, "processes");
        list_processes(&list, &filter, list_process, NULL);
}

/* The selection of a list's bodies. */
typedef struct BodyFilter {
        bool (*matches)(const Process *process, const Body *body, const void *data);
        const void *data;
} BodyFilter;

static bool list_bodies_of(List *list, const Process *process, uint32_t first, const void *data)
{
        const BodyFilter *filter = data;
        uint32_t i;

        for (i = first; i < codemap_n_numbers(process->map); i++) {
                const Body *body = codemap_body(process->map, i);

                list->at.number = i;
                if (!list_has_time(list))
                        return false;
                if (!body || !filter->matches(process, body, filter->data))
                        continue;
                if (!list_row(list))
                        return false;
                body_json_append(list->call->out, process, body, NULL);
        }
        return true;
}

static void lists_bodies(Call *call, const char *member, const ProcessFilter *filter,
                         BodyFilter bodies)
{
        List list;

        list_begin(&list, call, member);
        list_processes(&list, filter, list_bodies_of, &bodies);
}

typedef struct MethodFilter {
        bool is_all;
        bool has_time;
        uint64_t time;
} MethodFilter;

static bool method_filter_matches(const Process *process, const Body *body, const void *data)
{
        const MethodFilter *filter = data;

        if (filter->has_time)
                return body->since <= filter->time && filter->time < body->until;
        return filter->is_all || body->until == BODY_FOREVER;
}

void call_list_methods(Call *call)
{
        MethodFilter method = {.is_all = param_bool(call->parameters, "all")};
        ProcessFilter filter;

        if (!call_get_filter(call, &filter))
                return;
        method.has_time = call_get_time(call, "time", &method.time);
        if (!call->wrong)
                lists_bodies(call, "methods", &filter,
                             (BodyFilter){method_filter_matches, &method});
}

/* True if NAME is the body's "Namespace.Type.Method", the begin of its symbol. */
static bool body_has_name(const Process *process, const Body *body, const char *name)
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

/* The time of the question, if any. */
typedef struct Moment {
        bool is_given;
        uint64_t time;
} Moment;

static Moment call_get_moment(Call *call)
{
        Moment moment = {0};

        moment.is_given = call_get_time(call, "time", &moment.time);
        return moment;
}

static bool moment_includes(const Moment *moment, const Body *body)
{
        return !moment->is_given || (body->since <= moment->time && moment->time < body->until);
}

/* The selection of versions: of a method, by id or by name; of one IL version, or of all. */
typedef struct VersionFilter {
        const char *name; /* NULL: by id */
        uint64_t id;
        bool has_il_version;
        int64_t il_version;
        Moment moment;
} VersionFilter;

static bool version_filter_matches(const Process *process, const Body *body, const void *data)
{
        const VersionFilter *filter = data;
        const IlMap *map = body_il_map(body);

        if (!moment_includes(&filter->moment, body))
                return false;
        if (filter->name ? !body_has_name(process, body, filter->name)
                         : body->method_id != filter->id)
                return false;
        return !filter->has_il_version ||
               (map && ilmap_version(map) == (uint64_t)filter->il_version);
}

/*
 * Lists the native code versions of a method, in order of the bodies' numbers: tier-up, OSR, ReJIT.
 * With il_version, only versions compiled from that IL version: method and il_version are then the
 * profiling API's FunctionID and ReJITID.
 */
void call_versions(Call *call)
{
        const char *method = param_string(call->parameters, "method");
        VersionFilter version = {.has_il_version = param_has(call->parameters, "il_version"),
                                 .moment = call_get_moment(call)};
        ProcessFilter filter;

        if (call->wrong || !call_get_filter(call, &filter))
                return;
        call->wrong = "method";
        if (!method)
                return;
        if (!g_str_has_prefix(method, "0x"))
                version.name = method;
        else if (!param_address(method, &version.id))
                return;
        call->wrong = "il_version";
        if (version.has_il_version &&
            !param_integer(call->parameters, "il_version", 0, INT64_MAX, &version.il_version))
                return;
        call->wrong = NULL;
        lists_bodies(call, "bodies", &filter, (BodyFilter){version_filter_matches, &version});
}

/* Lists all past and present bodies at an address in one process, from PLACE on. */
static bool list_history_of(List *list, const Process *process, uint64_t address,
                            const Moment *moment, HistoryPlace place)
{
        g_autoptr(GPtrArray) bodies = g_ptr_array_new();
        bool goes_on;
        guint i;

        do {
                g_ptr_array_set_size(bodies, 0);
                goes_on = codemap_history(process->map, address, &place, HISTORY_STEP, bodies);
                for (i = 0; i < bodies->len; i++) {
                        const Body *body = bodies->pdata[i];

                        if (!moment_includes(moment, body))
                                continue;
                        list->at.time = body->since;
                        list->at.number = body->number + 1;
                        if (!list_row(list))
                                return false;
                        body_json_append(list->call->out, process, body, &address);
                }
                list->at.time = place.since;
                list->at.number = place.number;
        } while (goes_on && list_has_time(list));
        return !goes_on;
}

/* Lists all past and present bodies at an address, newest first, generation by generation. */
void call_history(Call *call)
{
        const GPtrArray *processes = tracker_processes(call->context->tracker);
        const char *text = param_string(call->parameters, "addr");
        const QueryProgress from = *call->progress;
        const Moment moment = call_get_moment(call);
        ProcessFilter filter;
        uint64_t address;
        List list;
        guint i;

        if (call->wrong || !call_get_filter(call, &filter))
                return;
        call->wrong = "addr";
        if (!text || !param_address(text, &address))
                return;
        call->wrong = NULL;
        list_begin(&list, call, "bodies");
        i = from.is_begun ? tracker_process_index(call->context->tracker, from.serial + 1)
                          : processes->len;
        while (i-- > 0) {
                const Process *process = processes->pdata[i];
                HistoryPlace place = HISTORY_NEWEST;

                if (from.is_begun && process->serial == from.serial)
                        place = (HistoryPlace){from.time, from.number};
                list.at = (ListPlace){process->serial, place.number, place.since};
                if (!list_has_time(&list))
                        break;
                if (process_filter_matches(&filter, &call->context->viewer, process) &&
                    !list_history_of(&list, process, address, &moment, place))
                        break;
        }
        list_end(&list);
}

/* The counts of a module's bodies in the code map. */
typedef struct ModuleSum {
        uint64_t n_bodies, n_live, n_bytes;
} ModuleSum;

/*
 * Counts the bodies of the process's modules. A count in several turns, like a list, is
 * approximate. False: the turn is over.
 */
static bool list_count_modules(List *list, const Process *process)
{
        QueryProgress *progress = list->call->progress;
        ModuleSum *sums = progress->sums;

        if (!sums || progress->n_modules != process->all_modules->len ||
            progress->serial != process->serial) {
                g_free(sums);
                sums = progress->sums = g_new0(ModuleSum, process->all_modules->len + 1);
                progress->n_modules = process->all_modules->len;
                progress->n_seen = 0;
        }
        for (; progress->n_seen < codemap_n_numbers(process->map); progress->n_seen++) {
                const Body *body;

                if (!list_has_time(list))
                        return false;
                body = codemap_body(process->map, progress->n_seen);
                if (!body)
                        continue;
                sums[body->module].n_bodies++;
                if (body->until != BODY_FOREVER)
                        continue;
                sums[body->module].n_live++;
                sums[body->module].n_bytes += body->size;
        }
        return true;
}

static bool list_modules_of(List *list, const Process *process, uint32_t first, const void *data)
{
        const bool *is_all = data;
        uint32_t i;

        if (!list_count_modules(list, process))
                return false;
        for (i = first; i < process->all_modules->len; i++) {
                const Module *module = process->all_modules->pdata[i];
                const ModuleSum *sum =
                        &((const ModuleSum *)list->call->progress->sums)[module->number];

                if (!*is_all && module->unloaded != BODY_FOREVER)
                        continue;
                list->at.number = i;
                if (!list_row(list))
                        return false;
                module_json_append(list->call->out, process, module, sum->n_bodies, sum->n_live,
                                   sum->n_bytes);
        }
        g_clear_pointer(&list->call->progress->sums, g_free);
        return true;
}

void call_list_modules(Call *call)
{
        bool is_all = param_bool(call->parameters, "all");
        ProcessFilter filter;
        List list;

        if (!call_get_filter(call, &filter))
                return;
        list_begin(&list, call, "modules");
        list_processes(&list, &filter, list_modules_of, &is_all);
}

static bool list_assemblies_of(List *list, const Process *process, uint32_t first, const void *data)
{
        const bool *is_all = data;
        uint32_t i;

        for (i = first; i < assembly_table_n(&process->assemblies); i++) {
                const Assembly *assembly = assembly_table_get(&process->assemblies, i + 1);

                list->at.number = i;
                if (!list_has_time(list))
                        return false;
                if (!*is_all && assembly->unloaded != BODY_FOREVER)
                        continue;
                if (!list_row(list))
                        return false;
                assembly_json_append(list->call->out, process, assembly);
        }
        return true;
}

void call_list_assemblies(Call *call)
{
        bool is_all = param_bool(call->parameters, "all");
        ProcessFilter filter;
        List list;

        if (!call_get_filter(call, &filter))
                return;
        list_begin(&list, call, "assemblies");
        list_processes(&list, &filter, list_assemblies_of, &is_all);
}
