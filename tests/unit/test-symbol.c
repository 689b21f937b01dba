/* SPDX-License-Identifier: MIT */
#include "tracker/symbol.h"

#include "support/suite.h"

#include <string.h>

static const struct {
        const char *name_space, *name, *signature, *symbol;
} ROWS[] = {
        {"System.Threading.Thread", "GetThreadStaticsBase", "value class ThreadLocalData*  ()",
         "System.Threading.Thread.GetThreadStaticsBase()"},
        {"A", "B", "instance class C  (class System.Object,pMT: 0x1<class D>)",
         "A.B(class System.Object,pMT: 0x1<class D>)"},
        {"A", "Invoke", "void  (class F`1<method void *(int32)>,int32)",
         "A.Invoke(class F`1<method void *(int32)>,int32)"},
        {"", "IL_STUB", "", "IL_STUB()"},
        {NULL, "Helper", NULL, "Helper()"},
        {"dynamicClass", "Dyn_é漢😀", "int64  (int64)", "dynamicClass.Dyn_é漢😀(int64)"},
        {"A", "x\n\x1b[31m\xe2\x80\xae", "void  ()", "A.x\\u{a}\\u{1b}[31m\\u{202e}()"},
        {"A", "B", "not a signature)", "A.B()"},
        {NULL, NULL, NULL, "method 0xabc"},
};

static Str intern(Strtab *names, const char *text)
{
        return text ? strtab_add(names, text, strlen(text)) : 0;
}

START_TEST(test_symbol)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        const Process process = {.names = names};
        const Body body = {.method_id = 0xabc,
                           .name_space = intern(names, ROWS[_i].name_space),
                           .name = intern(names, ROWS[_i].name),
                           .signature = intern(names, ROWS[_i].signature)};
        g_autoptr(GString) out = g_string_new(NULL);

        symbol_append(out, &process, &body);
        ck_assert_str_eq(out->str, ROWS[_i].symbol);
        strtab_free(names);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("symbol");
        TCase *tcase = tcase_create("symbol");

        tcase_add_loop_test(tcase, test_symbol, 0, G_N_ELEMENTS(ROWS));
        suite_add_tcase(suite, tcase);
        return suite;
}
