/* SPDX-License-Identifier: MIT */

/* The call frame information of an ELF file with any bytes, and a step to a caller with it. */

#include "step.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ROWS 64u

static void check_address(const FrameTable *table, uint64_t address)
{
        CallFrame frame;
        FrameEntry entry;
        uint64_t work;
        size_t i;

        if (!frame_table_find(table, address, &entry))
                return;
        FUZZ_REQUIRE(entry.begin <= address);
        for (i = 0; i < G_N_ELEMENTS(FUZZ_MACHINES); i++) {
                const Machine *machine = machine_find(FUZZ_MACHINES[i]);

                if (call_frame_read(&frame, machine, &entry, address, &work))
                        fuzz_step(machine, &frame);
                FUZZ_REQUIRE(work <= 2 * FRAME_TABLE_MAX_RECORD);
        }
}

static void check_section(const ElfFile *file, FrameSection section, size_t size)
{
        FrameTable table;
        size_t i;

        if (!frame_table_read(&table, file, section))
                return;
        FUZZ_REQUIRE(table.n_bytes <= size && table.n_rows <= size / 8);
        for (i = 0; i < table.n_rows && i < MAX_ROWS; i++) {
                const FrameRange *row = &table.rows[i];

                check_address(&table, row->begin);
                check_address(&table, row->begin + row->size / 2);
                check_address(&table, row->begin + row->size - 1);
        }
        check_address(&table, 0);
        check_address(&table, UINT64_MAX);
        frame_table_deinit(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;
        ElfFile file;

        if (fd < 0)
                fd = memfd_create("library", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
        FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
        if (!elf_file_open(&file, fd))
                return 0;
        check_section(&file, FRAME_SECTION_EH, size);
        check_section(&file, FRAME_SECTION_DEBUG, size);
        elf_file_close(&file);
        return 0;
}
