/* SPDX-License-Identifier: MIT */
#include "lines/symbol-dirs.h"

#include "util/fd.h"
#include "util/rootfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PATH 4096

/* Maximum of builds of an image that are tried in a directory, with "." and "..". */
#define MAX_KEYS 258u

/* Below the home directory: of dotnet-symbol, and of debuggers with the same code. */
static const char *const CACHES[] = {".dotnet/symbolcache"};

void symbol_dirs_deinit(SymbolDirs *dirs)
{
        size_t i;

        for (i = 0; i < dirs->n; i++)
                free(dirs->paths[i]);
        free(dirs->paths);
        *dirs = (SymbolDirs){0};
}

/* Takes over PATH, which may be NULL. */
static bool dirs_take(SymbolDirs *dirs, char *path)
{
        char **paths = path ? realloc(dirs->paths, (dirs->n + 1) * sizeof(*paths)) : NULL;

        if (!paths) {
                free(path);
                return false;
        }
        dirs->paths = paths;
        paths[dirs->n++] = path;
        return true;
}

bool symbol_dirs_add(SymbolDirs *dirs, const char *path)
{
        /*
         * Files are opened below the root directory, so make the path absolute. The directory may
         * be created later.
         */
        char *absolute = realpath(path, NULL);

        return dirs_take(dirs, absolute ? absolute : strdup(path));
}

static bool dirs_add_list(SymbolDirs *dirs, const char *list)
{
        bool ok = true;

        while (ok && list && *list) {
                size_t n = strcspn(list, ":");
                char *path = strndup(list, n);

                if (n && path)
                        ok = symbol_dirs_add(dirs, path);
                ok = ok && path;
                free(path);
                list += n + (list[n] == ':');
        }
        return ok;
}

bool symbol_dirs_add_default(SymbolDirs *dirs)
{
        const char *home = getenv("HOME");
        char path[4096];
        size_t i;

        if (!dirs_add_list(dirs, getenv("CLRSYM_SYMBOLS")))
                return false;
        for (i = 0; home && *home == '/' && i < sizeof(CACHES) / sizeof(*CACHES); i++) {
                int n = snprintf(path, sizeof(path), "%s/%s", home, CACHES[i]);

                if (n > 0 && (size_t)n < sizeof(path) && !symbol_dirs_add(dirs, path))
                        return false;
        }
        return true;
}

/* The GUID without dashes, in the spelling of symbol servers. */
static void guid_write_key(const uint8_t *guid, bool is_large, char key[2 * PDB_GUID_SIZE + 1])
{
        static const uint8_t ORDER[PDB_GUID_SIZE] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                     8, 9, 10, 11, 12, 13, 14, 15};
        unsigned i;

        for (i = 0; i < PDB_GUID_SIZE; i++)
                snprintf(key + 2 * i, 3, is_large ? "%02X" : "%02x", guid[ORDER[i]]);
}

const char *symbol_dirs_name(const char *path)
{
        const char *name = path;

        for (; *path; path++)
                if (*path == '/' || *path == '\\')
                        name = path + 1;
        return name;
}

static bool name_is_plain(const char *name)
{
        return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool symbol_dirs_path(const char *dir, const char *name, const uint8_t guid[PDB_GUID_SIZE],
                      SymbolLayout layout, char *buffer, size_t n)
{
        char key[2 * PDB_GUID_SIZE + 1];
        int r;

        if (!name_is_plain(name))
                return false;
        if (layout == SYMBOL_PLAIN) {
                r = snprintf(buffer, n, "%s/%s", dir, name);
        } else {
                guid_write_key(guid, layout == SYMBOL_SERVER_LARGE, key);
                r = snprintf(buffer, n, "%s/%s/%s%s/%s", dir, name, key,
                             layout == SYMBOL_SERVER ? "ffffffff" : "FFFFFFFF", name);
        }
        return r > 0 && (size_t)r < n;
}

bool symbol_dirs_small_name(const char *name, char *buffer, size_t n)
{
        const size_t length = strlen(name);
        bool has_capitals = false;
        size_t i;

        if (length >= n)
                return false;
        for (i = 0; i <= length; i++) {
                bool is_capital = name[i] >= 'A' && name[i] <= 'Z';

                buffer[i] = (char)(is_capital ? name[i] - 'A' + 'a' : name[i]);
                has_capitals = has_capitals || is_capital;
        }
        return has_capitals;
}

/* The search in a directory. */
typedef struct ImageSearch {
        int root;
        const char *dir, *name;
        uint64_t *work;
        ImageFn fn;
        void *data;
} ImageSearch;

/* Tries DIR/NAME; with KEY, DIR/NAME/KEY/NAME. */
static bool search_try(const ImageSearch *search, const char *key)
{
        char path[MAX_PATH];
        int n = key ? snprintf(path, sizeof(path), "%s/%s/%s/%s", search->dir, search->name, key,
                               search->name)
                    : snprintf(path, sizeof(path), "%s/%s", search->dir, search->name);
        FD_AUTO int fd = -1;

        if (n < 0 || (size_t)n >= sizeof(path))
                return false;
        fd = rootfs_open_file(search->root, path);
        return fd >= 0 && search->fn(&(ImageBytes){fd, 0, search->work}, search->data);
}

static bool search_keys(const ImageSearch *search)
{
        char path[MAX_PATH];
        int n = snprintf(path, sizeof(path), "%s/%s", search->dir, search->name);
        DIR *keys = n > 0 && (size_t)n < sizeof(path) ? opendir(path) : NULL;
        const struct dirent *key;
        bool is_found = false;
        unsigned i;

        if (!keys)
                return false;
        for (i = 0; i < MAX_KEYS && !is_found && (key = readdir(keys)); i++)
                if (key->d_name[0] != '.')
                        is_found = search_try(search, key->d_name);
        closedir(keys);
        return is_found;
}

static bool search_dirs(ImageSearch *search, const SymbolDirs *dirs)
{
        size_t i;

        for (i = 0; i < dirs->n; i++) {
                search->dir = dirs->paths[i];
                if (search_try(search, NULL) || search_keys(search))
                        return true;
        }
        return false;
}

bool symbol_dirs_find_image(const SymbolDirs *dirs, const char *module_path, uint64_t *work,
                            ImageFn fn, void *data)
{
        FD_AUTO int root = dirs->n ? rootfs_open_root(0) : -1;
        ImageSearch search = {
                .root = root,
                .name = symbol_dirs_name(module_path),
                .work = work,
                .fn = fn,
                .data = data,
        };
        char small[MAX_PATH];

        if (root < 0 || !name_is_plain(search.name))
                return false;
        if (search_dirs(&search, dirs))
                return true;
        if (!symbol_dirs_small_name(search.name, small, sizeof(small)))
                return false;
        search.name = small;
        return search_dirs(&search, dirs);
}
