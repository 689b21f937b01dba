/* SPDX-License-Identifier: MIT */
#include "cli/line-source.h"

#include "cli/inlined-frames.h"
#include "cli/json-field.h"
#include "cli/line-json.h"
#include "util/guid-text.h"
#include "util/json-answer.h"
#include "util/json-text.h"
#include "util/printable-string.h"

#include <string.h>

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
        /* As JsonIlMember. */
        MEMBER_IL_OFFSET = JSON_IL_OFFSET,
        MEMBER_IL_KIND = JSON_IL_KIND,
        MEMBER_LINE_IL = JSON_IL_LINE_OFFSET,
        MEMBER_STATUS = _JSON_IL_MEMBER_MAX,
        MEMBER_PID,
        MEMBER_START,
        MEMBER_SIZE,
        MEMBER_OFFSET,
        MEMBER_FLAGS,
        MEMBER_METHOD,
        MEMBER_MODULE,
        MEMBER_VERSION,
        MEMBER_INLINED,
        _MEMBER_MAX,
};

/* Returns the bytes of OBJECT before the end of its last member. */
static size_t members_of(JsonSpan object, JsonSpan ret_members[_MEMBER_MAX])
{
        static const char *const NAMES[] = {
                [MEMBER_IL_OFFSET] = "il_offset",
                [MEMBER_IL_KIND] = "il_kind",
                [MEMBER_LINE_IL] = "line_il_offset",
                [MEMBER_STATUS] = "status",
                [MEMBER_PID] = "pid",
                [MEMBER_START] = "start",
                [MEMBER_SIZE] = "size",
                [MEMBER_FLAGS] = "flags",
                [MEMBER_OFFSET] = "offset",
                [MEMBER_METHOD] = "method",
                [MEMBER_MODULE] = "module",
                [MEMBER_VERSION] = "version",
                [MEMBER_INLINED] = "inlined",
        };

        return json_span_members(object, NAMES, _MEMBER_MAX, ret_members);
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
                         .tier = json_span_is_text(version[0],
                                                   clrsym_tier_name(CLRSYM_TIER_READY_TO_RUN))
                                         ? CLRSYM_TIER_READY_TO_RUN
                                         : CLRSYM_TIER_UNKNOWN,
                         .token = (uint32_t)span_hex(token),
                         .has_il_version = true,
                         .il_version = (uint64_t)span_number(version[1])},
        };
        if (module[1].n > 2)
                guid_from_text(module[1].at + 1, module[1].n - 2, ret->body.module_pdb_guid);
}

/* Of the members that say which IL offset the address has: the first after FROM, or the maximum. */
static JsonIlMember il_member_after(const JsonSpan *members, const char *from)
{
        JsonIlMember member, next = _JSON_IL_MEMBER_MAX;

        for (member = 0; member < _JSON_IL_MEMBER_MAX; member++)
                if (members[member].n && members[member].at >= from &&
                    (next == _JSON_IL_MEMBER_MAX || members[member].at < members[next].at))
                        next = member;
        return next;
}

/* Appends the members of an object, up to END, as the daemon wrote them; but those of IL by IL. */
static void members_append_with(GString *out, JsonSpan object, size_t end, const JsonSpan *members,
                                const JsonIl *il)
{
        const char *from = object.at, *last = object.at + end;
        JsonIlMember member;

        while ((member = il_member_after(members, from)) < _JSON_IL_MEMBER_MAX) {
                json_append_bytes(out, from, (size_t)(members[member].at - from));
                json_il_append(out, member, il);
                from = members[member].at + members[member].n;
        }
        json_append_bytes(out, from, (size_t)(last - from));
}

void line_source_append_answer(LineSource *source, GString *out, int32_t pid, JsonSpan json)
{
        const InlinedFrames frames = {source->lines, source->is_recording ? 0 : pid,
                                      CLRSYM_STYLE_CSHARP};
        JsonSpan members[_MEMBER_MAX];
        clrsym_line_status found;
        clrsym_answer answer;
        clrsym_line line;
        size_t end;
        JsonIl il;

        end = members_of(json, members);
        if (!json_span_is_text(members[MEMBER_STATUS], clrsym_status_name(CLRSYM_OK))) {
                json_append_bytes(out, json.at, json.n);
                return;
        }
        answer_take(source, members, &answer);
        found = source_find(source, pid, &answer, &line);
        il = (JsonIl){
                .kind = clrsym_il_kind_name(answer.il_kind),
                .offset = answer.il_kind == CLRSYM_IL_EXACT ? answer.il_offset : -1,
                .line_offset = answer.line_il_offset,
        };

        if (answer.il_kind == CLRSYM_IL_UNKNOWN)
                json_append_bytes(out, json.at, end);
        else
                members_append_with(out, json, end, members, &il);
        line_json_append(out, found, &line);
        if (members[MEMBER_INLINED].n && *members[MEMBER_INLINED].at == '[')
                inlined_frames_append_json(&frames, out, members[MEMBER_INLINED]);
        g_string_append_c(out, '}');
}

/* Returns as members_of(). */
static size_t source_read_body(LineSource *source, JsonSpan body, clrsym_line_status *ret_found,
                               clrsym_line *ret)
{
        JsonSpan members[_MEMBER_MAX];
        size_t end = members_of(body, members);
        clrsym_answer answer;
        int32_t pid;

        answer_take(source, members, &answer);
        pid = (int32_t)span_number(members[MEMBER_PID]);
        clrsym_lines_set_process(source->lines, pid);
        pid = source->is_recording ? 0 : pid;
        *ret_found = clrsym_lines_find_first(source->lines, pid, &answer.body, ret);
        return end;
}

clrsym_line_status line_source_find_first(LineSource *source, JsonSpan body, clrsym_line *ret)
{
        clrsym_line_status found;

        source_read_body(source, body, &found, ret);
        return found;
}

void line_source_append_body(LineSource *source, GString *out, JsonSpan body)
{
        clrsym_line_status found;
        clrsym_line line;
        size_t end = source_read_body(source, body, &found, &line);

        if (!end) {
                json_append_bytes(out, body.at, body.n);
                return;
        }
        json_append_bytes(out, body.at, end);
        line_json_append(out, found, &line);
        g_string_append_c(out, '}');
}
