/* SPDX-License-Identifier: MIT */

/*
 * The description of the interface, in Varlink's language, for org.varlink.service
 *
 * "@NAME" stands for members of a body, generated from wire/answer-fields.h.
 */

#include "query/call.h"
#include "util/json-text.h"
#include "wire/answer-fields.h"

#include <string.h>

static const char SYMBOLIZER[] =
        "# Names addresses in .NET processes. See clrsym-protocol(7).\n# Addresses and ids are "
        "\"0x...\" strings; times are \"S.NNNNNNNNN\" strings of\n# CLOCK_MONOTONIC; where one is "
        "asked for, text as clrsym(1) takes it, or integer ns.\n# Members that are not known are "
        "null. Members and methods may be added.\ninterface org.clrsym.Symbolizer\n\ntype Query "
        "(pid: int, pid_ns: ?int, addr: string, time: ?string)\n\ntype MethodName (@stub)\n\n# "
        "stub_for: of an IL stub, the method that the runtime made it for.\ntype Method "
        "(@method)\n\n# A method that was inlined; method: as in type_args of Method.\ntype "
        "Inlined (method: ?string, il_offset: ?int)\n\ntype Version (@version)\n\ntype ModuleName "
        "(@module)\n\n# A native code body. distance: with a nearest one, in seconds from the time "
        "asked.\ntype Body (pid: ?int, pid_ns: ?int, generation: ?int, @body, distance: "
        "?float)\n\n# status: ok, no-process, no-method, unloaded, not-yet, ambiguous, pending, "
        "evicted,\n# invalid; confidence: exact, assumed, provisional, gap. With status ok the "
        "members of\n# the body are here, too.\ntype Answer (pid: ?int, pid_ns: ?int, addr: "
        "?string, time: ?string, status: string, reason: ?string, @answer, nearest: ?Body, "
        "candidates: ?[]object, n_candidates: ?int, confidence: ?string, horizon: ?string, epoch: "
        "?int)\n\n# An answer ok of a body that is not unloaded may be kept for [start, start + "
        "size)\n# until the epoch of its process is another one.\ntype ProcessState (pid: int, "
        "pid_ns: int, generation: int, epoch: int,\n  horizon: string)\n\n# state: running, "
        "exited, recorded (its traces are over, and its end is not in them).\ntype Process (pid: "
        "int, pid_ns: int, generation: int, state: string, runtime: ?string,\n  runtime_path: "
        "?string, command: ?string, tiering: ?[]string, bodies: int,\n  live: int, modules: int,\n "
        " since: string, from_start: bool, last: string, exited: ?string,\n  gap_since: ?string, "
        "horizon: string, epoch: int, uid: ?int)\n\ntype Module (pid: int, pid_ns: int, "
        "generation: int, id: string, path: ?string,\n  bodies: int, live: int, live_bytes: int, "
        "native_path: ?string, flags: ?int,\n  flag_names: ?[]string, assembly_id: ?string, "
        "assembly: ?string, pdb_guid: ?string,\n  pdb_age: ?int, pdb_path: ?string, loaded: "
        "?string, unloaded: ?string)\n\n# binding_id: of what bound it, a load context; null: "
        "none, or not known.\ntype Assembly (pid: int, pid_ns: int, generation: int, id: string, "
        "name: ?string,\n  flags: ?int, flag_names: ?[]string, binding_id: ?string, app_domain_id: "
        "?string,\n  loaded: ?string, unloaded: ?string)\n\n# event: load, unload (with the "
        "members of a body), epoch, resync (without all others).\ntype Event (event: string, pid: "
        "?int, pid_ns: ?int, generation: ?int, epoch: ?int, @event)\n\n# At most 4096 queries. "
        "Waits up to wait_ms for events that have not arrived yet.\n# With \"more\", answers and "
        "lists come in parts.\nmethod Resolve(queries: []Query, wait_ms: ?int)\n  -> (answers: "
        "[]Answer, processes: []ProcessState)\n\nmethod ParseTime(text: string) -> (time: "
        "string)\n\nmethod ListProcesses(pid: ?int, pid_ns: ?int) -> (processes: "
        "[]Process)\nmethod ListMethods(pid: ?int, pid_ns: ?int, all: ?bool, time: ?string)\n  -> "
        "(methods: []Body)\nmethod ListModules(pid: ?int, pid_ns: ?int, all: ?bool) -> (modules: "
        "[]Module)\nmethod ListAssemblies(pid: ?int, pid_ns: ?int, all: ?bool)\n  -> (assemblies: "
        "[]Assembly)\nmethod History(addr: string, pid: ?int, pid_ns: ?int, time: ?string) -> "
        "(bodies: []Body)\nmethod Versions(method: string, pid: ?int, pid_ns: ?int, il_version: "
        "?int,\n  time: ?string)\n  -> (bodies: []Body)\n\ntype Reason (reason: ?string, count: "
        "int)\ntype BackgroundJit (runs: int, ms: float, methods: int, pauses: int, pause_ms: "
        "float,\n  new_methods: int, pending: int, most_pending: int)\ntype Lookups (count: int, "
        "found: int, ms: float)\ntype JitProcess (pid: int, pid_ns: int, generation: int, "
        "inlining_succeeded: ?int,\n  inlining_failed: ?[]Reason, tail_calls_succeeded: ?int,\n  "
        "tail_calls_failed: ?[]Reason, precompiled_lookups: ?Lookups,\n  background_jit: "
        "?BackgroundJit)\n# Null where no such events were taken: sink.clrsym.feed sends them with "
        "jit=yes.\nmethod JitStatistics(pid: ?int, pid_ns: ?int) -> (processes: []JitProcess)\n\n# "
        "What is optional is of the whole daemon, for those who see all processes.\nmethod "
        "Status() -> (version: string, bulk_version: int, ingest_version: int,\n  processes: int, "
        "bodies: int, live_bodies: int, silent_processes: int,\n  bytes: ?int, memory_max: ?int, "
        "names: ?int, il_maps_kept: ?int, il_map_bytes: ?int,\n  evicted_processes: ?int, "
        "evicted_bodies: ?int, evicted_il_maps: ?int, refused: ?int, forged: ?int,\n  "
        "feeders_connected: ?int, feeders_waiting: ?int, feeders_max: ?int,\n  method_loads: ?int, "
        "method_unloads: ?int, method_rundowns: ?int, r2r_entries: ?int,\n  il_maps: ?int, "
        "module_loads: ?int, module_unloads: ?int, known_before: ?int,\n  impossible: ?int, gaps: "
        "?int, discarded_events: ?int, discarded_packets: ?int)\n# OpenMetrics 1.0.\nmethod "
        "Metrics() -> (text: string)\n\n# Only with \"more\": goes on until one side hangs "
        "up.\nmethod Watch(pid: ?int, pid_ns: ?int) -> (events: []Event)\n\n# Only with "
        "\"upgrade\": binary frames follow, see clrsym-protocol(7).\nmethod Bulk(version: int)\n  "
        "-> (version: int, max_queries: int, max_names: int, max_name_bytes: int,\n  answer_size: "
        "?int)\n\nerror InvalidCall (reason: string)\nerror LimitExceeded (limit: string)\nerror "
        "PermissionDenied (reason: string)\nerror UpgradeExpected ()\n";

