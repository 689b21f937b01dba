/* SPDX-License-Identifier: MIT */
#include "support/good-answer.h"

#include "support/fake-daemon.h"
#include "support/suite.h"

BulkAnswer good_answer(void)
{
        return (BulkAnswer){
                .status = CLRSYM_OK,
                .confidence = CLRSYM_GAP,
                .source = CLRSYM_SOURCE_RUNDOWN,
                .tier = CLRSYM_TIER_READY_TO_RUN,
                .il_kind = CLRSYM_IL_EXACT,
                .flags = BULK_ANSWER_BODY | BULK_ANSWER_IL_VERSION,
                .process = 1,
                .size = 16,
                .il_offset = 12,
                .method_flags = 392,
                .token = 0x06000001,
                .rejit_id = 3,
                .jit_us = 4000000000,
                .name_space = 7,
                .name = 0xfffffff0,
                .signature = 0,
                .module_path = 8,
                .stub_for = 2,
                .n_inlined = 2,
                .inlined = 2,
                .start = 0x1000,
                .method_id = 0xabc,
                .module_id = 0xdef,
                .loaded = 20,
                .unloaded = UINT64_MAX,
                .il_version = 4,
                .distance = 99,
        };
}

const BulkProcess PROCESSES[N_PROCESSES] = {
        {.pid = 1, .generation = 1},
        {.pid = 100, .pid_ns = 5, .generation = 2, .epoch = UINT64_MAX, .horizon = 30},
};

static const BulkStub STUBS[] = {
        {.name = 7},
        {.name_space = 8, .name = 0xfffffff0},
        {.name_space = 7},
};

static const BulkInlined INLINED[] = {{8, 3}, {7, 5}, {0, -9}};

GByteArray *good_frames(void)
{
        GByteArray *out = g_byte_array_new();

        frame_append_name(out, 7, "N.T", 3);
        frame_append_name(out, 0xfffffff0, "Mß", 3);
        frame_append_name(out, 8, "", 0);
        frame_append(out, BULK_PROCESSES, 0, PROCESSES, sizeof(PROCESSES));
        frame_append(out, BULK_STUBS, 0, STUBS, sizeof(STUBS));
        frame_append(out, BULK_INLINED, 0, INLINED, sizeof(INLINED));
        return out;
}

void check_good(const clrsym_answer *answer)
{
        ck_assert_int_eq(answer->status, CLRSYM_OK);
        ck_assert_int_eq(answer->confidence, CLRSYM_GAP);
        ck_assert(answer->has_process && answer->has_body);
        ck_assert_int_eq(answer->pid, 100);
        ck_assert_uint_eq(answer->pid_ns, 5);
        ck_assert_uint_eq(answer->generation, 2);
        ck_assert_uint_eq(answer->epoch, UINT64_MAX);
        ck_assert_uint_eq(answer->horizon, 30);
        ck_assert_str_eq(answer->body.name_space, "N.T");
        ck_assert_str_eq(answer->body.name, "Mß");
        ck_assert_ptr_null(answer->body.signature);
        ck_assert_str_eq(answer->body.module_path, "");
        ck_assert_str_eq(answer->body.stub_name_space, "");
        ck_assert_str_eq(answer->body.stub_name, "Mß");
        ck_assert_ptr_null(answer->body.stub_signature);
        ck_assert_uint_eq(answer->body.start, 0x1000);
        ck_assert_uint_eq(answer->body.size, 16);
        ck_assert_uint_eq(answer->body.flags, 392);
        ck_assert_uint_eq(answer->body.token, 0x06000001);
        ck_assert_uint_eq(answer->body.rejit_id, 3);
        ck_assert(answer->body.has_il_version && answer->body.il_version == 4);
        ck_assert_int_eq(answer->body.tier, CLRSYM_TIER_READY_TO_RUN);
        ck_assert_int_eq(answer->body.source, CLRSYM_SOURCE_RUNDOWN);
        ck_assert_uint_eq(answer->body.jit_ns, UINT64_C(4000000000000));
        ck_assert_uint_eq(answer->body.method_id, 0xabc);
        ck_assert_uint_eq(answer->body.module_id, 0xdef);
        ck_assert_uint_eq(answer->body.loaded, 20);
        ck_assert_uint_eq(answer->body.unloaded, CLRSYM_ALIVE);
        ck_assert_uint_eq(answer->offset, 8);
        ck_assert_int_eq(answer->distance, 0);
        ck_assert_int_eq(answer->il_kind, CLRSYM_IL_EXACT);
        ck_assert_int_eq(answer->il_offset, 12);
        ck_assert_uint_eq(answer->n_inlined, 2);
        ck_assert_str_eq(answer->inlined[0].method, "N.T");
        ck_assert_int_eq(answer->inlined[0].il_offset, 5);
        ck_assert_ptr_null(answer->inlined[1].method);
        ck_assert_int_eq(answer->inlined[1].il_offset, -1);
}
