/* SPDX-License-Identifier: MIT */

/*
 * clrsym inlines
 *
 * Prints the JIT's decisions about calls from and to a method, from the events of a trace. Each
 * event is printed at once, so memory does not grow with the trace.
 */

#include "cli/answer-source.h"
#include "cli/body-rows.h"
#include "cli/dump.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "util/json-text.h"
#include "util/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields of one of the methods of an event. */
typedef struct MethodFields {
        FieldName name_space, name, signature;
} MethodFields;

#define METHOD_FIELDS(prefix)                                                                      \
        {                                                                                          \
                FIELD_##prefix##Namespace, FIELD_##prefix##Name, FIELD_##prefix##NameSignature     \
        }

typedef struct CallKind {
        const char *json, *text, *link;
        MethodFields from, to;
} CallKind;

#define INLINING  .from = METHOD_FIELDS(Inliner), .to = METHOD_FIELDS(Inlinee)
#define TAIL_CALL .from = METHOD_FIELDS(Caller), .to = METHOD_FIELDS(Callee)

static const CallKind KINDS[_EVENT_KIND_MAX] = {
        [EVENT_KIND_JIT_INLINED] = {"inlined", "inlined", "<-", INLINING},
        [EVENT_KIND_JIT_NOT_INLINED] = {"not-inlined", "not inlined", "<-", INLINING},
        [EVENT_KIND_JIT_TAIL_CALL] = {"tail-call", "tail call", "->", TAIL_CALL},
        [EVENT_KIND_JIT_NO_TAIL_CALL] = {"no-tail-call", "no tail call", "->", TAIL_CALL},
};

static const MethodFields COMPILED = METHOD_FIELDS(MethodBeingCompiled);

/* Indexed by TailCallType. */
static const char *const TAIL_CALL_TYPES[] = {"optimized", "recursive", "helper"};

/* State of the verb. */
typedef struct Inlines {
        const Options *options; /* borrowed */
        clrsym_style style;
        GPatternSpec *pattern; /* owned */
        uint64_t n_events;     /* events of these kinds, printed or not */
        bool has_gap;          /* events were lost */
} Inlines;

/* One event. Names are owned. */
typedef struct Call {
        const CallKind *kind;
        char *from, *to, *compiled;
        char *reason;     /* owned; NULL: it succeeded */
        const char *type; /* of a tail call; NULL: another call, or not known */
        bool is_inlining, is_always, is_explicit;
} Call;

static char *record_text(const Record *record, FieldName name)
{
        const Value *value = record_value(record, name);

        return g_strndup(value && value->n ? (const char *)value->data : "", value ? value->n : 0);
}

static char *method_symbol(const Record *record, const MethodFields *fields, clrsym_style style)
{
        g_autofree char *name_space = record_text(record, fields->name_space);
        g_autofree char *name = record_text(record, fields->name);
        g_autofree char *signature = record_text(record, fields->signature);
        const clrsym_body body = {.name_space = name_space, .name = name, .signature = signature};
        size_t n;
        char *text;

        if (!*name || strcmp(name, "<null>") == 0) /* the runtime's text for an empty namespace */
                return g_strdup("?");
        n = clrsym_symbol(&body, style, NULL, 0) + 1;
        text = g_malloc(n);
        clrsym_symbol(&body, style, text, n);
        return text;
}

static bool inlines_match(const Inlines *inlines, const char *symbol)
{
        return symbol_matches(symbol, symbol_name_length(symbol), inlines->pattern);
}

static const char *tail_call_type(const Record *record)
{
        const Value *value = record_value(record, FIELD_TailCallType);

        return value && value->u < G_N_ELEMENTS(TAIL_CALL_TYPES) ? TAIL_CALL_TYPES[value->u] : NULL;
}

static void call_init(Call *call, const Record *record, clrsym_style style)
{
        const CallKind *kind = &KINDS[record->event->kind];

        *call = (Call){
                .kind = kind,
                .from = method_symbol(record, &kind->from, style),
                .to = method_symbol(record, &kind->to, style),
                .compiled = method_symbol(record, &COMPILED, style),
                .type = tail_call_type(record),
                .is_inlining = record_value(record, FIELD_InlineeName) != NULL,
                .is_always = record_u64(record, FIELD_FailAlways) != 0,
                .is_explicit = record_u64(record, FIELD_TailPrefix) != 0,
        };
        if (record_value(record, FIELD_FailReason))
                call->reason = record_text(record, FIELD_FailReason);
}

