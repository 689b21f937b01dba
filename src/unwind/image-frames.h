/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ImageFrames: the frames of precompiled .NET code, from its machine code
 *
 * An assembly's file is used if it is the mapped one, by device and inode. Its functions are read
 * once, the code of a function when an address in it is needed; then the file is closed.
 *
 * The recorded processes choose the files and what is in them. So each process may cost
 * IMAGE_FRAMES_MAX_WORK; beyond that, nothing is read for it. Once IMAGE_FRAMES_MAX_BYTES are in
 * memory, no more is read.
 */

#include "unwind/call-frames.h"
#include "unwind/frame-code.h"

/* Maximum of bytes that are read for a process. */
#define IMAGE_FRAMES_MAX_WORK (UINT64_C(256) << 20)
/* The cost of opening a file, besides the bytes that are read of it. */
#define IMAGE_FRAMES_FILE_WORK (UINT64_C(16) << 10)
/* Bytes of memory. */
#define IMAGE_FRAMES_MAX_BYTES (UINT64_C(128) << 20)

typedef struct ImageFrames ImageFrames;

/* For programs of MACHINE. Both are borrowed. */
ImageFrames *image_frames_new(const Machine *machine, const AddressSpaces *spaces);
void image_frames_free(ImageFrames *frames);

/* The frame at ADDRESS of process PID, see frame_code_read(). FRAME_CODE_POINTER also if
 * there is no precompiled code, or it cannot be read. */
FrameCodeKind image_frames_find(ImageFrames *frames, int32_t pid, const SpaceMapping *mapping,
                                uint64_t address, bool is_leaf, CallFrame *ret);
