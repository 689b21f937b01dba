/* SPDX-License-Identifier: MIT */
#include "perf/r2r-image.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The PE file: the MS-DOS header, which has the offset of the COFF header, and the headers after
 * that.
 */
#define DOS_SIZE          64
#define DOS_COFF_AT       60
#define COFF_SIZE         24 /* with its signature */
#define COFF_MACHINE      4
#define COFF_N_SECTIONS   6
#define COFF_OPTIONAL     20
#define OPTIONAL_PE32PLUS 0x20b
#define OPTIONAL_N_DIRS   108
#define OPTIONAL_DIRS     112
#define DIR_SIZE          8
#define DIR_CLR           14
#define SECTION_SIZE      40
#define SECTION_EXECUTE   0x20000000u
#define MAX_SECTIONS      96

/* The machine number is AMD64's changed for Linux, so that no other system loads the file. */
#define MACHINE_AMD64       0x8664
#define MACHINE_LINUX_AMD64 (MACHINE_AMD64 ^ 0x7b79)

/* The CLR header, which has the address of the ReadyToRun header. */
#define CLR_SIZE   72
#define CLR_NATIVE 64

/* The ReadyToRun header, and its sections. */
#define R2R_SIZE            16
#define R2R_SIGNATURE       0x00525452u
#define R2R_N_SECTIONS      12
#define R2R_SECTION_SIZE    12
#define R2R_FUNCTIONS       102
#define MAX_R2R_SECTIONS    1024
#define RUNTIME_FUNCTION    12
#define MAX_FUNCTIONS_BYTES (32u << 20)

#define TRUNCATED     "it is shorter than it says"
#define NOT_PE        "it is not a PE file"
#define NO_CODE       "it has no precompiled code"
#define CONTRADICTION "its tables contradict each other"

typedef struct Section {
        R2RSection bytes; /* the bytes in the file that are mapped */
        bool is_code;
} Section;

typedef struct ImageReader {
        int fd;
        uint64_t n_bytes; /* offset in the file */
        Section sections[MAX_SECTIONS];
        size_t n_sections;
        const char *reason;
} ImageReader;

static uint32_t image_u32(const uint8_t *at)
{
        uint32_t value;

        memcpy(&value, at, sizeof(value));
        return le32toh(value);
}

static uint16_t image_u16(const uint8_t *at)
{
        return (uint16_t)(at[0] | at[1] << 8);
}

static int image_refuse(ImageReader *reader, const char *reason)
{
        reader->reason = reason;
        return -EBADMSG;
}

/* Reads all N bytes at OFFSET. */
static int image_read_at(ImageReader *reader, uint64_t offset, void *bytes, size_t n)
{
        uint8_t *at = bytes;

        if (offset > reader->n_bytes || n > reader->n_bytes - offset)
                return image_refuse(reader, TRUNCATED);
        while (n) {
                ssize_t r = pread(reader->fd, at, n, (off_t)offset);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return -errno;
                if (r == 0)
                        return image_refuse(reader, TRUNCATED);
                at += r;
                offset += (uint64_t)r;
                n -= (size_t)r;
        }
        return 0;
}

/* The section with all N bytes at RVA, or NULL. */
static const Section *section_of(const ImageReader *reader, uint32_t rva, uint64_t n)
{
        size_t i;

        for (i = 0; i < reader->n_sections; i++) {
                const R2RSection *bytes = &reader->sections[i].bytes;

                if (rva >= bytes->rva && rva - bytes->rva < bytes->size &&
                    n <= bytes->size - (rva - bytes->rva))
                        return &reader->sections[i];
        }
        return NULL;
}

static int read_rva(ImageReader *reader, uint32_t rva, void *bytes, size_t n)
{
        const Section *section = section_of(reader, rva, n);

        if (!section)
                return image_refuse(reader, CONTRADICTION);
        return image_read_at(reader, section->bytes.offset + (uint64_t)(rva - section->bytes.rva),
                             bytes, n);
}

static bool ranges_overlap(uint64_t one, uint64_t n_one, uint64_t other, uint64_t n_other)
{
        return one < other + n_other && other < one + n_one;
}

