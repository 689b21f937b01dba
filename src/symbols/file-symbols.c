/* SPDX-License-Identifier: MIT */
#include "symbols/file-symbols.h"

#include "symbols/build-id.h"
#include "symbols/demangle.h"
#include "symbols/mapped-file.h"
#include "symbols/process-accounts.h"
#include "symbols/symbol-table.h"
#include "symbols/vdso.h"
#include "util/clock.h"
#include "util/elf-file.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In perf's cache, below the home directory: a directory for the first byte of the build id, one
 * for the other bytes in it, with the file. */
#define PERF_CACHE_LAYOUT "%s/.debug/.build-id/%.2s/%s/elf"

/* The symbols of a file that was mapped. */
typedef struct MappedSymbols {
        SymbolTable table;
        Elf64_Phdr *segments; /* owned */
        unsigned n_segments;
        bool is_whole;     /* of a debug file: a symbol without a size reaches to the next one */
        uint64_t changed;  /* ns, time of day, of the file's last change; 0: its build id identifies
                            * it */
        FileReason reason; /* the file was not read; FILE_FOUND: it was */
        unsigned n_missed; /* lookups of code that has no names, because the file was not read or
                            * was changed */
} MappedSymbols;

struct FileSymbols {
        const AddressSpaces *spaces; /* all borrowed */
        const PerfFeatures *features;
        const DebugFinder *debug;
        GPtrArray *files; /* owned MappedSymbols by the number of the file; NULL: not read yet */
        GHashTable *accounts; /* owned, of process_accounts_new() */
        bool is_of_this_boot; /* the recording: inodes identify files */
        size_t n_bytes;
};

static void mapped_symbols_free(void *data)
{
        MappedSymbols *file = data;

        if (!file)
                return;
        symbol_table_deinit(&file->table);
        free(file->segments);
        g_free(file);
}

FileSymbols *file_symbols_new(const AddressSpaces *spaces, const PerfFeatures *features,
                              const DebugFinder *debug)
{
        FileSymbols *symbols = g_new0(FileSymbols, 1);

        symbols->spaces = spaces;
        symbols->features = features;
        symbols->debug = debug;
        symbols->files = g_ptr_array_new_with_free_func(mapped_symbols_free);
        symbols->accounts = process_accounts_new();
        return symbols;
}

void file_symbols_free(FileSymbols *symbols)
{
        if (!symbols)
                return;
        g_ptr_array_unref(symbols->files);
        g_hash_table_unref(symbols->accounts);
        g_free(symbols);
}

int32_t file_symbols_costly_process(const FileSymbols *symbols)
{
        return process_accounts_most_refused(symbols->accounts);
}

/* Charges the account for the tables of ELF, before they are read. False: the account has no work
 * left. */
static bool symbol_account_pay(ProcessAccount *account, const ElfFile *elf)
{
        uint64_t work = 0;
        unsigned i;

        for (i = 0; i < elf->n_sections; i++)
                if (elf->sections[i].sh_type == SHT_SYMTAB ||
                    elf->sections[i].sh_type == SHT_DYNSYM ||
                    elf->sections[i].sh_type == SHT_STRTAB)
                        work += MIN(elf->sections[i].sh_size, elf->size);
        account->work += work;
        if (account->work <= FILE_SYMBOLS_MAX_WORK)
                return true;
        account->n_refused++;
        return false;
}

void file_symbols_set_boot(FileSymbols *symbols, bool is_of_this_boot)
{
        symbols->is_of_this_boot = is_of_this_boot;
}

const MappedFile *file_symbols_missing(const FileSymbols *symbols, FileReason *ret_reason)
{
        const MappedFile *most = NULL;
        unsigned n = 0;
        guint i;

        for (i = 0; i < symbols->files->len; i++) {
                const MappedSymbols *file = symbols->files->pdata[i];

                if (!file || file->n_missed <= n)
                        continue;
                n = file->n_missed;
                *ret_reason = file->reason == FILE_FOUND ? FILE_CHANGED : file->reason;
                most = address_spaces_file(symbols->spaces, i);
        }
        return most;
}

/* False: it has none. */
static bool elf_file_id(const ElfFile *elf, PerfBuildId *ret)
{
        uint8_t bytes[ELF_MAX_BUILD_ID];
        const size_t n = elf_file_build_id(elf, bytes);

        *ret = (PerfBuildId){.n = (uint8_t)MIN(n, sizeof(ret->bytes))};
        memcpy(ret->bytes, bytes, ret->n);
        return n > 0;
}

