/* SPDX-License-Identifier: MIT */
#include "perf/empty-symbols.h"

#include "util/elf-file.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <stdlib.h>
#include <string.h>

struct EmptyName {
        uint32_t file;
        char *name; /* owned */
};

void empty_symbols_deinit(EmptySymbols *symbols)
{
        uint32_t i;

        for (i = 0; i < symbols->n_files; i++)
                free(symbols->files[i]);
        for (i = 0; i < symbols->n_names; i++)
                free(symbols->names[i].name);
        free(symbols->files);
        free(symbols->names);
        hash_index_deinit(&symbols->index);
        *symbols = (EmptySymbols){0};
}

static uint64_t name_hash(const struct EmptyName *name)
{
        return hash_number(hash_text(0, name->name), name->file);
}

static bool equal_name(const void *rows, uint32_t number, const void *key)
{
        const struct EmptyName *row = (const struct EmptyName *)rows + number, *name = key;

        return row->file == name->file && !strcmp(row->name, name->name);
}

static bool symbols_have_name(const EmptySymbols *symbols, const struct EmptyName *name)
{
        return hash_index_find(&symbols->index, name_hash(name), equal_name, symbols->names,
                               name) != INDEX_NONE;
}

/* The name belongs to the file that was added last. */
static bool symbols_add_name(const char *name, void *data)
{
        EmptySymbols *symbols = data;
        struct EmptyName row = {symbols->n_files - 1, (char *)name}, *names;

        if (symbols->n_names == EMPTY_NAMES_MAX)
                return false;
        if (symbols_have_name(symbols, &row))
                return true;
        names = realloc(symbols->names, (symbols->n_names + 1) * sizeof(*names));
        if (!names)
                return false;
        symbols->names = names;
        row.name = strdup(name);
        if (!row.name || !hash_index_add(&symbols->index, name_hash(&row), symbols->n_names)) {
                free(row.name);
                return false;
        }
        names[symbols->n_names++] = row;
        return true;
}

static void symbols_read_file(EmptySymbols *symbols, const char *path)
{
        FD_AUTO int root = rootfs_open_root(0);
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, path) : -1;
        ElfFile file;

        if (fd < 0 || !elf_file_open(&file, fd))
                return;
        elf_file_empty_symbols(&file, symbols_add_name, symbols);
        elf_file_close(&file);
}

/* The number of the file; EMPTY_FILES_MAX: too many files, or no memory. */
static uint32_t symbols_file(EmptySymbols *symbols, const char *path)
{
        char **files;
        uint32_t i;

        for (i = 0; i < symbols->n_files; i++)
                if (!strcmp(symbols->files[i], path))
                        return i;
        if (i == EMPTY_FILES_MAX)
                return i;
        files = realloc(symbols->files, (i + 1) * sizeof(*files));
        if (!files)
                return EMPTY_FILES_MAX;
        symbols->files = files;
        files[i] = strdup(path);
        if (!files[i])
                return EMPTY_FILES_MAX;
        symbols->n_files++;
        symbols_read_file(symbols, path);
        return i;
}

bool empty_symbols_have(EmptySymbols *symbols, const char *dso, const char *symbol)
{
        const uint32_t file = *dso == '/' ? symbols_file(symbols, dso) : EMPTY_FILES_MAX;
        struct EmptyName name = {file, (char *)symbol};

        return file != EMPTY_FILES_MAX && symbols->n_names && symbols_have_name(symbols, &name);
}
