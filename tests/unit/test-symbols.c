/* SPDX-License-Identifier: MIT */

/* Symbol tables: the choice among several names of an address; C++ names; a perf map; and the
 * limits of a recorded process's cost */

#include "symbols/demangle.h"
#include "symbols/file-symbols.h"
#include "symbols/map-symbols.h"
#include "symbols/symbol-table.h"
#include "symbols/vdso.h"

#include "support/suite.h"
#include "util/elf-file.h"
#include "util/fd.h"

#include <elf.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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
        {0x800, 0x30, "cancellable", SYMBOL_LOCAL},
        {0x810, 0, "label", SYMBOL_LOCAL},
        {0x818, 0x4, "nested", 0},
        {0x820, 0, "label_after_nested", 0},
        {0x830, 0, "next", 0},
};

static const struct {
        uint64_t address;
        const char *name, *extended; /* NULL: no name */
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
        {0x810, "cancellable", "cancellable", 0x800},
        {0x81a, "nested", "nested", 0x818},
        {0x820, "cancellable", "cancellable", 0x800},
        {0x82f, "cancellable", "cancellable", 0x800},
        {0x830, "next", "next", 0x830},
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

/* Each type is a pair of the type before: 40 types have 2^40 names. */
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

/* Writes a perf map for the pid of this process, reads it, and removes it. */
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

/* Writes a library with the function "f" at 0x100, 16 bytes, and N_SYMBOLS in its table. */
static void write_library(const char *path, uint64_t n_symbols)
{
        static const char NAMES[] = "\0f";
        enum { TEXT = 0x1000, STRINGS = 0x2000, TABLE = 0x3000 };
        const uint64_t n_table = n_symbols * sizeof(Elf64_Sym);
        const Elf64_Sym symbol = {.st_name = 1,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = 1,
                                  .st_value = TEXT + 0x100,
                                  .st_size = 16};
        const Elf64_Shdr sections[] = {
                {0},
                {.sh_type = SHT_PROGBITS,
                 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                 .sh_addr = TEXT,
                 .sh_offset = TEXT,
                 .sh_size = 0x1000},
                {.sh_type = SHT_SYMTAB,
                 .sh_link = 3,
                 .sh_offset = TABLE,
                 .sh_size = n_table,
                 .sh_entsize = sizeof(Elf64_Sym)},
                {.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = sizeof(NAMES)},
        };
        const Elf64_Phdr segment = {
                .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x2000, .p_memsz = 0x2000};
        const Elf64_Ehdr header = {
                .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                .e_type = ET_DYN,
                .e_machine = EM_X86_64,
                .e_version = EV_CURRENT,
                .e_phoff = sizeof(header),
                .e_shoff = 0x200,
                .e_ehsize = sizeof(header),
                .e_phentsize = sizeof(segment),
                .e_phnum = 1,
                .e_shentsize = sizeof(sections[0]),
                .e_shnum = G_N_ELEMENTS(sections)};
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ck_assert(ftruncate(fd, (off_t)(TABLE + n_table)) == 0 &&
                  pwrite(fd, &header, sizeof(header), 0) > 0 &&
                  pwrite(fd, &segment, sizeof(segment), sizeof(header)) > 0 &&
                  pwrite(fd, sections, sizeof(sections), 0x200) > 0 &&
                  pwrite(fd, NAMES, sizeof(NAMES), STRINGS) > 0 &&
                  pwrite(fd, &symbol, sizeof(symbol), TABLE) > 0);
}

static void map_library(AddressSpaces *spaces, uint32_t pid, uint64_t address, const char *path)
{
        struct {
                struct perf_event_header header;
                uint32_t pid, tid;
                uint64_t address, size, offset;
                uint32_t major, minor;
                uint64_t inode, generation;
                uint32_t protection, flags;
                char path[256];
        } record = {.header = {PERF_RECORD_MMAP2, 0, sizeof(record)},
                    .pid = pid,
                    .tid = pid,
                    .address = address,
                    .size = 0x2000};
        struct stat st;

        ck_assert_int_eq(stat(path, &st), 0);
        record.major = major(st.st_dev);
        record.minor = minor(st.st_dev);
        record.inode = st.st_ino;
        record.protection = PROT_READ | PROT_EXEC;
        g_strlcpy(record.path, path, sizeof(record.path));
        address_spaces_take(spaces, &record.header, 1);
}

/* Returns the symbol 4 bytes after the begin of the function. */
static const char *find_in_library(FileSymbols *symbols, AddressSpaces *spaces, int32_t pid,
                                   uint64_t address)
{
        const SpaceMapping *mapping = address_spaces_find(spaces, pid, 2, address + 0x1104);
        uint64_t start = 0;
        const char *name = file_symbols_find(symbols, mapping, address + 0x1104, &start);

        if (name)
                ck_assert_uint_eq(start, address + 0x1100);
        return name;
}

/* Each file of one process has a table of 24 MiB; another process has a small file. */
START_TEST(bounds_what_a_process_costs)
{
        enum { HOG = 1000, OTHER = 2000, N_FILES = 30 };
        g_autofree char *directory = g_dir_make_tmp("clrsym-symbols-XXXXXX", NULL);
        AddressSpaces *spaces = address_spaces_new();
        PerfFeatures features;
        FileSymbols *symbols;
        int i;

        perf_features_init(&features);
        for (i = 0; i <= N_FILES; i++) {
                g_autofree char *path = g_strdup_printf("%s/%d.so", directory, i);

                write_library(path, i < N_FILES ? 1 << 20 : 1);
                map_library(spaces, i < N_FILES ? HOG : OTHER,
                            UINT64_C(0x10000) * (uint64_t)(i + 1), path);
        }
        symbols = file_symbols_new(spaces, &features, NULL);
        ck_assert_str_eq(find_in_library(symbols, spaces, HOG, 0x10000), "f");
        ck_assert_int_eq(file_symbols_costly_process(symbols), 0);
        for (i = 1; i < N_FILES; i++)
                find_in_library(symbols, spaces, HOG, UINT64_C(0x10000) * (uint64_t)(i + 1));
        ck_assert_ptr_null(find_in_library(symbols, spaces, HOG, UINT64_C(0x10000) * N_FILES));
        ck_assert_int_eq(file_symbols_costly_process(symbols), HOG);
        ck_assert_str_eq(find_in_library(symbols, spaces, OTHER, UINT64_C(0x10000) * (N_FILES + 1)),
                         "f");
        file_symbols_free(symbols);
        address_spaces_free(spaces);
        perf_features_deinit(&features);
        for (i = 0; i <= N_FILES; i++) {
                g_autofree char *path = g_strdup_printf("%s/%d.so", directory, i);

                g_remove(path);
        }
        g_rmdir(directory);
}
END_TEST

/* The kernel's notes begin with Xen's, in which 3 is another type. */
START_TEST(finds_a_build_id_in_notes)
{
        static const uint8_t NOTES[] = {
                4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'X', 'e', 'n', 0,   1,   2, 3,    4,    5, 6,
                7, 8, 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0,   0,   'G', 'N', 'U', 0, 0xab, 0xcd, 0, 0,
        };
        uint8_t id[ELF_MAX_BUILD_ID];
        size_t n;

        ck_assert_uint_eq(elf_notes_build_id(NOTES, sizeof(NOTES), id), 2);
        ck_assert(id[0] == 0xab && id[1] == 0xcd);
        for (n = 0; n < sizeof(NOTES) - 2; n++) {
                /* A copy of the exact size, so that the address sanitizer sees a read beyond the
                 * end. */
                g_autofree uint8_t *cut = g_memdup2(NOTES, n);

                ck_assert_uint_eq(elf_notes_build_id(cut, n, id), 0);
        }
}
END_TEST

/* Takes a record of a build id, 20 times the byte ID, for the file PATH. */
static void take_build_id(PerfFeatures *features, uint8_t id, const char *path)
{
        struct {
                uint32_t pid;
                uint8_t id[20], n, padding[3];
                char path[20];
        } record = {.n = 20};

        memset(record.id, id, sizeof(record.id));
        g_strlcpy(record.path, path, sizeof(record.path));
        perf_features_take_build_id(features, 0, (const uint8_t *)&record, sizeof(record));
}

START_TEST(two_build_ids_of_a_path_identify_no_file)
{
        const PerfBuildId *id;
        PerfFeatures features;

        perf_features_init(&features);
        take_build_id(&features, 1, "/one");
        take_build_id(&features, 2, "/two");
        take_build_id(&features, 2, "/two");
        take_build_id(&features, 3, "/several");
        take_build_id(&features, 4, "/several");
        take_build_id(&features, 4, "/several");
        id = perf_features_build_id(&features, "/one");
        ck_assert(id && id->n == 20 && id->bytes[0] == 1);
        id = perf_features_build_id(&features, "/two");
        ck_assert(id && id->n == 20 && id->bytes[0] == 2);
        ck_assert_ptr_null(perf_features_build_id(&features, "/several"));
        ck_assert_ptr_null(perf_features_build_id(&features, "/none"));
        perf_features_deinit(&features);
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
        tcase_add_test(tests, bounds_what_a_process_costs);
        tcase_add_test(tests, finds_a_build_id_in_notes);
        tcase_add_test(tests, two_build_ids_of_a_path_identify_no_file);
        tcase_add_test(tests, opens_the_vdso);
        tcase_set_timeout(tests, 60);
        suite_add_tcase(suite, tests);
        return suite;
}
