/* SPDX-License-Identifier: MIT */
#include "symbols/kernel-symbols.h"

#include "perfdata/address-space.h"
#include "symbols/build-id.h"
#include "util/elf-file.h"

#include <stdlib.h>
#include <string.h>

#define KALLSYMS "/proc/kallsyms"
#define NOTES    "/sys/kernel/notes"
/* Below it, KERNEL_DSO/BUILDID/kallsyms. */
#define PERF_CACHE ".debug"

#define MAX_LINE 1024
/* A file other than the kernel's can have any length. */
#define MAX_KERNEL_SYMBOLS (4u << 20)

/* The kernel reports BPF programs one by one. */
#define MAX_PROGRAMS (1u << 16)

/* PERF_RECORD_KSYMBOL up to its name. */
typedef struct KsymbolRecord {
        struct perf_event_header header;
        uint64_t address;
        uint32_t size;
        uint16_t type, flags;
} KsymbolRecord;

enum { KSYMBOL = 17, KSYMBOL_FLAG_UNREGISTER = 1 };

struct KernelSymbols {
        const PerfFeatures *features; /* borrowed */
        SymbolTable table;
        GArray *modules;     /* owned, of KernelModule, sorted: for each symbol of a module */
        GStringChunk *dsos;  /* owned */
        GArray *programs;    /* owned, of KernelProgram, in the order of the records */
        char *reference;     /* owned: a symbol; NULL: its address was not recorded */
        uint64_t address;    /* its address in the recording */
        uint64_t begin, end; /* addresses of the kernel's own code; equal: not known */
        uint64_t found;      /* its address in the table; 0: it is not in the table */
        bool is_read;
        const char *reason; /* static */
};

typedef struct KernelModule {
        uint64_t start; /* of a symbol */
        const char *dso;
} KernelModule;

typedef struct KernelProgram {
        uint64_t start, end;
        char *name; /* owned */
} KernelProgram;

static void kernel_program_clear(gpointer data)
{
        g_free(((KernelProgram *)data)->name);
}

KernelSymbols *kernel_symbols_new(const PerfFeatures *features)
{
        KernelSymbols *symbols = g_new0(KernelSymbols, 1);

        symbols->features = features;
        symbol_table_init(&symbols->table);
        symbols->modules = g_array_new(FALSE, FALSE, sizeof(KernelModule));
        symbols->dsos = g_string_chunk_new(1024);
        symbols->programs = g_array_new(FALSE, FALSE, sizeof(KernelProgram));
        g_array_set_clear_func(symbols->programs, kernel_program_clear);
        return symbols;
}

void kernel_symbols_free(KernelSymbols *symbols)
{
        if (!symbols)
                return;
        symbol_table_deinit(&symbols->table);
        g_array_unref(symbols->modules);
        g_string_chunk_free(symbols->dsos);
        g_array_unref(symbols->programs);
        g_free(symbols->reference);
        g_free(symbols);
}

static void kernel_take_program(KernelSymbols *symbols, const struct perf_event_header *record)
{
        KsymbolRecord program;
        KernelProgram row;

        if (record->size <= sizeof(program) || symbols->programs->len == MAX_PROGRAMS)
                return;
        memcpy(&program, record, sizeof(program));
        if (program.flags & KSYMBOL_FLAG_UNREGISTER)
                return;
        row = (KernelProgram){.start = program.address,
                              .end = program.address + program.size,
                              .name = g_strndup((const char *)record + sizeof(program),
                                                record->size - sizeof(program))};
        g_array_append_val(symbols->programs, row);
}

void kernel_symbols_take(KernelSymbols *symbols, const struct perf_event_header *record)
{
        MappingRecord mapping;

        if (record->type == KSYMBOL) {
                kernel_take_program(symbols, record);
                return;
        }
        if (symbols->reference || !mapping_record_read(&mapping, record) ||
            mapping.pid != KERNEL_PID || !g_str_has_prefix(mapping.path, KERNEL_DSO "_"))
                return;
        symbols->reference = g_strdup(mapping.path + strlen(KERNEL_DSO));
        symbols->address = mapping.offset;
        symbols->begin = mapping.address;
        symbols->end = mapping.address + mapping.size;
}

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t f\t[module]". */
static void kernel_take_line(KernelSymbols *symbols, char *line)
{
        char *at = NULL, *name, *module;
        const uint64_t address = strtoull(line, &at, 16);
        uint32_t rank = 0;

        if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
                return;
        /* Symbols of code, and of data, which end the code before them. */
        if (!strchr("TtWwDdBb", at[1]))
                return;
        if (g_ascii_tolower(at[1]) == 'w')
                rank |= SYMBOL_WEAK;
        if (g_ascii_islower(at[1]))
                rank |= SYMBOL_LOCAL;
        name = at + 3;
        name[strcspn(name, "\n")] = '\0';
        module = strchr(name, '\t');
        if (!module && symbols->reference && !strcmp(name, symbols->reference))
                symbols->found = address;
        if (module) {
                KernelModule row = {.start = address};

                *module++ = '\0';
                row.dso = g_string_chunk_insert_const(symbols->dsos, module);
                if (*module && !g_str_has_prefix(module, "[__builtin"))
                        g_array_append_val(symbols->modules, row);
        }
        if (*name)
                symbol_table_add(&symbols->table, address, 0, name, rank);
}

