/* SPDX-License-Identifier: MIT */
#include "query/answer-json.h"

#include "event/flag-names.h"
#include "event/method-flags.h"
#include "query/answer-row.h"
#include "tracker/symbol.h"
#include "util/json-answer.h"
#include "util/json-text.h"

/* Most candidates in an answer, because an address can have had thousands of bodies. */
#define MAX_CANDIDATES 16u

static void json_put_key(GString *out, const char *name)
{
        if (out->str[out->len - 1] != '{')
                g_string_append_c(out, ',');
        g_string_append_c(out, '"');
        json_append_bytes(out, name, strlen(name));
        json_append_bytes(out, "\":", 2);
}

static void json_put_string(GString *out, const char *name, const char *text)
{
        json_put_key(out, name);
        json_append_string(out, text);
}

static void json_put_hex(GString *out, const char *name, uint64_t u)
{
        json_put_key(out, name);
        json_append_hex(out, u);
}

static void json_put_u64(GString *out, const char *name, uint64_t u)
{
        json_put_key(out, name);
        json_append_u64(out, u);
}

static void json_put_bool(GString *out, const char *name, bool is_true)
{
        json_put_key(out, name);
        g_string_append(out, is_true ? "true" : "false");
}

static void json_put_null(GString *out, const char *name)
{
        json_put_key(out, name);
        json_append_string(out, NULL);
}

/* Appends the words of FLAGS; ignores flags without a word. */
static void json_append_flag_names(GString *out, uint32_t flags, const FlagName *names)
{
        g_string_append_c(out, '[');
        for (; names->name; names++) {
                if (!(flags & names->flag))
                        continue;
                if (out->str[out->len - 1] != '[')
                        g_string_append_c(out, ',');
                json_append_string(out, names->name);
        }
        g_string_append_c(out, ']');
}

/* Appends an id or an address; null if it is 0. */
static void json_put_id(GString *out, const char *name, uint64_t id)
{
        json_put_key(out, name);
        if (id)
                json_append_hex(out, id);
        else
                g_string_append(out, "null");
}

/* Appends a time; null if it is not known. */
static void json_put_time(GString *out, const char *name, bool is_known, uint64_t time)
{
        json_put_key(out, name);
        if (is_known)
                json_append_time(out, time);
        else
                json_append_string(out, NULL);
}

/* A body being written. */
typedef struct BodyJson {
        GString *out;
        const Process *process;
        const Body *body;
        const uint64_t *address; /* the address asked about; NULL: a body of a list or an event */
        BulkAnswer row;
        BulkStub stub;
        bool is_stub;
        uint32_t n_inlined;
        InlinedMethod inlined[INLINING_MAX_DEPTH];
} BodyJson;

static bool body_json_is_null(const BodyJson *json, const AnswerField *field, uint64_t value)
{
        switch (field->null) {
        case ANSWER_NEVER:
                return false;
        case ANSWER_IF_ZERO:
                return value == 0;
        case ANSWER_IF_ALIVE:
                return value == CLRSYM_ALIVE;
        case ANSWER_IF_R2R_ENTRY:
                return json->row.source == CLRSYM_SOURCE_R2R_ENTRY;
        case ANSWER_IF_NO_IL_MAP:
                return field->type == ANSWER_NUMBER ? !(json->row.flags & BULK_ANSWER_IL_VERSION)
                                                    : json->row.il_kind == CLRSYM_IL_UNKNOWN;
        case ANSWER_IF_NONE:
                return field->type == ANSWER_STUB      ? !json->is_stub
                       : field->type == ANSWER_INLINED ? !json->n_inlined
                                                       : !json->row.module_id;
        }
        g_assert_not_reached();
}

static void json_put_guid(GString *out, const uint8_t *guid)
{
        char text[GUID_TEXT_SIZE];

        guid_to_text(guid, text);
        json_append_string(out, text);
}

/* Appends null below 0. */
static void json_put_il_offset(const BodyJson *json, int32_t offset)
{
        if (offset >= 0)
                json_append_u64(json->out, (uint64_t)offset);
        else
                json_append_string(json->out, NULL);
}

static void json_put_symbol(const BodyJson *json)
{
        g_autoptr(GString) symbol = g_string_new(NULL);

        symbol_append(symbol, json->process, json->body);
        json_append_text(json->out, symbol->str, symbol->len);
}

