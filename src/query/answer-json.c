/* SPDX-License-Identifier: MIT */
#include "query/answer-json.h"

#include "core/json-text.h"
#include "core/method-flags.h"
#include "core/symbol.h"

/* Of an answer, for an address can have had thousands of bodies; and none where so much is said
 * already. */
#define MAX_CANDIDATES      16u
#define MAX_CANDIDATE_BYTES (8u << 20)

static void key(GString *out, const char *name)
{
        if (out->str[out->len - 1] != '{')
                g_string_append_c(out, ',');
        g_string_append_c(out, '"');
        g_string_append(out, name);
        g_string_append(out, "\":");
}

static void put_string(GString *out, const char *name, const char *text)
{
        key(out, name);
        json_append_string(out, text);
}

static void put_hex(GString *out, const char *name, uint64_t u)
{
        key(out, name);
        json_append_hex(out, u);
}

static void put_u64(GString *out, const char *name, uint64_t u)
{
        key(out, name);
        json_append_u64(out, u);
}

static void put_bool(GString *out, const char *name, bool is_true)
{
        key(out, name);
        g_string_append(out, is_true ? "true" : "false");
}

static void put_null(GString *out, const char *name)
{
        key(out, name);
        g_string_append(out, "null");
}

/* A time, or null where there is none. */
static void put_time(GString *out, const char *name, bool is_known, uint64_t time)
{
        key(out, name);
        if (is_known)
                json_append_time(out, time);
        else
                g_string_append(out, "null");
}

static void put_il(GString *out, const Body *body, uint64_t offset)
{
        static const struct {
                int32_t il;
                const char *kind;
        } KINDS[] = {{IL_OFFSET_NO_MAPPING, "no-mapping"},
                     {IL_OFFSET_PROLOG, "prolog"},
                     {IL_OFFSET_EPILOG, "epilog"}};
        const IlMap *map = body_il_map(body);
        const char *kind = "exact";
        int32_t il;
        size_t i;

        if (!map || !ilmap_lookup(map, (uint32_t)offset, &il)) {
                put_null(out, "il_offset");
                put_null(out, "il_kind");
                return;
        }
        for (i = 0; i < G_N_ELEMENTS(KINDS); i++)
                if (il == KINDS[i].il)
                        kind = KINDS[i].kind;
        key(out, "il_offset");
        if (il < 0)
                g_string_append(out, "null");
        else
                json_append_u64(out, (uint64_t)il);
        put_string(out, "il_kind", kind);
}

/* How long its compilation took, in ms. */
static void put_jit_time(GString *out, const Body *body)
{
        uint64_t us = (uint64_t)body->jit_time * BODY_JIT_UNIT / 1000;

        if (!body->jit_time) {
                put_null(out, "jit_ms");
                return;
        }
        key(out, "jit_ms");
        g_string_append_printf(out, "%" G_GUINT64_FORMAT ".%03u", (guint64)(us / 1000),
                               (unsigned)(us % 1000));
}

/* The method that an IL stub is made for, or null. */
static void put_stub_for(GString *out, const Process *process, const Body *body)
{
        const StubTarget *target = codemap_stub_target(process->map, body);

        if (!target) {
                put_null(out, "stub_for");
                return;
        }
        key(out, "stub_for");
        g_string_append_c(out, '{');
        put_string(out, "namespace", strtab_text(process->names, target->name_space));
        put_string(out, "name", strtab_text(process->names, target->name));
        put_string(out, "signature", strtab_text(process->names, target->signature));
        g_string_append_c(out, '}');
}

