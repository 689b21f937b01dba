/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Machine: the facts about a kind of machine for finding callers
 *
 * Registers have our own numbers, so that the three that each walk needs are the same on all
 * machines; the others have their DWARF numbers.
 *
 * - x86-64: the ABI's "DWARF Register Number Mapping".
 * - arm64: "DWARF for the Arm 64-bit Architecture"; x6, x7 and x16 have the numbers of the three.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        REGISTER_FP = 6, /* the frame pointer */
        REGISTER_SP = 7,
        REGISTER_PC = 16,
        REGISTER_LR = 30, /* arm64: a call puts its return address here */
        N_REGISTERS = 33,
};

/* Maximum of a machine's words in the kernel's status of a thread. */
#define MACHINE_MAX_STATUS 34u

typedef enum MachineKind {
        MACHINE_X86_64,
        MACHINE_ARM64,
} MachineKind;

typedef struct Machine {
        MachineKind kind;
        const char *name;      /* of uname(2) */
        uint16_t elf_machine;  /* EM_* of its files */
        const int8_t *of_perf; /* our number by perf's (asm/perf_regs.h); -1: none */
        unsigned n_of_perf;    /* length of OF_PERF */
        /* Our number by the order in the kernel's status of a thread: NT_PRSTATUS of ptrace(2), of
         * 64 bits each, and pr_reg in core files; -1: none. */
        const int8_t *of_status;
        unsigned n_of_status;
        const uint8_t *of_dwarf; /* our number by DWARF's */
        unsigned n_of_dwarf;
        const char *const
                *names;     /* by our number, in the spelling of debuggers; NULL: no register */
        uint64_t preserved; /* bits by our number: a function preserves them */
        unsigned return_register; /* our number of the register with the return address: PC or LR */
        uint64_t end;             /* addresses of programs are below this */
        const char *perf_registers; /* for perf's --user-regs, if not all events have copies; NULL:
                                     * perf records all */
        bool is_record_last;        /* saved frame pointer and return address are at the end of a
                                     * frame */
        bool hides_callers;         /* a method that was replaced hides its caller
                                     * (perf/osr-callers.h) */
        bool ends_signals_in_vdso;  /* the vdso has the return from a handler, without rules */
} Machine;

/* By the name of uname(2), as perf records it; NULL: callers cannot be found there. */
const Machine *machine_find(const char *name);
/* By EM_*; NULL as above. */
const Machine *machine_find_elf(uint16_t elf_machine);

/* The bits of all registers of OF_PERF, for sample_regs_user of perf_event_open(2). */
uint64_t machine_perf_mask(const Machine *machine);

/* Sets, by our numbers, the registers of STATUS, which has N_OF_STATUS words. */
void machine_take_status(const Machine *machine, const uint8_t *status,
                         uint64_t ret_registers[N_REGISTERS]);

/* Our number of DWARF's register NUMBER; N_REGISTERS or more: not kept. */
static inline uint64_t machine_of_dwarf(const Machine *machine, uint64_t number)
{
        return number < machine->n_of_dwarf ? machine->of_dwarf[number] : N_REGISTERS;
}

/* VALUE as an address of code: arm64 signs return addresses in the bits above the address. */
static inline uint64_t machine_code_address(const Machine *machine, uint64_t value)
{
        const uint64_t of_kernel = UINT64_C(1) << 55;

        return machine->return_register == REGISTER_LR && !(value & of_kernel)
                       ? value & (machine->end - 1)
                       : value;
}
