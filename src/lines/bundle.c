/* SPDX-License-Identifier: MIT */
#include "lines/bundle.h"

#include "lines/symbol-dirs.h"
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

/* Marks the place, just before it, of the header's offset; the program finds it in itself. */
static const uint8_t MARK[] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
                               0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
                               0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

#define POINTER sizeof(uint64_t)
/*
 * Limits in bytes. The mark is in the program's data: at 12 MiB in a program of .NET 10 with its
 * runtime.
 */
#define MAX_PROGRAM  (64u << 20)
#define PIECE        (64u << 10)
#define MAX_HEADER   (4u << 20)
#define MAX_UNPACKED (256u << 20)
#define MAX_PATH     4096
/* Maximum of kept files. */
#define MAX_PLACES 1024u
/* First versions of the header in .NET 5 and in .NET 6. */
#define VERSION_WITH_PLACES  2u
#define VERSION_WITH_PACKING 6u
#define VERSION_MAX          6u
#define N_PLACES             40u /* bytes: of two files, and flags */

typedef struct BundleRow {
        uint64_t offset, size;
        uint64_t packed; /* compressed size; 0: not compressed */
        const char *path;
        size_t n_path;
} BundleRow;

/* Reads N bytes; fewer only at the end of file. */
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

void bundles_deinit(Bundles *bundles)
{
        unsigned i;

        if (bundles->unpacked_at)
                close(bundles->unpacked);
        free(bundles->places);
        for (i = 0; i < BUNDLE_MAX_PROGRAMS; i++)
                free(bundles->programs[i]);
        *bundles = (Bundles){0};
}

