/* SPDX-License-Identifier: MIT */

/*
 * code-frames FILE: the frames of arm64's machine code at places of a file
 *
 * Reads lines of a method's begin in the file, its length and an offset in it, in bytes, decimal.
 * Prints the result of frame_code_read() for a leaf there: the register and offset of the CFA, then
 * the place of each of x19 to x30 relative to the CFA, "-" if unchanged; or only the kind.
 */

#include "unwind/frame-code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void frame_print(const Machine *machine, const CallFrame *frame)
{
        unsigned i;

        printf("%s%+" PRId64, machine->names[frame->cfa.number], frame->cfa.offset);
        for (i = 19; i <= 30; i++) {
                const FrameRule *rule = &frame->registers[machine->of_dwarf[i]];

                if (rule->kind == FRAME_RULE_AT_CFA)
                        printf(" %" PRId64, rule->offset);
                else
                        printf(rule->kind == FRAME_RULE_SAME ? " -" : " ?");
        }
        putchar('\n');
}

int main(int argc, char **argv)
{
        const Machine *machine = machine_find("aarch64");
        int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
        unsigned long begin, n, at;
        struct stat status;
        const uint8_t *file;

        if (fd < 0 || fstat(fd, &status) < 0)
                return 1;
        file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file == MAP_FAILED)
                return 1;
        while (scanf("%lu %lu %lu", &begin, &n, &at) == 3) {
                const MethodCode code = {.bytes = file + begin, .n = n};
                CallFrame frame;

                if (begin > (size_t)status.st_size || n > (size_t)status.st_size - begin)
                        return 1;
                switch (frame_code_read(machine, &code, at, /* is_leaf= */ true, &frame)) {
                case FRAME_CODE_RULES:
                case FRAME_CODE_HIDDEN:
                        frame_print(machine, &frame);
                        break;
                case FRAME_CODE_POINTER:
                        puts("pointer");
                        break;
                case FRAME_CODE_UNKNOWN:
                        puts("unknown");
                        break;
                }
        }
        close(fd);
        return 0;
}
