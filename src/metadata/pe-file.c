/* SPDX-License-Identifier: MIT */
#include "metadata/pe-file.h"

#include "metadata/byte-cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOS_SIZE          64u
#define DOS_COFF_AT       60u
#define COFF_SIZE         24u /* with the signature */
#define OPTIONAL_MAX      240u
#define OPTIONAL_PE32     0x10bu
#define OPTIONAL_PE32PLUS 0x20bu
#define N_DIRS_PE32       92u /* offset of the number of directories */
#define N_DIRS_PE32PLUS   108u
#define SECTION_SIZE      40u
#define SECTION_EXECUTE   0x20000000u
#define CLR_SIZE          72u

#define TRUNCATED     "it is truncated"
#define NOT_PE        "it is not a PE file"
#define CONTRADICTION "its headers contradict each other"
#define NOT_ASSEMBLY  "it is not an assembly"
#define UNREADABLE    "it cannot be read"

static int pe_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return -EBADMSG;
}

/* Sets the reason for R, unless it is set. */
static int pe_explain(int r, const char **ret_reason)
{
        if (r < 0)
                *ret_reason = r == -EBADMSG  ? TRUNCATED
                              : r == -ENOMEM ? "no memory left"
                                             : UNREADABLE;
        return r;
}

int pe_file_read_at(const PeFile *file, uint64_t offset, void *bytes, size_t n)
{
        uint8_t *at = bytes;

        if (offset > file->n || n > file->n - offset)
                return -EBADMSG;
        offset += file->begin;
        if (file->work)
                *file->work += n;
        while (n) {
                ssize_t r = pread(file->fd, at, n, (off_t)offset);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return -errno;
                if (r == 0)
                        return -EBADMSG;
                at += r;
                offset += (uint64_t)r;
                n -= (size_t)r;
        }
        return 0;
}

const PeSection *pe_file_section(const PeFile *file, uint32_t rva, uint64_t n)
{
        unsigned i;

        for (i = 0; i < file->n_sections; i++) {
                const PeSection *section = &file->sections[i];

                if (rva >= section->rva && rva - section->rva < section->size &&
                    n <= section->size - (rva - section->rva))
                        return section;
        }
        return NULL;
}

int pe_file_read_rva(const PeFile *file, uint32_t rva, void *bytes, size_t n)
{
        const PeSection *section = pe_file_section(file, rva, n);

        if (!section)
                return -EBADMSG;
        return pe_file_read_at(file, section->offset + (uint64_t)(rva - section->rva), bytes, n);
}

int pe_file_read_range(const PeFile *file, PeRange range, uint8_t **ret)
{
        int r;

        if (!range.size || !pe_file_section(file, range.rva, range.size))
                return -EBADMSG;
        *ret = malloc(range.size);
        if (!*ret)
                return -ENOMEM;
        r = pe_file_read_rva(file, range.rva, *ret, range.size);
        if (r == 0)
                return 0;
        free(*ret);
        *ret = NULL;
        return r;
}

static bool ranges_meet(uint64_t one, uint64_t n_one, uint64_t other, uint64_t n_other)
{
        return one < other + n_other && other < one + n_one;
}

static bool pe_take_section(PeFile *file, ByteCursor *header)
{
        PeSection section;
        uint32_t mapped, in_file, flags;
        unsigned i;

        byte_cursor_take(header, 8);
        mapped = byte_cursor_u32(header);
        section.rva = byte_cursor_u32(header);
        in_file = byte_cursor_u32(header);
        section.offset = byte_cursor_u32(header);
        byte_cursor_take(header, 12);
        flags = byte_cursor_u32(header);
        section.size = mapped < in_file ? mapped : in_file;
        section.is_code = flags & SECTION_EXECUTE;
        if (!section.size)
                return true;
        if ((uint64_t)section.offset + section.size > file->n ||
            (uint64_t)section.rva + section.size > UINT32_MAX)
                return false;
        for (i = 0; i < file->n_sections; i++)
                if (ranges_meet(section.rva, section.size, file->sections[i].rva,
                                file->sections[i].size))
                        return false;
        file->sections[file->n_sections++] = section;
        return true;
}

static int pe_read_sections(PeFile *file, uint64_t at, unsigned n, const char **ret_reason)
{
        uint8_t headers[PE_MAX_SECTIONS * SECTION_SIZE];
        ByteCursor cursor = {.at = headers, .n = n * SECTION_SIZE};
        unsigned i;
        int r;

        if (n > PE_MAX_SECTIONS)
                return pe_refuse(ret_reason, CONTRADICTION);
        r = pe_explain(pe_file_read_at(file, at, headers, n * SECTION_SIZE), ret_reason);
        for (i = 0; r == 0 && i < n; i++)
                if (!pe_take_section(file, &cursor))
                        r = pe_refuse(ret_reason, CONTRADICTION);
        return r;
}

