/* SPDX-License-Identifier: MIT */

/* Names from a recorder: their display, and several names for one address */

#include "symbols/recorder-symbols.h"

#include "support/suite.h"

#include <string.h>

enum { PID = 7 };

/* Names in the forms of .NET perf maps and of other perf maps. */
START_TEST(test_text)
{
        static const struct {
                const char *name, *text, *module;
        } ROWS[] = {
                {"void [App] Live.Program::Main(string[])[QuickJitted]",
                 "Live.Program::Main(string[])", "App"},
                {"instance valuetype [System.Runtime]System.Guid [App] "
                 "A.B`1[System.Int32]::M(class "
                 "[System.Runtime]System.Text.Rune,int32)[OptimizedTier1]",
                 "A.B`1[System.Int32]::M(class [System.Runtime]System.Text.Rune,int32)", "App"},
                {"int64 [Anonymous] dynamicClass::M(int64)[Optimized]", "dynamicClass::M(int64)",
                 "Anonymous"},
                {"PreStub::M(int64)[Stub]", "PreStub::M(int64)", NULL},
                {"stub<1> AllocateTemporaryEntryPoints", "stub<1> AllocateTemporaryEntryPoints",
                 NULL},
                {"std::vector<int>::push_back", "std::vector<int>::push_back", NULL},
                {"[", "[", NULL},
                {"]::[", "]::[", NULL},
                {"] ::]", "] ::]", NULL},
                {"", "", NULL},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                RecorderSymbols *symbols = recorder_symbols_new();
                g_autofree char *want = g_strconcat(ROWS[i].text, RECORDER_MARK, NULL);
                RecorderName name = {0};

                recorder_symbols_add(symbols, PID, 100, 110, ROWS[i].name, strlen(ROWS[i].name));
                ck_assert_int_eq(recorder_symbols_find(symbols, PID, 105, &name), RECORDER_ONE);
                ck_assert_str_eq(name.text, want);
                ck_assert_uint_eq(name.start, 100);
                ck_assert_msg(!g_strcmp0(name.module, ROWS[i].module), "row %d: %s", (int)i,
                              name.module);
                recorder_symbols_free(symbols);
        }
}
END_TEST

static void add(RecorderSymbols *symbols, uint64_t start, uint64_t end, const char *name)
{
        recorder_symbols_add(symbols, PID, start, end, name, strlen(name));
}

START_TEST(test_several)
{
        static const struct {
                uint64_t address;
                RecorderFound found;
                uint64_t start;
        } ROWS[] = {
                {99, RECORDER_NONE, 0},
                {100, RECORDER_ONE, 100},
                {119, RECORDER_ONE, 100},
                {120, RECORDER_SEVERAL, 120},
                {139, RECORDER_SEVERAL, 139},
                {140, RECORDER_ONE, 120},
                {150, RECORDER_NONE, 0},
                /* Two bodies of one method; the third body belongs to another method. */
                {200, RECORDER_ONE, 200},
                {230, RECORDER_SEVERAL, 230},
                /* The recorder repeats each name for each mapping. */
                {310, RECORDER_ONE, 300},
        };
        RecorderSymbols *symbols = recorder_symbols_new();
        size_t i;

        add(symbols, 300, 320, "M5");
        add(symbols, 120, 150, "M2");
        add(symbols, 100, 140, "M1");
        add(symbols, 200, 260, "void [App] T::M3()[QuickJitted]");
        add(symbols, 200, 240, "void [App] T::M3()[OptimizedTier1]");
        add(symbols, 220, 250, "void [App] T::M4()[OptimizedTier1]");
        add(symbols, 300, 320, "M5");
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                RecorderName name = {0};
                const RecorderFound found =
                        recorder_symbols_find(symbols, PID, ROWS[i].address, &name);

                ck_assert_msg(found == ROWS[i].found, "row %d: %d", (int)i, (int)found);
                ck_assert_msg(name.start == ROWS[i].start, "row %d: %d", (int)i, (int)name.start);
                ck_assert(found != RECORDER_SEVERAL || !strcmp(name.text, RECORDER_SEVERAL_NAME));
        }
        recorder_symbols_free(symbols);
}
END_TEST

/* The kernel's code stays without a mark at its names. The code of a process belongs to that
 * process. */
START_TEST(test_processes)
{
        RecorderSymbols *symbols = recorder_symbols_new();
        RecorderName name;

        recorder_symbols_add(symbols, RECORDER_KERNEL, 100, 120, "schedule", 8);
        add(symbols, 100, 120, "M");
        ck_assert_int_eq(recorder_symbols_find(symbols, RECORDER_KERNEL, 100, &name), RECORDER_ONE);
        ck_assert_str_eq(name.text, "schedule");
        ck_assert_int_eq(recorder_symbols_find(symbols, PID, 100, &name), RECORDER_ONE);
        ck_assert_str_eq(name.text, "M" RECORDER_MARK);
        ck_assert_int_eq(recorder_symbols_find(symbols, PID + 1, 100, &name), RECORDER_NONE);
        recorder_symbols_free(symbols);
}
END_TEST

START_TEST(test_bounds)
{
        RecorderSymbols *symbols = recorder_symbols_new();
        RecorderName name;

        recorder_symbols_limit(symbols, 2);
        add(symbols, 100, 100, "nothing");
        add(symbols, 120, 100, "backwards");
        add(symbols, UINT64_MAX - 1, UINT64_MAX, "last");
        ck_assert_uint_eq(recorder_symbols_n_left_out(symbols), 2);
        ck_assert_int_eq(recorder_symbols_find(symbols, PID, 100, &name), RECORDER_NONE);
        ck_assert_int_eq(recorder_symbols_find(symbols, PID, UINT64_MAX - 1, &name), RECORDER_ONE);
        ck_assert_int_eq(recorder_symbols_find(symbols, PID, UINT64_MAX, &name), RECORDER_NONE);
        add(symbols, 1000, 1001, "M1");
        add(symbols, 1000, 1001, "M2");
        ck_assert_uint_eq(recorder_symbols_n_left_out(symbols), 3);
        ck_assert_int_eq(recorder_symbols_find(symbols, PID, 1000, &name), RECORDER_ONE);
        recorder_symbols_free(symbols);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("recorder symbols");
        TCase *all = tcase_create("all");

        tcase_add_test(all, test_text);
        tcase_add_test(all, test_several);
        tcase_add_test(all, test_processes);
        tcase_add_test(all, test_bounds);
        suite_add_tcase(suite, all);
        return suite;
}
