/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack registers: the registers of threads' frames, as the stack walk found them
 */

#include "unwind/stack-walk.h"

#include <glib.h>

typedef struct StackRegisters {
        GHashTable *threads; /* owned: tid -> owned GArray of FrameRegisters, the leaf first */
} StackRegisters;

void stack_registers_init(StackRegisters *registers);
void stack_registers_deinit(StackRegisters *registers);

/* Adds the frames of walks to REGISTERS. */
FrameTaker stack_registers_taker(StackRegisters *registers);

/*
 * Appends the registers of the frame with ADDRESS of thread TID, or null if unknown. NEXT: index in
 * the walk; 0 before the first frame of the thread.
 */
void stack_registers_append_json(GString *out, const StackRegisters *registers, int32_t tid,
                                 uint64_t address, guint *next);
