/* SPDX-License-Identifier: MIT */
#include "lines/line-module.h"

#include "lines/bundle.h"
#include "pdb/debug-directory.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PATH 4096

/* The search for the PDB of a module. */
typedef struct PdbSearch {
        LineModule *module;
        ImageSources *sources;
        PdbCache *cache;
        uint64_t work; /* bytes read and unpacked */
        int root;      /* of the module's files; -1: none */
        bool has_id;   /* the assembly was read: use `id`, else the event's GUID */
        PdbId id;
        const uint8_t *checksum; /* NULL: none */
        bool has_other;          /* a PDB of another build was found */
        bool has_unreadable;
} PdbSearch;

static const uint8_t *search_guid(const PdbSearch *search)
{
        return search->has_id ? search->id.guid : search->module->guid;
}

static bool search_accepts(const PdbSearch *search, const PdbId *id)
{
        if (search->has_id)
                return pdb_id_equals(&search->id, id);
        return memcmp(search->module->guid, id->guid, PDB_GUID_SIZE) == 0;
}

/* Takes over BYTES. True if they are the PDB: FILE is loaded. */
static bool search_take(PdbSearch *search, PdbFile *file, uint8_t *bytes, size_t n,
                        const uint8_t *checksum)
{
        const PdbCheck check = {search->id, checksum};
        const char *reason;
        Pdb pdb;

        /* A different checksum means that the PDB was changed later. */
        if (!pdb_read(&pdb, bytes, n, checksum ? &check : NULL, &reason)) {
                search->has_unreadable = true;
                return false;
        }
        if (!search_accepts(search, &pdb.id)) {
                pdb_cache_note(file, &pdb.id);
                search->has_other = true;
                pdb_deinit(&pdb);
                return false;
        }
        pdb_cache_load(search->cache, file, &pdb);
        return true;
}

static bool search_found(PdbSearch *search, PdbFile *file)
{
        search->module->file = file;
        search->module->state = PDB_FOUND;
        return true;
}

/* Reads the whole file; NULL: impossible. */
static uint8_t *read_all(int fd, size_t n)
{
        uint8_t *bytes = malloc(n ? n : 1);
        size_t n_read = 0;

        while (bytes && n_read < n) {
                ssize_t r = pread(fd, bytes + n_read, n - n_read, (off_t)n_read);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0) {
                        free(bytes);
                        return NULL;
                }
                n_read += (size_t)r;
        }
        return bytes;
}

/* True if the PDB is in the file PATH below ROOT. */
static bool search_file(PdbSearch *search, int root, const char *path)
{
        FD_AUTO int fd = root >= 0 ? rootfs_open_file(root, path) : -1;
        struct stat status;
        PdbFile *file;
        uint8_t *bytes;

        if (fd < 0 || fstat(fd, &status) < 0)
                return false;
        if (status.st_size > (off_t)PDB_MAX_BYTES) {
                search->has_unreadable = true;
                return false;
        }
        file = pdb_cache_file(search->cache, &status, 0);
        if (!file)
                return false;
        if (file->has_id && !search_accepts(search, &file->id)) {
                search->has_other = true;
                return false;
        }
        if (file->is_loaded)
                return search_found(search, file);
        search->work += (uint64_t)status.st_size;
        bytes = read_all(fd, (size_t)status.st_size);
        if (!bytes) {
                search->has_unreadable = true;
                return false;
        }
        return search_take(search, file, bytes, (size_t)status.st_size, search->checksum) &&
               search_found(search, file);
}

/* "/a/b/c.dll" -> "/a/b/NAME". */
static bool path_beside(const char *path, const char *name, char *buffer, size_t n)
{
        const char *slash = strrchr(path, '/');
        int r = slash ? snprintf(buffer, n, "%.*s/%s", (int)(slash - path), path, name) : -1;

        return r > 0 && (size_t)r < n && *name && !strchr(name, '/');
}

