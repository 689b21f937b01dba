/* SPDX-License-Identifier: MIT */

/* Tables of symbols: which of several names an address has; names of C++; a perf map */

#include "symbols/demangle.h"
#include "symbols/map-symbols.h"
#include "symbols/symbol-table.h"
#include "symbols/vdso.h"

#include "support/suite.h"
#include "util/elf-file.h"
#include "util/fd.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
        uint64_t start, size;
        const char *name;
        unsigned rank;
} SYMBOLS[] = {
        {0x100, 0x20, "outer", 0},
        {0x108, 0x4, "inner", 0},
        {0x200, 0x10, "weak", SYMBOL_WEAK},
        {0x200, 0x10, "strong", 0},
        {0x300, 0x10, "local_name", SYMBOL_LOCAL},
        {0x300, 0x10, "global", 0},
        {0x400, 0x10, "_name", 0},
        {0x400, 0x10, "name", 0},
        {0x500, 0x10, "short", 0},
        {0x500, 0x10, "longer", 0},
        {0x600, 0, "first", 0},
        {0x600, 0, "last", 0},
        {0x700, 0x10, "sized", SYMBOL_WEAK | SYMBOL_LOCAL},
        {0x700, 0, "empty", 0},
};

static const struct {
        uint64_t address;
        const char *name, *extended; /* NULL: none */
        uint64_t start;
} LOOKUPS[] = {
        {0xff, NULL, NULL, 0},
        {0x100, "outer", "outer", 0x100},
        {0x109, "inner", "inner", 0x108},
        {0x10c, "outer", "outer", 0x100},
        {0x11f, "outer", "outer", 0x100},
        {0x120, NULL, NULL, 0},
        {0x20f, "strong", "strong", 0x200},
        {0x300, "global", "global", 0x300},
        {0x400, "name", "name", 0x400},
        {0x500, "longer", "longer", 0x500},
        {0x600, "last", "last", 0x600},
        {0x601, NULL, "last", 0x600},
        {0x700, "sized", "sized", 0x700},
        {0x710, NULL, NULL, 0},
};

START_TEST(finds_symbols)
{
        const bool is_extended = _i >= (int)G_N_ELEMENTS(LOOKUPS);
        const size_t number = (size_t)_i % G_N_ELEMENTS(LOOKUPS);
        const char *want = is_extended ? LOOKUPS[number].extended : LOOKUPS[number].name;
        SymbolTable table;
        const char *name;
        uint64_t start;
        size_t i;

        symbol_table_init(&table);
        for (i = 0; i < G_N_ELEMENTS(SYMBOLS); i++)
                symbol_table_add(&table, SYMBOLS[i].start, SYMBOLS[i].size, SYMBOLS[i].name,
                                 SYMBOLS[i].rank);
        symbol_table_sort(&table, is_extended);
        name = symbol_table_find(&table, LOOKUPS[number].address, &start);
        ck_assert_msg(!g_strcmp0(name, want), "%#" PRIx64 ": %s", LOOKUPS[number].address,
                      name ? name : "none");
        if (name)
                ck_assert_uint_eq(start, LOOKUPS[number].start);
        symbol_table_deinit(&table);
}
END_TEST

START_TEST(demangles)
{
        static const struct {
                const char *name, *want;
        } ROWS[] = {
                {"_ZN10MethodDesc9DoPrestubEP11MethodTable", "MethodDesc::DoPrestub"},
                {"_ZNSt6vectorIiSaIiEE9push_backERKi",
                 "std::vector<int, std::allocator<int> >::push_back"},
                {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
                {"main", NULL},
                {"_Z", NULL},
                {"", NULL},
        };
        char *name = demangle(ROWS[_i].name);

        ck_assert_msg(!g_strcmp0(name, ROWS[_i].want), "%s", name ? name : "none");
        free(name);
}
END_TEST

/* Each type is a pair of the one before: 40 of them have 2^40 names. */
START_TEST(bounds_a_name)
{
        static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        g_autoptr(GString) name = g_string_new("_Z1fSt4pairIiiES_IS0_S0_E");
        char *text = demangle(name->str);
        unsigned i;

        ck_assert_str_eq(text, "f");
        free(text);
        /* The type of a template parameter is part of the name. */
        g_string_assign(name, "_Z1fI");
        g_string_append(name, "St4pairIiiES0_IS1_S1_E");
        for (i = 2; i < 34; i++)
                g_string_append_printf(name, "S0_IS%c_S%c_E", DIGITS[i], DIGITS[i]);
        g_string_append(name, "EvT_");
        text = demangle(name->str);
        ck_assert(!text || strlen(text) < 10000);
        free(text);
}
END_TEST

/* The map of this process is new, unless its pid was that of another one. */
START_TEST(reads_a_perf_map)
{
        MapSymbols *symbols = map_symbols_new();
        const int32_t pid = getpid();
        g_autofree char *path = g_strdup(map_symbols_path(symbols, pid));
        uint64_t start;

        ck_assert(g_file_set_contents(path,
                                      "1000 20 a method with blanks\n"
                                      "zzz\n1100\n1200 x\n2000 10 other\n",
                                      -1, NULL));
        ck_assert_str_eq(map_symbols_find(symbols, pid, 0x101f, &start), "a method with blanks");
        ck_assert_uint_eq(start, 0x1000);
        ck_assert_str_eq(map_symbols_find(symbols, pid, 0x2000, &start), "other");
        ck_assert_ptr_null(map_symbols_find(symbols, pid, 0x1020, &start));
        ck_assert_ptr_null(map_symbols_find(symbols, pid, 0x1200, &start));
        g_remove(path);
        map_symbols_free(symbols);
}
END_TEST

START_TEST(opens_the_vdso)
{
        FD_AUTO int fd = vdso_open();
        ElfFile file;

        ck_assert(vdso_is("[vdso]"));
        ck_assert(!vdso_is("/lib/libc.so.6"));
        ck_assert(elf_file_open(&file, fd));
        ck_assert(elf_file_exports(&file, "__vdso_clock_gettime") ||
                  elf_file_exports(&file, "__kernel_clock_gettime"));
        elf_file_close(&file);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("symbols");
        TCase *tests = tcase_create("symbols");

        tcase_add_loop_test(tests, finds_symbols, 0, 2 * G_N_ELEMENTS(LOOKUPS));
        tcase_add_loop_test(tests, demangles, 0, 6);
        tcase_add_test(tests, bounds_a_name);
        tcase_add_test(tests, reads_a_perf_map);
        tcase_add_test(tests, opens_the_vdso);
        suite_add_tcase(suite, tests);
        return suite;
}
