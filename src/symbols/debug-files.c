/* SPDX-License-Identifier: MIT */
#include "symbols/debug-files.h"

#include "lines/bundle.h"
#include "lines/symbol-dirs.h"
#include "symbols/build-id.h"
#include "util/elf-file.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* perf's cache, below the home directory. */
#define PERF_CACHE ".debug"
/* The directory of distributions' packages. */
#define SYSTEM_DIRECTORY "/usr/lib/debug"

/* Paths of the debug file of a file NAME with the build id ID below a directory: %1 is the first
 * two digits of ID, %2 the others, %N is NAME. */
static const char *const LAYOUTS[] = {
        ".build-id/%1/%2.debug",                /* gdb's /usr/lib/debug */
        "_.debug/elf-buildid-sym-%1%2/_.debug", /* of symbol servers: SSQP_Key_Conventions.md */
        "%N.dbg",                               /* .NET's */
        "%N.debug",
        "%1%2/debuginfo",        /* of debuginfod's clients */
        ".build-id/%1/%2/debug", /* of perf (tools/perf: util/build-id.c) */
        ".build-id/%1/%2/elf",
};

static char *layout_path(const char *directory, const char *layout, const char *id,
                         const char *name)
{
        GString *path = g_string_new(directory);

        g_string_append_c(path, '/');
        for (; *layout; layout++) {
                if (*layout != '%') {
                        g_string_append_c(path, *layout);
                        continue;
                }
                layout++;
                if (*layout == 'N')
                        g_string_append(path, name);
                else if (*layout == '1')
                        g_string_append_len(path, id, 2);
                else
                        g_string_append(path, id + 2);
        }
        return g_string_free(path, FALSE);
}

/* The build id of PATH below ROOT, in lower-case hexadecimal digits. NULL: none, or the file has a
 * symbol table without HAS_SYMBOLS, or none with it. */
static char *file_id(int root, const char *path, bool has_symbols)
{
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, path) : -1;
        uint8_t id[ELF_MAX_BUILD_ID];
        ElfFile file;
        size_t n;

        if (fd < 0 || !elf_file_open(&file, fd))
                return NULL;
        n = elf_file_has_symbols(&file) == has_symbols ? elf_file_build_id(&file, id) : 0;
        elf_file_close(&file);
        return n ? build_id_text(id, n) : NULL;
}

/* True if PATH has the symbols of the file with that build id. */
static bool debug_file_is_of(const char *path, const char *id)
{
        FD_AUTO int root = rootfs_open_root(0);
        g_autofree char *its_id = file_id(root, path, /* has_symbols= */ true);

        return !g_strcmp0(its_id, id);
}

struct DebugFiles {
        GPtrArray *directories; /* owned */
};

static char *debug_file_find(const GPtrArray *directories, const char *id, const char *name)
{
        guint i;
        size_t j;

        for (i = 0; i < directories->len; i++)
                for (j = 0; j < G_N_ELEMENTS(LAYOUTS); j++) {
                        g_autofree char *path =
                                layout_path(directories->pdata[i], LAYOUTS[j], id, name);

                        if (debug_file_is_of(path, id))
                                return g_steal_pointer(&path);
                }
        return NULL;
}

/* The caches of debuginfod's clients: debuginfod_find_debuginfo(3). */
static void directories_add_debuginfod(GPtrArray *directories)
{
        const char *named = g_getenv("DEBUGINFOD_CACHE_PATH");

        if (named && *named) {
                g_ptr_array_add(directories, g_strdup(named));
                return;
        }
        g_ptr_array_add(directories,
                        g_build_filename(g_get_user_cache_dir(), "debuginfod_client", NULL));
        g_ptr_array_add(directories,
                        g_build_filename(g_get_home_dir(), ".debuginfod_client_cache", NULL));
}

