/* SPDX-License-Identifier: MIT */
#include "cli/line-source.h"

#include "perf/answer-line.h"
#include "util/guid-text.h"
#include "util/json-text.h"
#include "util/printable-string.h"

#include <string.h>

/* As the daemon writes it. */
#define NO_IL_OFFSET "\"il_offset\":null,\"il_kind\":null,\"line_il_offset\":null"

struct LineSource {
        AnswerLines lines; /* owned */
        bool is_recording; /* the processes of a trace are not those that have the pids now */
};

LineSource *line_source_new(const Options *options)
{
        LineSource *source = g_new0(LineSource, 1);
        bool ok = answer_lines_init(&source->lines);
        guint i;

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

static const json_t *line_member(const json_t *answer, const char *object, const char *name)
{
        return json_object_get(json_object_get(answer, object), name);
}

/* Sets what counts for a line; the texts are borrowed. */
static void answer_take(clrsym_answer *ret, const json_t *json)
{
        const json_t *il = json_object_get(json, "line_il_offset");
        const char *guid = json_string_value(line_member(json, "module", "pdb_guid"));
        const char *token = json_string_value(line_member(json, "method", "token"));
        const char *start = json_string_value(json_object_get(json, "start"));
        const char *tier = json_string_value(line_member(json, "version", "tier"));

        *ret = (clrsym_answer){
                .offset = (uint64_t)json_integer_value(json_object_get(json, "offset")),
                .line_il_offset = json_is_integer(il) ? (int32_t)json_integer_value(il) : -1,
                .body = {.module_path = json_string_value(line_member(json, "module", "path")),
                         .start = start ? g_ascii_strtoull(start, NULL, 16) : 0,
                         .size = (uint32_t)json_integer_value(json_object_get(json, "size")),
                         .tier = tier && !strcmp(tier, clrsym_tier_name(CLRSYM_TIER_READY_TO_RUN))
                                         ? CLRSYM_TIER_READY_TO_RUN
                                         : CLRSYM_TIER_UNKNOWN,
                         .token = token ? (uint32_t)g_ascii_strtoull(token, NULL, 16) : 0,
                         .has_il_version = true,
                         .il_version = (uint64_t)json_integer_value(
                                 line_member(json, "version", "il_version"))},
        };
        if (guid)
                guid_from_text(guid, strlen(guid), ret->body.module_pdb_guid);
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

void line_source_append_json(LineSource *source, GString *out, int32_t pid, const json_t *json)
{
        const char *status = json_string_value(json_object_get(json, "status"));
        LineStatus found;
        clrsym_answer answer;
        SourceLine line;

        if (!status || strcmp(status, clrsym_status_name(CLRSYM_OK)) != 0)
                return;
        answer_take(&answer, json);
        answer_complete(source, pid, &answer);
        json_complete(out, &answer);
        found = line_source_find(source, pid, &answer, &line);
        append_members(out, found, &line);
}

LineStatus line_source_find_first(LineSource *source, const json_t *body, SourceLine *ret)
{
        const pid_t pid = (pid_t)json_integer_value(json_object_get(body, "pid"));
        clrsym_answer answer;

        answer_take(&answer, body);
        return lines_find_first(source->lines.lines,
                                &(LineQuestion){
                                        .pid = source->is_recording ? 0 : pid,
                                        .module_path = answer.body.module_path,
                                        .pdb_guid = answer.body.module_pdb_guid,
                                        .token = answer.body.token,
                                        .il_version = answer.body.il_version,
                                },
                                ret);
}

void line_source_append_first_json(LineSource *source, GString *out, const json_t *body)
{
        SourceLine line;
        LineStatus found = line_source_find_first(source, body, &line);

        append_members(out, found, &line);
}