/* Takes over FD, and opens it if it is an ELF file with that build id; NULL: any. */
static bool elf_file_open_id(ElfFile *ret, int fd, const PerfBuildId *id)
{
        if (fd >= 0 && elf_file_open(ret, fd)) {
                if (!id || elf_file_has_build_id(ret, id->bytes, id->n))
                        return true;
                elf_file_close(ret);
        }
        fd_clear(&fd);
        return false;
}

static void elf_file_end(ElfFile *elf)
{
        fd_clear(&elf->fd);
        elf_file_close(elf);
}

/* PATH in the root directory of PID; 0: in our own. */
static int symbols_open_path(pid_t pid, const char *path)
{
        FD_AUTO int root = pid >= 0 ? rootfs_open_root(pid) : -1;

        return root >= 0 ? rootfs_open_file(root, path) : -1;
}

static int symbols_open_cached(const PerfBuildId *id)
{
        g_autofree char *text = build_id_text(id->bytes, id->n);
        g_autofree char *path = NULL;

        if (id->n < 2)
                return -1;
        path = g_strdup_printf(PERF_CACHE_LAYOUT, g_get_home_dir(), text, text + 2);
        return symbols_open_path(0, path);
}

/* The file with the build id ID at its path, in the root directory of its process or in ours. */
static bool symbols_open_there(const MappedFile *mapped, const PerfBuildId *id, ElfFile *ret)
{
        return elf_file_open_id(ret, symbols_open_path(mapped->pid, mapped->path), id) ||
               elf_file_open_id(ret, symbols_open_path(0, mapped->path), id);
}

/*
 * perf notes one build id for a path, ID, when it ends. That is the id of another file if the
 * mapped one was replaced meanwhile, or was in a container that has ended.
 */
static bool symbols_open_noted(const FileSymbols *symbols, const MappedFile *mapped,
                               const PerfBuildId *id, ElfFile *ret)
{
        struct stat status;

        if (!symbols_open_there(mapped, id, ret))
                return elf_file_open_id(ret, symbols_open_cached(id), id);
        /* The device is not compared: mapped_file_open() did so, and a mount can show another. */
        if (!symbols->is_of_this_boot || !mapped->inode ||
            (fstat(ret->fd, &status) == 0 && status.st_ino == mapped->inode))
                return true;
        elf_file_end(ret);
        return false;
}

/*
 * The last change of FD, in ns of the time of day. Every change of a file updates its ctime, but so
 * does perf, which links files into its cache if it records build ids.
 */
static uint64_t symbols_change(const FileSymbols *symbols, int fd)
{
        const bool links = g_hash_table_size(symbols->features->build_ids) > 0;
        const struct timespec *change;
        struct stat status;

        if (fstat(fd, &status) < 0)
                return 0;
        change = links ? &status.st_mtim : &status.st_ctim;
        return (uint64_t)change->tv_sec * NS_PER_SECOND + (uint64_t)change->tv_nsec;
}

/* Opens the mapped file itself. RET_CHANGED: see MappedSymbols. */
static bool symbols_open(const FileSymbols *symbols, const MappedFile *mapped, ElfFile *ret,
                         uint64_t *ret_changed)
{
        const PerfBuildId *noted =
                mapped->is_twin ? NULL : perf_features_build_id(symbols->features, mapped->path);
        PerfBuildId own = {.n = mapped->n_build_id};

        memcpy(own.bytes, mapped->build_id, sizeof(own.bytes));
        if (vdso_is(mapped->path))
                return elf_file_open_id(ret, vdso_open(), own.n ? &own : noted);
        if (mapped->path[0] != '/')
                return false;
        if (own.n)
                return symbols_open_there(mapped, &own, ret) ||
                       elf_file_open_id(ret, symbols_open_cached(&own), &own);
        if (!elf_file_open_id(ret, mapped_file_open(mapped), noted))
                return noted && symbols_open_noted(symbols, mapped, noted, ret);
        if (!noted && symbols->is_of_this_boot)
                *ret_changed = symbols_change(symbols, ret->fd);
        return true;
}