static void call_deinit(Call *call)
{
        g_free(call->from);
        g_free(call->to);
        g_free(call->compiled);
        g_free(call->reason);
}

static void append_member(GString *out, const char *key, const char *text)
{
        g_string_append_printf(out, ",\"%s\":", key);
        if (text)
                json_append_string(out, text);
        else
                g_string_append(out, "null");
}

static void append_flag(GString *out, const char *key, bool flag)
{
        g_string_append_printf(out, ",\"%s\":%s", key, flag ? "true" : "false");
}

static void call_append_json(const Call *call, const Record *record, GString *out)
{
        g_string_append_printf(out, "{\"pid_ns\":%" PRIu64 ",\"pid\":%" PRIi64 ",\"time\":",
                               (uint64_t)record->process.pid_ns, (int64_t)record->process.pid);
        json_append_time(out, record->time);
        append_member(out, "kind", call->kind->json);
        append_member(out, "caller", call->from);
        append_member(out, "callee", call->to);
        append_member(out, "compiled", call->compiled);
        append_member(out, "reason", call->reason);
        if (call->is_inlining) {
                if (call->reason)
                        append_flag(out, "always", call->is_always);
        } else {
                append_member(out, "type", call->type);
                append_flag(out, "prefix", call->is_explicit);
        }
        g_string_append(out, "}\n");
}

/* The program chooses the text of a reason: it must not move the cursor. */
static void append_reason(GString *out, const char *reason)
{
        g_autofree char *valid = g_utf8_make_valid(reason, -1);
        g_autofree char *text = g_strescape(valid, NULL);

        g_string_append_printf(out, ": %s", *text ? text : "no reason given");
}

static void call_append_text(const Call *call, const Record *record, GString *out)
{
        g_string_append_printf(out, "%" PRIi64 "  %-12s  %s %s %s", (int64_t)record->process.pid,
                               call->kind->text, call->from, call->kind->link, call->to);
        if (call->reason)
                append_reason(out, call->reason);
        if (call->is_always)
                g_string_append(out, " (always)");
        if (call->type)
                g_string_append_printf(out, " (%s)", call->type);
        if (call->is_explicit)
                g_string_append(out, " (tail. prefix)");
        if (strcmp(call->compiled, call->from) != 0)
                g_string_append_printf(out, " [in %s]", call->compiled);
        g_string_append_c(out, '\n');
}

static void inlines_append_record(void *userdata, GString *out, const Record *record)
{
        Inlines *inlines = userdata;
        Call call;

        if (!KINDS[record->event->kind].json)
                return;
        inlines->n_events++;
        call_init(&call, record, inlines->style);
        if (inlines_match(inlines, call.from) || inlines_match(inlines, call.to) ||
            inlines_match(inlines, call.compiled)) {
                if (options_has(inlines->options, OPTION_JSON))
                        call_append_json(&call, record, out);
                else
                        call_append_text(&call, record, out);
        }
        call_deinit(&call);
}

static void inlines_append_gap(void *userdata, GString *out, const StreamGap *gap)
{
        Inlines *inlines = userdata;

        (void)out;
        (void)gap;
        inlines->has_gap = true;
}

static void inlines_print_notes(const Inlines *inlines, const char *path)
{
        if (!inlines->n_events)
                message_print("clrsym",
                              "%s: no events of inlining or tail calls: record with runtime "
                              "keyword 0x1000, level 5",
                              path);
        if (inlines->has_gap)
                message_print("clrsym", "%s: events were lost: the list may lack some", path);
}

/* JSON always has the runtime's own names. */
static clrsym_style inlines_style(const Options *options)
{
        if (options_has(options, OPTION_JSON))
                return CLRSYM_STYLE_CLR;
        return options->style;
}

bool verb_inlines(const Options *options, GError **error)
{
        g_autofree char *text = g_utf8_make_valid(*options->arguments, -1);
        Inlines inlines = {.options = options,
                           .style = inlines_style(options),
                           .pattern = g_pattern_spec_new(text)};
        const DumpFormat format = {inlines_append_record, inlines_append_gap, &inlines};
        DumpFilter filter = {.options = options, .format = &format};
        bool ok = dump_path(&filter, options->trace, error);

        if (ok)
                inlines_print_notes(&inlines, options->trace);
        g_pattern_spec_free(inlines.pattern);
        return ok;
}
