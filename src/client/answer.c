/* SPDX-License-Identifier: MIT */
#include "client/answer.h"

#include "wire/enum-names.h"
#include "wire/answer-fields.h"

#include <string.h>

/* NULL for id 0. False if no name was sent with that id. */
static bool find_text(const AnswerContext *context, uint32_t id, const char **ret_text)
{
        *ret_text = id ? name_cache_find(context->names, id) : NULL;
        return !id || *ret_text;
}

#define COPY_TEXT(member, api)                                                                     \
        if (!find_text(context, row->member, &body->api))                                          \
                return "a name that was not sent";
#define COPY_NUMBER(member, api) body->api = row->member;
#define COPY_ID                  COPY_NUMBER
#define COPY_TOKEN               COPY_NUMBER
#define COPY_TIME                COPY_NUMBER
#define COPY_JIT_MS(member, api) body->api = UINT64_C(1000) * row->member;
#define COPY_TIER(member, api)   body->api = (clrsym_tier)row->member;
#define COPY_GUID(member, api)   memcpy(body->api, row->member, sizeof(body->api));
#define COPY_SOURCE(member, api) body->api = (clrsym_source)row->member;

#define COPY(name, type, null, member, api) COPY_##type(member, api)
#define NOTHING(name, type, null)

/* NULL, or the error. */
static const char *set_stub(const AnswerContext *context, uint32_t number, clrsym_body *body)
{
        const BulkStub *row;

        if (!number)
                return NULL;
        if (number > context->n_stubs)
                return "a stub that was not sent";
        row = &context->stubs[number - 1];
        if (!row->name)
                return "a stub for no method";
        ANSWER_STUB_FIELDS(COPY)
        return NULL;
}

static const char *set_body(const AnswerContext *context, const BulkAnswer *row, clrsym_body *body)
{
        *body = (clrsym_body){.has_il_version = row->flags & BULK_ANSWER_IL_VERSION};
        if (row->size && row->start > UINT64_MAX - (row->size - 1))
                return "a body beyond the end of memory";
        ANSWER_ROW_FIELDS(COPY, NOTHING)
        if (!body->has_il_version)
                body->il_version = 0;
        return set_stub(context, row->stub_for, body);
}

static const char *set_inlined(const AnswerContext *context, const BulkAnswer *row,
                               clrsym_answer *ret)
{
        if (!row->n_inlined)
                return NULL;
        if (!row->inlined || row->inlined > context->n_inlined ||
            row->n_inlined > context->n_inlined - (row->inlined - 1))
                return "an inlined method that was not sent";
        ret->inlined = context->inlined + row->inlined - 1;
        ret->n_inlined = row->n_inlined;
        return NULL;
}

/* True if an answer with that status can have a body: the one at the address, or the nearest. */
static bool may_have_body(clrsym_status status, bool is_nearest)
{
        switch (status) {
        case CLRSYM_OK:
                return !is_nearest;
        case CLRSYM_UNLOADED:
        case CLRSYM_NOT_YET:
        case CLRSYM_PENDING:
        case CLRSYM_EVICTED:
                return is_nearest;
        default:
                return false;
        }
}

const char *answer_from_row(const AnswerContext *context, const BulkAnswer *row,
                            const clrsym_query *query, clrsym_answer *ret)
{
        bool is_nearest = row->flags & BULK_ANSWER_NEAREST;
        const char *wrong;

        if (row->status >= enum_n_names(ENUM_STATUS) ||
            row->confidence >= enum_n_names(ENUM_CONFIDENCE) ||
            row->source >= enum_n_names(ENUM_SOURCE) || row->tier >= enum_n_names(ENUM_TIER) ||
            row->il_kind >= enum_n_names(ENUM_IL_KIND))
                return "an answer with a number that has no meaning";
        *ret = (clrsym_answer){
                .status = (clrsym_status)row->status,
                .confidence = (clrsym_confidence)row->confidence,
                .has_process = row->process != BULK_NO_PROCESS,
                .has_body = row->flags & BULK_ANSWER_BODY,
                .n_candidates = row->n_candidates,
                .line_il_offset = -1,
        };
        if (ret->has_process) {
                const BulkProcess *process;

                if (row->process >= context->n_processes)
                        return "an answer about no process";
                process = &context->processes[row->process];
                ret->pid = process->pid;
                ret->pid_ns = process->pid_ns;
                ret->generation = process->generation;
                ret->horizon = process->horizon;
                ret->epoch = process->epoch;
        }
        if (!ret->has_body)
                return ret->status == CLRSYM_OK ? "an answer without a body" : NULL;
        if (!may_have_body(ret->status, is_nearest) || !ret->has_process)
                return "an answer with a body that it cannot have";
        wrong = set_body(context, row, &ret->body);
        if (!wrong)
                wrong = set_inlined(context, row, ret);
        if (wrong)
                return wrong;
        ret->offset = query->address - row->start;
        if (ret->status == CLRSYM_OK && ret->offset >= (row->size ? row->size : 1))
                return "an answer about another address";
        ret->il_kind = (clrsym_il_kind)row->il_kind;
        if (ret->il_kind == CLRSYM_IL_EXACT) {
                if (row->il_offset < 0)
                        return "an answer with an IL offset below 0";
                ret->il_offset = row->il_offset;
        }
        if (row->line_il < -1)
                return "an answer with an IL offset below 0";
        ret->line_il_offset = ret->il_kind == CLRSYM_IL_UNKNOWN ? -1 : row->line_il;
        if (is_nearest)
                ret->distance = row->distance;
        return NULL;
}