/* The offset of the header; 0: the file is not a bundle. */
static uint64_t host_find_header(int host, uint64_t *work)
{
        const size_t overlap = POINTER + sizeof(MARK);
        uint8_t *piece = malloc(PIECE);
        uint64_t at, header = 0;

        for (at = 0; piece && !header && at < MAX_PROGRAM; at += PIECE - overlap) {
                size_t n = read_at(host, at, piece, PIECE);
                const uint8_t *mark = memmem(piece, n, MARK, sizeof(MARK));
                ByteCursor cursor = {.n = POINTER};

                *work += n;
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

static bool place_is(const BundlePlace *one, const BundlePlace *other)
{
        return one->inode == other->inode && one->device == other->device &&
               one->size == other->size && one->changed.tv_sec == other->changed.tv_sec &&
               one->changed.tv_nsec == other->changed.tv_nsec;
}

/* Without memory, the place is not kept, and the next lookup searches again. */
static void bundles_remember(Bundles *bundles, const BundlePlace *place)
{
        if (bundles->n_places < MAX_PLACES) {
                BundlePlace *places =
                        realloc(bundles->places, (bundles->n_places + 1) * sizeof(*places));

                if (!places)
                        return;
                bundles->places = places;
                places[bundles->n_places++] = *place;
                return;
        }
        bundles->places[bundles->next_place] = *place;
        bundles->next_place = (bundles->next_place + 1) % MAX_PLACES;
}

/* False: HOST is not a bundle. */
static bool bundles_find_place(Bundles *bundles, int host, uint64_t *work, BundlePlace *ret)
{
        struct stat status;
        size_t i;

        if (fstat(host, &status) < 0)
                return false;
        *ret = (BundlePlace){.device = status.st_dev,
                             .inode = status.st_ino,
                             .size = status.st_size,
                             .changed = status.st_ctim};
        for (i = bundles->n_places; i > 0; i--)
                if (place_is(&bundles->places[i - 1], ret)) {
                        *ret = bundles->places[i - 1];
                        return ret->header != 0;
                }
        ret->header = host_find_header(host, work);
        bundles_remember(bundles, ret);
        return ret->header != 0;
}

/* Takes a text and its length, of seven bits a byte. */
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

/* True if the module's path consists of the program's directory and the row's path. */
static bool row_is_of(const BundleRow *row, const char *module_path)
{
        const size_t n = strlen(module_path);

        return row->n_path && row->n_path < n &&
               !memcmp(module_path + n - row->n_path, row->path, row->n_path) &&
               module_path[n - row->n_path - 1] == '/';
}

/* Unpacks the assembly into a memfd; -1: impossible. */
static int row_unpack(int host, const BundleRow *row, uint64_t *work)
{
        FD_AUTO int fd = -1;
        uint8_t *bytes = MAP_FAILED;
        bool ok = row->size && row->size <= MAX_UNPACKED && row->packed <= MAX_UNPACKED &&
                  row->size / INFLATE_MAX_RATIO <= row->packed;

        if (ok)
                fd = memfd_create("clrsym-assembly", MFD_CLOEXEC);
        if (fd >= 0 && ftruncate(fd, (off_t)row->size) == 0)
                bytes = mmap(NULL, row->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
                return -1;
        *work += row->packed + row->size;
        ok = inflate_file(host, row->offset, row->packed, bytes, row->size) == 0;
        munmap(bytes, row->size);
        return ok ? fd_steal(&fd) : -1;
}

/* Keeps the unpacked assembly, because consecutive lookups are often of one assembly. */
static bool bundles_unpack(Bundles *bundles, const BundlePlace *place, int host,
                           const BundleRow *row, uint64_t *work)
{
        int unpacked;

        if (bundles->unpacked_at == row->offset && place_is(&bundles->unpacked_in, place))
                return true;
        unpacked = row_unpack(host, row, work);
        if (unpacked < 0)
                return false;
        if (bundles->unpacked_at)
                close(bundles->unpacked);
        bundles->unpacked_in = *place;
        bundles->unpacked_at = row->offset;
        bundles->unpacked = unpacked;
        return true;
}

/* Reads the header up to the rows of the files; *RET_N is their number. */
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

/* True ends the search at this row. */
typedef bool (*BundleRowFn)(const BundleRow *row, void *data);

/* Calls FN for each row until it returns true. False: it never did. */
static bool place_find_row(const BundlePlace *place, int host, BundleRowFn fn, void *data,
                           uint64_t *work)
{
        uint8_t *bytes = malloc(MAX_HEADER);
        uint32_t version, n, i;
        bool is_found = false;
        ByteCursor header;
        BundleRow row;
        size_t n_bytes;

        if (!bytes)
                return false;
        n_bytes = read_at(host, place->header, bytes, MAX_HEADER);
        *work += n_bytes;
        header = (ByteCursor){.at = bytes, .n = n_bytes};
        if (!take_header(&header, &version, &n))
                n = 0;
        for (i = 0; !is_found && i < n && take_row(&header, version, &row); i++)
                is_found = fn(&row, data);
        free(bytes);
        return is_found;
}

typedef struct BundleImage {
        const char *module_path;
        BundleRow row; /* without a valid path; `n_path` 0: none found */
} BundleImage;

/*
 * "more/Lib.dll" is nearer to "/app/more/Lib.dll" than "Lib.dll". Of equal rows, the first wins, as
 * in the runtime.
 */
static bool row_take_image(const BundleRow *row, void *data)
{
        BundleImage *image = data;

        if (row->offset && row->offset <= INT64_MAX && row->n_path > image->row.n_path &&
            row_is_of(row, image->module_path))
                image->row = *row;
        return false;
}

bool bundles_find_image_in(Bundles *bundles, int host, const char *module_path, uint64_t *work,
                           ImageFn fn, void *data)
{
        BundleImage image = {.module_path = module_path};
        BundlePlace place;

        if (!bundles_find_place(bundles, host, work, &place))
                return false;
        place_find_row(&place, host, row_take_image, &image, work);
        if (!image.row.n_path)
                return false;
        if (!image.row.packed)
                return fn(&(ImageBytes){host, image.row.offset, work}, data);
        return bundles_unpack(bundles, &place, host, &image.row, work) &&
               fn(&(ImageBytes){bundles->unpacked, 0, work}, data);
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
        BundleByte *byte = data;

        return !row->packed && byte->offset >= row->offset &&
               byte->offset - row->offset < row->size && row_describe(row, byte->ret);
}

bool bundles_find_at(Bundles *bundles, int host, uint64_t offset, uint64_t *work, BundleFile *ret)
{
        BundleByte byte = {offset, ret};
        BundlePlace place;

        return bundles_find_place(bundles, host, work, &place) &&
               place_find_row(&place, host, row_has_byte, &byte, work);
}

static bool row_is_packed(const BundleRow *row, void *data)
{
        return row->packed != 0;
}

bool bundle_is_packed(int host)
{
        uint64_t work = 0;
        const BundlePlace place = {.header = host_find_header(host, &work)};

        return place.header && place_find_row(&place, host, row_is_packed, NULL, &work);
}

bool bundles_add_program(Bundles *bundles, const char *path)
{
        char **program = &bundles->programs[bundles->next_program];
        unsigned i;

        for (i = 0; i < BUNDLE_MAX_PROGRAMS; i++)
                if (bundles->programs[i] && !strcmp(bundles->programs[i], path))
                        return true;
        free(*program);
        *program = strdup(path);
        bundles->next_program = (bundles->next_program + 1) % BUNDLE_MAX_PROGRAMS;
        return *program != NULL;
}

/* True if the second path is in the first one's directory, or below it. */
static bool are_beside(const char *program, const char *module_path)
{
        const size_t n = (size_t)(symbol_dirs_name(program) - program);

        return !strncmp(program, module_path, n);
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

bool bundles_find_image(Bundles *bundles, pid_t pid, int root, const char *module_path,
                        uint64_t *work, ImageFn fn, void *data)
{
        FD_AUTO int host = pid > 0 ? rootfs_open_program(pid) : -1;
        unsigned i;

        if (host < 0 && root >= 0)
                host = open_beside(root, module_path);
        if (host >= 0)
                return bundles_find_image_in(bundles, host, module_path, work, fn, data);
        for (i = 0; root >= 0 && i < BUNDLE_MAX_PROGRAMS; i++) {
                const char *program = bundles->programs[i];
                FD_AUTO int beside = program && are_beside(program, module_path)
                                             ? rootfs_open_file(root, program)
                                             : -1;

                if (beside >= 0 &&
                    bundles_find_image_in(bundles, beside, module_path, work, fn, data))
                        return true;
        }
        return false;
}
