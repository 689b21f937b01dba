/* SPDX-License-Identifier: MIT */

/*
 * frame-rules MACHINE eh|debug FILE: rules for the caller's registers at addresses of an ELF file
 *
 * Reads an address from each line, in hex. Prints the rules as readelf -wF does: that of the CFA,
 * then that of each register; "-": no rules for the address.
 */

#include "unwind/call-frame.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void rule_print(const Machine *machine, const FrameRule *rule)
{
        switch (rule->kind) {
        case FRAME_RULE_NONE:
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
                printf(" %s%+" PRId64, machine->names[rule->number], rule->offset);
                break;
        case FRAME_RULE_AT_EXPRESSION:
                printf(" exp");
                break;
        case FRAME_RULE_OF_EXPRESSION:
                printf(" vexp");
                break;
        }
}

static void rules_print(const Machine *machine, const FrameTable *table, uint64_t address)
{
        CallFrame frame;
        FrameEntry entry;
        uint64_t work;
        unsigned i;

        printf("%" PRIx64, address);
        if (!frame_table_find(table, address, &entry) ||
            !call_frame_read(&frame, machine, &entry, address, &work)) {
                printf(" -\n");
                return;
        }
        rule_print(machine, &frame.cfa);
        for (i = 0; i < machine->n_of_dwarf; i++)
                rule_print(machine, &frame.registers[machine->of_dwarf[i]]);
        putchar('\n');
}

int main(int argc, char **argv)
{
        const Machine *machine = argc == 4 ? machine_find(argv[1]) : NULL;
        int fd = machine ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
        FrameTable table;
        uint64_t address;
        ElfFile file;

        if (fd < 0 || !elf_file_open(&file, fd) ||
            !frame_table_read(&table, &file,
                              !strcmp(argv[2], "eh") ? FRAME_SECTION_EH : FRAME_SECTION_DEBUG)) {
                fprintf(stderr, "frame-rules: cannot read %s\n", argc == 4 ? argv[3] : "nothing");
                return 1;
        }
        while (scanf("%" SCNx64, &address) == 1)
                rules_print(machine, &table, address);
        frame_table_deinit(&table);
        elf_file_close(&file);
        close(fd);
        return 0;
}
