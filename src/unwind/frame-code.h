/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * FrameCode: the frame of a compiled method, from its machine code
 *
 * The JIT writes no call frame information. On x86-64 its code begins in one of two ways:
 * - `push rbp`, further pushes, `sub rsp`, then rbp is set: the method keeps a frame pointer.
 * - Pushes and `sub rsp` without that: a small method, whose caller frame pointers do not show.
 * On arm64 each method saves x29 and x30 side by side, and points x29 to them: with `stp` that
 * makes room for the whole frame, or after `sub sp`, below or above other registers.
 * In the first instructions, and in the last ones before a return, the frame is not whole.
 */

#include "unwind/call-frame.h"

typedef struct MethodCode {
        const uint8_t *bytes; /* of the whole method */
        size_t n;
        /* Code that continues an existing frame (OSR): on x86-64 its first instructions mean
         * something else. */
        bool is_continued;
        /* Code of the runtime that only jumps to a method; BYTES begin at the next instruction. */
        bool is_stub;
} MethodCode;

typedef enum FrameCodeKind {
        FRAME_CODE_POINTER, /* the frame pointer leads to the caller; RET is not set */
        FRAME_CODE_UNKNOWN, /* the frame pointer may lead to the caller, or be the caller's own; RET
                             * is not set */
        FRAME_CODE_RULES,   /* the rules lead to the caller, and the frame pointer may */
        FRAME_CODE_HIDDEN, /* the rules lead to the caller; the frame pointer is the caller's own */
} FrameCodeKind;

/* The frame at offset AT of CODE; of a stub only as a leaf. IS_LEAF: AT is the next instruction;
 * false: AT is in a call. */
FrameCodeKind frame_code_read_x86_64(const MethodCode *code, size_t at, bool is_leaf,
                                     CallFrame *ret);
FrameCodeKind frame_code_read_arm64(const MethodCode *code, size_t at, bool is_leaf,
                                    CallFrame *ret);

/* Is AT in the last instructions of the function CODE, which leave it? Then its frame is that of
 * these instructions. */
bool frame_code_read_end_x86_64(const MethodCode *code, size_t at, CallFrame *ret);

static inline FrameCodeKind frame_code_read(const Machine *machine, const MethodCode *code,
                                            size_t at, bool is_leaf, CallFrame *ret)
{
        switch (machine->kind) {
        case MACHINE_X86_64:
                return frame_code_read_x86_64(code, at, is_leaf, ret);
        case MACHINE_ARM64:
                return frame_code_read_arm64(code, at, is_leaf, ret);
        }
        return FRAME_CODE_UNKNOWN;
}