static const char SERVICE[] =
        "# Every Varlink service has this interface.\n"
        "interface org.varlink.service\n"
        "\n"
        "method GetInfo() -> (vendor: string, product: string, version: string, url: string,\n"
        "  interfaces: []string)\n"
        "method GetInterfaceDescription(interface: string) -> (description: string)\n"
        "\n"
        "error InterfaceNotFound (interface: string)\n"
        "error MethodNotFound (method: string)\n"
        "error MethodNotImplemented (method: string)\n"
        "error InvalidParameter (parameter: string)\n"
        "error ExpectedMore ()\n";

static const struct {
        const char *name;
        const char *description;
} INTERFACES[] = {{"org.varlink.service", SERVICE}, {"org.clrsym.Symbolizer", SYMBOLIZER}};

static const char *const TYPE_NAMES[] = {
        [ANSWER_TEXT] = "string",         [ANSWER_ID] = "string",
        [ANSWER_TOKEN] = "string",        [ANSWER_NUMBER] = "int",
        [ANSWER_TIME] = "string",         [ANSWER_JIT_MS] = "float",
        [ANSWER_TIER] = "string",         [ANSWER_SOURCE] = "string",
        [ANSWER_METHOD] = "Method",       [ANSWER_STUB] = "MethodName",
        [ANSWER_VERSION] = "Version",     [ANSWER_MODULE] = "ModuleName",
        [ANSWER_SYMBOL] = "string",       [ANSWER_OFFSET] = "int",
        [ANSWER_IL_OFFSET] = "int",       [ANSWER_IL_KIND] = "string",
        [ANSWER_FLAG_NAMES] = "[]string", [ANSWER_LINE_IL_OFFSET] = "int",
        [ANSWER_GUID] = "string",         [ANSWER_INLINED] = "[]Inlined",
};

