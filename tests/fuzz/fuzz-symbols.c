/* SPDX-License-Identifier: MIT */

/* Symbols with any bytes: u8 kind, then an ELF file, a perf map, or /proc/kallsyms. Each found
 * symbol begins at or before the address. */

#include "fuzz.h"
#include "symbols/demangle.h"
#include "symbols/kernel-symbols.h"
#include "symbols/map-symbols.h"
#include "util/elf-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static bool see_symbol(const ElfSymbol *symbol, void *data)
{
        char *name = demangle(symbol->name);

        FUZZ_REQUIRE(*symbol->name);
        symbol_table_add(data, symbol->value, symbol->size, name ? name : symbol->name,
                         symbol->is_weak ? SYMBOL_WEAK : 0);
        free(name);
        return true;
}

static void read_elf(const FuzzInput *input, SymbolTable *table)
{
        const int fd = memfd_create("elf", MFD_CLOEXEC);
        ElfFile file;

        FUZZ_REQUIRE(fd >= 0 && pwrite(fd, input->at, input->n, 0) == (ssize_t)input->n);
        if (elf_file_open(&file, fd)) {
                FUZZ_REQUIRE(elf_file_code_symbols(&file, SHT_SYMTAB, see_symbol, table));
                FUZZ_REQUIRE(elf_file_code_symbols(&file, SHT_DYNSYM, see_symbol, table));
                FUZZ_REQUIRE(elf_file_linkage_symbols(&file, see_symbol, table));
                elf_file_close(&file);
        }
        close(fd);
}

static void check_table(SymbolTable *table, bool is_extended)
{
        static const uint64_t ADDRESSES[] = {0, 1, 0x1000, 0x1004, 0xffffffff81000010, UINT64_MAX};
        size_t i;

        symbol_table_sort(table, is_extended);
        for (i = 0; i < G_N_ELEMENTS(ADDRESSES); i++) {
                uint64_t start = UINT64_MAX;
                const char *name = symbol_table_find(table, ADDRESSES[i], &start);

                FUZZ_REQUIRE(!name || (*name && start <= ADDRESSES[i]));
        }
}

static void read_kernel(FILE *file)
{
        static const PerfFeatures NOTHING = {0};
        KernelSymbols *symbols = kernel_symbols_new(&NOTHING);
        const uint64_t address = UINT64_C(0xffffffff81000010);
        uint64_t start = 0;
        const char *dso, *name;

        kernel_symbols_read(symbols, file);
        name = kernel_symbols_find(symbols, address, &dso, &start);
        FUZZ_REQUIRE(!name || (*dso && start <= address));
        kernel_symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        const unsigned which = fuzz_take(&input, 1) % 3;
        SymbolTable table;
        FILE *file;

        if (size > FUZZ_MAX_INPUT || !input.n)
                return 0;
        symbol_table_init(&table);
        file = fmemopen((void *)input.at, input.n, "r");
        FUZZ_REQUIRE(file);
        if (which == 0)
                read_elf(&input, &table);
        else if (which == 1)
                map_symbols_read(file, &table);
        else
                read_kernel(file);
        check_table(&table, which == 2);
        fclose(file);
        symbol_table_deinit(&table);
        return 0;
}
