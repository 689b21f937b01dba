/* SPDX-License-Identifier: MIT */
#include "symbols/vdso.h"

#include "util/fd.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH "[vdso]"

bool vdso_is(const char *path)
{
        return !strcmp(path, PATH);
}

int vdso_open(void)
{
        const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
        FD_AUTO int fd = header ? memfd_create("vdso", MFD_CLOEXEC) : -1;
        size_t n;

        if (fd < 0)
                return -1;
        /* The table of sections is at its end. */
        n = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
        return write(fd, header, n) == (ssize_t)n ? fd_steal(&fd) : -1;
}