static int kernel_module_compare(gconstpointer one, gconstpointer other)
{
        const KernelModule *a = one, *b = other;

        return (a->start > b->start) - (a->start < b->start);
}

void kernel_symbols_read(KernelSymbols *symbols, FILE *file)
{
        char line[MAX_LINE];

        symbols->is_read = true;
        symbol_table_deinit(&symbols->table);
        symbol_table_init(&symbols->table);
        g_array_set_size(symbols->modules, 0);
        symbols->found = 0;
        while (symbols->table.rows->len < MAX_KERNEL_SYMBOLS && fgets(line, sizeof(line), file))
                kernel_take_line(symbols, line);
        symbol_table_sort(&symbols->table, /* is_extended= */ true);
        g_array_sort(symbols->modules, kernel_module_compare);
}

/* False: there are none. */
static bool kernel_read_kallsyms(KernelSymbols *symbols, const char *path)
{
        FILE *file = fopen(path, "re");

        if (!file)
                return false;
        kernel_symbols_read(symbols, file);
        fclose(file);
        return symbols->table.rows->len > 0;
}

/* The build id in the notes of the running kernel. */
static bool kernel_own_build_id(PerfBuildId *ret)
{
        uint8_t bytes[ELF_MAX_BUILD_ID];
        g_autofree char *notes = NULL;
        gsize n;

        if (!g_file_get_contents(NOTES, &notes, &n, NULL))
                return false;
        n = elf_notes_build_id((const uint8_t *)notes, n, bytes);
        if (!n || n > sizeof(ret->bytes))
                return false;
        ret->n = (uint8_t)n;
        memcpy(ret->bytes, bytes, n);
        return true;
}

static bool build_id_is(const PerfBuildId *a, const PerfBuildId *b)
{
        return a->n == b->n && !memcmp(a->bytes, b->bytes, a->n);
}

/* True if the table has the recorded addresses, or, with MAY_MOVE, can be moved to them. */
static bool kernel_fits(KernelSymbols *symbols, bool may_move)
{
        if (!symbols->reference || symbols->found == symbols->address)
                return true;
        if (!symbols->found || !may_move)
                return false;
        /* Modules are not moved. */
        symbol_table_move(&symbols->table, symbols->address - symbols->found);
        g_array_set_size(symbols->modules, 0);
        return true;
}

static bool kernel_read_cache(KernelSymbols *symbols, const PerfBuildId *id)
{
        g_autofree char *text = build_id_text(id->bytes, id->n);
        g_autofree char *path =
                g_build_filename(g_get_home_dir(), PERF_CACHE, KERNEL_DSO, text, "kallsyms", NULL);

        return kernel_read_kallsyms(symbols, path) && kernel_fits(symbols, /* may_move= */ true);
}

static void kernel_read(KernelSymbols *symbols)
{
        const PerfBuildId *id = perf_features_build_id(symbols->features, KERNEL_DSO);
        PerfBuildId own;
        const bool has_own = kernel_own_build_id(&own);
        const bool is_same = id && has_own && build_id_is(id, &own);

        symbols->is_read = true;
        if (!id || !has_own || is_same) {
                /* Without a build id, only an equal address shows that the kernel is the same. */
                if (!symbols->reference && !is_same)
                        symbols->reason = "the recording does not identify its kernel";
                else if (!kernel_read_kallsyms(symbols, KALLSYMS))
                        symbols->reason = KALLSYMS " cannot be read";
                else if (kernel_fits(symbols, is_same))
                        return;
                else
                        symbols->reason = "another kernel runs now, or the kernel hides its "
                                          "addresses: sysctl kernel.kptr_restrict=0";
        } else {
                symbols->reason = "another kernel runs now, and ~/.debug, where perf record puts "
                                  "symbols, has none of the recorded one";
        }
        if (id && kernel_read_cache(symbols, id)) {
                symbols->reason = NULL;
                return;
        }
        symbol_table_deinit(&symbols->table);
        symbol_table_init(&symbols->table);
}

static const KernelProgram *kernel_find_program(const KernelSymbols *symbols, uint64_t address)
{
        guint i;

        for (i = symbols->programs->len; i > 0; i--) {
                const KernelProgram *row = &g_array_index(symbols->programs, KernelProgram, i - 1);

                if (address >= row->start && address < row->end)
                        return row;
        }
        return NULL;
}

static const char *kernel_dso(const KernelSymbols *symbols, uint64_t start)
{
        const KernelModule key = {.start = start};
        guint at;

        return g_array_binary_search(symbols->modules, &key, kernel_module_compare, &at)
                       ? g_array_index(symbols->modules, KernelModule, at).dso
                       : KERNEL_DSO;
}

const char *kernel_symbols_find(KernelSymbols *symbols, uint64_t address, const char **ret_dso,
                                uint64_t *ret_start)
{
        const KernelProgram *program = kernel_find_program(symbols, address);
        const char *name;

        *ret_dso = KERNEL_DSO;
        if (program) {
                *ret_start = program->start;
                *ret_dso = program->name;
                return program->name;
        }
        if (!symbols->is_read)
                kernel_read(symbols);
        name = symbol_table_find(&symbols->table, address, ret_start);
        if (name)
                *ret_dso = kernel_dso(symbols, *ret_start);
        else if (!symbols->reason || address < symbols->begin || address >= symbols->end)
                *ret_dso = NULL;
        return name;
}

const char *kernel_symbols_reason(const KernelSymbols *symbols)
{
        return symbols->reason;
}
