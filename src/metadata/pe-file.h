/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PE file: the container of assemblies, for any machine
 *
 * The file is untrusted: an RVA is read only if a section has all its bytes in the file. The file
 * is read by pread(), never mapped, because its owner can truncate it at any time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_MAX_SECTIONS    96
#define PE_MAX_DIRECTORIES 16

/* Numbers of directories. */
#define PE_EXPORTS 0
#define PE_DEBUG   6
#define PE_CLR     14

typedef struct PeRange {
        uint32_t rva, size;
} PeRange;

typedef struct PeSection {
        uint32_t rva;
        uint32_t offset; /* from the image's begin */
        uint32_t size;   /* size of the mapped bytes in the file */
        bool is_code;
} PeSection;

typedef struct PeFile {
        int fd;         /* borrowed */
        uint64_t begin; /* of the image in the file */
        uint64_t n;     /* size of the image in bytes, at most */
        uint16_t machine;
        PeRange directories[PE_MAX_DIRECTORIES];
        PeSection sections[PE_MAX_SECTIONS];
        unsigned n_sections;
        uint64_t *work; /* borrowed: counter of read bytes; NULL: not counted */
} PeFile;

/*
 * Reads the headers of the image at BEGIN of the file FD. Returns 0; -EBADMSG: not an image; or
 * pread()'s error. On failure *RET_REASON is the reason (static).
 */
int pe_file_read(PeFile *ret, int fd, uint64_t begin, const char **ret_reason);

/*
 * Reads all N bytes at OFFSET of the image. Returns 0; -EBADMSG: the image has fewer bytes; or
 * pread()'s error.
 */
int pe_file_read_at(const PeFile *file, uint64_t offset, void *bytes, size_t n);
/* The same for an RVA. */
int pe_file_read_rva(const PeFile *file, uint32_t rva, void *bytes, size_t n);
/*
 * Reads all bytes of RANGE; the caller frees them. Returns 0; -EBADMSG, before memory is allocated:
 * no section has them; -ENOMEM; or pread()'s error.
 */
int pe_file_read_range(const PeFile *file, PeRange range, uint8_t **ret);
/* The section with all N bytes at RVA, or NULL. */
const PeSection *pe_file_section(const PeFile *file, uint32_t rva, uint64_t n);

/*
 * Reads the assembly's metadata; the caller frees it. Returns 0; -EBADMSG: none, or more than MAX
 * bytes; -ENOMEM; or pread()'s error.
 */
int pe_file_read_metadata(const PeFile *file, size_t max, uint8_t **ret_bytes, size_t *ret_n,
                          const char **ret_reason);
