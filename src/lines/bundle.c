/* SPDX-License-Identifier: MIT */
#include "lines/bundle.h"

#include "metadata/byte-cursor.h"
#include "pdb/inflate.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* What the program looks for in itself; before it is where the bundle's header is. */
static const uint8_t MARK[] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
                               0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
                               0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

#define POINTER sizeof(uint64_t)
/* The mark is in the program's own data. That of .NET 10 with its runtime is 12 MiB. */
#define MAX_PROGRAM  (64u << 20)
#define PIECE        (1u << 20)
#define MAX_HEADER   (4u << 20)
#define MAX_UNPACKED (256u << 20)
#define MAX_PATH     4096
/* Assemblies of one name that are looked at: it is one, and one for each language. */
#define MAX_SAME 64u
/* Versions of the header that .NET 5 and .NET 6 began with. */
#define VERSION_WITH_PLACES  2u
#define VERSION_WITH_PACKING 6u
#define VERSION_MAX          6u
#define N_PLACES             40u /* bytes: of two files, and flags */

typedef struct BundleRow {
        uint64_t offset, size;
        uint64_t packed; /* bytes in the file; 0: it is not compressed */
        const char *path;
        size_t n_path;
} BundleRow;

/* All N bytes, or as many as the file has. */
static size_t read_at(int fd, uint64_t offset, void *bytes, size_t n)
{
        size_t n_read = 0;

        while (n_read < n) {
                ssize_t r =
                        pread(fd, (uint8_t *)bytes + n_read, n - n_read, (off_t)(offset + n_read));

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0)
                        break;
                n_read += (size_t)r;
        }
        return n_read;
}

/* Where the header is; 0: the file is not a bundle. */
static uint64_t bundle_header_at(int host)
{
        const size_t overlap = POINTER + sizeof(MARK);
        uint8_t *piece = malloc(PIECE);
        uint64_t at, header = 0;

        for (at = 0; piece && !header && at < MAX_PROGRAM; at += PIECE - overlap) {
                size_t n = read_at(host, at, piece, PIECE);
                const uint8_t *mark = memmem(piece, n, MARK, sizeof(MARK));
                ByteCursor cursor = {.n = POINTER};

                if (mark && mark >= piece + POINTER) {
                        cursor.at = mark - POINTER;
                        header = byte_cursor_u64(&cursor);
                        break;
                }
                if (n < PIECE)
                        break;
        }
        free(piece);
        return header > INT64_MAX ? 0 : header;
}

/* A length, seven bits a byte, and the text. */
static const char *take_text(ByteCursor *cursor, size_t *ret_n)
{
        unsigned shift;
        uint8_t byte = 0x80;
        size_t n = 0;

        for (shift = 0; byte & 0x80 && shift < 28; shift += 7) {
                byte = byte_cursor_u8(cursor);
                n |= (size_t)(byte & 0x7f) << shift;
        }
        *ret_n = n;
        return (const char *)byte_cursor_take(cursor, n);
}

static bool take_row(ByteCursor *cursor, uint32_t version, BundleRow *ret)
{
        ret->offset = byte_cursor_u64(cursor);
        ret->size = byte_cursor_u64(cursor);
        ret->packed = version >= VERSION_WITH_PACKING ? byte_cursor_u64(cursor) : 0;
        byte_cursor_u8(cursor); /* the kind of file */
        ret->path = take_text(cursor, &ret->n_path);
        return !cursor->has_failed;
}

static bool row_is(const BundleRow *row, const char *name)
{
        const char *slash = memrchr(row->path, '/', row->n_path);
        const char *last = slash ? slash + 1 : row->path;
        size_t n = row->n_path - (size_t)(last - row->path);

        return n == strlen(name) && !memcmp(last, name, n);
}

