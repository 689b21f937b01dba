/* SPDX-License-Identifier: MIT */
#include "client/answer.h"

#include "client/words.h"

/* NULL for id 0. False if the id is none that was sent. */
static bool find_text(const AnswerContext *context, uint32_t id, const char **ret_text)
{
        *ret_text = id ? names_find(context->names, id) : NULL;
        return !id || *ret_text;
}

/* NULL, or what is wrong. */
static const char *set_stub(const AnswerContext *context, uint32_t number, clrsym_body *body)
{
        const BulkStub *stub;

        if (!number)
                return NULL;
        if (number > context->n_stubs)
                return "a stub that was not sent";
        stub = &context->stubs[number - 1];
        if (!stub->name)
                return "a stub for no method";
        if (!find_text(context, stub->name_space, &body->stub_name_space) ||
            !find_text(context, stub->name, &body->stub_name) ||
            !find_text(context, stub->signature, &body->stub_signature))
                return "a name that was not sent";
        return NULL;
}

static const char *set_body(const AnswerContext *context, const BulkAnswer *row, clrsym_body *body)
{
        *body = (clrsym_body){
                .module_id = row->module_id,
                .method_id = row->method_id,
                .start = row->start,
                .size = row->size,
                .flags = row->method_flags,
                .token = row->token,
                .rejit_id = row->rejit_id,
                .has_il_version = row->flags & BULK_ANSWER_IL_VERSION,
                .il_version = row->flags & BULK_ANSWER_IL_VERSION ? row->il_version : 0,
                .tier = (clrsym_tier)row->tier,
                .source = (clrsym_source)row->source,
                .jit_ns = UINT64_C(1000) * row->jit_us,
                .loaded = row->loaded,
                .unloaded = row->unloaded,
        };
        if (row->size && row->start > UINT64_MAX - (row->size - 1))
                return "a body beyond the end of memory";
        if (!find_text(context, row->name_space, &body->name_space) ||
            !find_text(context, row->name, &body->name) ||
            !find_text(context, row->signature, &body->signature) ||
            !find_text(context, row->module_path, &body->module_path))
                return "a name that was not sent";
        return set_stub(context, row->stub_for, body);
}

/* Whether an answer of that status can have a body: its own, or the nearest. */
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

        if (row->status >= words_n(WORDS_STATUS) || row->confidence >= words_n(WORDS_CONFIDENCE) ||
            row->source >= words_n(WORDS_SOURCE) || row->tier >= words_n(WORDS_TIER) ||
            row->il_kind >= words_n(WORDS_IL_KIND))
                return "an answer with a number that has no meaning";
        *ret = (clrsym_answer){
                .status = (clrsym_status)row->status,
                .confidence = (clrsym_confidence)row->confidence,
                .has_process = row->process != BULK_NO_PROCESS,
                .has_body = row->flags & BULK_ANSWER_BODY,
                .n_candidates = row->n_candidates,
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
        if (is_nearest)
                ret->distance = row->distance;
        return NULL;
}
