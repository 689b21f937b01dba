/* SPDX-License-Identifier: MIT */
#include "clrsym/clrsym.h"
#include "lines/lines.h"
#include "lines/precompiled.h"
#include "lines/type-args.h"
#include "lines/type-names.h"
#include "metadata/r2r-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct clrsym_lines {
        Lines *lines;             /* owned */
        Precompiled *precompiled; /* owned */
        TypeNames *types;         /* owned */
        TypeArgs *type_args;      /* owned */
};

int clrsym_lines_new(clrsym_lines **ret)
{
        clrsym_lines *lines = calloc(1, sizeof(*lines));

        *ret = NULL;
        if (!lines)
                return -ENOMEM;
        *lines = (clrsym_lines){.lines = lines_new(),
                                .precompiled = precompiled_new(),
                                .types = type_names_new(),
                                .type_args = type_args_new()};
        if (!lines->lines || !lines->precompiled || !lines->types || !lines->type_args) {
                clrsym_lines_free(lines);
                return -ENOMEM;
        }
        *ret = lines;
        return 0;
}

void clrsym_lines_free(clrsym_lines *lines)
{
        if (!lines)
                return;
        lines_free(lines->lines);
        precompiled_free(lines->precompiled);
        type_names_free(lines->types);
        type_args_free(lines->type_args);
        free(lines);
}

int clrsym_lines_add_directory(clrsym_lines *lines, const char *path)
{
        return lines_add_directory(lines->lines, path) ? 0 : -ENOMEM;
}

int clrsym_lines_add_program(clrsym_lines *lines, const char *path)
{
        return bundles_add_program(&lines_sources(lines->lines)->bundles, path) ? 0 : -ENOMEM;
}

int clrsym_lines_map_source(clrsym_lines *lines, const char *from, const char *to)
{
        if (!*from)
                return -EINVAL;
        return lines_add_map(lines->lines, from, to) ? 0 : -ENOMEM;
}

void clrsym_lines_set_process(clrsym_lines *lines, int32_t process)
{
        lines_sources(lines->lines)->process = process;
}

int32_t clrsym_lines_costly_process(clrsym_lines *lines)
{
        return image_sources_spent(lines_sources(lines->lines));
}

static clrsym_line_status status_of(LineStatus status)
{
        static const clrsym_line_status STATUSES[_LINE_STATUS_MAX] = {
                [LINE_FOUND] = CLRSYM_LINE_FOUND,
                [LINE_NO_MODULE] = CLRSYM_LINE_NO_MODULE,
                [LINE_NO_IL] = CLRSYM_LINE_NO_IL,
                [LINE_OTHER_IL] = CLRSYM_LINE_OTHER_IL,
                [LINE_NO_PDB] = CLRSYM_LINE_NO_PDB,
                [LINE_PDB_MISSING] = CLRSYM_LINE_PDB_MISSING,
                [LINE_PDB_OTHER] = CLRSYM_LINE_PDB_OTHER,
                [LINE_PDB_WINDOWS] = CLRSYM_LINE_PDB_WINDOWS,
                [LINE_PDB_DAMAGED] = CLRSYM_LINE_PDB_DAMAGED,
                [LINE_NONE] = CLRSYM_LINE_NONE,
                [LINE_TOO_MUCH] = CLRSYM_LINE_TOO_MUCH,
        };

        return STATUSES[status];
}

static clrsym_il_kind il_kind_of(const PrecompiledAnswer *found)
{
        return found->il == R2R_IL_NO_MAPPING ? CLRSYM_IL_NO_MAPPING
               : found->il == R2R_IL_PROLOG   ? CLRSYM_IL_PROLOG
               : found->il == R2R_IL_EPILOG   ? CLRSYM_IL_EPILOG
                                              : CLRSYM_IL_EXACT;
}

/* The IL offset of precompiled code is in the image. */
static void answer_complete(clrsym_lines *lines, int32_t pid, clrsym_answer *answer)
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
            !precompiled_find(lines->precompiled, lines_sources(lines->lines), &question, &found))
                return;
        answer->line_il_offset = found.line_il;
        if (!found.has_il)
                return;
        answer->il_kind = il_kind_of(&found);
        answer->il_offset = found.il > 0 ? found.il : 0;
}

