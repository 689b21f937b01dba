/* SPDX-License-Identifier: MIT */
#include "perf/answer-line.h"

#include "metadata/r2r-map.h"

#include <stdlib.h>
#include <string.h>

bool answer_lines_init(AnswerLines *lines)
{
        *lines = (AnswerLines){.lines = lines_new(), .precompiled = precompiled_new()};
        return lines->lines && lines->precompiled;
}

void answer_lines_deinit(AnswerLines *lines)
{
        lines_free(lines->lines);
        precompiled_free(lines->precompiled);
        *lines = (AnswerLines){0};
}

bool answer_lines_add_map(AnswerLines *lines, const char *map)
{
        const char *equals = strchr(map, '=');
        char *from = equals ? strndup(map, (size_t)(equals - map)) : NULL;
        bool ok = from && *from && lines_add_map(lines->lines, from, equals + 1);

        free(from);
        return ok;
}

static clrsym_il_kind il_kind_of(const PrecompiledAnswer *found)
{
        return found->il == R2R_IL_NO_MAPPING ? CLRSYM_IL_NO_MAPPING
               : found->il == R2R_IL_PROLOG   ? CLRSYM_IL_PROLOG
               : found->il == R2R_IL_EPILOG   ? CLRSYM_IL_EPILOG
                                              : CLRSYM_IL_EXACT;
}

void answer_lines_complete(AnswerLines *lines, pid_t pid, clrsym_answer *answer)
{
        const clrsym_body *body = &answer->body;
        const PrecompiledQuestion question = {
                .pid = pid,
                .module_path = body->module_path,
                .pdb_guid = body->module_pdb_guid,
                .token = body->token,
                .size = body->size,
                .start = body->start,
                .offset = answer->offset,
        };
        PrecompiledAnswer found;

        if (body->tier != CLRSYM_TIER_READY_TO_RUN || answer->line_il_offset >= 0 ||
            !precompiled_find(lines->precompiled, lines_directories(lines->lines), &question,
                              &found))
                return;
        answer->line_il_offset = found.line_il;
        if (!found.has_il)
                return;
        answer->il_kind = il_kind_of(&found);
        answer->il_offset = found.il > 0 ? found.il : 0;
}

LineStatus answer_lines_find(AnswerLines *lines, pid_t pid, const clrsym_answer *answer,
                             SourceLine *ret)
{
        const clrsym_body *body = &answer->body;
        const LineQuestion question = {
                .pid = pid,
                .module_path = body->module_path,
                .pdb_guid = body->module_pdb_guid,
                .token = body->token,
                .il = answer->line_il_offset,
                .il_version = body->has_il_version ? body->il_version : 0,
        };

        return lines_find(lines->lines, &question, ret);
}
