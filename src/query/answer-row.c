/* SPDX-License-Identifier: MIT */
#include "query/answer-row.h"

#include "event/method-flags.h"
#include "tracker/edits.h"

#include <stdlib.h>
#include <string.h>

/*
 * The binary form has the numbers of clrsym.h; the tracker's numbers must be equal, because they
 * are sent unchanged.
 */
#define SAME(wire, own) static_assert((int)(wire) == (int)(own), "numbers of the binary form")

SAME(CLRSYM_OK, ANSWER_OK);
SAME(CLRSYM_NO_PROCESS, ANSWER_NO_PROCESS);
SAME(CLRSYM_NO_METHOD, ANSWER_NO_METHOD);
SAME(CLRSYM_UNLOADED, ANSWER_UNLOADED);
SAME(CLRSYM_NOT_YET, ANSWER_NOT_YET);
SAME(CLRSYM_AMBIGUOUS, ANSWER_AMBIGUOUS);
SAME(CLRSYM_PENDING, ANSWER_PENDING);
SAME(CLRSYM_EVICTED, ANSWER_EVICTED);
SAME(CLRSYM_INVALID, ANSWER_INVALID);
SAME(CLRSYM_INVALID + 1, _ANSWER_STATUS_MAX);

SAME(CLRSYM_EXACT, CONFIDENCE_EXACT);
SAME(CLRSYM_ASSUMED, CONFIDENCE_ASSUMED);
SAME(CLRSYM_PROVISIONAL, CONFIDENCE_PROVISIONAL);
SAME(CLRSYM_GAP, CONFIDENCE_GAP);
SAME(CLRSYM_GAP + 1, _CONFIDENCE_MAX);

SAME(CLRSYM_SOURCE_LOAD, BODY_SOURCE_LOAD);
SAME(CLRSYM_SOURCE_RUNDOWN, BODY_SOURCE_RUNDOWN);
SAME(CLRSYM_SOURCE_UNLOAD, BODY_SOURCE_UNLOAD);
SAME(CLRSYM_SOURCE_R2R_ENTRY, BODY_SOURCE_R2R_ENTRY);
SAME(CLRSYM_SOURCE_R2R_ENTRY + 1, _BODY_SOURCE_MAX);

SAME(CLRSYM_TIER_UNKNOWN, METHOD_TIER_UNKNOWN);
SAME(CLRSYM_TIER_MIN_OPT_JITTED, METHOD_TIER_MIN_OPT_JITTED);
SAME(CLRSYM_TIER_OPTIMIZED, METHOD_TIER_OPTIMIZED);
SAME(CLRSYM_TIER_QUICK_JITTED, METHOD_TIER_QUICK_JITTED);
SAME(CLRSYM_TIER_OPTIMIZED_TIER1, METHOD_TIER_OPTIMIZED_TIER1);
SAME(CLRSYM_TIER_OPTIMIZED_TIER1_OSR, METHOD_TIER_OPTIMIZED_TIER1_OSR);
SAME(CLRSYM_TIER_INSTRUMENTED, METHOD_TIER_INSTRUMENTED);
SAME(CLRSYM_TIER_INSTRUMENTED_OPTIMIZED, METHOD_TIER_INSTRUMENTED_OPTIMIZED);
SAME(CLRSYM_TIER_READY_TO_RUN, _METHOD_TIER_MAX);

SAME(CLRSYM_METHOD_EDITED, METHOD_FLAG_EDITED);
SAME(CLRSYM_NO_TIME, 0);
static_assert(BULK_MAX_INLINED == INLINING_MAX_DEPTH, "rows of the binary form");
static_assert(CLRSYM_ALIVE == BODY_FOREVER, "times of the binary form");

static void row_fill_il(BulkAnswer *row, const Body *body, const uint64_t *address)
{
        const IlMap *map = body_il_map(body);
        int32_t il;

        row->line_il = -1;
        if (!map)
                return;
        row->flags |= BULK_ANSWER_IL_VERSION;
        row->il_version = ilmap_version(map);
        if (!address || !ilmap_lookup(map, (uint32_t)(*address - body->start), &il))
                return;
        row->il_kind = il == IL_OFFSET_NO_MAPPING ? CLRSYM_IL_NO_MAPPING
                       : il == IL_OFFSET_PROLOG   ? CLRSYM_IL_PROLOG
                       : il == IL_OFFSET_EPILOG   ? CLRSYM_IL_EPILOG
                                                  : CLRSYM_IL_EXACT;
        row->il_offset = row->il_kind == CLRSYM_IL_EXACT ? il : 0;
        /*
         * As in the runtime's stack traces, prologs and unmapped code count as the method's begin.
         */
        row->line_il = row->il_kind == CLRSYM_IL_EPILOG ? ilmap_last(map) : MAX(row->il_offset, 0);
}

void answer_row_fill(BulkAnswer *row, const Process *process, const Body *body,
                     const uint64_t *address)
{
        const Module *module = process_body_module(process, body);

        row->source = body->source;
        row->tier = body->flags & METHOD_FLAG_JITTED
                            ? (body->flags >> METHOD_TIER_SHIFT) & METHOD_TIER_MASK
                            : CLRSYM_TIER_READY_TO_RUN;
        row->size = body->size;
        row->method_flags = body->flags;
        if (edits_concern(process, body))
                row->method_flags |= METHOD_FLAG_EDITED;
        row->token = body->token;
        row->rejit_id = body->rejit_id;
        row->jit_us = (uint32_t)((uint64_t)body->jit_time * BODY_JIT_UNIT / 1000);
        row->il_size = body->il_size;
        row->name_space = body->name_space;
        row->name = body->name;
        row->signature = body->signature;
        row->type_args = codemap_type_args(process->map, body);
        row->start = body->start;
        row->method_id = body->method_id;
        row->loaded = body->source == BODY_SOURCE_LOAD ? body->since : CLRSYM_NO_TIME;
        row->unloaded = address ? process_body_end(process, body) : body->until;
        if (module) {
                row->module_id = module->id;
                row->module_path = module->path;
                memcpy(row->module_pdb, module->pdb_guid, sizeof(row->module_pdb));
                row->module_pdb_path = module->pdb_path;
        }
        row_fill_il(row, body, address);
}

bool answer_row_stub(BulkStub *ret_row, const Process *process, const Body *body)
{
        const StubTarget *target = codemap_stub_target(process->map, body);

        if (!target)
                return false;
        *ret_row = (BulkStub){
                .name_space = target->name_space,
                .name = target->name,
                .signature = target->signature,
        };
        return true;
}

/*
 * True if the runtime reports the call of an inlined method. .NET 10 reports uninitialized memory
 * instead.
 */
static bool process_knows_calls(const Process *process)
{
        return process->runtime_version && atoi(process->runtime_version) < 10;
}

uint32_t answer_row_inlined(InlinedMethod ret[INLINING_MAX_DEPTH], const Process *process,
                            const Body *body, uint64_t address)
{
        const Inlining *inlining = codemap_inlining(process->map, body);

        return inlining ? inlining_chain(inlining, (uint32_t)(address - body->start),
                                         process_knows_calls(process), ret)
                        : 0;
}
