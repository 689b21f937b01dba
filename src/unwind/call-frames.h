/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CallFrames: the call frame information of mapped ELF files
 *
 * A file is used if it is the mapped one, by device and inode, or by its build id. If it has
 * nothing for an address, its debug file is used. The tables are copied once and kept, also the
 * fact that there are none; then the files are closed.
 *
 * The recorded processes choose the files and what is in them. So each process may cost
 * CALL_FRAMES_MAX_WORK; beyond that, nothing is read for it. If all files together take more than
 * CALL_FRAMES_MAX_BYTES, those of the process with most bytes are dropped.
 */

#include "perfdata/address-space.h"
#include "symbols/debug-files.h"
#include "unwind/call-frame.h"

#include <sys/types.h>

/* Maximum of bytes that are read or executed for a process. A browser needs 30 MiB. */
#define CALL_FRAMES_MAX_WORK (UINT64_C(128) << 20)
/* The cost of looking for a file, besides the bytes that are read of it. */
#define CALL_FRAMES_FILE_WORK (UINT64_C(64) << 10)
/* Bytes of memory. */
#define CALL_FRAMES_MAX_BYTES (UINT64_C(256) << 20)
/* The same for the instructions of a function, of a known file. */
#define CALL_FRAMES_END_WORK (UINT64_C(4) << 10)
/* Bytes of a function whose instructions are read. */
#define CALL_FRAMES_MAX_CODE (64u << 10)
/* Maximum of places in a file whose instructions are remembered. */
#define CALL_FRAMES_MAX_ENDS 512

typedef struct CallFrames CallFrames;

/* For programs of MACHINE. All are borrowed. DEBUG: NULL: no debug files are used. */
CallFrames *call_frames_new(const Machine *machine, const AddressSpaces *spaces,
                            const DebugFinder *debug);
void call_frames_free(CallFrames *frames);

/* If nothing is found, the frame is assumed to have a frame pointer, as .NET code has. */
typedef enum FrameSearch {
        FRAMES_FOUND,
        FRAMES_NONE,    /* the file has nothing for the address */
        FRAMES_MISSING, /* the file is missing, or is another one now */
        FRAMES_SPENT,   /* not searched: the process has cost too much */
} FrameSearch;

/*
 * The frame at ADDRESS of process PID, by the file of MAPPING; RET is valid until the next call.
 * IS_LEAF: ADDRESS is that of the next instruction, not in a call.
 *
 * Compilers do not write where a function takes its caller's frame pointer back, before it returns.
 * There the frame is that of the instructions (x86-64).
 */
FrameSearch call_frames_find(CallFrames *frames, int32_t pid, const SpaceMapping *mapping,
                             uint64_t address, bool is_leaf, CallFrame *ret);

/* The path of the file that was missing most often; NULL: none. */
const char *call_frames_most_missing(const CallFrames *frames);
/* The process with most refused searches; 0: none. */
int32_t call_frames_most_spent(const CallFrames *frames);
