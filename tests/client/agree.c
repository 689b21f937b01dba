/* SPDX-License-Identifier: MIT */

/*
 * Compares all answers of libclrsym with the daemon's JSON:
 *
 *     agree --socket PATH | --trace PATH      with questions "PIDNS PID ADDR TIME_NS" on stdin
 *     agree --watch PATH                      prints one event a line
 *
 * Prints each disagreement, and the number of comparisons.
 */

#include <clrsym/clrsym.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S    UINT64_C(1000000000)
#define MAX_QUERIES 200000

static unsigned n_compared, n_different;

static void compare(const char *what, const json_t *json, const char *text)
{
        const char *said = json_string_value(json);

        n_compared++;
        if ((said && text && !strcmp(said, text)) || (json_is_null(json) && !text))
                return;
        n_different++;
        printf("%s: %s, and %s\n", what, said ? said : "null", text ? text : "null");
}

__attribute__((format(printf, 3, 4))) static void compare_as(const char *what, const json_t *json,
                                                             const char *format, ...)
{
        char text[64];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        compare(what, json, text);
}

static void compare_time(const char *what, const json_t *json, bool is_known, uint64_t time)
{
        if (is_known)
                compare_as(what, json, "%" PRIu64 ".%09" PRIu64, time / NS_PER_S, time % NS_PER_S);
        else
                compare(what, json, NULL);
}

static void compare_number(const char *what, const json_t *json, bool is_known, uint64_t number)
{
        n_compared++;
        if (is_known ? json_is_integer(json) && (uint64_t)json_integer_value(json) == number
                     : json_is_null(json))
                return;
        n_different++;
        printf("%s: %lld, and %" PRIu64 "\n", what, (long long)json_integer_value(json), number);
}

static const json_t *get(const json_t *object, const char *name)
{
        return json_object_get(object, name);
}

static void compare_body(const json_t *json, const clrsym_body *body)
{
        const json_t *method = get(json, "method"), *version = get(json, "version");
        const json_t *module = get(json, "module"), *stub;
        bool is_entry = body->source == CLRSYM_SOURCE_R2R_ENTRY;
        char symbol[65536];

        clrsym_symbol(body, CLRSYM_STYLE_CLR, symbol, sizeof(symbol));
        compare("symbol", get(json, "symbol"), symbol);
        compare_as("id", get(method, "id"), "0x%" PRIx64, body->method_id);
        compare("namespace", get(method, "namespace"), body->name_space);
        compare("name", get(method, "name"), body->name);
        compare("signature", get(method, "signature"), body->signature);
        stub = get(method, "stub_for");
        n_different += json_is_null(stub) != !body->stub_name;
        if (body->stub_name) {
                compare("stub namespace", get(stub, "namespace"), body->stub_name_space);
                compare("stub name", get(stub, "name"), body->stub_name);
                compare("stub signature", get(stub, "signature"), body->stub_signature);
        }
        compare_number("il_size", get(method, "il_size"), body->il_size != 0, body->il_size);
        if (!is_entry)
                compare_as("token", get(method, "token"), "0x%08" PRIx32, body->token);
        compare_as("start", get(json, "start"), "0x%" PRIx64, body->start);
        compare_number("size", get(json, "size"), body->size != 0, body->size);
        compare_number("flags", get(json, "flags"), !is_entry, body->flags);
        compare_number("rejit_id", get(version, "rejit_id"), true, body->rejit_id);
        compare_number("il_version", get(version, "il_version"), body->has_il_version,
                       body->il_version);
        compare("tier", get(version, "tier"), clrsym_tier_name(body->tier));
        if (json_is_null(module)) {
                n_different += body->module_id != 0 || body->module_path;
        } else {
                compare_as("module", get(module, "id"), "0x%" PRIx64, body->module_id);
                compare("path", get(module, "path"), body->module_path);
        }
        n_different += (uint64_t)(json_number_value(get(json, "jit_ms")) * 1000 + 0.5) * 1000 !=
                       body->jit_ns;
        compare_time("loaded", get(json, "loaded"), body->loaded != CLRSYM_NO_TIME, body->loaded);
        compare_time("unloaded", get(json, "unloaded"), body->unloaded != CLRSYM_ALIVE,
                     body->unloaded);
        compare("source", get(json, "source"), clrsym_source_name(body->source));
}

