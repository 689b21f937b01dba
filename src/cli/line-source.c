/* SPDX-License-Identifier: MIT */
#include "cli/line-source.h"

#include "cli/json-field.h"
#include "perf/answer-line.h"
#include "util/guid-text.h"
#include "util/json-text.h"
#include "util/printable-string.h"

#include <string.h>

/* As the daemon writes it. */
#define NO_IL_OFFSET "\"il_offset\":null,\"il_kind\":null,\"line_il_offset\":null"

struct LineSource {
        AnswerLines lines; /* owned */
        GString *path;     /* owned: of the module that was asked about last */
        bool is_recording; /* the processes of a trace are not those that have the pids now */
};

LineSource *line_source_new(const Options *options)
{
        LineSource *source = g_new0(LineSource, 1);
        bool ok = answer_lines_init(&source->lines);
        guint i;

        source->path = g_string_new(NULL);
        source->is_recording = options->trace != NULL;
        for (i = 0; ok && options->symbols && i < options->symbols->len; i++)
                ok = lines_add_directory(source->lines.lines, options->symbols->pdata[i]);
        for (i = 0; ok && options->source_maps && i < options->source_maps->len; i++)
                ok = answer_lines_add_map(&source->lines, options->source_maps->pdata[i]);
        if (!ok)
                g_error("no memory left");
        return source;
}

void line_source_free(LineSource *source)
{
        if (!source)
                return;
        answer_lines_deinit(&source->lines);
        g_string_free(source->path, TRUE);
        g_free(source);
}

static void answer_complete(LineSource *source, int32_t pid, clrsym_answer *answer)
{
        answer_lines_complete(&source->lines, source->is_recording ? 0 : pid, answer);
}

LineStatus line_source_find(LineSource *source, int32_t pid, const clrsym_answer *answer,
                            SourceLine *ret)
{
        return answer_lines_find(&source->lines, source->is_recording ? 0 : pid, answer, ret);
}

void line_source_append_text(LineSource *source, GString *out, int32_t pid,
                             const clrsym_answer *daemons)
{
        clrsym_answer complete = *daemons, *answer = &complete;
        SourceLine line;

        answer_complete(source, pid, answer);
        if (line_source_find(source, pid, answer, &line) != LINE_FOUND)
                return;
        g_string_append(out, " at ");
        printable_append(out, line.file);
        g_string_append_printf(out, ":%" G_GUINT32_FORMAT ":%" G_GUINT32_FORMAT, line.line,
                               line.column);
        if (answer->il_kind != CLRSYM_IL_EXACT)
                g_string_append_printf(out, " (%s)", clrsym_il_kind_name(answer->il_kind));
}

static bool span_is(JsonSpan value, const char *text)
{
        size_t n = strlen(text);

        return value.n == n + 2 && *value.at == '"' && !memcmp(value.at + 1, text, n);
}

/* 0 if it is null. After a member's value comes a comma or a brace. */
static int64_t span_number(JsonSpan value)
{
        return value.n ? g_ascii_strtoll(value.at, NULL, 10) : 0;
}

/* The number in a text, as "0x1f". */
static uint64_t span_hex(JsonSpan value)
{
        return value.n && *value.at == '"' ? g_ascii_strtoull(value.at + 1, NULL, 16) : 0;
}

/* The text without its escapes, in BUFFER; NULL: it is not a text. */
static const char *span_text(JsonSpan value, GString *buffer)
{
        if (!value.n || *value.at != '"')
                return NULL;
        if (memchr(value.at, '\\', value.n)) {
                json_auto_t *json = json_span_load(value);

                g_string_assign(buffer, json ? json_string_value(json) : "");
        } else {
                g_string_truncate(buffer, 0);
                g_string_append_len(buffer, value.at + 1, (gssize)value.n - 2);
        }
        return buffer->str;
}

/* Members of an answer, and of a body, that count for a line. */
enum {
        MEMBER_STATUS,
        MEMBER_PID,
        MEMBER_START,
        MEMBER_SIZE,
        MEMBER_OFFSET,
        MEMBER_LINE_IL,
        MEMBER_METHOD,
        MEMBER_MODULE,
        MEMBER_VERSION,
        _MEMBER_MAX,
};

static void members_of(JsonSpan object, JsonSpan ret_members[_MEMBER_MAX])
{
        static const char *const NAMES[] = {
                [MEMBER_STATUS] = "status",   [MEMBER_PID] = "pid",
                [MEMBER_START] = "start",     [MEMBER_SIZE] = "size",
                [MEMBER_OFFSET] = "offset",   [MEMBER_LINE_IL] = "line_il_offset",
                [MEMBER_METHOD] = "method",   [MEMBER_MODULE] = "module",
                [MEMBER_VERSION] = "version",
        };

        json_span_members(object, NAMES, _MEMBER_MAX, ret_members);
}

