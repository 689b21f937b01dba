/* SPDX-License-Identifier: MIT */

/*
 * The interface's description, in Varlink's own language, for org.varlink.service
 */

#include "core/json-text.h"
#include "query/call.h"

#include <string.h>

static const char SYMBOLIZER[] =
        "# Names addresses in .NET processes. clrsym-protocol(7) says what it all means.\n"
        "# Addresses and ids are \"0x...\" strings; times are \"S.NNNNNNNNN\" strings of\n"
        "# CLOCK_MONOTONIC; where one is asked for, text as clrsym(1) takes it, or integer ns.\n"
        "# Members that are not known are null. Members and methods may be added.\n"
        "interface org.clrsym.Symbolizer\n"
        "\n"
        "type Query (pid: int, pid_ns: ?int, addr: string, time: ?string)\n"
        "\n"
        "type MethodName (namespace: ?string, name: ?string, signature: ?string)\n"
        "\n"
        "# stub_for: of an IL stub, the method that the runtime made it for.\n"
        "type Method (id: string, namespace: ?string, name: ?string, signature: ?string,\n"
        "  token: ?string, stub_for: ?MethodName)\n"
        "\n"
        "type Version (rejit_id: int, il_version: ?int, tier: string)\n"
        "\n"
        "type ModuleName (id: string, path: ?string)\n"
        "\n"
        "# A native code body. distance: with a nearest one, in seconds from the time asked.\n"
        "type Body (pid: ?int, pid_ns: ?int, generation: ?int, symbol: string, method: Method,\n"
        "  start: string, size: ?int, offset: ?int, flags: ?int, version: Version,\n"
        "  module: ?ModuleName, il_offset: ?int, il_kind: ?string, jit_ms: ?float,\n"
        "  loaded: ?string, unloaded: ?string, source: string, distance: ?float)\n"
        "\n"
        "# status: ok, no-process, no-method, unloaded, not-yet, ambiguous, pending, evicted,\n"
        "# invalid; confidence: exact, assumed, provisional, gap. With status ok the members of\n"
        "# the body are here, too.\n"
        "type Answer (pid: ?int, pid_ns: ?int, addr: ?string, time: ?string, status: string,\n"
        "  reason: ?string, symbol: ?string, method: ?Method, start: ?string, size: ?int,\n"
        "  offset: ?int, flags: ?int, version: ?Version, module: ?ModuleName, il_offset: ?int,\n"
        "  il_kind: ?string, jit_ms: ?float, loaded: ?string, unloaded: ?string,\n"
        "  source: ?string, nearest: ?Body, candidates: ?[]object, n_candidates: ?int,\n"
        "  confidence: ?string, horizon: ?string, epoch: ?int)\n"
        "\n"
        "# An answer ok of a body that is not unloaded may be kept for [start, start + size)\n"
        "# until the epoch of its process is another one.\n"
        "type ProcessState (pid: int, pid_ns: int, generation: int, epoch: int,\n"
        "  horizon: string)\n"
        "\n"
        "type Process (pid: int, pid_ns: int, generation: int, state: string, runtime: ?string,\n"
        "  runtime_path: ?string, command: ?string, bodies: int, live: int, modules: int,\n"
        "  since: string, from_start: bool, last: string, exited: ?string,\n"
        "  gap_since: ?string, horizon: string, epoch: int)\n"
        "\n"
        "type Module (pid: int, pid_ns: int, generation: int, id: string, path: ?string,\n"
        "  bodies: int, live: int, live_bytes: int, loaded: ?string, unloaded: ?string)\n"
        "\n"
        "# event: load, unload (with the members of a body), epoch, resync (without all others).\n"
        "type Event (event: string, pid: ?int, pid_ns: ?int, generation: ?int, epoch: ?int,\n"
        "  symbol: ?string, method: ?Method, start: ?string, size: ?int, flags: ?int,\n"
        "  version: ?Version, module: ?ModuleName, jit_ms: ?float, loaded: ?string,\n"
        "  unloaded: ?string, source: ?string)\n"
        "\n"
        "# At most 4096 queries. Waits up to wait_ms for events of times that are not in yet.\n"
        "method Resolve(queries: []Query, wait_ms: ?int)\n"
        "  -> (answers: []Answer, processes: []ProcessState)\n"
        "\n"
        "method ParseTime(text: string) -> (time: string)\n"
        "\n"
        "# With \"more\", lists come in parts.\n"
        "method ListProcesses(pid: ?int, pid_ns: ?int) -> (processes: []Process)\n"
        "method ListMethods(pid: ?int, pid_ns: ?int, all: ?bool, time: ?string)\n"
        "  -> (methods: []Body)\n"
        "method ListModules(pid: ?int, pid_ns: ?int, all: ?bool) -> (modules: []Module)\n"
        "method History(addr: string, pid: ?int, pid_ns: ?int, time: ?string) -> (bodies: []Body)\n"
        "method Versions(method: string, pid: ?int, pid_ns: ?int, il_version: ?int,\n"
        "  time: ?string)\n"
        "  -> (bodies: []Body)\n"
        "\n"
        "type Reason (reason: ?string, count: int)\n"
        "type BackgroundJit (runs: int, ms: float, methods: int, pauses: int)\n"
        "type JitProcess (pid: int, pid_ns: int, generation: int, inlining_succeeded: ?int,\n"
        "  inlining_failed: ?[]Reason, tail_calls_succeeded: ?int,\n"
        "  tail_calls_failed: ?[]Reason, background_jit: ?BackgroundJit)\n"
        "# Null where no such events were taken: sink.clrsym.feed sends them with jit=yes.\n"
        "method JitStatistics(pid: ?int, pid_ns: ?int) -> (processes: []JitProcess)\n"
        "\n"
        "# What is optional is of the whole daemon, for those who see all processes.\n"
        "method Status() -> (version: string, bulk_version: int, ingest_version: int,\n"
        "  processes: int, bodies: int, live_bodies: int, silent_processes: int,\n"
        "  bytes: ?int, memory_max: ?int, names: ?int, il_maps_kept: ?int, il_map_bytes: ?int,\n"
        "  evicted_processes: ?int, evicted_bodies: ?int, evicted_il_maps: ?int, refused: ?int,\n"
        "  method_loads: ?int, method_unloads: ?int, method_rundowns: ?int, r2r_entries: ?int,\n"
        "  il_maps: ?int, module_loads: ?int, module_unloads: ?int, known_before: ?int,\n"
        "  impossible: ?int, gaps: ?int, discarded_events: ?int, discarded_packets: ?int)\n"
        "# OpenMetrics 1.0.\n"
        "method Metrics() -> (text: string)\n"
        "\n"
        "# Only with \"more\": goes on until one side hangs up.\n"
        "method Watch(pid: ?int, pid_ns: ?int) -> (events: []Event)\n"
        "\n"
        "# Only with \"upgrade\": binary frames follow, see clrsym-protocol(7).\n"
        "method Bulk(version: int)\n"
        "  -> (version: int, max_queries: int, max_names: int, max_name_bytes: int)\n"
        "\n"
        "error InvalidCall (reason: string)\n"
        "error LimitExceeded (limit: string)\n"
        "error PermissionDenied (reason: string)\n"
        "error UpgradeExpected ()\n";

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
                if (strcmp(name, INTERFACES[i].name))
                        continue;
                g_string_append(call->out, "{\"description\":");
                json_append_string(call->out, INTERFACES[i].description);
                g_string_append_c(call->out, '}');
                return;
        }
        call->error = "org.varlink.service.InterfaceNotFound";
        call->error_key = "interface";
        call->error_value = name;
}
