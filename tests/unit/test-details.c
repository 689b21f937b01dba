/* SPDX-License-Identifier: MIT */

/*
 * Type arguments of generic methods: one script for each rule. In case of doubt the answer has no
 * type arguments, because wrong ones are worse.
 */

#include "tracker/checkpoint.h"

#include "support/script.h"
#include "support/suite.h"

#define START                                                                                      \
        "1 RuntimeInformationStart\n"                                                              \
        "2 ModuleLoad_V2 module=5 path=/lib/core.dll\n"                                            \
        "3 ModuleLoad_V2 module=6 path=/a[1],b.dll\n"
/* Type 0x10 is a number of module 5; 0x20 is List<0x10> of module 6; 0x30 its array. */
#define TYPES(time)                                                                                   \
#time " BulkType Values=0x10/5/0x02000007/0/8,0x20/6/0x02000009/0/0x12/0x10,0x30/0/0/8/0x1d/" \
              "0x20,0x40/0/0/0x208/0x14/0x10\n"
#define DETAILS(time, method, ids) #time " MethodDetails id=" #method " TypeParameters=" ids "\n"
#define LOAD(time, method, place)                                                                  \
#time " MethodLoadVerbose_V1 id=" #method " start=" #place                                 \
              " size=64 module=5 ns=N.T name=M\n"
#define UNLOAD(time, method, place)                                                                \
#time " MethodUnloadVerbose_V1 id=" #method " start=" #place                               \
              " size=64 module=5 ns=N.T name=M\n"
#define NUMBER "02000007@-@/lib/core.dll"
#define LIST   "02000009@-@/a\\[1\\]\\,b.dll[" NUMBER "]"

/* Returns the type arguments of the body at ADDRESS; "": the body has no type arguments; NULL: no
 * body. */
static char *type_args_at(const Tracker *tracker, uint64_t address, uint64_t time)
{
        const Viewer viewer = {.sees_all = true};
        const Question question = {.pid = 100, .address = address, .has_time = true, .time = time};
        char *text = NULL;
        Answer answer;

        answer_question(tracker, &viewer, &question, &answer);
        if (answer.body) {
                Str args = codemap_type_args(answer.process->map, answer.body);

                text = g_strdup(args ? strtab_text(answer.process->names, args) : "");
        }
        answer_clear(&answer);
        return text;
}