static LineQuestion question_of(int32_t pid, const clrsym_body *body, int32_t il)
{
        return (LineQuestion){
                .pid = pid,
                .module_path = body->module_path,
                .pdb_guid = body->module_pdb_guid,
                .pdb_path = body->module_pdb_path,
                .token = body->token,
                .il = il,
                .is_other_il = (body->has_il_version && body->il_version) ||
                               body->flags & CLRSYM_METHOD_EDITED,
        };
}

static clrsym_line line_of(const SourceLine *line)
{
        return (clrsym_line){.file = line->file,
                             .line = line->line,
                             .column = line->column,
                             .checksum = line->checksum,
                             .n_checksum = line->n_checksum};
}

clrsym_line_status clrsym_lines_find(clrsym_lines *lines, int32_t pid, clrsym_answer *answer,
                                     clrsym_line *ret)
{
        LineQuestion question;
        SourceLine line = {0};
        LineStatus status;

        *ret = (clrsym_line){0};
        if (answer->status != CLRSYM_OK)
                return CLRSYM_LINE_NO_METHOD;
        answer_complete(lines, pid, answer);
        question = question_of(pid, &answer->body, answer->line_il_offset);
        status = lines_find(lines->lines, &question, &line);
        *ret = line_of(&line);
        return status_of(status);
}

clrsym_line_status clrsym_lines_find_first(clrsym_lines *lines, int32_t pid,
                                           const clrsym_body *body, clrsym_line *ret)
{
        const LineQuestion question = question_of(pid, body, 0);
        SourceLine line = {0};
        LineStatus status = lines_find_first(lines->lines, &question, &line);

        *ret = line_of(&line);
        return status_of(status);
}

/*
 * NULL: the body is not precompiled code of a generic method, or its type arguments are not known.
 */
static const char *precompiled_type_args(clrsym_lines *lines, int32_t pid, const clrsym_body *body)
{
        const ImageBody image_body = {
                .module_path = body->module_path,
                .guid = body->module_pdb_guid,
                .name_space = body->name_space,
                .token = body->token,
                .size = body->size,
                .start = body->start,
        };

        return body->tier == CLRSYM_TIER_READY_TO_RUN && body->signature &&
                               strstr(body->signature, "generic ")
                       ? type_args_find(lines->type_args, lines_sources(lines->lines), pid,
                                        &image_body)
                       : NULL;
}

void clrsym_lines_name_types(clrsym_lines *lines, int32_t pid, clrsym_body *body)
{
        ImageSources *sources = lines_sources(lines->lines);
        const TypeNamesMethod method = {.module_path = body->module_path,
                                        .pdb_guid = body->module_pdb_guid,
                                        .token = body->token};

        body->type_arg_names =
                body->type_args ? type_names_find(lines->types, sources, pid, body->type_args)
                                : precompiled_type_args(lines, pid, body);
        body->is_thunk = type_names_is_thunk(lines->types, sources, pid, &method, body->signature);
        body->type_param_names = NULL;
        body->method_param_names = NULL;
        /* Only a signature has type parameters. */
        if (body->signature && strchr(body->signature, '!'))
                type_names_find_params(lines->types, sources, pid, &method, &body->type_param_names,
                                       &body->method_param_names);
}

clrsym_line_status clrsym_lines_find_inlined(clrsym_lines *lines, int32_t pid,
                                             const clrsym_answer *answer, uint32_t i,
                                             clrsym_body *ret_body, clrsym_line *ret)
{
        const clrsym_inlined *inlined = &answer->inlined[i];
        TypeNamesInlined method;
        LineQuestion question;
        SourceLine line = {0};
        LineStatus status;

        *ret_body = (clrsym_body){.tier = answer->body.tier};
        *ret = (clrsym_line){0};
        if (!inlined->method || !type_names_find_inlined(lines->types, lines_sources(lines->lines),
                                                         pid, inlined->method, &method))
                return CLRSYM_LINE_NO_MODULE;
        ret_body->name_space = method.name_space;
        ret_body->name = method.name;
        ret_body->signature = method.signature;
        ret_body->type_arg_names = method.type_args;
        ret_body->module_path = method.module_path;
        ret_body->token = method.token;
        memcpy(ret_body->module_pdb_guid, method.pdb_guid, sizeof(method.pdb_guid));
        question = question_of(pid, ret_body, inlined->il_offset);
        status = lines_find(lines->lines, &question, &line);
        *ret = line_of(&line);
        return status_of(status);
}