/* ADDRESS: the one asked for, or NULL for the body as such. */
static void put_body(GString *out, const Process *process, const Body *body,
                     const uint64_t *address)
{
        const Module *module = process_body_module(process, body);

        key(out, "symbol");
        {
                g_autoptr(GString) symbol = g_string_new(NULL);

                symbol_append(symbol, process, body);
                json_append_text(out, symbol->str, symbol->len);
        }
        key(out, "method");
        g_string_append_c(out, '{');
        put_hex(out, "id", body->method_id);
        put_string(out, "namespace", strtab_text(process->names, body->name_space));
        put_string(out, "name", strtab_text(process->names, body->name));
        put_string(out, "signature", strtab_text(process->names, body->signature));
        if (body->source == BODY_SOURCE_R2R_ENTRY)
                put_null(out, "token");
        else {
                char token[16];

                g_snprintf(token, sizeof(token), "0x%08x", body->token);
                put_string(out, "token", token);
        }
        put_stub_for(out, process, body);
        g_string_append_c(out, '}');
        put_hex(out, "start", body->start);
        if (body->size)
                put_u64(out, "size", body->size);
        else
                put_null(out, "size");
        if (address)
                put_u64(out, "offset", *address - body->start);
        if (body->source == BODY_SOURCE_R2R_ENTRY)
                put_null(out, "flags");
        else
                put_u64(out, "flags", body->flags);
        key(out, "version");
        g_string_append_c(out, '{');
        put_u64(out, "rejit_id", body->rejit_id);
        if (body_il_map(body))
                put_u64(out, "il_version", ilmap_version(body_il_map(body)));
        else
                put_null(out, "il_version");
        put_string(out, "tier", tier_name(body->flags));
        g_string_append_c(out, '}');
        key(out, "module");
        if (module) {
                g_string_append_c(out, '{');
                put_hex(out, "id", module->id);
                put_string(out, "path", strtab_text(process->names, module->path));
                g_string_append_c(out, '}');
        } else {
                g_string_append(out, "null");
        }
        if (address)
                put_il(out, body, *address - body->start);
        put_jit_time(out, body);
        put_time(out, "loaded", body->source == BODY_SOURCE_LOAD, body->since);
        put_time(out, "unloaded", body->until != BODY_FOREVER, body->until);
        put_string(out, "source", body_source_name((BodySource)body->source));
}

/* Seconds, signed, exact. */
static void put_distance(GString *out, int64_t ns)
{
        uint64_t u = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

        key(out, "distance");
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               ns < 0 ? "-" : "", (guint64)(u / 1000000000),
                               (guint64)(u % 1000000000));
}

