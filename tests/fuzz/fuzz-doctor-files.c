/* SPDX-License-Identifier: MIT */

/*
 * Files of other programs that clrsym doctor reads: the dynamic linker's cache, and ELF files
 */

#include "util/elf-file.h"
#include "doctor/library.h"
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_cache(const uint8_t *data, size_t size)
{
        const char *cached;
        size_t i;

        for (i = 0; i < 4 && (cached = library_cache_path(data, size, "liblttng-ust.so.0", i)); i++)
                (void)strlen(cached);
}

static void read_elf(const uint8_t *data, size_t size)
{
        uint8_t id[ELF_MAX_BUILD_ID];
        static int fd = -1;
        ElfFile file;

        if (fd < 0)
                fd = memfd_create("file", MFD_CLOEXEC);
        if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size ||
            !elf_file_open(&file, fd))
                return;
        (void)elf_file_exports(&file, "DotNetRuntimeInfo");
        (void)elf_file_has_symbols(&file);
        FUZZ_REQUIRE(elf_file_build_id(&file, id) <= sizeof(id));
        elf_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ElfFileKind kind;

        read_cache(data, size);
        read_elf(data, size);
        (void)elf_file_kind(data, size, &kind);
        return 0;
}
