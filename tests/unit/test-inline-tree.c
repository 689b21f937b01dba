/* SPDX-License-Identifier: MIT */
#include "codemap/inline-tree.h"

#include "support/suite.h"

#include <glib.h>
#include <string.h>

/*
 * Two bodies of a program on .NET 9, from the runtime's events. The methods of the return addresses
 * in ROWS are known from the program's source.
 */
#define SWITCH  UINT64_C(0x7f5589a9b9f0)
#define MARK    UINT64_C(0x7f5589a9ba10)
#define INLINED UINT64_C(0x7f5589a9b910)
#define MIDDLE  UINT64_C(0x7f5589a9b8f0)
#define INNER   UINT64_C(0x7f5589a9b8d0)

static const char SWITCH_BLOCK[] =
        "050000000f000000f0b9a989557f0000ffffffff040000000000000010baa989557f00003700000000000000"
        "0000000010baa989557f00004a000000000000000100000010baa989557f0000580000000000000002000000"
        "10baa989557f00006600000000000000030000000200000000000000080000000202000000000000000d0000"
        "00022d000000000000001f0000000200000000010000002400000002310000000000000034000000021d0000"
        "000000000045000000023f000000000000004d0000000200000000020000004d000000023f00000000000000"
        "5d0000000228000000000000005f000000020000000004000000640000000260000000000000007400000002"
        "00000000030000007b0000000252000000000000008b000000026c000000000000008d00000002";
static const char INLINED_BLOCK[] =
        "040000000500000010b9a989557f0000ffffffff0300000000000000f0b8a989557f00000200000002000000"
        "00000000d0b8a989557f0000040000000000000000000000d0b8a989557f0000090000000000000001000000"
        "0000000001000000090000000200000000020000000c00000002000000000000000033000000020000000003"
        "000000360000000219000000000000005300000000";

/* METHODS: from the innermost method to the body's own. CALLS: IL offsets of their calls. */
static const struct {
        const char *block;
        uint32_t native;
        uint64_t methods[3];
        uint32_t calls[3];
} ROWS[] = {
        {SWITCH_BLOCK, 51, {MARK, SWITCH}, {0x37, UINT32_MAX}},
        {SWITCH_BLOCK, 92, {MARK, SWITCH}, {0x4a, UINT32_MAX}},
        {SWITCH_BLOCK, 115, {MARK, SWITCH}, {0x66, UINT32_MAX}},
        {SWITCH_BLOCK, 138, {MARK, SWITCH}, {0x58, UINT32_MAX}},
        {SWITCH_BLOCK, 13, {SWITCH}, {UINT32_MAX}},
        {INLINED_BLOCK, 30, {INNER, MIDDLE, INLINED}, {4, 2, UINT32_MAX}},
        {INLINED_BLOCK, 62, {INNER, INLINED}, {9, UINT32_MAX}},
        {INLINED_BLOCK, 83, {INLINED}, {UINT32_MAX}},
};

static GByteArray *bytes_of(const char *text)
{
        GByteArray *bytes = g_byte_array_new();

        for (; *text; text += 2) {
                const char digits[] = {text[0], text[1], 0};
                uint8_t byte = (uint8_t)g_ascii_strtoull(digits, NULL, 16);

                g_byte_array_append(bytes, &byte, 1);
        }
        return bytes;
}

START_TEST(test_chain)
{
        g_autoptr(GByteArray) bytes = bytes_of(ROWS[_i].block);
        InlineTree *tree = inline_tree_new(bytes->data, bytes->len);
        uint32_t node;
        unsigned i;
        int32_t il;

        ck_assert_ptr_nonnull(tree);
        ck_assert(inline_tree_lookup(tree, ROWS[_i].native, &node, &il));
        for (i = 0; ROWS[_i].methods[i]; i++) {
                InlineNode got = inline_tree_node(tree, node);

                ck_assert_uint_eq(got.method_id, ROWS[_i].methods[i]);
                ck_assert_uint_eq(got.call_il_offset, ROWS[_i].calls[i]);
                if (i == 2 || !ROWS[_i].methods[i + 1])
                        break;
                node = got.parent;
        }
        ck_assert_uint_eq(node, 0);
        inline_tree_free(tree);
}
END_TEST

/* Before the first mapping, no node; of several mappings at one offset, the last. */
START_TEST(test_edges)
{
        g_autoptr(GByteArray) bytes = bytes_of(SWITCH_BLOCK);
        InlineTree *tree = inline_tree_new(bytes->data, bytes->len);
        uint32_t node;
        int32_t il;

        ck_assert_uint_eq(inline_tree_n_nodes(tree), 5);
        ck_assert(!inline_tree_lookup(tree, 7, &node, &il));
        ck_assert(inline_tree_lookup(tree, 8, &node, &il));
        ck_assert_int_eq(il, 2);
        ck_assert(inline_tree_lookup(tree, 0x4d, &node, &il));
        ck_assert_uint_eq(node, 2);
        ck_assert(inline_tree_lookup(tree, UINT32_MAX, &node, &il));
        ck_assert_int_eq(il, 0x6c);
        inline_tree_free(tree);
}
END_TEST

/* Invalid blocks: a u32 at an offset, and its wrong value. */
static const struct {
        size_t offset;
        uint32_t value;
} DAMAGE[] = {
        {0, 0},                  /* no node */
        {0, 6},                  /* more nodes than there are */
        {0, UINT32_MAX},         /* x 20 does not fit into 32 bits */
        {4, 14},                 /* a byte left over */
        {4, UINT32_MAX},         /* x 13 does not fit either */
        {8 + 12, 5},             /* a child that does not exist */
        {8 + 12, 0},             /* nodes without a parent */
        {8 + 16 + 20, 1},        /* a sibling of itself */
        {8 + 12 + 4 * 20, 3},    /* a child before its parent */
        {8 + 12 + 20, 4},        /* a child of two parents */
        {8 + 5 * 20 + 4, 5},     /* a mapping of no node */
        {8 + 5 * 20 + 8, 0x7ff}, /* mappings that are not sorted */
};

START_TEST(test_damage)
{
        g_autoptr(GByteArray) bytes = bytes_of(SWITCH_BLOCK);
        uint32_t value = GUINT32_TO_LE(DAMAGE[_i].value);

        memcpy(bytes->data + DAMAGE[_i].offset, &value, sizeof(value));
        ck_assert_ptr_null(inline_tree_new(bytes->data, bytes->len));
}
END_TEST

START_TEST(test_cut)
{
        g_autoptr(GByteArray) bytes = bytes_of(INLINED_BLOCK);
        size_t n;

        for (n = 0; n < bytes->len; n++) {
                g_autofree uint8_t *copy = g_memdup2(bytes->data, n);

                ck_assert_ptr_null(inline_tree_new(copy, n));
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("inline-tree");
        TCase *tcase = tcase_create("inline-tree");

        tcase_add_loop_test(tcase, test_chain, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_edges);
        tcase_add_loop_test(tcase, test_damage, 0, G_N_ELEMENTS(DAMAGE));
        tcase_add_test(tcase, test_cut);
        suite_add_tcase(suite, tcase);
        return suite;
}
