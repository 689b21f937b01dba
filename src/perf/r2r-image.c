/* SPDX-License-Identifier: MIT */
#include "perf/r2r-image.h"

#include "metadata/r2r-code.h"
#include "util/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Size of the CLR header, and the offset of the ReadyToRun header's address in it. */
#define CLR_SIZE   72
#define CLR_NATIVE 64

/* The ReadyToRun header: its size, its signature, and the offset of the number of sections. */
#define R2R_SIZE         16
#define R2R_SIGNATURE    0x00525452u
#define R2R_N_SECTIONS   12
#define R2R_SECTION_SIZE 12
#define R2R_FUNCTIONS    102
#define R2R_EXCEPTIONS   104
#define MAX_R2R_SECTIONS 1024

#define NO_CODE       "it has no precompiled code"
#define CONTRADICTION "its tables contradict each other"

static int image_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return -EBADMSG;
}

/* Reads the ReadyToRun header and the rows of its N sections. */
static int image_read_header(const PeFile *pe, uint8_t *rows, uint32_t *ret_n,
                             const char **ret_reason)
{
        uint8_t clr[CLR_SIZE], header[R2R_SIZE];
        uint32_t native;
        unsigned major;
        int r;

        if (!pe->directories[PE_CLR].rva)
                return image_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, pe->directories[PE_CLR].rva, clr, sizeof(clr));
        if (r < 0)
                return r;
        native = bytes_u32(clr + CLR_NATIVE);
        if (bytes_u32(clr) < CLR_SIZE || !native)
                return image_refuse(ret_reason, NO_CODE);
        r = pe_file_read_rva(pe, native, header, sizeof(header));
        if (r < 0)
                return r;
        if (bytes_u32(header) != R2R_SIGNATURE)
                return image_refuse(ret_reason, NO_CODE);
        major = header[4] | (unsigned)header[5] << 8;
        if (major > R2R_NEWEST)
                return image_refuse(ret_reason, r2r_refused_version(major));
        *ret_n = bytes_u32(header + R2R_N_SECTIONS);
        if (*ret_n > MAX_R2R_SECTIONS || native > UINT32_MAX - R2R_SIZE)
                return image_refuse(ret_reason, CONTRADICTION);
        return *ret_n ? pe_file_read_rva(pe, native + R2R_SIZE, rows, *ret_n * R2R_SECTION_SIZE)
                      : 0;
}

/* Finds the tables of functions and of exceptions; size 0: the image has none. */
static int image_find_tables(const PeFile *pe, PeRange *ret_functions, PeRange *ret_exceptions,
                             const char **ret_reason)
{
        uint8_t rows[MAX_R2R_SECTIONS * R2R_SECTION_SIZE];
        bool is_found = false;
        uint32_t i, n = 0;
        int r = image_read_header(pe, rows, &n, ret_reason);

        for (i = 0; r == 0 && i < n; i++) {
                const uint8_t *row = rows + i * R2R_SECTION_SIZE;
                const PeRange range = {bytes_u32(row + 4), bytes_u32(row + 8)};

                if (bytes_u32(row) == R2R_EXCEPTIONS)
                        *ret_exceptions = range;
                if (bytes_u32(row) != R2R_FUNCTIONS)
                        continue;
                if (is_found)
                        return image_refuse(ret_reason, CONTRADICTION);
                is_found = true;
                *ret_functions = range;
        }
        return r < 0 ? r : ret_functions->size ? 0 : image_refuse(ret_reason, NO_CODE);
}

/* True if bytes of the file are mapped to two addresses, so that neither is certain. */
static bool sections_overlap(const PeFile *pe)
{
        unsigned i, k;

        for (i = 0; i < pe->n_sections; i++)
                for (k = 0; k < i; k++) {
                        const PeSection *one = &pe->sections[i], *other = &pe->sections[k];

                        if (one->offset < (uint64_t)other->offset + other->size &&
                            other->offset < (uint64_t)one->offset + one->size)
                                return true;
                }
        return false;
}

static int image_keep_sections(R2RImage *image, const PeFile *pe, const char **ret_reason)
{
        unsigned i;

        if (sections_overlap(pe))
                return image_refuse(ret_reason, CONTRADICTION);
        image->sections = calloc(pe->n_sections, sizeof(*image->sections));
        if (!image->sections)
                return -ENOMEM;
        for (i = 0; i < pe->n_sections; i++)
                if (pe->sections[i].is_code)
                        image->sections[image->n_sections++] = pe->sections[i];
        return 0;
}

static int image_read(R2RImage *image, const PeFile *pe, const char **ret_reason)
{
        PeRange table = {0};
        int r;

        if (!r2r_functions_are_of_machine(pe))
                return image_refuse(ret_reason,
                                    "it is for another machine, or has no precompiled code");
        r = image_find_tables(pe, &table, &image->exceptions, ret_reason);
        if (r == 0)
                r = r2r_functions_read(&image->functions, pe, table);
        return r == 0 ? image_keep_sections(image, pe, ret_reason) : r;
}

int r2r_image_read(R2RImage *image, const ImageBytes *bytes, const char **ret_reason)
{
        PeFile pe;
        int r;

        *image = (R2RImage){.begin = bytes->begin};
        r = image_bytes_read(bytes, &pe, ret_reason);
        if (r < 0)
                return r;
        *ret_reason = NULL;
        r = image_read(image, &pe, ret_reason);
        if (r == 0)
                return 0;
        r2r_image_deinit(image);
        if (!*ret_reason)
                *ret_reason = r == -ENOMEM    ? "no memory left"
                              : r == -EBADMSG ? CONTRADICTION
                                              : "it cannot be read";
        return r;
}

void r2r_image_deinit(R2RImage *image)
{
        r2r_functions_deinit(&image->functions);
        free(image->sections);
        *image = (R2RImage){0};
}

static bool image_rva(const R2RImage *image, uint64_t offset, uint32_t *ret_rva)
{
        size_t i;

        for (i = 0; i < image->n_sections; i++) {
                const PeSection *section = &image->sections[i];

                if (offset >= section->offset && offset - section->offset < section->size) {
                        *ret_rva = section->rva + (uint32_t)(offset - section->offset);
                        return true;
                }
        }
        return false;
}

const R2RFunction *r2r_image_find(const R2RImage *image, uint64_t offset, uint32_t *ret_distance)
{
        const R2RFunction *function;
        uint32_t rva, n;

        if (offset < image->begin || !image_rva(image, offset - image->begin, &rva))
                return NULL;
        n = r2r_functions_last(&image->functions, rva);
        if (!n)
                return NULL;
        function = &image->functions.rows[n - 1];
        if (rva >= function->end)
                return NULL;
        *ret_distance = rva - function->begin;
        return function;
}

int r2r_image_read_funclets(const R2RImage *image, const ImageBytes *bytes, R2RFunclets *ret)
{
        const char *reason;
        PeFile pe;
        int r;

        *ret = (R2RFunclets){0};
        if (!image->exceptions.size)
                return 0;
        r = image_bytes_read(bytes, &pe, &reason);
        return r < 0 ? r : r2r_funclets_read(ret, &pe, image->exceptions);
}