static void compare_answer(const json_t *json, const clrsym_answer *answer)
{
        bool is_il = answer->status == CLRSYM_OK && answer->il_kind != CLRSYM_IL_UNKNOWN;

        compare("status", get(json, "status"), clrsym_status_name(answer->status));
        compare("confidence", get(json, "confidence"),
                answer->has_process ? clrsym_confidence_name(answer->confidence) : NULL);
        compare_time("horizon", get(json, "horizon"), answer->has_process, answer->horizon);
        if (answer->has_process)
                compare_number("pid", get(json, "pid"), true, (uint64_t)answer->pid);
        if (answer->has_process)
                compare_number("pid_ns", get(json, "pid_ns"), true, answer->pid_ns);
        if (answer->status == CLRSYM_OK) {
                compare_body(json, &answer->body);
                compare_number("offset", get(json, "offset"), true, answer->offset);
                compare("il_kind", get(json, "il_kind"),
                        is_il ? clrsym_il_kind_name(answer->il_kind) : NULL);
                compare_number("il_offset", get(json, "il_offset"),
                               answer->il_kind == CLRSYM_IL_EXACT, (uint64_t)answer->il_offset);
        } else if (answer->has_body) {
                int64_t d = answer->distance;
                uint64_t u = d < 0 ? -(uint64_t)d : (uint64_t)d;
                double distance = json_number_value(get(get(json, "nearest"), "distance"));

                compare_body(get(json, "nearest"), &answer->body);
                n_different +=
                        distance - (double)d / 1e9 > 1e-6 || distance - (double)d / 1e9 < -1e-6;
                n_different += u > INT64_MAX;
        } else {
                n_different += get(json, "nearest") != NULL;
        }
        n_different += answer->n_candidates != json_array_size(get(json, "candidates"));
}

/* A list in JSON; the test compares each row when it arrives. */
typedef struct List {
        json_t *rows;
        const char *member;
        size_t n;
} List;

static int keep(const char *parameters, size_t n, void *data)
{
        List *list = data;
        json_t *reply = json_loadb(parameters, n, 0, NULL);

        json_array_extend(list->rows, json_object_get(reply, list->member));
        json_decref(reply);
        return 0;
}

static int on_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        List *list = data;
        const json_t *row = json_array_get(list->rows, list->n++);

        compare_number("pid", get(row, "pid"), true, (uint64_t)process->pid);
        compare_number("pid_ns", get(row, "pid_ns"), true, process->pid_ns);
        compare_number("generation", get(row, "generation"), true, process->generation);
        compare_body(row, body);
        return 0;
}

static int on_process(const clrsym_process *process, void *data)
{
        List *list = data;
        const json_t *row = json_array_get(list->rows, list->n++);

        compare_number("pid", get(row, "pid"), true, (uint64_t)process->pid);
        compare_number("pid_ns", get(row, "pid_ns"), true, process->pid_ns);
        compare_number("generation", get(row, "generation"), true, process->generation);
        compare("state", get(row, "state"), clrsym_process_state_name(process->state));
        compare("runtime", get(row, "runtime"), process->runtime);
        compare("runtime_path", get(row, "runtime_path"), process->runtime_path);
        compare("command", get(row, "command"), process->command);
        compare_number("bodies", get(row, "bodies"), true, process->n_bodies);
        compare_number("live", get(row, "live"), true, process->n_live);
        compare_number("modules", get(row, "modules"), true, process->n_modules);
        compare_time("since", get(row, "since"), true, process->since);
        compare_time("last", get(row, "last"), true, process->last);
        compare_time("exited", get(row, "exited"), process->exited != CLRSYM_ALIVE,
                     process->exited);
        compare_time("horizon", get(row, "horizon"), true, process->horizon);
        compare_number("epoch", get(row, "epoch"), true, process->epoch);
        n_different += json_is_true(get(row, "from_start")) != process->is_from_start;
        return 0;
}

static int fail(clrsym *handle)
{
        printf("agree: %s\n", clrsym_message(handle));
        exit(1);
}

/* Begins a list: asks the daemon for its rows. */
static List ask(clrsym *handle, const char *method, const char *parameters, const char *member)
{
        List list = {json_array(), member, 0};

        if (clrsym_call(handle, method, parameters, CLRSYM_MORE, 0, keep, &list))
                fail(handle);
        return list;
}

/* Ends a list. R: the result of the library. */
static void end(clrsym *handle, List *list, int r, const char *what)
{
        if (r)
                fail(handle);
        n_different += list->n != json_array_size(list->rows);
        printf("%s: %zu rows\n", what, list->n);
        json_decref(list->rows);
}

static void agree_lists(clrsym *handle, const clrsym_query *query)
{
        const clrsym_filter all = {.all = true};
        const clrsym_filter one = {.pid = query->pid, .has_pid_ns = true, .pid_ns = query->pid_ns};
        const clrsym_filter then = {.has_time = true, .time = query->time};
        char text[256];
        List list = ask(handle, "ListProcesses", NULL, "processes");

        end(handle, &list, clrsym_processes(handle, on_process, &list), "processes");
        list = ask(handle, "ListMethods", "{\"all\":true}", "methods");
        end(handle, &list, clrsym_methods(handle, &all, on_body, &list), "methods, all");
        list = ask(handle, "ListMethods", NULL, "methods");
        end(handle, &list, clrsym_methods(handle, NULL, on_body, &list), "methods");
        snprintf(text, sizeof(text), "{\"time\":%" PRIu64 "}", query->time);
        list = ask(handle, "ListMethods", text, "methods");
        end(handle, &list, clrsym_methods(handle, &then, on_body, &list), "methods, at");
        snprintf(text, sizeof(text),
                 "{\"pid\":%" PRId32 ",\"pid_ns\":%" PRIu64 ",\"addr\":\"%" PRIx64 "\"}",
                 query->pid, query->pid_ns, query->address);
        list = ask(handle, "History", text, "bodies");
        end(handle, &list, clrsym_history(handle, &one, query->address, on_body, &list), "history");
        list = ask(handle, "Versions", "{\"method\":\"Program.<Main>$\"}", "bodies");
        end(handle, &list, clrsym_versions(handle, NULL, "Program.<Main>$", on_body, &list),
            "versions");
}