/* ElfSymbolFn. */
static bool mapped_symbols_add(const ElfSymbol *symbol, void *data)
{
        MappedSymbols *file = data;
        char *name = demangle(symbol->name);

        symbol_table_add(&file->table, symbol->value, symbol->size, name ? name : symbol->name,
                         (symbol->is_weak ? SYMBOL_WEAK : 0u) |
                                 (symbol->is_global ? 0u : SYMBOL_LOCAL));
        free(name);
        return true;
}

static bool mapped_symbols_add_linkage(const ElfSymbol *symbol, void *data)
{
        MappedSymbols *file = data;
        char *name = demangle(symbol->name);
        g_autofree char *text = g_strdup_printf("%s@plt", name ? name : symbol->name);

        symbol_table_add(&file->table, symbol->value, symbol->size, text, SYMBOL_LOCAL);
        free(name);
        return true;
}

/* Adds the symbols of the debug file of ELF. False: none. */
static bool mapped_symbols_add_debug(MappedSymbols *file, const FileSymbols *symbols,
                                     const MappedFile *mapped, const ElfFile *elf,
                                     ProcessAccount *account)
{
        PerfBuildId id;
        ElfFile debug;

        if (!symbols->debug || !elf_file_id(elf, &id))
                return false;
        if (!elf_file_open_id(&debug,
                              symbols->debug->open(symbols->debug->data, mapped->pid, id.bytes,
                                                   id.n, mapped->path),
                              &id))
                return false;
        if (symbol_account_pay(account, &debug))
                elf_file_code_symbols(&debug, SHT_SYMTAB, mapped_symbols_add, file);
        elf_file_end(&debug);
        file->is_whole = true;
        return true;
}

static void mapped_symbols_read(MappedSymbols *file, const FileSymbols *symbols,
                                const MappedFile *mapped, ProcessAccount *account)
{
        ElfFile elf;

        if (!symbols_open(symbols, mapped, &elf, &file->changed)) {
                file->reason = mapped->is_twin && !mapped->n_build_id ? FILE_TWIN : FILE_GONE;
                return;
        }
        if (symbol_account_pay(account, &elf)) {
                if (elf_file_has_symbols(&elf))
                        elf_file_code_symbols(&elf, SHT_SYMTAB, mapped_symbols_add, file);
                else if (!mapped_symbols_add_debug(file, symbols, mapped, &elf, account))
                        elf_file_code_symbols(&elf, SHT_DYNSYM, mapped_symbols_add, file);
                elf_file_linkage_symbols(&elf, mapped_symbols_add_linkage, file);
        }
        file->segments = g_steal_pointer(&elf.segments);
        file->n_segments = elf.n_segments;
        elf_file_end(&elf);
}

static MappedSymbols *symbols_of_file(FileSymbols *symbols, uint32_t number)
{
        const MappedFile *mapped = address_spaces_file(symbols->spaces, number);
        ProcessAccount *account;
        MappedSymbols *file;

        if (number >= symbols->files->len)
                g_ptr_array_set_size(symbols->files, (gint)number + 1);
        file = symbols->files->pdata[number];
        if (file)
                return file;
        file = symbols->files->pdata[number] = g_new0(MappedSymbols, 1);
        symbol_table_init(&file->table);
        account = process_accounts_get(symbols->accounts, mapped->pid);
        account->work += FILE_SYMBOLS_FILE_WORK;
        if (symbols->n_bytes < FILE_SYMBOLS_MAX_BYTES && account->work < FILE_SYMBOLS_MAX_WORK)
                mapped_symbols_read(file, symbols, mapped, account);
        else
                account->n_refused++;
        symbol_table_sort(&file->table, /* is_extended= */ file->is_whole);
        symbols->n_bytes += symbol_table_size(&file->table);
        return file;
}

const char *file_symbols_find(FileSymbols *symbols, const SpaceMapping *mapping, uint64_t address,
                              uint64_t *ret_start)
{
        MappedSymbols *file = symbols_of_file(symbols, mapping->file);
        uint64_t value, start;
        const char *name;

        if (file->reason != FILE_FOUND ||
            file->changed >
                    perf_reference_time_of_day(&symbols->features->reference, mapping->time)) {
                file->n_missed +=
                        mapped_file_is_native(address_spaces_file(symbols->spaces, mapping->file));
                return NULL;
        }
        if (!elf_segments_address(file->segments, file->n_segments, PF_X,
                                  address - mapping->begin + mapping->offset, &value))
                return NULL;
        name = symbol_table_find(&file->table, value, &start);
        if (name)
                *ret_start = address - (value - start);
        return name;
}
