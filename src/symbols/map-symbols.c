/* SPDX-License-Identifier: MIT */
#include "symbols/map-symbols.h"

#include "perf/perf-map.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINE 8192

typedef struct ProcessMapSymbols {
        char *path; /* owned */
        SymbolTable table;
        bool is_read;
} ProcessMapSymbols;

struct MapSymbols {
        GHashTable *processes; /* owned: pid -> ProcessMapSymbols, owned */
};

static void process_map_free(gpointer data)
{
        ProcessMapSymbols *map = data;

        g_free(map->path);
        symbol_table_deinit(&map->table);
        g_free(map);
}

MapSymbols *map_symbols_new(void)
{
        MapSymbols *symbols = g_new0(MapSymbols, 1);

        symbols->processes = g_hash_table_new_full(NULL, NULL, NULL, process_map_free);
        return symbols;
}

void map_symbols_free(MapSymbols *symbols)
{
        if (!symbols)
                return;
        g_hash_table_unref(symbols->processes);
        g_free(symbols);
}

static ProcessMapSymbols *symbols_of_process(MapSymbols *symbols, int32_t pid)
{
        ProcessMapSymbols *map = g_hash_table_lookup(symbols->processes, GINT_TO_POINTER(pid));

        if (!map) {
                map = g_new0(ProcessMapSymbols, 1);
                map->path = g_strdup_printf("/tmp/perf-%d.map", pid);
                g_hash_table_insert(symbols->processes, GINT_TO_POINTER(pid), map);
        }
        return map;
}

const char *map_symbols_path(MapSymbols *symbols, int32_t pid)
{
        return symbols_of_process(symbols, pid)->path;
}

/* Opens the file, if it belongs to this user or root. */
static FILE *process_map_open(const ProcessMapSymbols *map)
{
        FD_AUTO int root = rootfs_open_root(0);
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, map->path) : -1;
        FILE *file;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0))
                return NULL;
        file = fdopen(fd, "r");
        if (file)
                fd_steal(&fd);
        return file;
}

/* "7f0012345678 a0 name": numbers without a prefix. */
static void map_take_line(SymbolTable *table, char *line)
{
        char *at = NULL;
        uint64_t start, size;

        line[strcspn(line, "\n")] = '\0';
        start = strtoull(line, &at, 16);
        if (at == line || *at != ' ')
                return;
        line = at + 1;
        size = strtoull(line, &at, 16);
        if (at == line || *at != ' ' || !at[1])
                return;
        symbol_table_add(table, start, size, at + 1, 0);
}

void map_symbols_read(FILE *file, SymbolTable *table)
{
        uint64_t n_left = MAP_SYMBOLS_MAX_BYTES;
        char line[MAX_LINE];

        while (fgets(line, sizeof(line), file) && n_left > strlen(line)) {
                n_left -= strlen(line);
                map_take_line(table, line);
        }
}

static void process_map_read(ProcessMapSymbols *map, int32_t pid)
{
        PerfMap state = {0};
        FILE *file = perf_map_is_stale(&state, map->path, pid) ? NULL : process_map_open(map);

        map->is_read = true;
        symbol_table_init(&map->table);
        if (file) {
                map_symbols_read(file, &map->table);
                fclose(file);
        }
        symbol_table_sort(&map->table, /* is_extended= */ false);
}

const char *map_symbols_find(MapSymbols *symbols, int32_t pid, uint64_t address,
                             uint64_t *ret_start)
{
        ProcessMapSymbols *map = symbols_of_process(symbols, pid);

        if (!map->is_read)
                process_map_read(map, pid);
        return symbol_table_find(&map->table, address, ret_start);
}