/* Those that exist, with absolute paths, because links to their files are made elsewhere. */
static GPtrArray *directories_all(const GPtrArray *named)
{
        GPtrArray *directories = g_ptr_array_new_with_free_func(g_free);
        SymbolDirs usual = {0};
        size_t i;

        for (i = 0; named && i < named->len; i++)
                g_ptr_array_add(directories, g_canonicalize_filename(named->pdata[i], NULL));
        symbol_dirs_add_default(&usual);
        for (i = 0; i < usual.n; i++)
                g_ptr_array_add(directories, g_canonicalize_filename(usual.paths[i], NULL));
        symbol_dirs_deinit(&usual);
        directories_add_debuginfod(directories);
        for (i = directories->len; i-- > 0;)
                if (!g_file_test(directories->pdata[i], G_FILE_TEST_IS_DIR))
                        g_ptr_array_remove_index(directories, (guint)i);
        return directories;
}

/* In our own root directory: a running program is found by its pid. */
GPtrArray *debug_files_packed(const GArray *binaries)
{
        FD_AUTO int root = rootfs_open_root(0);
        GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
        guint i;

        for (i = 0; root >= 0 && i < binaries->len && found->len < BUNDLE_MAX_PROGRAMS; i++) {
                const char *path = g_array_index(binaries, Binary, i).path;
                FD_AUTO int fd = -1;

                if (strstr(path, ".so") ||
                    g_ptr_array_find_with_equal_func(found, path, g_str_equal, NULL))
                        continue;
                fd = rootfs_open_file(root, path);
                if (fd >= 0 && bundle_is_packed(fd))
                        g_ptr_array_add(found, g_strdup(path));
        }
        return found;
}

DebugFiles *debug_files_new(const GPtrArray *named)
{
        DebugFiles *files = g_new0(DebugFiles, 1);

        files->directories = directories_all(named);
        g_ptr_array_add(files->directories, g_build_filename(g_get_home_dir(), PERF_CACHE, NULL));
        g_ptr_array_add(files->directories, g_strdup(SYSTEM_DIRECTORY));
        return files;
}

void debug_files_free(DebugFiles *files)
{
        if (!files)
                return;
        g_ptr_array_unref(files->directories);
        g_free(files);
}

/* The system's debug file in the root directory of another process, such as a container's. */
static int debug_file_open_in_root(pid_t pid, const char *id)
{
        FD_AUTO int root = rootfs_open_root(pid);
        g_autofree char *path = layout_path(SYSTEM_DIRECTORY, LAYOUTS[0], id, "");
        g_autofree char *its_id = file_id(root, path, /* has_symbols= */ true);

        return g_strcmp0(its_id, id) == 0 ? rootfs_open_file(root, path) : -1;
}

/* The debug file beside PATH, where gdb looks for it, too. To be freed; NULL: none. */
static char *debug_file_find_beside(const char *path, const char *id)
{
        g_autoptr(GPtrArray) directories = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *directory = g_path_get_dirname(path);
        g_autofree char *name = g_path_get_basename(path);

        if (*path != '/')
                return NULL;
        g_ptr_array_add(directories, g_strdup(directory));
        g_ptr_array_add(directories, g_build_filename(directory, ".debug", NULL));
        g_ptr_array_add(directories, g_build_filename(SYSTEM_DIRECTORY, directory, NULL));
        return debug_file_find(directories, id, name);
}

static int debug_files_open(void *data, pid_t pid, const uint8_t *build_id, size_t n,
                            const char *path)
{
        const DebugFiles *files = data;
        g_autofree char *id = build_id_text(build_id, n);
        g_autofree char *found = debug_file_find(files->directories, id, symbol_dirs_name(path));
        FD_AUTO int root = rootfs_open_root(0);

        if (!found)
                found = debug_file_find_beside(path, id);
        if (found && root >= 0)
                return rootfs_open_file(root, found);
        return debug_file_open_in_root(pid, id);
}

DebugFinder debug_files_finder(DebugFiles *files)
{
        return (DebugFinder){.open = debug_files_open, .data = files};
}