/* The expansion of "@NAME": the members of an object, or of the body itself. */
static const struct {
        const char *name;
        AnswerType object; /* ANSWER_TEXT: the body */
        bool is_optional;  /* the body may be missing */
        bool has_address;  /* the question can have an address */
} MARKS[] = {
        {"@stub", ANSWER_STUB, false, false},       {"@method", ANSWER_METHOD, false, false},
        {"@version", ANSWER_VERSION, false, false}, {"@module", ANSWER_MODULE, false, false},
        {"@body", ANSWER_TEXT, false, true},        {"@answer", ANSWER_TEXT, true, true},
        {"@event", ANSWER_TEXT, true, false},
};

static void interface_append_mark(GString *out, size_t mark)
{
        const AnswerField *field = MARKS[mark].object == ANSWER_TEXT
                                           ? answer_body_fields
                                           : answer_type_fields(MARKS[mark].object);
        const char *separator = "";

        for (; field->name; field++) {
                bool needs_address = answer_type_needs_address(field->type);

                if (needs_address && !MARKS[mark].has_address)
                        continue;
                g_string_append_printf(out, "%s%s: %s%s", separator, field->name,
                                       MARKS[mark].is_optional || needs_address || field->null ? "?"
                                                                                               : "",
                                       TYPE_NAMES[field->type]);
                separator = ", ";
        }
}

/* Breaks lines of more than 90 characters after a comma. */
static void interface_append_line(GString *out, const char *line, size_t n)
{
        while (n > 88) {
                const char *comma = memrchr(line, ',', 88);
                size_t n_part = comma ? (size_t)(comma - line) + 1 : n;

                g_string_append_len(out, line, (gssize)n_part);
                g_string_append(out, "\n ");
                line += n_part;
                n -= n_part;
        }
        g_string_append_len(out, line, (gssize)n);
}

static GString *interface_describe(const char *text)
{
        GString *out = g_string_new(NULL);

        while (*text) {
                g_autoptr(GString) line = g_string_new_len(text, (gssize)strcspn(text, "\n"));
                size_t i;

                text += line->len + 1;
                for (i = 0; i < G_N_ELEMENTS(MARKS); i++) {
                        g_autoptr(GString) members = g_string_new(NULL);

                        interface_append_mark(members, i);
                        g_string_replace(line, MARKS[i].name, members->str, 1);
                }
                interface_append_line(out, line->str, line->len);
                g_string_append_c(out, '\n');
        }
        return out;
}

void call_get_info(Call *call)
{
        size_t i;

        g_string_append(
                call->out,
                "{\"vendor\":\"clrsym\",\"product\":\"clrsymd\",\"version\":\"" CLRSYM_VERSION
                "\",\"url\":\"\",\"interfaces\":[");
        for (i = 0; i < G_N_ELEMENTS(INTERFACES); i++)
                g_string_append_printf(call->out, "%s\"%s\"", i ? "," : "", INTERFACES[i].name);
        g_string_append(call->out, "]}");
}

void call_get_interface_description(Call *call)
{
        const char *name = param_string(call->parameters, "interface");
        size_t i;

        call->wrong = "interface";
        if (!name)
                return;
        call->wrong = NULL;
        for (i = 0; i < G_N_ELEMENTS(INTERFACES); i++) {
                if (!strcmp(name, INTERFACES[i].name)) {
                        g_autoptr(GString) text = interface_describe(INTERFACES[i].description);

                        g_string_append(call->out, "{\"description\":");
                        json_append_text(call->out, text->str, text->len);
                        g_string_append_c(call->out, '}');
                        return;
                }
        }
        call->error = "org.varlink.service.InterfaceNotFound";
        call->error_key = "interface";
        call->error_value = name;
}