/* "/a/b/c.dll" -> "c.pdb". */
static bool pdb_name_of(const char *path, char *buffer, size_t n)
{
        const char *name = symbol_dirs_name(path), *dot = strrchr(name, '.');
        int r = snprintf(buffer, n, "%.*s.pdb", dot ? (int)(dot - name) : (int)strlen(name), name);

        return r > 0 && (size_t)r < n;
}

static bool search_dirs_for(PdbSearch *search, int root, const SymbolDirs *dirs, const char *name)
{
        const uint8_t *guid = search_guid(search);
        char path[MAX_PATH];
        unsigned layout;
        size_t i;

        for (i = 0; i < dirs->n; i++)
                for (layout = 0; layout < _SYMBOL_LAYOUT_MAX; layout++)
                        if (symbol_dirs_path(dirs->paths[i], name, guid, (SymbolLayout)layout, path,
                                             sizeof(path)) &&
                            search_file(search, root, path))
                                return true;
        return false;
}

static bool search_dirs(PdbSearch *search, const char *name)
{
        const SymbolDirs *dirs = &search->sources->dirs;
        FD_AUTO int root = dirs->n ? rootfs_open_root(0) : -1;
        char small[MAX_PATH];

        return search_dirs_for(search, root, dirs, name) ||
               (symbol_dirs_small_name(name, small, sizeof(small)) &&
                search_dirs_for(search, root, dirs, small));
}

/* Tries the PDB in the image itself. */
static bool search_embedded(PdbSearch *search, const PeFile *image, const DebugDirectory *directory)
{
        const char *reason;
        struct stat status;
        PdbFile *file;
        uint8_t *bytes;
        size_t n;

        if (!directory->n_embedded || fstat(image->fd, &status) < 0)
                return false;
        file = pdb_cache_file(search->cache, &status, image->begin);
        if (!file)
                return false;
        if (file->has_id && !search_accepts(search, &file->id))
                return false;
        if (file->is_loaded)
                return search_found(search, file);
        search->work += directory->n_embedded;
        if (debug_directory_unpack(directory, image, PDB_MAX_BYTES, &bytes, &n, &reason) < 0) {
                search->has_unreadable = true;
                return false;
        }
        search->work += n;
        return search_take(search, file, bytes, n, NULL) && search_found(search, file);
}

/* Searches the PDB by the assembly's debug directory. False: the image is another assembly. */
static bool search_by_image(PdbSearch *search, const ImageBytes *bytes)
{
        LineModule *module = search->module;
        char path[MAX_PATH], name[MAX_PATH];
        DebugDirectory directory;
        const char *reason;
        PeFile image;

        if (image_bytes_read(bytes, &image, &reason) < 0 ||
            debug_directory_read(&directory, &image, &reason) < 0)
                return false;
        if (!directory.has_id) {
                module->state = directory.has_windows_pdb ? PDB_WINDOWS : PDB_NONE;
                return false;
        }
        if (memcmp(module->guid, directory.id.guid, PDB_GUID_SIZE) != 0) {
                search->has_other = true; /* the file was replaced after its loading */
                return false;
        }
        search->has_id = true;
        search->id = directory.id;
        search->checksum = directory.has_checksum ? directory.checksum : NULL;
        if (!*symbol_dirs_name(directory.path) && !pdb_name_of(module->path, name, sizeof(name)))
                return true;
        if (*symbol_dirs_name(directory.path))
                snprintf(name, sizeof(name), "%s", symbol_dirs_name(directory.path));
        if (!(path_beside(module->path, name, path, sizeof(path)) &&
              search_file(search, search->root, path)) &&
            !search_embedded(search, &image, &directory))
                search_dirs(search, name);
        search->checksum = NULL;
        return true;
}

static bool search_take_image(const ImageBytes *image, void *data)
{
        PdbSearch *search = data;
        const PdbState state = search->module->state;

        if (search_by_image(search, image))
                return true;
        /* Results of another build do not count for this build. */
        search->module->state = state;
        return false;
}