/* The assembly's bytes in a file in memory; -1: it cannot be unpacked. */
static int row_unpack(int host, const BundleRow *row)
{
        FD_AUTO int fd = memfd_create("clrsym-assembly", MFD_CLOEXEC);
        uint8_t *packed = NULL, *bytes = MAP_FAILED;
        bool ok = fd >= 0 && row->size && row->size <= MAX_UNPACKED &&
                  row->packed <= MAX_UNPACKED && ftruncate(fd, (off_t)row->size) == 0;

        if (ok) {
                packed = malloc(row->packed);
                bytes = mmap(NULL, row->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        }
        ok = ok && packed && bytes != MAP_FAILED &&
             read_at(host, row->offset, packed, row->packed) == row->packed &&
             inflate_exactly(packed, row->packed, bytes, row->size) == 0;
        if (bytes != MAP_FAILED)
                munmap(bytes, row->size);
        free(packed);
        return ok ? fd_steal(&fd) : -1;
}

static bool row_try(int host, const BundleRow *row, SymbolImageFn fn, void *data)
{
        FD_AUTO int unpacked = -1;

        if (!row->packed)
                return fn(host, row->offset, data);
        unpacked = row_unpack(host, row);
        return unpacked >= 0 && fn(unpacked, 0, data);
}

/* Reads up to the rows of the files; *RET_N is how many there are. */
static bool take_header(ByteCursor *header, uint32_t *ret_version, uint32_t *ret_n)
{
        size_t n_id;

        *ret_version = byte_cursor_u32(header);
        byte_cursor_u32(header);
        *ret_n = byte_cursor_u32(header);
        take_text(header, &n_id);
        if (*ret_version >= VERSION_WITH_PLACES)
                byte_cursor_take(header, N_PLACES);
        return !header->has_failed && *ret_version <= VERSION_MAX;
}

/* True: it is the row that is looked for. The row's path is gone after the walk. */
typedef bool (*BundleRowFn)(const BundleRow *row, void *data);

/* Calls FN for each file in the bundle until it is true. False: it never was, or HOST is not a
 * bundle. */
static bool bundle_find_row(int host, BundleRowFn fn, void *data)
{
        uint64_t at = bundle_header_at(host);
        uint8_t *bytes = at ? malloc(MAX_HEADER) : NULL;
        bool is_found = false;
        uint32_t version, n, i;
        ByteCursor header;
        BundleRow row;

        if (!bytes)
                return false;
        header = (ByteCursor){.at = bytes, .n = read_at(host, at, bytes, MAX_HEADER)};
        if (!take_header(&header, &version, &n))
                n = 0;
        for (i = 0; !is_found && i < n && take_row(&header, version, &row); i++)
                is_found = fn(&row, data);
        free(bytes);
        return is_found;
}

typedef struct BundleImage {
        int host;
        const char *name;
        SymbolImageFn fn;
        void *data;
        unsigned n_same; /* assemblies of that name so far */
} BundleImage;

static bool row_is_image(const BundleRow *row, void *data)
{
        BundleImage *image = data;

        return row->offset <= INT64_MAX && row_is(row, image->name) && image->n_same++ < MAX_SAME &&
               row_try(image->host, row, image->fn, image->data);
}

bool bundle_find_image_in(int host, const char *module_path, SymbolImageFn fn, void *data)
{
        BundleImage image = {host, symbol_dirs_name(module_path), fn, data, 0};

        return *image.name && bundle_find_row(host, row_is_image, &image);
}

static bool row_describe(const BundleRow *row, BundleFile *ret)
{
        const char *slash = memrchr(row->path, '/', row->n_path);
        const char *name = slash ? slash + 1 : row->path;
        size_t n = row->n_path - (size_t)(name - row->path);

        if (!n || n >= sizeof(ret->name) || memchr(name, 0, n))
                return false;
        *ret = (BundleFile){.begin = row->offset, .size = row->size};
        memcpy(ret->name, name, n);
        return true;
}

typedef struct BundleByte {
        uint64_t offset;
        BundleFile *ret;
} BundleByte;

static bool row_has_byte(const BundleRow *row, void *data)
{
        const BundleByte *byte = data;

        return !row->packed && byte->offset >= row->offset &&
               byte->offset - row->offset < row->size && row_describe(row, byte->ret);
}

bool bundle_find_at(int host, uint64_t offset, BundleFile *ret)
{
        BundleByte byte = {offset, ret};

        return bundle_find_row(host, row_has_byte, &byte);
}

static bool row_is_packed(const BundleRow *row, void *data)
{
        return row->packed != 0;
}

bool bundle_is_packed(int host)
{
        return bundle_find_row(host, row_is_packed, NULL);
}

/* "/a/b/App.dll" -> "/a/b/App". */
static int open_beside(int root, const char *module_path)
{
        const char *dot = strrchr(symbol_dirs_name(module_path), '.');
        char path[MAX_PATH];

        if (!dot || (size_t)(dot - module_path) >= sizeof(path))
                return -1;
        snprintf(path, sizeof(path), "%.*s", (int)(dot - module_path), module_path);
        return rootfs_open_file(root, path);
}

bool bundle_find_image(pid_t pid, int root, const char *module_path, SymbolImageFn fn, void *data)
{
        FD_AUTO int host = pid > 0 ? rootfs_open_program(pid) : -1;

        if (host < 0 && root >= 0)
                host = open_beside(root, module_path);
        return host >= 0 && bundle_find_image_in(host, module_path, fn, data);
}
