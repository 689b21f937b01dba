/* SPDX-License-Identifier: MIT */

/* Stacks that lack the first callers of their threads. */

#include "perf/stack-roots.h"
#include "support/suite.h"

/* A frame: "m" managed, "n" native, "k" of the kernel, "?" in no mapping, "!" in no mapping and
 * uncertain; its number is its address. */
static const struct {
        const char *what;
        int32_t tid;
        const char *frames; /* the leaf first */
        bool has_begin;
        StackRoot root;
        size_t n_left; /* number of shown frames, without the frame that the root adds */
} STACKS[] = {
        {"native code before any managed frame", 7, "n1 n2", false, STACK_WHOLE, 2},
        {"a method of native code", 7, "m3 n2 n9", false, STACK_WHOLE, 3},
        {"native code of the same root", 7, "n4 n9", false, STACK_WHOLE, 2},
        {"native code without its callers", 7, "n4 n5", false, STACK_TORN, 2},
        {"native code that its thread begins with", 7, "n4 n5", true, STACK_WHOLE, 2},
        {"the kernel alone", 7, "k1 k2", false, STACK_WHOLE, 2},
        {"a method without its callers", 7, "n4 m3", false, STACK_TORN, 2},
        {"a caller in no mapping, and what it leads to", 7, "n4 m3 ?8 n9", false, STACK_TORN, 2},
        {"in no mapping, and not certainly a caller", 7, "m3 !8 n2 n9", false, STACK_WHOLE, 3},
        {"lost callers before the begin of the thread", 7, "n4 n5 ?8 n6", true, STACK_TORN, 2},
        {"lost callers of a method, before the begin of the thread", 9, "m3 n5 ?8 n9", true,
         STACK_TORN, 2},
        {"which shows no root", 9, "m3 n9", false, STACK_WHOLE, 2},
        {"native code of another thread", 8, "n4 n5", false, STACK_WHOLE, 2},
        {"a method in a thread without native code", 8, "n4 m3", false, STACK_WHOLE, 2},
};

static const NamedKind KINDS[] = {['m'] = NAMED_MANAGED,
                                  ['n'] = NAMED_NATIVE,
                                  ['k'] = NAMED_KERNEL,
                                  ['?'] = NAMED_UNKNOWN,
                                  ['!'] = NAMED_UNKNOWN};

static void add_stack(Batch *batch, Frames *frames, size_t number)
{
        g_auto(GStrv) words = g_strsplit(STACKS[number].frames, " ", 0);
        BatchSample *sample = batch_add_sample(batch);
        guint i;

        ck_assert_ptr_nonnull(sample);
        sample->pid = 7;
        sample->tid = STACKS[number].tid;
        sample->has_chain = true;
        sample->has_begin = STACKS[number].has_begin;
        for (i = 0; words[i]; i++) {
                const NamedKind kind = KINDS[(unsigned char)words[i][0]];
                Entry *entry = batch_add_entry(batch);

                ck_assert_ptr_nonnull(entry);
                entry->ip = (uint64_t)(words[i][1] - '0');
                if (words[i][0] == '!')
                        entry->role = ENTRY_DROPPED;
                entry->frame =
                        frames_symbol(frames, kind, kind == NAMED_UNKNOWN ? NULL : words[i], NULL);
        }
}

START_TEST(test_stacks)
{
        StackRoots roots = {0};
        Frames frames;
        size_t i, j;

        ck_assert(frames_init(&frames, CLRSYM_STYLE_CLR));
        for (i = 0; i < G_N_ELEMENTS(STACKS); i++) {
                Counts counts = {0};
                Batch batch = {0};
                size_t n = 0;

                add_stack(&batch, &frames, i);
                ck_assert(stack_roots_mark(&roots, &batch, &frames, &counts));
                ck_assert_msg(counts.n[COUNT_STACK_WHOLE + STACKS[i].root] == 1, "%s",
                              STACKS[i].what);
                for (j = 0; j < batch.samples[0].n; j++)
                        n += batch.entries[j].role == ENTRY_FRAME &&
                             batch.entries[j].source != FRAME_SOURCE_MARK;
                ck_assert_msg(n == STACKS[i].n_left, "%s: %zu frames", STACKS[i].what, n);
                batch_deinit(&batch);
        }
        frames_deinit(&frames);
        stack_roots_deinit(&roots);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("stack-roots");
        TCase *tests = tcase_create("stack-roots");

        tcase_add_test(tests, test_stacks);
        suite_add_tcase(suite, tests);
        return suite;
}
