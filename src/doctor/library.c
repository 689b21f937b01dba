/* SPDX-License-Identifier: MIT */
#include "doctor/library.h"

#include "doctor/rooted.h"

#include <stdint.h>
#include <string.h>

/* Of an ELF file; that it is there is no proof that it is a library. */
#define HEADER_SIZE    64
#define CACHE          "/etc/ld.so.cache"
#define CACHE_MAX_SIZE (16u << 20)
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

static bool is_library(int root, const char *path, const ElfKind *kind)
{
        g_autoptr(GBytes) begin = rooted_read(root, path, HEADER_SIZE);
        ElfKind its;

        return begin && elf_kind(g_bytes_get_data(begin, NULL), g_bytes_get_size(begin), &its) &&
               elf_is_same_kind(&its, kind);
}

static bool is_in(int root, const char *directory, const char *name, const ElfKind *kind)
{
        g_autofree char *path = g_build_filename("/", directory, name, NULL);

        return is_library(root, path, kind);
}

static uint32_t get_u32(const uint8_t *bytes)
{
        uint32_t value;

        memcpy(&value, bytes, sizeof(value));
        return value;
}

/* A string of the cache, or "". */
static const char *cache_string(const uint8_t *bytes, size_t n, uint32_t offset)
{
        return offset < n && memchr(bytes + offset, '\0', n - offset) ? (const char *)bytes + offset
                                                                      : "";
}

static bool is_in_cache(int root, const char *name, const ElfKind *kind)
{
        g_autoptr(GBytes) file = rooted_read(root, CACHE, CACHE_MAX_SIZE);
        const uint8_t *bytes;
        size_t n, i, n_entries;

        if (!file)
                return false;
        bytes = g_bytes_get_data(file, &n);
        if (n < CACHE_HEADER_SIZE || memcmp(bytes, CACHE_MAGIC, strlen(CACHE_MAGIC)))
                return false;
        n_entries =
                MIN(get_u32(bytes + CACHE_N_ENTRIES), (n - CACHE_HEADER_SIZE) / CACHE_ENTRY_SIZE);
        for (i = 0; i < n_entries; i++) {
                const uint8_t *entry = bytes + CACHE_HEADER_SIZE + i * CACHE_ENTRY_SIZE;

                if (!strcmp(cache_string(bytes, n, get_u32(entry + ENTRY_NAME)), name) &&
                    is_library(root, cache_string(bytes, n, get_u32(entry + ENTRY_PATH)), kind))
                        return true;
        }
        return false;
}

bool library_is_found(int root, const char *name, const char *paths, const ElfKind *kind)
{
        g_auto(GStrv) given = g_strsplit_set(paths ? paths : "", ":;", -1);
        size_t i;

        for (i = 0; given[i]; i++)
                if (*given[i] && is_in(root, given[i], name, kind))
                        return true;
        if (is_in_cache(root, name, kind))
                return true;
        for (i = 0; i < G_N_ELEMENTS(DIRECTORIES); i++)
                if (is_in(root, DIRECTORIES[i], name, kind))
                        return true;
        return false;
}
