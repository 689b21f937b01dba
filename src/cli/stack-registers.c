/* SPDX-License-Identifier: MIT */
#include "cli/stack-registers.h"

#include "util/json-text.h"

typedef struct FrameRegisters {
        uint64_t address; /* as in the stack's chain */
        Registers registers;
        bool is_hidden; /* the next visible frame may stand for it */
} FrameRegisters;

static void frames_free(gpointer data)
{
        g_array_unref(data);
}

void stack_registers_init(StackRegisters *registers)
{
        registers->threads = g_hash_table_new_full(NULL, NULL, NULL, frames_free);
}

void stack_registers_deinit(StackRegisters *registers)
{
        g_hash_table_unref(registers->threads);
}

/* A FrameTaker's function. */
static void stack_registers_take(void *data, int32_t tid, uint64_t address,
                                 const Registers *registers, bool is_hidden)
{
        StackRegisters *all = data;
        const FrameRegisters frame = {
                .address = address, .registers = *registers, .is_hidden = is_hidden};
        GArray *frames = g_hash_table_lookup(all->threads, GINT_TO_POINTER(tid));

        if (!frames) {
                frames = g_array_new(FALSE, FALSE, sizeof(FrameRegisters));
                g_hash_table_insert(all->threads, GINT_TO_POINTER(tid), frames);
        }
        g_array_append_val(frames, frame);
}

FrameTaker stack_registers_taker(StackRegisters *registers)
{
        return (FrameTaker){.take = stack_registers_take, .data = registers};
}

/* The next frame with ADDRESS, or the hidden frame that stands for it; NULL: there is none. */
static const FrameRegisters *frames_find(const GArray *frames, uint64_t address, guint *next)
{
        const FrameRegisters *hidden = NULL;
        guint i;

        for (i = *next; i < frames->len; i++) {
                const FrameRegisters *frame = &g_array_index(frames, FrameRegisters, i);

                if (!frame->is_hidden) {
                        const FrameRegisters *found = frame->address == address ? frame : hidden;

                        *next = found ? i + 1 : *next;
                        return found;
                }
                if (!hidden && frame->address == address)
                        hidden = frame;
        }
        return NULL;
}

void stack_registers_append_json(GString *out, const StackRegisters *registers, int32_t tid,
                                 uint64_t address, guint *next)
{
        const GArray *frames = g_hash_table_lookup(registers->threads, GINT_TO_POINTER(tid));
        const FrameRegisters *found = frames ? frames_find(frames, address, next) : NULL;
        const char *separator = "{";
        unsigned i;

        if (!found) {
                g_string_append(out, "null");
                return;
        }
        for (i = 0; i < N_REGISTERS; i++) {
                if (!registers_have(&found->registers, i))
                        continue;
                g_string_append_printf(out, "%s\"%s\":", separator,
                                       found->registers.machine->names[i]);
                json_append_hex(out, found->registers.values[i]);
                separator = ",";
        }
        g_string_append_c(out, '}');
}
