/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * FrameCode: the frame of a compiled method by its machine code (x86-64)
 *
 * The JIT writes no call frame information. What it compiles begins in one of two ways:
 * - `push rbp`, further pushes, `sub rsp`, then rbp is set: the method keeps a frame pointer.
 * - Pushes and `sub rsp` without that: a small method, whose caller frame pointers do not show.
 * In the first instructions, and in the last ones before a return, the frame is not whole.
 * Encodings are those of the Intel SDM, volume 2.
 */

#include "unwind/call-frame.h"

typedef struct MethodCode {
        const uint8_t *bytes; /* of the whole method */
        size_t n;
        /* Code that continues a frame that is there already (OSR): its first instructions mean
         * something else. */
        bool is_continued;
        /* Code of the runtime that only jumps to a method; of which BYTES are the next ones. */
        bool is_stub;
} MethodCode;

typedef enum FrameCodeKind {
        FRAME_CODE_POINTER, /* the frame pointer has the caller; RET is not set */
        FRAME_CODE_UNKNOWN, /* it may have, and it may be the caller's own; RET is not set */
        FRAME_CODE_RULES,   /* the rules have it, and the frame pointer may */
        FRAME_CODE_HIDDEN,  /* the rules have it; the frame pointer is the caller's own */
} FrameCodeKind;

/*
 * The frame at offset AT of CODE, of a stub only as a leaf. IS_LEAF: the instruction at AT is the
 * next one; else AT is in a call.
 */
FrameCodeKind frame_code_read(const MethodCode *code, size_t at, bool is_leaf, CallFrame *ret);
