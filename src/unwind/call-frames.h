/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CallFrames: the call frame information of the ELF files that were mapped
 *
 * A file is used if it is the one that was mapped, by device and inode, or by its build id. Where
 * it has nothing for an address, its debug file is used. What they have is copied once and
 * remembered, and that they have nothing, too; then they are closed.
 *
 * The recorded processes choose the files and what is in them. So each may cost as much as
 * CALL_FRAMES_MAX_WORK; then nothing more is read for it. If all files together take more than
 * CALL_FRAMES_MAX_BYTES, those go that were read for the process with most of them.
 */

#include "perfdata/address-space.h"
#include "symbols/debug-files.h"
#include "unwind/call-frame.h"

#include <sys/types.h>

/* Bytes that are read or executed for a process. Those of a browser are 30 MiB. */
#define CALL_FRAMES_MAX_WORK (UINT64_C(128) << 20)
/* What to look for a file costs, besides the bytes that are read of it. */
#define CALL_FRAMES_FILE_WORK (UINT64_C(64) << 10)
/* Bytes of memory. */
#define CALL_FRAMES_MAX_BYTES (UINT64_C(256) << 20)

typedef struct CallFrames CallFrames;

/* For programs of MACHINE. All are borrowed. DEBUG: NULL, if no debug files are to be used. */
CallFrames *call_frames_new(const Machine *machine, const AddressSpaces *spaces,
                            const DebugFinder *debug);
void call_frames_free(CallFrames *frames);

/* Where nothing is found, frames are taken to begin with a frame pointer, as .NET code has. */
typedef enum FrameSearch {
        FRAMES_FOUND,
        FRAMES_NONE,    /* the file has nothing for the address */
        FRAMES_MISSING, /* the file is not there, or is another one now */
        FRAMES_SPENT,   /* it was not looked for: the process has cost too much */
} FrameSearch;

/* What the file of MAPPING has for ADDRESS of process PID; RET is valid until the next call. */
FrameSearch call_frames_find(CallFrames *frames, int32_t pid, const SpaceMapping *mapping,
                             uint64_t address, CallFrame *ret);

/* The path of the file that was missing most often; NULL: none was. */
const char *call_frames_most_missing(const CallFrames *frames);
/* The process for which most was not looked for; 0: none. */
int32_t call_frames_most_spent(const CallFrames *frames);
