/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Moment: the threads of one process at one moment, with what callers are found in
 *
 * Registers of x86-64 only.
 */

#include "moment/core-memory.h"
#include "perfdata/perf-writer.h"
#include "unwind/registers.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the order of the bits of MOMENT_REGISTERS, which are perf's numbers (asm/perf_regs.h). */
enum {
        MOMENT_AX,
        MOMENT_BX,
        MOMENT_CX,
        MOMENT_DX,
        MOMENT_SI,
        MOMENT_DI,
        MOMENT_BP,
        MOMENT_SP,
        MOMENT_IP,
        MOMENT_R8,
        MOMENT_R9,
        MOMENT_R10,
        MOMENT_R11,
        MOMENT_R12,
        MOMENT_R13,
        MOMENT_R14,
        MOMENT_R15,
        MOMENT_N_REGISTERS,
};
#define MOMENT_REGISTERS UINT64_C(0xff01ff)

/* Bytes of a thread's stack that a recording has, at most. */
#define MOMENT_MAX_STACK PERF_WRITER_MAX_STACK
/* Bytes of all stacks together: with many threads, a recording has less of each. */
#define MOMENT_MAX_STACKS (UINT64_C(256) << 20)
/* Bytes of a thread's stack that are kept besides, at most; and of all of them. */
#define MOMENT_MAX_DEEP (UINT64_C(16) << 20)
#define MOMENT_MAX_NAME 16 /* the kernel's limit, with the NUL */

typedef struct MomentThread {
        pid_t tid;
        char name[MOMENT_MAX_NAME]; /* empty: not known */
        uint64_t registers[MOMENT_N_REGISTERS];
        uint8_t *stack;   /* owned: from the stack pointer on */
        uint32_t n_stack; /* bytes; 0: it cannot be read */
        uint64_t limit;   /* bytes from the stack pointer to the end of the stack; 0: not known */
} MomentThread;

/* A file, or other memory, that is mapped executable. */
typedef struct MomentMapping {
        uint64_t begin, end; /* addresses, END is excluded */
        uint64_t offset;     /* in the file, of BEGIN */
        uint32_t major, minor;
        uint64_t inode;     /* 0: in no file */
        uint8_t n_build_id; /* 0: device and inode count; else they are not known */
        uint8_t build_id[20];
        char *path; /* owned: in the mount namespace of the process; empty: anonymous */
} MomentMapping;

/* Memory in which the runtime has compiled code: of a core file, the dumped parts; of a process,
 * the anonymous mappings. */
typedef struct MomentCode {
        uint64_t offset; /* in the runtime's file in memory; of no file: the address */
        uint64_t place;  /* in the core file, or the memory of the process */
        uint64_t n;      /* bytes */
} MomentCode;

typedef struct Moment {
        pid_t pid;
        uint64_t time;        /* ns of the kernel's CLOCK_MONOTONIC, as perf has it */
        uint64_t time_of_day; /* ns since 1970, of the same moment */
        uint64_t stop;        /* ns from the first thread that was to stop to the last that went on;
                                 0: nothing was stopped */
        uint32_t max_stack;   /* bytes that a recording has of a stack at most */
        GArray *threads;      /* owned, of MomentThread */
        GArray *mappings;     /* owned, of MomentMapping */
        GArray *code;         /* owned, of MomentCode */
        GPtrArray *notes;     /* owned strings: threads that are missing, and why */
        CoreMemory *core;     /* owned; NULL: of no core file */
        guint last_read;      /* the number of the thread whose stack was read last */
} Moment;

Moment *moment_new(pid_t pid);
/* NULL is fine. */
void moment_free(Moment *moment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Moment, moment_free)

/* Takes a copy of the mappings that MAPS, the text of /proc/PID/maps, has of executable memory. */
void moment_take_maps(Moment *moment, const char *maps);

/* All that is known of the stacks, more than a recording has. MOMENT is borrowed. */
StackMemory moment_stack_memory(Moment *moment);

/* Writes the moment as a perf.data file, with a sample for each thread, to FD. */
bool moment_write(const Moment *moment, int fd, GError **error);

#define MOMENT_ERROR (g_quark_from_static_string("clrsym-moment"))