static void json_put_inlined(const BodyJson *json)
{
        GString *out = json->out;
        uint32_t i;

        g_string_append_c(out, '[');
        for (i = 0; i < json->n_inlined; i++) {
                const InlinedMethod *inlined = &json->inlined[i];

                g_string_append(out, i ? ",{" : "{");
                json_put_string(out, "method", strtab_text(json->process->names, inlined->method));
                if (inlined->il_offset < 0)
                        json_put_null(out, "il_offset");
                else
                        json_put_u64(out, "il_offset", (uint64_t)inlined->il_offset);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}

static void json_put_fields(const BodyJson *json, const AnswerField *fields, const void *row);

static void json_put_value(const BodyJson *json, const AnswerField *field, uint64_t value)
{
        GString *out = json->out;

        switch (field->type) {
        case ANSWER_TEXT:
                json_append_string(out, strtab_text(json->process->names, (Str)value));
                return;
        case ANSWER_ID:
                json_append_hex(out, value);
                return;
        case ANSWER_TOKEN:
                json_append_token(out, (uint32_t)value);
                return;
        case ANSWER_NUMBER:
                json_append_u64(out, value);
                return;
        case ANSWER_TIME:
                json_append_time(out, value);
                return;
        case ANSWER_JIT_MS:
                json_append_thousandths(out, value);
                return;
        case ANSWER_TIER:
                json_append_string(out, tier_name(json->row.method_flags));
                return;
        case ANSWER_SOURCE:
                json_append_string(out, body_source_name((BodySource)value));
                return;
        case ANSWER_METHOD:
        case ANSWER_VERSION:
        case ANSWER_MODULE:
                json_put_fields(json, answer_type_fields(field->type), &json->row);
                return;
        case ANSWER_STUB:
                json_put_fields(json, answer_type_fields(field->type), &json->stub);
                return;
        case ANSWER_SYMBOL:
                json_put_symbol(json);
                return;
        case ANSWER_FLAG_NAMES:
                json_append_flag_names(out, json->row.method_flags, method_flag_names);
                return;
        case ANSWER_OFFSET:
                json_append_u64(out, *json->address - json->row.start);
                return;
        case ANSWER_IL_OFFSET:
                json_put_il_offset(json,
                                   json->row.il_kind == CLRSYM_IL_EXACT ? json->row.il_offset : -1);
                return;
        case ANSWER_IL_KIND:
                json_append_string(out, clrsym_il_kind_name(json->row.il_kind));
                return;
        case ANSWER_LINE_IL_OFFSET:
                json_put_il_offset(json, json->row.line_il);
                return;
        case ANSWER_GUID:
                json_put_guid(out, json->row.module_pdb);
                return;
        case ANSWER_INLINED:
                json_put_inlined(json);
                return;
        }
}

static void json_put_members(const BodyJson *json, const AnswerField *field, const void *row)
{
        for (; field->name; field++) {
                uint64_t value = answer_field_load(row, field->row, field->row_size);

                if (!json->address && answer_type_needs_address(field->type))
                        continue;
                json_put_key(json->out, field->name);
                if (body_json_is_null(json, field, value))
                        json_append_string(json->out, NULL);
                else
                        json_put_value(json, field, value);
        }
}

static void json_put_fields(const BodyJson *json, const AnswerField *fields, const void *row)
{
        g_string_append_c(json->out, '{');
        json_put_members(json, fields, row);
        g_string_append_c(json->out, '}');
}

/* ADDRESS: the address asked about; NULL for a body of a list or an event. */
static void json_put_body(GString *out, const Process *process, const Body *body,
                          const uint64_t *address)
{
        BodyJson json;

        json.out = out;
        json.process = process;
        json.body = body;
        json.address = address;
        json.n_inlined = 0;
        json.row = (BulkAnswer){0};

        answer_row_fill(&json.row, process, body, address);
        json.is_stub = answer_row_stub(&json.stub, process, body);
        if (address)
                json.n_inlined = answer_row_inlined(json.inlined, process, body, *address);
        json_put_members(&json, answer_body_fields, &json.row);
}

/* Appends seconds, with a sign and nine decimals. */
static void json_put_distance(GString *out, int64_t ns)
{
        uint64_t u = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

        json_put_key(out, "distance");
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               ns < 0 ? "-" : "", (guint64)(u / 1000000000),
                               (guint64)(u % 1000000000));
}