static void put_candidates(GString *out, const Question *question, const Answer *answer)
{
        guint n_bodies = answer->bodies ? answer->bodies->len : 0;
        guint n_processes = answer->processes ? answer->processes->len : 0;
        guint n_most = out->len < MAX_CANDIDATE_BYTES ? MAX_CANDIDATES : 0, i;

        key(out, "candidates");
        g_string_append_c(out, '[');
        for (i = 0; i < MIN(n_bodies, n_most); i++) {
                g_string_append(out, i ? ",{" : "{");
                put_body(out, answer->process, answer->bodies->pdata[i], &question->address);
                g_string_append_c(out, '}');
        }
        for (i = 0; i < MIN(n_processes, n_most); i++) {
                const Process *process = answer->processes->pdata[i];

                g_string_append(out, i ? ",{" : "{");
                put_u64(out, "pid", (uint64_t)process->key.pid);
                put_u64(out, "pid_ns", process->key.pid_ns);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
        put_u64(out, "n_candidates", n_bodies + n_processes);
}

void answer_json_append(GString *out, const Question *question, const Answer *answer)
{
        g_string_append_c(out, '{');
        put_u64(out, "pid", (uint64_t)question->pid);
        if (answer->process)
                put_u64(out, "pid_ns", answer->process->key.pid_ns);
        else if (question->has_pid_ns)
                put_u64(out, "pid_ns", question->pid_ns);
        else
                put_null(out, "pid_ns");
        put_hex(out, "addr", question->address);
        put_time(out, "time", question->has_time, question->time);
        put_string(out, "status", answer_status_name(answer->status));
        if (answer->body)
                put_body(out, answer->process, answer->body, &question->address);
        if (answer->nearest) {
                key(out, "nearest");
                g_string_append_c(out, '{');
                put_body(out, answer->process, answer->nearest, &question->address);
                put_distance(out, answer->distance);
                g_string_append_c(out, '}');
        }
        if (answer->status == ANSWER_AMBIGUOUS)
                put_candidates(out, question, answer);
        if (answer->process)
                put_string(out, "confidence", confidence_name(answer->confidence));
        else
                put_null(out, "confidence");
        put_time(out, "horizon", answer->process != NULL, answer->horizon);
        if (answer->process)
                put_u64(out, "epoch", codemap_epoch(answer->process->map));
        else
                put_null(out, "epoch");
        g_string_append_c(out, '}');
}

void answer_json_append_invalid(GString *out, const char *address, const char *reason)
{
        g_string_append_c(out, '{');
        put_null(out, "pid");
        put_null(out, "pid_ns");
        put_string(out, "addr", address);
        put_null(out, "time");
        put_string(out, "status", answer_status_name(ANSWER_INVALID));
        put_string(out, "reason", reason);
        put_null(out, "confidence");
        put_null(out, "horizon");
        put_null(out, "epoch");
        g_string_append_c(out, '}');
}

static void put_process_key(GString *out, const Process *process)
{
        put_u64(out, "pid", (uint64_t)process->key.pid);
        put_u64(out, "pid_ns", process->key.pid_ns);
        put_u64(out, "generation", process->generation);
}

void body_json_append(GString *out, const Process *process, const Body *body,
                      const uint64_t *address)
{
        g_string_append_c(out, '{');
        put_process_key(out, process);
        put_body(out, process, body, address);
        g_string_append_c(out, '}');
}

void process_key_json_append(GString *out, const Process *process)
{
        g_string_append_c(out, '{');
        put_process_key(out, process);
        put_u64(out, "epoch", codemap_epoch(process->map));
        put_time(out, "horizon", true, process_horizon(process));
        g_string_append_c(out, '}');
}

void module_json_append(GString *out, const Process *process, const Module *module,
                        uint64_t n_bodies, uint64_t n_live, uint64_t n_bytes)
{
        g_string_append_c(out, '{');
        put_process_key(out, process);
        put_hex(out, "id", module->id);
        put_string(out, "path", strtab_text(process->names, module->path));
        put_u64(out, "bodies", n_bodies);
        put_u64(out, "live", n_live);
        put_u64(out, "live_bytes", n_bytes);
        put_time(out, "loaded", module->has_load, module->loaded);
        put_time(out, "unloaded", module->unloaded != BODY_FOREVER, module->unloaded);
        g_string_append_c(out, '}');
}

void event_json_append(GString *out, const char *event, const Process *process, const Body *body)
{
        g_string_append_c(out, '{');
        put_string(out, "event", event);
        if (process) {
                put_process_key(out, process);
                put_u64(out, "epoch", codemap_epoch(process->map));
        }
        if (body)
                put_body(out, process, body, NULL);
        g_string_append_c(out, '}');
}

void process_json_append(GString *out, const Process *process)
{
        g_string_append_c(out, '{');
        put_process_key(out, process);
        put_string(out, "state", process->exit == BODY_FOREVER ? "running" : "exited");
        put_string(out, "runtime", process->runtime_version);
        put_string(out, "runtime_path", process->runtime_path);
        put_string(out, "command", process->command);
        put_u64(out, "bodies", codemap_n_bodies(process->map));
        put_u64(out, "live", codemap_n_live(process->map));
        put_u64(out, "modules", process->all_modules->len);
        put_time(out, "since", true, process->begin);
        put_bool(out, "from_start", process->is_from_start);
        put_time(out, "last", true, process->last);
        put_time(out, "exited", process->exit != BODY_FOREVER, process->exit);
        put_time(out, "gap_since", process->lapses.open != BODY_FOREVER, process->lapses.open);
        put_time(out, "horizon", true, process_horizon(process));
        put_u64(out, "epoch", codemap_epoch(process->map));
        g_string_append_c(out, '}');
}
