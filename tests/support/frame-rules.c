/* SPDX-License-Identifier: MIT */

/*
 * frame-rules eh|debug FILE: how the caller's registers are found at addresses of an ELF file
 *
 * Reads an address a line, in hex. Prints the rules as readelf -wF does: that of the CFA, then that
 * of each register; "-": there is nothing for the address.
 */

#include "unwind/call-frame.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void rule_print(const FrameRule *rule)
{
        static const char *const NAMES[N_REGISTERS] = {
                "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
        };

        switch (rule->kind) {
        case FRAME_RULE_UNDEFINED:
                printf(" u");
                break;
        case FRAME_RULE_SAME:
                printf(" s");
                break;
        case FRAME_RULE_AT_CFA:
                printf(" c%+" PRId64, rule->offset);
                break;
        case FRAME_RULE_OF_CFA:
                printf(" v%+" PRId64, rule->offset);
                break;
        case FRAME_RULE_REGISTER:
                printf(" %s%+" PRId64, NAMES[rule->number], rule->offset);
                break;
        case FRAME_RULE_AT_EXPRESSION:
                printf(" exp");
                break;
        case FRAME_RULE_OF_EXPRESSION:
                printf(" vexp");
                break;
        }
}

static void rules_print(const FrameTable *table, uint64_t address)
{
        CallFrame frame;
        FrameEntry entry;
        uint64_t work;
        unsigned i;

        printf("%" PRIx64, address);
        if (!frame_table_find(table, address, &entry) ||
            !call_frame_read(&frame, &entry, address, &work)) {
                printf(" -\n");
                return;
        }
        rule_print(&frame.cfa);
        for (i = 0; i < N_REGISTERS; i++)
                rule_print(&frame.registers[i]);
        putchar('\n');
}

int main(int argc, char **argv)
{
        int fd = argc == 3 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
        FrameTable table;
        uint64_t address;
        ElfFile file;

        if (fd < 0 || !elf_file_open(&file, fd) ||
            !frame_table_read(&table, &file,
                              !strcmp(argv[1], "eh") ? FRAME_SECTION_EH : FRAME_SECTION_DEBUG)) {
                fprintf(stderr, "frame-rules: cannot read %s\n", argc == 3 ? argv[2] : "nothing");
                return 1;
        }
        while (scanf("%" SCNx64, &address) == 1)
                rules_print(&table, address);
        frame_table_deinit(&table);
        elf_file_close(&file);
        close(fd);
        return 0;
}