static void json_put_candidates(GString *out, const Question *question, const Answer *answer)
{
        guint n_bodies = answer->bodies ? answer->bodies->len : 0;
        guint n_processes = answer->processes ? answer->processes->len : 0;
        guint n_most = out->len < ANSWER_JSON_CANDIDATE_BYTES ? MAX_CANDIDATES : 0, i;

        json_put_key(out, "candidates");
        g_string_append_c(out, '[');
        for (i = 0; i < MIN(n_bodies, n_most); i++) {
                g_string_append(out, i ? ",{" : "{");
                json_put_body(out, answer->process, answer->bodies->pdata[i], &question->address);
                g_string_append_c(out, '}');
        }
        for (i = 0; i < MIN(n_processes, n_most); i++) {
                const Process *process = answer->processes->pdata[i];

                g_string_append(out, i ? ",{" : "{");
                json_put_u64(out, "pid", (uint64_t)process->key.pid);
                json_put_u64(out, "pid_ns", process->key.pid_ns);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
        json_put_u64(out, "n_candidates", answer->n_bodies + n_processes);
}

void answer_json_append(GString *out, const Question *question, const Answer *answer)
{
        g_string_append_c(out, '{');
        json_put_u64(out, "pid", (uint64_t)question->pid);
        if (answer->process)
                json_put_u64(out, "pid_ns", answer->process->key.pid_ns);
        else if (question->has_pid_ns)
                json_put_u64(out, "pid_ns", question->pid_ns);
        else
                json_put_null(out, "pid_ns");
        json_put_hex(out, "addr", question->address);
        json_put_time(out, "time", question->has_time, question->time);
        json_put_string(out, "status", answer_status_name(answer->status));
        if (answer->body)
                json_put_body(out, answer->process, answer->body, &question->address);
        if (answer->nearest) {
                json_put_key(out, "nearest");
                g_string_append_c(out, '{');
                json_put_body(out, answer->process, answer->nearest, &question->address);
                json_put_distance(out, answer->distance);
                g_string_append_c(out, '}');
        }
        if (answer->status == ANSWER_AMBIGUOUS)
                json_put_candidates(out, question, answer);
        if (answer->process)
                json_put_string(out, "confidence", confidence_name(answer->confidence));
        else
                json_put_null(out, "confidence");
        json_put_time(out, "horizon", answer->process != NULL, answer->horizon);
        if (answer->process)
                json_put_u64(out, "epoch", codemap_epoch(answer->process->map));
        else
                json_put_null(out, "epoch");
        g_string_append_c(out, '}');
}

void answer_json_append_invalid(GString *out, const char *address, const char *reason)
{
        g_string_append_c(out, '{');
        json_invalid_append(out, address, reason);
        json_put_null(out, "epoch");
        g_string_append_c(out, '}');
}

static void json_put_process_key(GString *out, const Process *process)
{
        json_put_u64(out, "pid", (uint64_t)process->key.pid);
        json_put_u64(out, "pid_ns", process->key.pid_ns);
        json_put_u64(out, "generation", process->generation);
}

void body_json_append(GString *out, const Process *process, const Body *body,
                      const uint64_t *address)
{
        g_string_append_c(out, '{');
        json_put_process_key(out, process);
        json_put_body(out, process, body, address);
        g_string_append_c(out, '}');
}

void process_key_json_append(GString *out, const Process *process)
{
        g_string_append_c(out, '{');
        json_put_process_key(out, process);
        json_put_u64(out, "epoch", codemap_epoch(process->map));
        json_put_time(out, "horizon", true, process_horizon(process));
        g_string_append_c(out, '}');
}

/* Appends null if no event described the module or the assembly. */
static void json_put_flags(GString *out, bool is_known, uint32_t flags, const FlagName *names)
{
        if (is_known) {
                json_put_u64(out, "flags", flags);
                json_put_key(out, "flag_names");
                json_append_flag_names(out, flags, names);
        } else {
                json_put_null(out, "flags");
                json_put_null(out, "flag_names");
        }
}

/* Appends null without a PDB. */
static void json_put_pdb(GString *out, const Process *process, const Module *module)
{
        static const uint8_t NONE[GUID_SIZE];
        bool has_pdb = memcmp(module->pdb_guid, NONE, GUID_SIZE) != 0;
        char text[GUID_TEXT_SIZE];

        guid_to_text(module->pdb_guid, text);
        json_put_string(out, "pdb_guid", has_pdb ? text : NULL);
        if (has_pdb)
                json_put_u64(out, "pdb_age", module->pdb_age);
        else
                json_put_null(out, "pdb_age");
        json_put_string(out, "pdb_path", strtab_text(process->names, module->pdb_path));
}

void assembly_json_append(GString *out, const Process *process, const Assembly *assembly)
{
        g_string_append_c(out, '{');
        json_put_process_key(out, process);
        json_put_hex(out, "id", assembly->id);
        json_put_string(out, "name", strtab_text(process->names, assembly->name));
        json_put_flags(out, assembly->has_flags, assembly->flags, assembly_flag_names);
        json_put_id(out, "binding_id", assembly->binding_id);
        json_put_id(out, "app_domain_id", assembly->app_domain_id);
        json_put_time(out, "loaded", assembly->has_load, assembly->loaded);
        json_put_time(out, "unloaded", assembly->unloaded != BODY_FOREVER, assembly->unloaded);
        g_string_append_c(out, '}');
}

void module_json_append(GString *out, const Process *process, const Module *module,
                        uint64_t n_bodies, uint64_t n_live, uint64_t n_bytes)
{
        const Assembly *assembly = process_module_assembly(process, module);

        g_string_append_c(out, '{');
        json_put_process_key(out, process);
        json_put_hex(out, "id", module->id);
        json_put_string(out, "path", strtab_text(process->names, module->path));
        json_put_u64(out, "bodies", n_bodies);
        json_put_u64(out, "live", n_live);
        json_put_u64(out, "live_bytes", n_bytes);
        json_put_string(out, "native_path", strtab_text(process->names, module->native_path));
        json_put_flags(out, module->has_flags, module->flags, module_flag_names);
        json_put_id(out, "assembly_id", assembly ? assembly->id : 0);
        json_put_string(out, "assembly",
                        assembly ? strtab_text(process->names, assembly->name) : NULL);
        json_put_pdb(out, process, module);
        json_put_time(out, "loaded", module->has_load, module->loaded);
        json_put_time(out, "unloaded", module->unloaded != BODY_FOREVER, module->unloaded);
        g_string_append_c(out, '}');
}

void event_json_append(GString *out, const char *event, const Process *process, const Body *body)
{
        g_string_append_c(out, '{');
        json_put_string(out, "event", event);
        if (process) {
                json_put_process_key(out, process);
                json_put_u64(out, "epoch", codemap_epoch(process->map));
        }
        if (body)
                json_put_body(out, process, body, NULL);
        g_string_append_c(out, '}');
}

void process_json_append(GString *out, const Process *process, ProcessLife life, bool with_uid)
{
        static const char *const LIVES[_PROCESS_LIFE_MAX] = {
                [PROCESS_RUNNING] = "running",
                [PROCESS_EXITED] = "exited",
                [PROCESS_RECORDED] = "recorded",
        };

        g_string_append_c(out, '{');
        json_put_process_key(out, process);
        json_put_string(out, "state", LIVES[life]);
        json_put_string(out, "runtime", process->runtime_version);
        json_put_string(out, "runtime_path", process->runtime_path);
        json_put_string(out, "command", process_command(process));
        json_put_key(out, "tiering");
        if (process->has_tiering)
                json_append_flag_names(out, process->tiering, tiered_setting_names);
        else
                g_string_append(out, "null");
        json_put_u64(out, "bodies", codemap_n_bodies(process->map));
        json_put_u64(out, "live", codemap_n_live(process->map));
        json_put_u64(out, "modules", process->all_modules->len);
        json_put_time(out, "since", true, process->begin);
        json_put_bool(out, "from_start", process->is_from_start);
        json_put_time(out, "last", true, process->last);
        json_put_time(out, "exited", process->exit != BODY_FOREVER, process->exit);
        json_put_time(out, "gap_since", process->gaps.open_since != BODY_FOREVER,
                      process->gaps.open_since);
        json_put_time(out, "horizon", true, process_horizon(process));
        json_put_u64(out, "epoch", codemap_epoch(process->map));
        if (with_uid && process->uid == PROCESS_OF_NOBODY)
                json_put_null(out, "uid");
        else if (with_uid)
                json_put_u64(out, "uid", process->uid);
        g_string_append_c(out, '}');
}