static int pe_take_optional(PeFile *file, const uint8_t *optional, size_t n,
                            const char **ret_reason)
{
        ByteCursor cursor = {.at = optional, .n = n};
        unsigned magic = byte_cursor_u16(&cursor), i;
        uint32_t n_dirs;

        if (magic != OPTIONAL_PE32 && magic != OPTIONAL_PE32PLUS)
                return pe_refuse(ret_reason, NOT_PE);
        byte_cursor_take(&cursor, (magic == OPTIONAL_PE32 ? N_DIRS_PE32 : N_DIRS_PE32PLUS) - 2);
        n_dirs = byte_cursor_u32(&cursor);
        for (i = 0; i < n_dirs && i < PE_MAX_DIRECTORIES; i++) {
                file->directories[i].rva = byte_cursor_u32(&cursor);
                file->directories[i].size = byte_cursor_u32(&cursor);
        }
        return cursor.has_failed ? pe_refuse(ret_reason, CONTRADICTION) : 0;
}

static int pe_read_headers(PeFile *file, const char **ret_reason)
{
        uint8_t dos[DOS_SIZE], coff[COFF_SIZE], optional[OPTIONAL_MAX];
        ByteCursor cursor;
        unsigned n_sections, n_optional;
        uint64_t at;
        size_t n;
        int r;

        if (file->n < DOS_SIZE)
                return pe_refuse(ret_reason, NOT_PE);
        r = pe_explain(pe_file_read_at(file, 0, dos, sizeof(dos)), ret_reason);
        if (r < 0)
                return r;
        if (memcmp(dos, "MZ", 2) != 0)
                return pe_refuse(ret_reason, NOT_PE);
        cursor = (ByteCursor){.at = dos + DOS_COFF_AT, .n = 4};
        at = byte_cursor_u32(&cursor);
        r = pe_explain(pe_file_read_at(file, at, coff, sizeof(coff)), ret_reason);
        if (r < 0)
                return r;
        if (memcmp(coff, "PE\0", 4) != 0)
                return pe_refuse(ret_reason, NOT_PE);
        cursor = (ByteCursor){.at = coff + 4, .n = sizeof(coff) - 4};
        file->machine = byte_cursor_u16(&cursor);
        n_sections = byte_cursor_u16(&cursor);
        byte_cursor_take(&cursor, 12);
        n_optional = byte_cursor_u16(&cursor);
        at += sizeof(coff);
        n = n_optional < sizeof(optional) ? n_optional : sizeof(optional);
        r = pe_explain(pe_file_read_at(file, at, optional, n), ret_reason);
        if (r == 0)
                r = pe_take_optional(file, optional, n, ret_reason);
        return r == 0 ? pe_read_sections(file, at + n_optional, n_sections, ret_reason) : r;
}

int pe_file_read(PeFile *ret, int fd, uint64_t begin, const char **ret_reason)
{
        struct stat status;
        int r;

        *ret = (PeFile){.fd = fd, .begin = begin};
        if (fstat(fd, &status) < 0)
                r = pe_explain(-errno, ret_reason);
        else if (!S_ISREG(status.st_mode) || begin > (uint64_t)status.st_size)
                r = pe_refuse(ret_reason, NOT_PE);
        else {
                ret->n = (uint64_t)status.st_size - begin;
                r = pe_read_headers(ret, ret_reason);
        }
        return r;
}

int pe_file_read_metadata(const PeFile *file, size_t max, uint8_t **ret_bytes, size_t *ret_n,
                          const char **ret_reason)
{
        const PeRange *range = &file->directories[PE_CLR];
        uint8_t clr[CLR_SIZE], *bytes;
        ByteCursor cursor = {.at = clr, .n = sizeof(clr)};
        uint32_t rva, n;
        int r;

        if (!range->rva)
                return pe_refuse(ret_reason, NOT_ASSEMBLY);
        r = pe_explain(pe_file_read_rva(file, range->rva, clr, sizeof(clr)), ret_reason);
        if (r < 0)
                return r;
        byte_cursor_take(&cursor, 8);
        rva = byte_cursor_u32(&cursor);
        n = byte_cursor_u32(&cursor);
        if (!n)
                return pe_refuse(ret_reason, NOT_ASSEMBLY);
        if (n > max)
                return pe_refuse(ret_reason, "it has too much metadata");
        /* Check before allocating memory that the file has the bytes. */
        if (!pe_file_section(file, rva, n))
                return pe_refuse(ret_reason, CONTRADICTION);
        bytes = malloc(n);
        r = bytes ? pe_file_read_rva(file, rva, bytes, n) : -ENOMEM;
        if (r < 0) {
                free(bytes);
                return pe_explain(r, ret_reason);
        }
        *ret_bytes = bytes;
        *ret_n = n;
        return 0;
}
