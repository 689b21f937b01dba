/* SPDX-License-Identifier: MIT */
#include "cli/line-source.h"

#include "cli/inlined-frames.h"
#include "cli/json-field.h"
#include "cli/line-json.h"
#include "util/guid-text.h"
#include "util/json-text.h"
#include "util/printable-string.h"

#include <string.h>

/* As the daemon writes it. */
#define NO_IL_OFFSET "\"il_offset\":null,\"il_kind\":null,\"line_il_offset\":null"

struct LineSource {
        clrsym_lines *lines; /* owned */
        GString *path;       /* owned: of the module that was asked about last */
        GString *pdb_path;   /* owned: and of its PDB */
        bool is_recording;   /* the processes of a trace are not those that have the pids now */
};

/* "FROM=TO". False: no memory, for the options are checked. */
static bool source_add_map(LineSource *source, const char *map)
{
        g_auto(GStrv) parts = g_strsplit(map, "=", 2);

        return clrsym_lines_map_source(source->lines, parts[0], parts[1]) == 0;
}

LineSource *line_source_new(const Options *options)
{
        LineSource *source = g_new0(LineSource, 1);
        bool ok = clrsym_lines_new(&source->lines) == 0;
        guint i;

        source->path = g_string_new(NULL);
        source->pdb_path = g_string_new(NULL);
        source->is_recording = options->trace != NULL;
        for (i = 0; ok && options->symbols && i < options->symbols->len; i++)
                ok = clrsym_lines_add_directory(source->lines, options->symbols->pdata[i]) == 0;
        for (i = 0; ok && options->source_maps && i < options->source_maps->len; i++)
                ok = source_add_map(source, options->source_maps->pdata[i]);
        if (!ok)
                g_error("no memory left");
        return source;
}

void line_source_free(LineSource *source)
{
        if (!source)
                return;
        clrsym_lines_free(source->lines);
        g_string_free(source->path, TRUE);
        g_string_free(source->pdb_path, TRUE);
        g_free(source);
}

/* Also sets the IL offset of precompiled code. PID: as the question named the process, or 0. */
static clrsym_line_status source_find(LineSource *source, int32_t pid, clrsym_answer *answer,
                                      clrsym_line *ret)
{
        clrsym_lines_set_process(source->lines, pid);
        return clrsym_lines_find(source->lines, source->is_recording ? 0 : pid, answer, ret);
}

void line_source_append_text(LineSource *source, GString *out, int32_t pid,
                             const clrsym_answer *daemons)
{
        clrsym_answer complete = *daemons, *answer = &complete;
        clrsym_line line;

        if (source_find(source, pid, answer, &line) != CLRSYM_LINE_FOUND)
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
        MEMBER_FLAGS,
        MEMBER_LINE_IL,
        MEMBER_METHOD,
        MEMBER_MODULE,
        MEMBER_VERSION,
        MEMBER_INLINED,
        _MEMBER_MAX,
};

static void members_of(JsonSpan object, JsonSpan ret_members[_MEMBER_MAX])
{
        static const char *const NAMES[] = {
                [MEMBER_STATUS] = "status",
                [MEMBER_PID] = "pid",
                [MEMBER_START] = "start",
                [MEMBER_SIZE] = "size",
                [MEMBER_FLAGS] = "flags",
                [MEMBER_OFFSET] = "offset",
                [MEMBER_LINE_IL] = "line_il_offset",
                [MEMBER_METHOD] = "method",
                [MEMBER_MODULE] = "module",
                [MEMBER_VERSION] = "version",
                [MEMBER_INLINED] = "inlined",
        };

        json_span_members(object, NAMES, _MEMBER_MAX, ret_members);
}

/* Sets what counts for a line; the paths are in the source's buffers. */
static void answer_take(LineSource *source, const JsonSpan *members, clrsym_answer *ret)
{
        static const char *const OF_METHOD[] = {"token"};
        static const char *const OF_MODULE[] = {"path", "pdb_guid", "pdb_path"};
        static const char *const OF_VERSION[] = {"tier", "il_version"};
        const JsonSpan il = members[MEMBER_LINE_IL];
        JsonSpan module[3], version[2], token;

        json_span_members(members[MEMBER_MODULE], OF_MODULE, 3, module);
        json_span_members(members[MEMBER_VERSION], OF_VERSION, 2, version);
        json_span_members(members[MEMBER_METHOD], OF_METHOD, 1, &token);
        *ret = (clrsym_answer){
                .offset = (uint64_t)span_number(members[MEMBER_OFFSET]),
                .line_il_offset = il.n && *il.at != 'n' ? (int32_t)span_number(il) : -1,
                .body = {.module_path = span_text(module[0], source->path),
                         .module_pdb_path = span_text(module[2], source->pdb_path),
                         .start = span_hex(members[MEMBER_START]),
                         .size = (uint32_t)span_number(members[MEMBER_SIZE]),
                         .flags = (uint32_t)span_number(members[MEMBER_FLAGS]),
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

void line_source_append_json(LineSource *source, GString *out, int32_t pid, JsonSpan json)
{
        JsonSpan members[_MEMBER_MAX];
        clrsym_answer answer;
        const InlinedFrames frames = {source->lines, source->is_recording ? 0 : pid,
                                      CLRSYM_STYLE_CSHARP};
        clrsym_line_status found;
        clrsym_line line;

        members_of(json, members);
        if (!span_is(members[MEMBER_STATUS], clrsym_status_name(CLRSYM_OK)))
                return;
        answer_take(source, members, &answer);
        found = source_find(source, pid, &answer, &line);
        json_complete(out, &answer);
        line_json_append(out, found, &line);
        if (members[MEMBER_INLINED].n && *members[MEMBER_INLINED].at == '[')
                inlined_frames_append_json(&frames, out, members[MEMBER_INLINED]);
}

clrsym_line_status line_source_find_first(LineSource *source, JsonSpan body, clrsym_line *ret)
{
        JsonSpan members[_MEMBER_MAX];
        clrsym_answer answer;
        int32_t pid;

        members_of(body, members);
        answer_take(source, members, &answer);
        pid = (int32_t)span_number(members[MEMBER_PID]);
        clrsym_lines_set_process(source->lines, pid);
        pid = source->is_recording ? 0 : pid;
        return clrsym_lines_find_first(source->lines, pid, &answer.body, ret);
}

void line_source_append_first_json(LineSource *source, GString *out, JsonSpan body)
{
        clrsym_line line;
        clrsym_line_status found = line_source_find_first(source, body, &line);

        line_json_append(out, found, &line);
}
