/* SPDX-License-Identifier: MIT */
#include "unwind/machine.h"

#include <elf.h>
#include <string.h>

#define BIT(number) (UINT64_C(1) << (number))

static const int8_t X86_64_OF_PERF[] = {
        0,  3,  2,  1,  4, 5, REGISTER_FP, REGISTER_SP, REGISTER_PC, -1, -1, -1,
        -1, -1, -1, -1, 8, 9, 10,          11,          12,          13, 14, 15,
};
static const int8_t X86_64_OF_STATUS[] = {
        15, 14, 13,          12, REGISTER_FP, 3,           11, 10, 9,  8,  0,  2,  1,  4,
        5,  -1, REGISTER_PC, -1, -1,          REGISTER_SP, -1, -1, -1, -1, -1, -1, -1,
};
static const uint8_t X86_64_OF_DWARF[] = {
        0, 1, 2, 3, 4, 5, REGISTER_FP, REGISTER_SP, 8, 9, 10, 11, 12, 13, 14, 15, REGISTER_PC,
};
static const char *const X86_64_NAMES[N_REGISTERS] = {
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
        "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

/* The numbers of these registers, because the three common ones have theirs. */
enum { ARM64_X6 = 29, ARM64_X7 = 31, ARM64_X16 = 32 };

/* perf, DWARF and the kernel have the same order: x0 to x30, sp, pc. */
#define ARM64_NUMBERS                                                                              \
        0, 1, 2, 3, 4, 5, ARM64_X6, ARM64_X7, 8, 9, 10, 11, 12, 13, 14, 15, ARM64_X16, 17, 18, 19, \
                20, 21, 22, 23, 24, 25, 26, 27, 28, REGISTER_FP, REGISTER_LR, REGISTER_SP,         \
                REGISTER_PC
static const int8_t ARM64_OF_PERF[] = {ARM64_NUMBERS};
static const int8_t ARM64_OF_STATUS[] = {ARM64_NUMBERS, -1};
static const uint8_t ARM64_OF_DWARF[] = {ARM64_NUMBERS};
static const char *const ARM64_NAMES[N_REGISTERS] = {
        "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x29", "sp",  "x8",  "x9",  "x10",
        "x11", "x12", "x13", "x14", "x15", "pc",  "x17", "x18", "x19", "x20", "x21",
        "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x6",  "x30", "x7",  "x16",
};

static const Machine MACHINES[] = {
        [MACHINE_X86_64] = {.kind = MACHINE_X86_64,
                            .name = "x86_64",
                            .elf_machine = EM_X86_64,
                            .of_perf = X86_64_OF_PERF,
                            .n_of_perf = sizeof(X86_64_OF_PERF),
                            .of_status = X86_64_OF_STATUS,
                            .n_of_status = sizeof(X86_64_OF_STATUS),
                            .of_dwarf = X86_64_OF_DWARF,
                            .n_of_dwarf = sizeof(X86_64_OF_DWARF),
                            .names = X86_64_NAMES,
                            .preserved = BIT(3) | BIT(REGISTER_FP) | BIT(12) | BIT(13) | BIT(14) |
                                         BIT(15),
                            .return_register = REGISTER_PC,
                            .end = BIT(47),
                            .is_record_last = true,
                            .hides_callers = true},
        /* Programs get addresses from 2^48 on only on request. */
        [MACHINE_ARM64] = {.kind = MACHINE_ARM64,
                           .name = "aarch64",
                           .elf_machine = EM_AARCH64,
                           .of_perf = ARM64_OF_PERF,
                           .n_of_perf = sizeof(ARM64_OF_PERF),
                           .of_status = ARM64_OF_STATUS,
                           .n_of_status = sizeof(ARM64_OF_STATUS),
                           .of_dwarf = ARM64_OF_DWARF,
                           .n_of_dwarf = sizeof(ARM64_OF_DWARF),
                           .names = ARM64_NAMES,
                           .preserved = BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(24) |
                                        BIT(25) | BIT(26) | BIT(27) | BIT(28) | BIT(REGISTER_FP) |
                                        BIT(REGISTER_LR),
                           .return_register = REGISTER_LR,
                           .end = BIT(48),
                           .perf_registers = "x19,x20,x21,x22,x23,x24,x25,x26,x27,x28,x29,lr,sp,pc",
                           .ends_signals_in_vdso = true},
};

_Static_assert(sizeof(X86_64_OF_STATUS) <= MACHINE_MAX_STATUS &&
                       sizeof(ARM64_OF_STATUS) <= MACHINE_MAX_STATUS,
               "a status fits");

const Machine *machine_find(const char *name)
{
        size_t i;

        for (i = 0; i < sizeof(MACHINES) / sizeof(*MACHINES); i++)
                if (!strcmp(MACHINES[i].name, name))
                        return &MACHINES[i];
        return NULL;
}

const Machine *machine_find_elf(uint16_t elf_machine)
{
        size_t i;

        for (i = 0; i < sizeof(MACHINES) / sizeof(*MACHINES); i++)
                if (MACHINES[i].elf_machine == elf_machine)
                        return &MACHINES[i];
        return NULL;
}

uint64_t machine_perf_mask(const Machine *machine)
{
        uint64_t mask = 0;
        unsigned i;

        for (i = 0; i < machine->n_of_perf; i++)
                if (machine->of_perf[i] >= 0)
                        mask |= BIT(i);
        return mask;
}

void machine_take_status(const Machine *machine, const uint8_t *status,
                         uint64_t ret_registers[N_REGISTERS])
{
        unsigned i;

        for (i = 0; i < machine->n_of_status; i++)
                if (machine->of_status[i] >= 0)
                        memcpy(&ret_registers[machine->of_status[i]], status + i * sizeof(uint64_t),
                               sizeof(uint64_t));
}