static const struct {
        const char *script;
        struct {
                uint64_t address, time;
                const char *type_args;
        } checks[2];
} RULES[] = {
        {START TYPES(10) DETAILS(11, 7, "0x10") LOAD(12, 7, 0x1000), {{0x1000, 12, NUMBER}}},
        {START TYPES(10) DETAILS(11, 7, "0x10,0x20") LOAD(12, 7, 0x1000),
         {{0x1000, 12, NUMBER "," LIST}}},
        {START TYPES(10) DETAILS(11, 7, "0x30,0x40") LOAD(12, 7, 0x1000),
         {{0x1000, 12, LIST "[]," NUMBER "[,]"}}},
        /* Precompiled code. */
        {START TYPES(10) DETAILS(11, 7, "0x10") "12 R2RGetEntryPoint id=7 entry=0x1000 name=M\n",
         {{0x1000, 12, NUMBER}}},
        /* Other threads in between. */
        {START TYPES(10) DETAILS(11, 7, "0x10") "12 BulkType tid=9\n"
                                                "13 MethodDetails tid=9 id=7\n" LOAD(14, 7, 0x1000),
         {{0x1000, 14, NUMBER}}},
        /* An unload and a second load: each body has the type arguments of its own load. */
        {START TYPES(10) DETAILS(11, 7, "0x10") LOAD(12, 7, 0x1000) UNLOAD(20, 7, 0x1000) TYPES(30)
                 DETAILS(31, 7, "0x20") LOAD(32, 7, 0x1000),
         {{0x1000, 12, NUMBER}, {0x1000, 32, LIST}}},
        /* A late unload: the code before and after the unload is the same. */
        {START TYPES(10) DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000) "50 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=7 "
                                     "start=0x1000 size=64 module=5 "
                                     "ns=N.T name=M\n10: " UNLOAD(30, 7, 0x1000),
         {{0x1000, 25, NUMBER}, {0x1000, 55, NUMBER}}},

        /* Bodies without type arguments. */
        {START TYPES(10) DETAILS(11, 8, "0x10") LOAD(12, 7, 0x1000), {{0x1000, 12, ""}}},
        {START TYPES(10) DETAILS(11, 7, "0x99") LOAD(12, 7, 0x1000), {{0x1000, 12, ""}}},
        {START TYPES(10) DETAILS(11, 7, "0x10,0x99") LOAD(12, 7, 0x1000), {{0x1000, 12, ""}}},
        {START TYPES(10) "11 MethodDetails id=7\n" LOAD(12, 7, 0x1000), {{0x1000, 12, ""}}},
        {START "11 MethodDetails id=7 TypeParameters=0x10\n" LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        /* Another thread emitted the events. */
        {START TYPES(10) "11 MethodDetails tid=9 id=7 TypeParameters=0x10\n" LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        {START TYPES(10)
                 DETAILS(11, 7, "0x10") "12 MethodLoadVerbose_V1 tid=9 id=7 start=0x1000 size=64\n",
         {{0x1000, 12, ""}}},
        /* The thread that emitted the events is unknown. */
        {START "10 BulkType tid=0 Values=0x10/5/0x02000007/0/8\n"
               "11 MethodDetails tid=0 id=7 TypeParameters=0x10\n"
               "12 MethodLoadVerbose_V1 tid=0 id=7 start=0x1000 size=64\n",
         {{0x1000, 12, ""}}},
        /* Another event came in between. */
        {START TYPES(10) DETAILS(11, 7, "0x10") TYPES(12) LOAD(13, 7, 0x1000), {{0x1000, 13, ""}}},
        {START TYPES(10) DETAILS(11, 7, "0x10") DETAILS(12, 7, "0x10") LOAD(13, 7, 0x1000),
         {{0x1000, 13, ""}}},
        /* An unknown module, an unloaded module, a pointer, and a token that is no TypeDef. */
        {START "10 BulkType Values=0x10/7/0x02000007/0/8\n" DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        {START "9 ModuleUnload_V2 module=5\n" TYPES(10) DETAILS(11, 7, "0x10") LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        {START "10 BulkType Values=0x10/5/0x02000007/0/0x0f\n" DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        {START "10 BulkType Values=0x10/5/0x01000007/0/0x12\n" DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        /* A type that is its own argument. */
        {START "10 BulkType Values=0x10/5/0x02000007/0/0x12/0x10\n" DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        {START "10 BulkType Values=0x10/5/0x02000007/8/0x1d/0x10\n" DETAILS(11, 7, "0x10")
                 LOAD(12, 7, 0x1000),
         {{0x1000, 12, ""}}},
        /* Another program has the pid. */
        {START TYPES(10) DETAILS(11, 7, "0x10") "5000000000 RuntimeInformationStart\n" LOAD(
                 5000000001, 7, 0x1000),
         {{0x1000, 5000000001, ""}}},
};

static void check_rule(const Tracker *tracker, unsigned i)
{
        size_t k;

        for (k = 0; k < G_N_ELEMENTS(RULES[i].checks) && RULES[i].checks[k].type_args; k++) {
                g_autofree char *got =
                        type_args_at(tracker, RULES[i].checks[k].address, RULES[i].checks[k].time);

                ck_assert_ptr_nonnull(got);
                ck_assert_str_eq(got, RULES[i].checks[k].type_args);
        }
}

static bool append(void *data, const uint8_t *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

/* Returns a tracker made from an image of TRACKER, and frees TRACKER. */
static Tracker *restart(Tracker *tracker)
{
        g_autoptr(GByteArray) image = g_byte_array_new(), again = g_byte_array_new();
        Tracker *next = tracker_new();
        CheckpointReader *reader = checkpoint_reader_new(next);

        ck_assert(checkpoint_write(tracker, append, image));
        ck_assert(checkpoint_reader_take(reader, image->data, image->len));
        ck_assert(checkpoint_reader_finish(reader));
        ck_assert(checkpoint_write(next, append, again));
        ck_assert_uint_eq(image->len, again->len);
        ck_assert_mem_eq(image->data, again->data, image->len);
        tracker_free(tracker);
        return next;
}

START_TEST(test_rule)
{
        Tracker *tracker = script_tracker(RULES[_i].script);

        check_rule(tracker, (unsigned)_i);
        tracker = restart(tracker);
        check_rule(tracker, (unsigned)_i);
        tracker_free(tracker);
}
END_TEST

/* Restarts after each of the related events. */
START_TEST(test_restart_between)
{
        Tracker *tracker = restart(script_tracker(START TYPES(10)));
        g_autofree char *got = NULL;

        script_go_on(tracker, DETAILS(11, 7, "0x20"));
        tracker = restart(tracker);
        script_go_on(tracker, LOAD(12, 7, 0x1000));
        got = type_args_at(tracker, 0x1000, 12);
        ck_assert_str_eq(got, LIST);
        tracker_free(tracker);
}
END_TEST

/*
 * Method 7 with two methods in it: 8, which it calls at IL offset 5, and in that 9, which 8 calls
 * at 3. Bytes 16 to 31 are code of 9.
 */
static const uint8_t TREE[] = {
        3,  0, 0, 0, 3, 0, 0, 0,                                             /* counts */
        7,  0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0, /* node 0 */
        8,  0, 0, 0, 0, 0, 0, 0, 5,   0,   0,   0,   2, 0, 0, 0, 0, 0, 0, 0, /* node 1 */
        9,  0, 0, 0, 0, 0, 0, 0, 3,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, /* node 2 */
        0,  0, 0, 0, 0, 0, 0, 0, 0,   0,   0,   0,   0,                      /* 0: node 0 */
        1,  0, 0, 0, 2, 0, 0, 0, 16,  0,   0,   0,   0,                      /* 16: node 2 */
        11, 0, 0, 0, 0, 0, 0, 0, 32,  0,   0,   0,   0,                      /* 32: node 0 */
};

/* Applies bytes [BEGIN, END) of the tree as piece PIECE, which includes the bit of the last
 * piece. */
static void take_piece(Tracker *tracker, uint64_t time, uint32_t piece, size_t begin, size_t end)
{
        g_autoptr(GString) line = g_string_new(NULL);

        g_string_printf(line,
                        "%" G_GUINT64_FORMAT " DotNETRuntimePrivate:JittedMethodRichDebugInfo id=7 "
                        "ChunkFlags=%u Data=%u",
                        time, piece, TREE[begin]);
        for (begin++; begin < end; begin++)
                g_string_append_printf(line, ",%u", TREE[begin]);
        g_string_append_c(line, '\n');
        script_go_on(tracker, line->str);
}

#define LAST_PIECE (UINT32_C(1) << 31)
/* Method 8 is a method of type 0x10; method 9 is generic, with List<0x10>. */
#define INLINED_DETAILS                                                                            \
        TYPES(30)                                                                                  \
        "31 MethodDetails id=8 TypeID=0x10 token=0x06000008\n" TYPES(                              \
                32) "33 MethodDetails id=9 TypeID=0x20 token=0x06000009 TypeParameters=0x10\n"

/* Returns "METHOD+IL < METHOD+IL" at an offset of the body at 0x1000; "" if the body has no inlined
 * method there. */
static char *inlined_at(const Tracker *tracker, uint32_t offset)
{
        const Viewer viewer = {.sees_all = true};
        const Question question = {
                .pid = 100, .address = 0x1000 + offset, .has_time = true, .time = 100};
        GString *text = g_string_new(NULL);
        InlinedMethod methods[INLINING_MAX_DEPTH];
        const Inlining *inlining;
        Answer answer;
        uint32_t n, i;

        answer_question(tracker, &viewer, &question, &answer);
        inlining = codemap_inlining(answer.process->map, answer.body);
        n = inlining ? inlining_chain(inlining, offset, true, methods) : 0;
        for (i = 0; i < n; i++)
                g_string_append_printf(
                        text, "%s%s+%d", i ? " < " : "",
                        methods[i].method ? strtab_text(answer.process->names, methods[i].method)
                                          : "?",
                        methods[i].il_offset);
        answer_clear(&answer);
        return g_string_free(text, FALSE);
}

static void check_inlined(const Tracker *tracker, const char *at_16)
{
        static const uint32_t OFFSETS[] = {0, 15, 16, 31, 32, 63};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(OFFSETS); i++) {
                g_autofree char *got = inlined_at(tracker, OFFSETS[i]);

                ck_assert_str_eq(got, OFFSETS[i] == 16 || OFFSETS[i] == 31 ? at_16 : "");
        }
}

/* The tree in one piece and in three pieces, with restarts between all events. */
START_TEST(test_inlined)
{
        Tracker *tracker = script_tracker(START LOAD(12, 7, 0x1000));

        if (_i == 0) {
                take_piece(tracker, 13, LAST_PIECE, 0, sizeof(TREE));
        } else {
                take_piece(tracker, 13, 0, 0, 10);
                tracker = restart(tracker);
                take_piece(tracker, 14, 1, 10, 70);
                tracker = restart(tracker);
                take_piece(tracker, 15, LAST_PIECE | 2, 70, sizeof(TREE));
        }
        check_inlined(tracker, "?+1 < ?+3");
        tracker = restart(tracker);
        script_go_on(tracker, INLINED_DETAILS);
        check_inlined(tracker, "06000009@-@/a\\[1\\]\\,b.dll[" NUMBER "][" NUMBER
                               "]+1 < 06000008@-@/lib/core.dll+3");
        tracker = restart(tracker);
        check_inlined(tracker, "06000009@-@/a\\[1\\]\\,b.dll[" NUMBER "][" NUMBER
                               "]+1 < 06000008@-@/lib/core.dll+3");
        tracker_free(tracker);
}
END_TEST

/* A piece is missing, comes twice, or belongs to unknown code: the body has no tree. */
START_TEST(test_inlined_pieces)
{
        Tracker *tracker = script_tracker(START LOAD(12, 7, 0x1000));

        take_piece(tracker, 13, 0, 0, 10);
        take_piece(tracker, 14, LAST_PIECE | 2, 70, sizeof(TREE));
        check_inlined(tracker, "");
        take_piece(tracker, 15, LAST_PIECE | 1, 10, sizeof(TREE));
        check_inlined(tracker, "");
        take_piece(tracker, 16, 0, 0, 10);
        take_piece(tracker, 17, 1, 10, 70);
        take_piece(tracker, 18, 1, 10, 70);
        take_piece(tracker, 19, LAST_PIECE | 2, 70, sizeof(TREE));
        check_inlined(tracker, "");
        take_piece(tracker, 20, LAST_PIECE, 0, sizeof(TREE) - 1);
        check_inlined(tracker, "");
        script_go_on(tracker, INLINED_DETAILS);
        check_inlined(tracker, "");
        tracker_free(tracker);
}
END_TEST

/* A method that is inlined into itself has no details of its own. */
START_TEST(test_inlined_recursion)
{
        Tracker *tracker = script_tracker(
                START
                "12 MethodLoadVerbose_V1 id=8 start=0x1000 size=64 module=5 ns=N.T name=M "
                "token=0x06000077\n"
                "13 DotNETRuntimePrivate:JittedMethodRichDebugInfo id=8 "
                "ChunkFlags=0x80000000 Data=2,0,0,0,1,0,0,0,8,0,0,0,0,0,0,0,255,255,255,255,1,"
                "0,0,0,0,0,0,0,8,0,0,0,0,0,0,0,5,0,0,0,0,0,0,0,0,0,0,0,4,0,0,0,1,0,0,0,16,0,0,"
                "0,0\n");
        g_autofree char *got = inlined_at(tracker, 20);

        ck_assert_str_eq(got, "06000077@-@/lib/core.dll+4");
        tracker_free(tracker);
}
END_TEST

/* The epoch changes whenever an earlier answer changes. */
START_TEST(test_epoch)
{
        Tracker *tracker = script_tracker(START LOAD(9, 7, 0x1000));
        const Process *process = tracker_process(tracker, &(ProcessKey){0, 100});
        uint64_t epoch = codemap_epoch(process->map);

        script_go_on(tracker, TYPES(10) DETAILS(11, 8, "0x10") LOAD(12, 8, 0x2000));
        ck_assert_uint_eq(codemap_epoch(process->map), epoch);
        script_go_on(tracker, TYPES(13) DETAILS(14, 7, "0x10") LOAD(15, 7, 0x1000));
        ck_assert_uint_ne(codemap_epoch(process->map), epoch);
        tracker_free(tracker);
}
END_TEST

/* The account includes the details, until the body is evicted. */
START_TEST(test_account)
{
        Tracker *tracker = script_tracker(START);
        const Budget *budget = tracker_budget(tracker);
        size_t n_strings = strtab_n_strings(budget->names), n_bytes;

        script_go_on(tracker, "9 BulkType\n");
        n_bytes = budget->account->n_bytes;
        script_go_on(tracker, TYPES(10));
        ck_assert_uint_gt(budget->account->n_bytes, n_bytes + 100);
        script_go_on(tracker, DETAILS(11, 7, "0x10"));
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings + 1);
        script_go_on(tracker, "12 BulkType\n");
        ck_assert_uint_eq(budget->account->n_bytes, n_bytes);
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings);

        script_go_on(tracker, TYPES(20) DETAILS(21, 7, "0x10") LOAD(22, 7, 0x1000)
                                      UNLOAD(23, 7, 0x1000) "24 BulkType\n");
        ck_assert_uint_gt(strtab_n_strings(budget->names), n_strings + 2);
        tracker_set_budget(tracker, 1);
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings);
        tracker_free(tracker);
}
END_TEST

/* With any number of threads and types, memory is bounded. */
START_TEST(test_flood)
{
        Tracker *tracker = script_tracker(START);
        const Budget *budget = tracker_budget(tracker);
        size_t n_most = 0, n_before = budget->account->n_bytes;
        g_autoptr(GString) line = g_string_new(NULL);
        unsigned i;

        for (i = 1; i <= 5000; i++) {
                g_string_printf(line, "%u BulkType tid=%u Values=0x10/5/0x02000007/0/8\n", 10 + i,
                                i);
                script_go_on(tracker, line->str);
                n_most = MAX(n_most, budget->account->n_bytes - n_before);
        }
        ck_assert_uint_lt(n_most, 256 * 1024);
        g_string_assign(line, "6000 BulkType Values=");
        for (i = 0; i < 200; i++)
                g_string_append(line, "0x10/5/0x02000007/0/8,");
        g_string_append(line, "0x10/5/0x02000007/0/8\n");
        script_go_on(tracker, line->str);
        script_go_on(tracker, DETAILS(6001, 7, "0x10") LOAD(6002, 7, 0x1000));
        {
                g_autofree char *got = type_args_at(tracker, 0x1000, 6002);

                ck_assert_str_eq(got, "");
        }
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("details");
        TCase *tcase = tcase_create("details");

        tcase_add_loop_test(tcase, test_rule, 0, G_N_ELEMENTS(RULES));
        tcase_add_test(tcase, test_restart_between);
        tcase_add_loop_test(tcase, test_inlined, 0, 2);
        tcase_add_test(tcase, test_inlined_pieces);
        tcase_add_test(tcase, test_inlined_recursion);
        tcase_add_test(tcase, test_epoch);
        tcase_add_test(tcase, test_account);
        tcase_add_test(tcase, test_flood);
        suite_add_tcase(suite, tcase);
        return suite;
}
