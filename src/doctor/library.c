/* SPDX-License-Identifier: MIT */
#include "doctor/library.h"

#include "util/rootfs-read.h"
#include "util/rootfs.h"

#include <stdint.h>
#include <string.h>

/* Bytes of an ELF file: that a file exists does not show that it is a library. */
#define HEADER_SIZE    64
#define CACHE          "/etc/ld.so.cache"
#define CACHE_MAX_SIZE (16u << 20)
/* Entries of one name: the linker has one for each kind of processor. */
#define CACHE_MAX_PATHS 32
/* The cache of glibc 2.2 and later: a header of 48 bytes, entries of 24, and the strings. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
enum {
        CACHE_N_ENTRIES = 20,
        CACHE_HEADER_SIZE = 48,
        CACHE_ENTRY_SIZE = 24,
        ENTRY_NAME = 4, /* offsets of strings, from the start */
        ENTRY_PATH = 8,
};

static const char *const DIRECTORIES[] = {
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
};

static bool library_has_kind(int root, const char *path, const ElfFileKind *kind)
{
        g_autoptr(GBytes) begin = rootfs_read(root, path, HEADER_SIZE);
        ElfFileKind its;

        return begin &&
               elf_file_kind(g_bytes_get_data(begin, NULL), g_bytes_get_size(begin), &its) &&
               elf_file_is_same_kind(&its, kind);
}

static bool library_is_in_directory(int root, const char *directory, const char *name,
                                    const ElfFileKind *kind)
{
        g_autofree char *path = g_build_filename("/", directory, name, NULL);

        return library_has_kind(root, path, kind);
}

static uint32_t get_u32(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return value;
}

/* The string at OFFSET of the cache, or "". */
static const char *cache_string(const uint8_t *bytes, size_t n, uint32_t offset)
{
        return offset < n && memchr(bytes + offset, '\0', n - offset) ? (const char *)bytes + offset
                                                                      : "";
}

static bool cache_string_equals(const uint8_t *bytes, size_t n, uint32_t offset, const char *text)
{
        const size_t length = strlen(text) + 1;

        return offset < n && n - offset >= length && !memcmp(bytes + offset, text, length);
}

const char *library_cache_path(const void *cache, size_t n, const char *name, size_t i)
{
        const uint8_t *bytes = cache;
        size_t j, n_entries;

        if (n < CACHE_HEADER_SIZE || memcmp(bytes, CACHE_MAGIC, strlen(CACHE_MAGIC)))
                return NULL;
        n_entries =
                MIN(get_u32(bytes + CACHE_N_ENTRIES), (n - CACHE_HEADER_SIZE) / CACHE_ENTRY_SIZE);
        for (j = 0; j < n_entries; j++) {
                const uint8_t *entry = bytes + CACHE_HEADER_SIZE + j * CACHE_ENTRY_SIZE;

                if (cache_string_equals(bytes, n, get_u32(entry + ENTRY_NAME), name) && i-- == 0)
                        return cache_string(bytes, n, get_u32(entry + ENTRY_PATH));
        }
        return NULL;
}

static bool library_is_in_cache(int root, const char *name, const ElfFileKind *kind)
{
        g_autoptr(GBytes) file = rootfs_read(root, CACHE, CACHE_MAX_SIZE);
        const uint8_t *bytes;
        const char *path;
        size_t n, i;

        if (!file)
                return false;
        bytes = g_bytes_get_data(file, &n);
        for (i = 0; i < CACHE_MAX_PATHS && (path = library_cache_path(bytes, n, name, i)); i++)
                if (library_has_kind(root, path, kind))
                        return true;
        return false;
}

bool library_is_found(int root, const char *name, const char *paths, const ElfFileKind *kind)
{
        g_auto(GStrv) given = g_strsplit_set(paths ? paths : "", ":;", -1);
        size_t i;

        for (i = 0; given[i]; i++)
                if (*given[i] && library_is_in_directory(root, given[i], name, kind))
                        return true;
        if (library_is_in_cache(root, name, kind))
                return true;
        for (i = 0; i < G_N_ELEMENTS(DIRECTORIES); i++)
                if (library_is_in_directory(root, DIRECTORIES[i], name, kind))
                        return true;
        return false;
}