/*
 * Tries images with the module's name in the program's file and in the symbol directories.
 * HAS_FILE: the module's path still has a file.
 */
static bool search_images(PdbSearch *search, bool has_file)
{
        const LineModule *module = search->module;
        ImageSources *sources = search->sources;

        return (!has_file &&
                bundles_find_image(&sources->bundles, module->pid, search->root, module->path,
                                   &search->work, search_take_image, search)) ||
               symbol_dirs_find_image(&sources->dirs, module->path, &search->work,
                                      search_take_image, search);
}

/* "A.B" -> "A.B.pdb". A module without a file has the name of its assembly as its path. */
static bool pdb_name_of_assembly(const char *name, char *buffer, size_t n)
{
        int r = snprintf(buffer, n, "%s.pdb", name);

        return r > 0 && (size_t)r < n;
}

/*
 * A module without a file was loaded from memory: only the user's symbol directories are searched.
 * The PDB's name can differ from the assembly's.
 */
static void search_for_memory(PdbSearch *search)
{
        const LineModule *module = search->module;
        char name[MAX_PATH];

        if (*module->pdb_path && search_dirs(search, symbol_dirs_name(module->pdb_path)))
                return;
        if (pdb_name_of_assembly(module->path, name, sizeof(name)))
                search_dirs(search, name);
}

static bool search_name_by_guid(PdbSearch *search, const char *name)
{
        char path[MAX_PATH];

        return (path_beside(search->module->path, name, path, sizeof(path)) &&
                search_file(search, search->root, path)) ||
               search_dirs(search, name);
}

/* Searches by the event's GUID, without an assembly. */
static void search_by_guid(PdbSearch *search)
{
        const LineModule *module = search->module;
        char name[MAX_PATH];

        search->has_id = false;
        if (*module->pdb_path && search_name_by_guid(search, symbol_dirs_name(module->pdb_path)))
                return;
        if (pdb_name_of(module->path, name, sizeof(name)))
                search_name_by_guid(search, name);
}

static void search_by_path(PdbSearch *search)
{
        const LineModule *module = search->module;
        FD_AUTO int root = rootfs_open_root(module->pid);
        FD_AUTO int fd = -1;

        /*
         * An ended process may have had another root: search ours, because the GUID identifies the
         * file.
         */
        if (root < 0)
                root = rootfs_open_root(0);
        search->root = root;
        fd = root >= 0 ? rootfs_open_file(root, module->path) : -1;
        if (!(fd >= 0 && search_by_image(search, &(ImageBytes){fd, 0, &search->work})) &&
            !search_images(search, fd >= 0))
                search_by_guid(search);
        search->root = -1;
}

void line_module_free(LineModule *module)
{
        free(module->path);
        free(module->pdb_path);
        free(module);
}

bool line_module_find(LineModule *module, ImageSources *sources, PdbCache *cache)
{
        PdbSearch search = {.module = module,
                            .sources = sources,
                            .cache = cache,
                            .work = SOURCES_FILE_WORK,
                            .root = -1};
        const bool has_path = *module->path == '/';

        if (!image_sources_may_look(sources, module->pid))
                return false;
        module->state = PDB_MISSING;
        module->file = NULL;
        /* A module without a PDB's GUID has no PDB, like a dynamic assembly. */
        if (!module->has_guid || (!has_path && !sources->dirs.n)) {
                module->state = PDB_NONE;
                return true;
        }
        if (has_path)
                search_by_path(&search);
        else
                search_for_memory(&search);
        image_sources_add_work(sources, module->pid, search.work);
        if (module->state == PDB_MISSING)
                module->state = search.has_other        ? PDB_OTHER
                                : search.has_unreadable ? PDB_UNREADABLE
                                                        : PDB_MISSING;
        if (module->file)
                module->state = PDB_FOUND;
        return true;
}
