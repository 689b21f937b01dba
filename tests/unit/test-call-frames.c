/* SPDX-License-Identifier: MIT */

/* Frames of functions of this program, from its own file. */

#include "unwind/call-frames.h"
#include "support/suite.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Without mappings, on each machine. */
START_TEST(test_empty)
{
        AddressSpaces *spaces = address_spaces_new();
        CallFrames *frames = call_frames_new(machine_find("x86_64"), spaces, NULL);

        ck_assert_ptr_null(address_spaces_find(spaces, 7, 2, 0x1000));
        ck_assert_ptr_null(call_frames_most_missing(frames));
        ck_assert_int_eq(call_frames_most_spent(frames), 0);
        call_frames_free(frames);
        address_spaces_free(spaces);
}
END_TEST

#ifdef __x86_64__

/* Call frame information as compilers write it: no rule for the pop of rbp. */
__asm__(".text\n"
        ".type returns, @function\n"
        "returns: .cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
        "returns_body: nop\n"
        "pop %rbp\n.cfi_def_cfa 7, 8\n"
        "returns_end: ret\n"
        ".cfi_endproc\n.size returns, . - returns\n"
        /* The same path by a jump to another function. */
        ".type jumps, @function\n"
        "jumps: .cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
        "pop %rbp\n.cfi_def_cfa_offset 8\n"
        "jumps_end: .byte 0xe9\n.long returns - . - 4\n"
        ".cfi_endproc\n.size jumps, . - jumps\n"
        /* rbp is saved in the red zone, and has another value. */
        ".type red, @function\n"
        "red: .cfi_startproc\n"
        "mov %rbp, -8(%rsp)\n.cfi_offset 6, -16\n"
        "xor %ebp, %ebp\n"
        "red_body: .byte 0xe9\n.long 0\n"
        "mov -8(%rsp), %rbp\n"
        "ret\n"
        ".cfi_endproc\n.size red, . - red\n");
extern const char returns_body[], returns_end[], jumps_end[], red_body[];

static const struct {
        const char *what, *address;
        bool is_leaf;
        FrameRuleKind pointer;
} PLACES[] = {
        {"in the body", returns_body, true, FRAME_RULE_AT_CFA},
        {"at the return", returns_end, true, FRAME_RULE_SAME},
        {"at the return, as a caller", returns_end, false, FRAME_RULE_AT_CFA},
        {"at the jump out of the function", jumps_end, true, FRAME_RULE_SAME},
        {"at a jump in the function", red_body, true, FRAME_RULE_AT_CFA},
};

/* The mapping of this program with ADDRESS, as perf records it. */
static void take_own_mapping(AddressSpaces *spaces, uint64_t address)
{
        struct {
                struct perf_event_header header;
                uint32_t pid, tid;
                uint64_t begin, size, offset;
                uint32_t major, minor;
                uint64_t inode, generation;
                uint32_t protection, flags;
                char path[256];
        } record = {.header = {PERF_RECORD_MMAP2, 0, sizeof(record)}, .pid = 7, .tid = 7};
        FILE *maps = fopen("/proc/self/maps", "re");
        unsigned long begin, end, offset;
        char line[512];
        struct stat status;
        ssize_t n;

        ck_assert_ptr_nonnull(maps);
        while (fgets(line, sizeof(line), maps))
                if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
                    address >= begin && address < end) {
                        record.begin = begin;
                        record.size = end - begin;
                        record.offset = offset;
                }
        fclose(maps);
        n = readlink("/proc/self/exe", record.path, sizeof(record.path) - 1);
        ck_assert(n > 0 && !stat(record.path, &status));
        record.major = major(status.st_dev);
        record.minor = minor(status.st_dev);
        record.inode = status.st_ino;
        record.protection = PROT_EXEC;
        record.flags = MAP_PRIVATE;
        address_spaces_take(spaces, &record.header, 1);
}

/* Two rounds: in the second round, the instructions come from the cache. */
START_TEST(test_ends)
{
        const Machine *machine = machine_find("x86_64");
        AddressSpaces *spaces = address_spaces_new();
        CallFrames *frames = call_frames_new(machine, spaces, NULL);
        size_t i;

        for (i = 0; i < 2 * G_N_ELEMENTS(PLACES); i++) {
                const size_t place = i % G_N_ELEMENTS(PLACES);
                const uint64_t address = (uint64_t)(uintptr_t)PLACES[place].address;
                const SpaceMapping *mapping;
                CallFrame frame;

                if (i == 0)
                        take_own_mapping(spaces, address);
                mapping = address_spaces_find(spaces, 7, 2, address);
                ck_assert_ptr_nonnull(mapping);
                ck_assert_int_eq(call_frames_find(frames, 7, mapping, address,
                                                  PLACES[place].is_leaf, &frame),
                                 FRAMES_FOUND);
                ck_assert_msg(frame.registers[REGISTER_FP].kind == PLACES[place].pointer, "%s",
                              PLACES[place].what);
                ck_assert_int_eq(frame.registers[REGISTER_PC].kind, FRAME_RULE_AT_CFA);
        }
        call_frames_free(frames);
        address_spaces_free(spaces);
}
END_TEST

#endif

Suite *suite_new(void)
{
        Suite *suite = suite_create("call-frames");
        TCase *tests = tcase_create("call-frames");

        tcase_add_test(tests, test_empty);
#ifdef __x86_64__
        tcase_add_test(tests, test_ends);
#endif
        suite_add_tcase(suite, tests);
        return suite;
}