static int take_section(ImageReader *reader, const uint8_t *header)
{
        uint32_t mapped = image_u32(header + 8), in_file = image_u32(header + 16);
        Section section = {
                .bytes = {.rva = image_u32(header + 12),
                          .offset = image_u32(header + 20),
                          .size = mapped < in_file ? mapped : in_file},
                .is_code = image_u32(header + 36) & SECTION_EXECUTE,
        };
        const R2RSection *bytes = &section.bytes;
        size_t i;

        if (!bytes->size)
                return 0;
        if ((uint64_t)bytes->offset + bytes->size > reader->n_bytes)
                return image_refuse(reader, TRUNCATED);
        if ((uint64_t)bytes->rva + bytes->size > UINT32_MAX)
                return image_refuse(reader, CONTRADICTION);
        for (i = 0; i < reader->n_sections; i++) {
                const R2RSection *other = &reader->sections[i].bytes;

                if (ranges_overlap(bytes->rva, bytes->size, other->rva, other->size) ||
                    ranges_overlap(bytes->offset, bytes->size, other->offset, other->size))
                        return image_refuse(reader, CONTRADICTION);
        }
        reader->sections[reader->n_sections++] = section;
        return 0;
}

/* Reads the headers before the sections; RET_CLR is the RVA of the CLR header. */
static int read_pe(ImageReader *reader, uint32_t *ret_clr)
{
        uint8_t dos[DOS_SIZE], coff[COFF_SIZE], optional[OPTIONAL_DIRS + (DIR_CLR + 1) * DIR_SIZE];
        uint8_t headers[MAX_SECTIONS * SECTION_SIZE];
        uint64_t at;
        size_t i, n;
        int r;

        if (reader->n_bytes < DOS_SIZE)
                return image_refuse(reader, NOT_PE);
        r = image_read_at(reader, 0, dos, sizeof(dos));
        if (r < 0)
                return r;
        if (memcmp(dos, "MZ", 2) != 0)
                return image_refuse(reader, NOT_PE);
        at = image_u32(dos + DOS_COFF_AT);
        r = image_read_at(reader, at, coff, sizeof(coff));
        if (r < 0)
                return r;
        if (memcmp(coff, "PE\0", 4) != 0)
                return image_refuse(reader, NOT_PE);
        if (image_u16(coff + COFF_MACHINE) != MACHINE_LINUX_AMD64 &&
            image_u16(coff + COFF_MACHINE) != MACHINE_AMD64)
                return image_refuse(reader, "it is not for x86-64, or has no precompiled code");
        if (image_u16(coff + COFF_OPTIONAL) < sizeof(optional))
                return image_refuse(reader, NO_CODE);
        at += sizeof(coff);
        r = image_read_at(reader, at, optional, sizeof(optional));
        if (r < 0)
                return r;
        if (image_u16(optional) != OPTIONAL_PE32PLUS ||
            image_u32(optional + OPTIONAL_N_DIRS) <= DIR_CLR)
                return image_refuse(reader, NO_CODE);
        *ret_clr = image_u32(optional + OPTIONAL_DIRS + DIR_CLR * DIR_SIZE);
        n = image_u16(coff + COFF_N_SECTIONS);
        if (n > MAX_SECTIONS)
                return image_refuse(reader, CONTRADICTION);
        at += image_u16(coff + COFF_OPTIONAL);
        r = image_read_at(reader, at, headers, n * SECTION_SIZE);
        for (i = 0; r == 0 && i < n; i++)
                r = take_section(reader, headers + i * SECTION_SIZE);
        return r;
}

/* Finds the table of functions. */
static int find_table(ImageReader *reader, uint32_t clr_rva, uint32_t *ret_rva, uint32_t *ret_n)
{
        uint8_t clr[CLR_SIZE], header[R2R_SIZE], rows[MAX_R2R_SECTIONS * R2R_SECTION_SIZE];
        bool is_found = false;
        uint32_t native, i, n;
        int r;

        if (!clr_rva)
                return image_refuse(reader, NO_CODE);
        r = read_rva(reader, clr_rva, clr, sizeof(clr));
        if (r < 0)
                return r;
        native = image_u32(clr + CLR_NATIVE);
        if (image_u32(clr) < CLR_SIZE || !native)
                return image_refuse(reader, NO_CODE);
        r = read_rva(reader, native, header, sizeof(header));
        if (r < 0)
                return r;
        if (image_u32(header) != R2R_SIGNATURE)
                return image_refuse(reader, NO_CODE);
        n = image_u32(header + R2R_N_SECTIONS);
        if (n > MAX_R2R_SECTIONS || native > UINT32_MAX - R2R_SIZE)
                return image_refuse(reader, CONTRADICTION);
        r = n ? read_rva(reader, native + R2R_SIZE, rows, n * R2R_SECTION_SIZE) : 0;
        if (r < 0)
                return r;
        for (i = 0; i < n; i++) {
                const uint8_t *row = rows + i * R2R_SECTION_SIZE;

                if (image_u32(row) != R2R_FUNCTIONS)
                        continue;
                if (is_found)
                        return image_refuse(reader, CONTRADICTION);
                is_found = true;
                *ret_rva = image_u32(row + 4);
                *ret_n = image_u32(row + 8);
        }
        if (!is_found || !*ret_n)
                return image_refuse(reader, NO_CODE);
        return 0;
}

