/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack registers: the registers of the frames of threads, as the walk of their stacks found them
 */

#include "unwind/stack-walk.h"

#include <glib.h>

typedef struct StackRegisters {
        GHashTable *threads; /* owned: tid -> owned GArray of FrameRegisters, the leaf first */
} StackRegisters;

void stack_registers_init(StackRegisters *registers);
void stack_registers_deinit(StackRegisters *registers);

/* It takes the frames of walks into REGISTERS. */
FrameTaker stack_registers_taker(StackRegisters *registers);

/*
 * Appends those of the frame with ADDRESS of thread TID, or null if they are not known. NEXT counts
 * the frames of the walk; 0 before the first one of the thread.
 */
void stack_registers_append_json(GString *out, const StackRegisters *registers, int32_t tid,
                                 uint64_t address, guint *next);