/* Compares the row's JSON, and its decoded answer, with the daemon's. */
static int on_answer(clrsym_row *row, void *data)
{
        List *list = data;
        size_t n;
        const char *text = clrsym_row_json(row, &n);
        json_t *json = json_loadb(text, n, 0, NULL);
        clrsym_answer answer;
        int r = clrsym_row_answer(row, &answer);

        json_array_append_new(list->rows, json);
        if (r == 0)
                compare_answer(json, &answer);
        return r;
}

/* Compares the answers with the daemon's JSON, one batch at a time. */
static void agree_answers(clrsym *handle, const clrsym_query *queries, size_t n)
{
        clrsym_answer *answers = calloc(n, sizeof(*answers));
        json_t *parts = json_array();
        size_t i, j;

        for (i = 0; i < n; i += 1000) {
                json_t *parameters = json_object(), *array = json_array();
                List list = {json_array(), "answers", 0};
                char *text;

                for (j = i; j < n && j < i + 1000; j++) {
                        char address[32];

                        snprintf(address, sizeof(address), "%" PRIx64, queries[j].address);
                        json_array_append_new(
                                array, json_pack("{s:i,s:I,s:s,s:I}", "pid", (int)queries[j].pid,
                                                 "pid_ns", (json_int_t)queries[j].pid_ns, "addr",
                                                 address, "time", (json_int_t)queries[j].time));
                }
                json_object_set_new(parameters, "queries", array);
                text = json_dumps(parameters, 0);
                if (clrsym_rows(handle, "Resolve", text, "answers", 0, on_answer, &list))
                        fail(handle);
                json_array_extend(parts, list.rows);
                json_decref(list.rows);
                json_decref(parameters);
                free(text);
        }
        if (clrsym_resolve(handle, queries, n, 0, answers) < 0)
                fail(handle);
        n_different += json_array_size(parts) != n;
        for (i = 0; i < n; i++)
                compare_answer(json_array_get(parts, i), &answers[i]);
        json_decref(parts);
        free(answers);
}

static int watch(clrsym *handle)
{
        static const char *const TYPES[] = {"load", "unload", "epoch", "resync"};
        clrsym_watch *news;
        clrsym_event event;
        int r;

        if (clrsym_watch_open(handle, NULL, &news) < 0)
                fail(handle);
        puts("watching");
        fflush(stdout);
        while ((r = clrsym_watch_next(news, -1, &event)) > 0) {
                char symbol[1024] = "-";

                if (event.has_body)
                        clrsym_symbol(&event.body, CLRSYM_STYLE_CLR, symbol, sizeof(symbol));
                printf("%s %" PRId32 " %s\n", TYPES[event.type], event.pid, symbol);
                fflush(stdout);
        }
        printf("%s\n", clrsym_watch_message(news));
        clrsym_watch_close(news);
        return 1;
}

int main(int argc, char **argv)
{
        bool is_trace = argc == 3 && !strcmp(argv[1], "--trace");
        clrsym_options options = {.socket = is_trace || argc != 3 ? NULL : argv[2],
                                  .trace = is_trace ? argv[2] : NULL,
                                  .reconnect_ms = 10000};
        clrsym_query *queries = calloc(MAX_QUERIES, sizeof(*queries));
        clrsym *handle;
        char *message;
        size_t n = 0;

        if (argc != 3 || clrsym_open(&handle, &options, &message) < 0) {
                printf("agree: %s\n", argc != 3 ? "two arguments" : message);
                return 1;
        }
        if (!strcmp(argv[1], "--watch"))
                return watch(handle);
        while (n < MAX_QUERIES &&
               scanf("%" SCNu64 " %" SCNd32 " %" SCNx64 " %" SCNu64, &queries[n].pid_ns,
                     &queries[n].pid, &queries[n].address, &queries[n].time) == 4) {
                queries[n].has_pid_ns = queries[n].has_time = true;
                n++;
        }
        agree_answers(handle, queries, n);
        agree_lists(handle, &queries[0]);
        clrsym_close(handle);
        free(queries);
        printf("%zu answers, %u values compared, %u different\n", n, n_compared, n_different);
        return n_different != 0;
}
