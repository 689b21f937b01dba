/* SPDX-License-Identifier: MIT */
#include "moment/core-memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

size_t core_file_read(const CoreMemory *memory, uint64_t offset, void *ret, size_t n)
{
        size_t done = 0;

        while (done < n && offset + done < memory->size) {
                const ssize_t got =
                        pread(memory->fd, (uint8_t *)ret + done, n - done, (off_t)(offset + done));

                if (got < 0 && errno == EINTR)
                        continue;
                if (got <= 0)
                        break;
                done += (size_t)got;
        }
        return done;
}

guint core_memory_before(const CoreMemory *memory, uint64_t address)
{
        guint low = 0, high = memory->segments->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(memory->segments, Elf64_Phdr, middle).p_vaddr <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

size_t core_memory_read(const CoreMemory *memory, uint64_t address, void *ret, size_t n)
{
        guint next = core_memory_before(memory, address);
        size_t done = 0;

        while (next > 0 && next <= memory->segments->len && done < n) {
                const Elf64_Phdr *segment = &g_array_index(memory->segments, Elf64_Phdr, next - 1);
                const uint64_t at = address + done - segment->p_vaddr;
                size_t part, got;

                if (address + done < segment->p_vaddr || at >= segment->p_filesz ||
                    segment->p_offset > memory->size || at > memory->size - segment->p_offset)
                        break;
                part = (size_t)MIN(n - done, segment->p_filesz - at);
                got = core_file_read(memory, segment->p_offset + at, (uint8_t *)ret + done, part);
                done += got;
                if (got < part)
                        break;
                next++;
        }
        return done;
}

bool core_memory_read_word(CoreMemory *memory, uint64_t address, uint64_t *ret)
{
        const uint64_t at = address % CORE_MEMORY_PAGE;

        /* The word spans two pages. */
        if (at > CORE_MEMORY_PAGE - sizeof(*ret))
                return core_memory_read(memory, address, ret, sizeof(*ret)) == sizeof(*ret);
        if (!memory->n_page || memory->page_at != address - at) {
                memory->page_at = address - at;
                memory->n_page = core_memory_read(memory, memory->page_at, memory->page,
                                                  sizeof(memory->page));
        }
        if (memory->n_page < at + sizeof(*ret))
                return core_memory_read(memory, address, ret, sizeof(*ret)) == sizeof(*ret);
        memcpy(ret, memory->page + at, sizeof(*ret));
        return true;
}

CoreMemory *core_memory_dup(const CoreMemory *memory)
{
        const int fd = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
        CoreMemory *copy;

        if (fd < 0)
                return NULL;
        copy = g_memdup2(memory, sizeof(*memory));
        copy->fd = fd;
        copy->n_page = 0;
        copy->segments = g_array_ref(memory->segments);
        return copy;
}

void core_memory_free(CoreMemory *memory)
{
        if (!memory)
                return;
        close(memory->fd);
        g_array_unref(memory->segments);
        g_free(memory);
}
