/* SPDX-License-Identifier: MIT */
#pragma once

/* Moment: the threads of one process at one moment, with the data to find their callers */

#include "moment/core-memory.h"
#include "perfdata/perf-writer.h"
#include "unwind/registers.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum of a thread's stack in a recording, in bytes. */
#define MOMENT_MAX_STACK PERF_WRITER_MAX_STACK
/*
 * Maximum of all stacks in a recording, in bytes: with many threads, each gets less. Also the
 * maximum of all deep stacks.
 */
#define MOMENT_MAX_STACKS (UINT64_C(256) << 20)
/* Maximum of a deep stack, in bytes: a recording has only its begin. */
#define MOMENT_MAX_DEEP (UINT64_C(16) << 20)
#define MOMENT_MAX_NAME 16 /* the kernel's limit, with the NUL */

typedef struct MomentThread {
        pid_t tid;
        char name[MOMENT_MAX_NAME];      /* empty: not known */
        uint64_t registers[N_REGISTERS]; /* by the numbers of unwind/machine.h */
        uint8_t *stack;                  /* owned: bytes from the stack pointer on */
        uint32_t n_stack;                /* bytes; 0: not readable */
        uint64_t limit; /* bytes from the stack pointer to the end of the stack; 0: not known */
} MomentThread;

/* An executable mapping, of a file or of anonymous memory. */
typedef struct MomentMapping {
        uint64_t begin, end; /* addresses; END is exclusive */
        uint64_t offset;     /* in the file, at BEGIN */
        uint32_t major, minor;
        uint64_t inode;     /* 0: not known, or no file */
        uint8_t n_build_id; /* 0: device and inode identify the file; else they are not known */
        uint8_t build_id[20];
        char *path; /* owned: in the mount namespace of the process; empty: anonymous */
} MomentMapping;

/* Memory in which the runtime has compiled code: of a core file, the dumped parts; of a process,
 * the anonymous mappings. */
typedef struct MomentCode {
        uint64_t offset; /* in the runtime's file in memory; anonymous: the address */
        uint64_t place;  /* offset in the core file, or address in the process */
        uint64_t n;      /* bytes */
} MomentCode;

typedef struct Moment {
        pid_t pid;
        const Machine *machine; /* of the process; NULL: not known, no threads */
        uint64_t time;          /* ns of CLOCK_MONOTONIC, perf's clock */
        uint64_t time_of_day;   /* ns since 1970, at the same moment */
        uint64_t stop;          /* ns from the first stop request to the last continuation; 0:
                                   nothing was stopped */
        uint32_t max_stack;     /* maximum of a stack in the recording, in bytes */
        GArray *threads;        /* owned, of MomentThread */
        GArray *mappings;       /* owned, of MomentMapping */
        GArray *code;           /* owned, of MomentCode */
        GPtrArray *notes;       /* owned strings: missing threads, and the reasons */
        CoreMemory *core;       /* owned; NULL: not of a core file */
        guint last_read;        /* index of the thread whose stack was read last */
} Moment;

/* Of a process of this machine. */
Moment *moment_new(pid_t pid);
/* NULL is fine. */
void moment_free(Moment *moment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Moment, moment_free)

/* Copies the rows of executable memory from MAPS, the text of /proc/PID/maps. */
void moment_take_maps(Moment *moment, const char *maps);
/* The same for the present mappings of its process. False: they cannot be read. */
bool moment_read_maps(Moment *moment);

/* The stacks, including the parts that a recording lacks. Borrows MOMENT. */
StackMemory moment_stack_memory(Moment *moment);

/* Writes the moment to FD as a perf.data file with a sample for each thread. */
bool moment_write(const Moment *moment, int fd, GError **error);

#define MOMENT_ERROR (g_quark_from_static_string("clrsym-moment"))