/* Sets what counts for a line; the path is in the source's buffer. */
static void answer_take(LineSource *source, const JsonSpan *members, clrsym_answer *ret)
{
        static const char *const OF_METHOD[] = {"token"};
        static const char *const OF_MODULE[] = {"path", "pdb_guid"};
        static const char *const OF_VERSION[] = {"tier", "il_version"};
        const JsonSpan il = members[MEMBER_LINE_IL];
        JsonSpan module[2], version[2], token;

        json_span_members(members[MEMBER_MODULE], OF_MODULE, 2, module);
        json_span_members(members[MEMBER_VERSION], OF_VERSION, 2, version);
        json_span_members(members[MEMBER_METHOD], OF_METHOD, 1, &token);
        *ret = (clrsym_answer){
                .offset = (uint64_t)span_number(members[MEMBER_OFFSET]),
                .line_il_offset = il.n && *il.at != 'n' ? (int32_t)span_number(il) : -1,
                .body = {.module_path = span_text(module[0], source->path),
                         .start = span_hex(members[MEMBER_START]),
                         .size = (uint32_t)span_number(members[MEMBER_SIZE]),
                         .tier = span_is(version[0], clrsym_tier_name(CLRSYM_TIER_READY_TO_RUN))
                                         ? CLRSYM_TIER_READY_TO_RUN
                                         : CLRSYM_TIER_UNKNOWN,
                         .token = (uint32_t)span_hex(token),
                         .has_il_version = true,
                         .il_version = (uint64_t)span_number(version[1])},
        };
        if (module[1].n > 2)
                guid_from_text(module[1].at + 1, module[1].n - 2, ret->body.module_pdb_guid);
}

/* Replaces what the daemon could not know of precompiled code, in its own text of the answer. */
static void json_complete(GString *out, const clrsym_answer *answer)
{
        g_autoptr(GString) known = g_string_new("\"il_offset\":");

        if (answer->il_kind == CLRSYM_IL_UNKNOWN)
                return;
        if (answer->il_kind == CLRSYM_IL_EXACT)
                g_string_append_printf(known, "%d", (int)answer->il_offset);
        else
                g_string_append(known, "null");
        g_string_append_printf(known, ",\"il_kind\":\"%s\",\"line_il_offset\":%d",
                               clrsym_il_kind_name(answer->il_kind), (int)answer->line_il_offset);
        g_string_replace(out, NO_IL_OFFSET, known->str, 1);
}

/* LINE counts if it was FOUND. */
static void append_members(GString *out, LineStatus found, const SourceLine *line)
{
        g_autofree char *file = NULL;

        g_string_append(out, ",\"file\":");
        if (found == LINE_FOUND) {
                file = g_utf8_make_valid(line->file, -1);
                json_append_string(out, file);
                g_string_append_printf(
                        out, ",\"line\":%" G_GUINT32_FORMAT ",\"column\":%" G_GUINT32_FORMAT,
                        line->line, line->column);
        } else {
                g_string_append(out, "null,\"line\":null,\"column\":null");
        }
        g_string_append_printf(out, ",\"line_status\":\"%s\"", line_status_name(found));
}

void line_source_append_json(LineSource *source, GString *out, int32_t pid, JsonSpan json)
{
        JsonSpan members[_MEMBER_MAX];
        clrsym_answer answer;
        LineStatus found;
        SourceLine line;

        members_of(json, members);
        if (!span_is(members[MEMBER_STATUS], clrsym_status_name(CLRSYM_OK)))
                return;
        answer_take(source, members, &answer);
        answer_complete(source, pid, &answer);
        json_complete(out, &answer);
        found = line_source_find(source, pid, &answer, &line);
        append_members(out, found, &line);
}

LineStatus line_source_find_first(LineSource *source, JsonSpan body, SourceLine *ret)
{
        JsonSpan members[_MEMBER_MAX];
        clrsym_answer answer;

        members_of(body, members);
        answer_take(source, members, &answer);
        return lines_find_first(
                source->lines.lines,
                &(LineQuestion){
                        .pid = source->is_recording ? 0 : (pid_t)span_number(members[MEMBER_PID]),
                        .module_path = answer.body.module_path,
                        .pdb_guid = answer.body.module_pdb_guid,
                        .token = answer.body.token,
                        .il_version = answer.body.il_version,
                },
                ret);
}

void line_source_append_first_json(LineSource *source, GString *out, JsonSpan body)
{
        SourceLine line;
        LineStatus found = line_source_find_first(source, body, &line);

        append_members(out, found, &line);
}
