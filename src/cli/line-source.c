/* SPDX-License-Identifier: MIT */
#include "cli/line-source.h"

#include "cli/inlined-frames.h"
#include "cli/line-json.h"
#include "util/json-text.h"
#include "util/printable-string.h"

#include <string.h>

struct LineSource {
        clrsym_lines *lines; /* owned */
        bool is_recording;   /* the processes belong to a trace: other processes may have their pids
                              * now */
};

/* MAP is "FROM=TO", and valid: options were checked. False: out of memory. */
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
        g_free(source);
}

/* Also sets the IL offset of precompiled code. PID: the pid in the question, or 0. */
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

/* Appends the JSON of ROW without its last N_LEFT bytes. */
static void row_append(GString *out, const clrsym_row *row, size_t n_left)
{
        size_t n;
        const char *json = clrsym_row_json(row, &n);

        json_append_bytes(out, json, n - n_left);
}

int line_source_append_answer(LineSource *source, GString *out, int32_t pid, clrsym_row *row)
{
        const InlinedFrames frames = {source->lines, source->is_recording ? 0 : pid,
                                      CLRSYM_STYLE_CSHARP};
        clrsym_line_status found;
        clrsym_answer answer;
        clrsym_line line;
        int r = clrsym_row_answer(row, &answer);

        if (r < 0)
                return r;
        if (answer.status != CLRSYM_OK) {
                row_append(out, row, 0);
                return 0;
        }
        found = source_find(source, pid, &answer, &line);
        r = clrsym_row_set_il(row, &answer);
        if (r < 0)
                return r;
        row_append(out, row, strlen("}"));
        line_json_append(out, found, &line);
        inlined_frames_append_json(&frames, out, &answer);
        g_string_append_c(out, '}');
        return 0;
}

clrsym_line_status line_source_find_first(LineSource *source, const clrsym_process *process,
                                          const clrsym_body *body, clrsym_line *ret)
{
        clrsym_lines_set_process(source->lines, process->pid);
        return clrsym_lines_find_first(source->lines, source->is_recording ? 0 : process->pid, body,
                                       ret);
}

int line_source_append_body(LineSource *source, GString *out, clrsym_row *row)
{
        clrsym_line_status found;
        clrsym_process process;
        clrsym_body body;
        clrsym_line line;
        int r = clrsym_row_body(row, &process, &body);

        if (r < 0)
                return r;
        found = line_source_find_first(source, &process, &body, &line);
        row_append(out, row, strlen("}"));
        line_json_append(out, found, &line);
        g_string_append_c(out, '}');
        return 0;
}