static int take_functions(ImageReader *reader, const uint8_t *rows, size_t n,
                          R2RFunction *functions)
{
        uint32_t end = 0;
        size_t i;

        for (i = 0; i < n; i++, rows += RUNTIME_FUNCTION) {
                R2RFunction function = {image_u32(rows), image_u32(rows + 4)};
                const Section *section;

                if (function.begin < end || function.end <= function.begin)
                        return image_refuse(reader, CONTRADICTION);
                section = section_of(reader, function.begin, function.end - function.begin);
                if (!section || !section->is_code)
                        return image_refuse(reader, CONTRADICTION);
                functions[i] = function;
                end = function.end;
        }
        return 0;
}

static int read_functions(ImageReader *reader, uint32_t rva, uint32_t n_bytes, R2RImage *image)
{
        size_t n = n_bytes / RUNTIME_FUNCTION;
        uint8_t *rows;
        int r;

        /* Checked before memory is allocated: the file has as many bytes. */
        if (n_bytes % RUNTIME_FUNCTION || n_bytes > MAX_FUNCTIONS_BYTES ||
            !section_of(reader, rva, n_bytes))
                return image_refuse(reader, CONTRADICTION);
        rows = malloc(n_bytes);
        image->functions = malloc(n * sizeof(*image->functions));
        r = rows && image->functions ? read_rva(reader, rva, rows, n_bytes) : -ENOMEM;
        if (r == 0)
                r = take_functions(reader, rows, n, image->functions);
        free(rows);
        image->n_functions = n;
        return r;
}

static int keep_sections(const ImageReader *reader, R2RImage *image)
{
        size_t i;

        image->sections = calloc(reader->n_sections, sizeof(*image->sections));
        if (!image->sections)
                return -ENOMEM;
        for (i = 0; i < reader->n_sections; i++)
                if (reader->sections[i].is_code)
                        image->sections[image->n_sections++] = reader->sections[i].bytes;
        return 0;
}

static int read_image(ImageReader *reader, R2RImage *image)
{
        uint32_t clr = 0, rva = 0, n = 0;
        struct stat status;
        int r;

        if (fstat(reader->fd, &status) < 0)
                return -errno;
        if (!S_ISREG(status.st_mode))
                return image_refuse(reader, "it is not a file");
        reader->n_bytes = (uint64_t)status.st_size;
        r = read_pe(reader, &clr);
        if (r == 0)
                r = find_table(reader, clr, &rva, &n);
        if (r == 0)
                r = read_functions(reader, rva, n, image);
        return r == 0 ? keep_sections(reader, image) : r;
}

int r2r_image_read(R2RImage *image, int fd, const char **ret_reason)
{
        ImageReader reader = {.fd = fd};
        int r;

        *image = (R2RImage){0};
        r = read_image(&reader, image);
        if (r == 0)
                return 0;
        r2r_image_deinit(image);
        *ret_reason = r == -ENOMEM    ? "no memory left"
                      : r == -EBADMSG ? reader.reason
                                      : "it cannot be read";
        return r;
}

void r2r_image_deinit(R2RImage *image)
{
        free(image->functions);
        free(image->sections);
        *image = (R2RImage){0};
}

static bool rva_of(const R2RImage *image, uint64_t offset, uint32_t *ret_rva)
{
        size_t i;

        for (i = 0; i < image->n_sections; i++) {
                const R2RSection *section = &image->sections[i];

                if (offset >= section->offset && offset - section->offset < section->size) {
                        *ret_rva = section->rva + (uint32_t)(offset - section->offset);
                        return true;
                }
        }
        return false;
}

const R2RFunction *r2r_image_find(const R2RImage *image, uint64_t offset, uint32_t *ret_distance)
{
        size_t low = 0, high = image->n_functions;
        const R2RFunction *function;
        uint32_t rva;

        if (!rva_of(image, offset, &rva))
                return NULL;
        /* The first function that begins after OFFSET. */
        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (image->functions[middle].begin <= rva)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (!low)
                return NULL;
        function = &image->functions[low - 1];
        if (rva >= function->end)
                return NULL;
        *ret_distance = rva - function->begin;
        return function;
}
