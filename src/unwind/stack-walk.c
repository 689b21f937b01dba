/* SPDX-License-Identifier: MIT */
#include "unwind/stack-walk.h"

#include "perf/chain.h"
#include "perf/mapping-kind.h"
#include "perfdata/error.h"
#include "symbols/vdso.h"
#include "unwind/image-frames.h"
#include "unwind/registers.h"
#include "unwind/stack-pairs.h"
#include "unwind/thread-roots.h"

#include <limits.h>
#include <string.h>

/* Cached places in files: whether native code there keeps a frame pointer. */
#define MAX_HIDING (1u << 20)
enum { NATIVE_SHOWS = 1, NATIVE_HIDES };

struct StackWalk {
        AddressSpaces *spaces; /* borrowed */
        const Machine *machine;
        CallFrames *frames;
        ImageFrames *images;
        const MethodFinder *methods; /* borrowed; NULL: the code of methods is not known */
        const FrameTaker *taker;     /* borrowed; NULL: registers are not wanted */
        const StackMemory *memory;   /* borrowed; NULL: only the copies of stacks are known */
        GHashTable *hiding;          /* owned: owned place in a file -> NATIVE_* */
        GArray *hidden;              /* owned, of OsrCaller */
        StackCounts counts;
        StackPairs pairs;
        ThreadRoots roots;  /* from the chains of samples without a copy */
        bool is_missing;    /* a file with frames of this sample is missing */
        bool is_unread;     /* compiled code with frames of this sample could not be read */
        int32_t unread;     /* the first process with such a sample; 0: none */
        bool is_spent;      /* the process of this sample has cost too much */
        bool is_uncertain;  /* the caller of this frame is uncertain */
        bool is_guess;      /* a caller in this sample so far is a guess */
        bool keeps_pointer; /* the last frame of this sample has the frame pointer of the leaf */
        bool is_cut;        /* the copy of this sample is too short */
        size_t max_callers; /* of a sample, without a mark */
        size_t n_deep;      /* frames that stacks can still have besides their first ones */
        uint64_t *callers;  /* owned: the frames of this sample, and a mark */
        uint64_t *chain;    /* owned: the new chain of this sample */
};

/* perf's own limit of frames, unless the event has another one. */
#define MAX_FRAMES 127

static unsigned event_max_frames(const PerfAttr *event)
{
        return event->attr.sample_max_stack ? event->attr.sample_max_stack : MAX_FRAMES;
}

void stack_counts_deinit(StackCounts *counts)
{
        g_clear_pointer(&counts->missing, g_free);
        g_clear_pointer(&counts->spent, g_free);
        g_clear_pointer(&counts->unread, g_free);
}

const Machine *stack_walk_machine(const PerfFeatures *features)
{
        return machine_find(perf_features_machine(features));
}

bool stack_walk_check(const PerfData *data, bool *ret_has_copies, GError **error)
{
        guint i;

        *ret_has_copies = false;
        for (i = 0; i < data->attrs->len; i++)
                *ret_has_copies |= perf_sample_has(&g_array_index(data->attrs, PerfAttr, i).attr);
        if (!*ret_has_copies || stack_walk_machine(&data->features))
                return true;
        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_UNKNOWN,
                    "its copies of stacks are of %s, and callers are found in those of x86_64 "
                    "and aarch64 only: record with --call-graph fp",
                    perf_features_machine(&data->features));
        return false;
}

void stack_walk_note(StackWalk *walk, const PerfAttr *event, const struct perf_event_header *record,
                     const PerfSample *sample)
{
        const uint64_t *chain;
        uint64_t begin;
        size_t n;

        stack_pairs_note(&walk->pairs, event, record, sample);
        if (!walk->methods || !perf_sample_is_chain(&event->attr))
                return;
        n = perf_sample_user_chain(sample, &chain, &begin);
        if (n)
                thread_roots_note(&walk->roots, sample->tid, chain[n - 1]);
}

void stack_walk_begin(StackWalk *walk)
{
        stack_pairs_begin(&walk->pairs);
}

static MappingKind stack_walk_kind(const StackWalk *walk, const SpaceMapping *mapping)
{
        return mapping_kind_of_dso(address_spaces_file(walk->spaces, mapping->file)->path);
}

static bool stack_walk_is_jitted(const StackWalk *walk, const SpaceMapping *mapping)
{
        return stack_walk_kind(walk, mapping) == MAPPING_JITTED;
}

/* True if the mapping has only compiled code, for which there is no call frame information. */
static bool stack_walk_is_compiled(const StackWalk *walk, const SpaceMapping *mapping)
{
        const MappingKind kind = stack_walk_kind(walk, mapping);

        return kind == MAPPING_JITTED || kind == MAPPING_IMAGE;
}

static bool stack_walk_is_vdso(const StackWalk *walk, const SpaceMapping *mapping)
{
        return vdso_is(address_spaces_file(walk->spaces, mapping->file)->path);
}

/* The frame of compiled code, from its instructions. */
static FrameCodeKind stack_walk_find_code(StackWalk *walk, const PerfSample *sample,
                                          const SpaceMapping *mapping, uint64_t address,
                                          bool is_leaf, CallFrame *ret)
{
        const MethodPlace place = {.pid = sample->pid,
                                   .time = sample->time,
                                   .address = address,
                                   .begin = mapping->begin,
                                   .end = mapping->end,
                                   .offset = mapping->offset};
        const MappingKind kind = stack_walk_kind(walk, mapping);
        MethodCode code = {0};
        MethodSearch search;
        uint64_t start;

        if (kind == MAPPING_IMAGE || kind == MAPPING_OTHER)
                return image_frames_find(walk->images, sample->pid, mapping, address, is_leaf, ret);
        if (kind != MAPPING_JITTED || !walk->methods) {
                walk->is_guess |= kind == MAPPING_JITTED;
                return FRAME_CODE_POINTER;
        }
        search = walk->methods->find(walk->methods->data, &place, &code, &start);
        switch (search) {
        case METHOD_FOUND:
                return frame_code_read(walk->machine, &code, (size_t)(address - start), is_leaf,
                                       ret);
        case METHOD_UNKNOWN:
                return FRAME_CODE_UNKNOWN;
        case METHOD_UNREAD:
        case METHOD_FOREIGN:
                walk->is_guess |= !code.is_continued;
                walk->is_unread |= search == METHOD_UNREAD && !code.is_continued;
                /* Not in a recording: each method of an ended process would have the mark. */
                if (walk->memory && !code.is_continued)
                        return FRAME_CODE_UNKNOWN;
                break;
        }
        return FRAME_CODE_POINTER;
}

/* True if VALUE can be a return address. */
static bool stack_walk_is_code(const StackWalk *walk, const PerfSample *sample, uint64_t value)
{
        value = machine_code_address(walk->machine, value);
        return value && value < walk->machine->end &&
               address_spaces_find(walk->spaces, sample->pid, sample->time, value - 1);
}

static bool stack_walk_is_code_in_lr(const StackWalk *walk, const PerfSample *sample,
                                     const Registers *registers)
{
        return registers_have(registers, REGISTER_LR) &&
               stack_walk_is_code(walk, sample, registers->values[REGISTER_LR]);
}

/*
 * A frame of unknown code with REGISTERS is assumed to have the frame pointer. If it has none, its
 * return address is in the stack between its callee's frame, which ends at SP, and that pointer;
 * or, for a leaf, in LR.
 */
static bool stack_walk_is_uncertain(StackWalk *walk, const PerfSample *sample, StackCopy *stack,
                                    const Registers *registers)
{
        uint64_t sp = registers->values[REGISTER_SP], value;

        if (stack_walk_is_code_in_lr(walk, sample, registers))
                return true;
        for (; sp < registers->values[REGISTER_FP]; sp += sizeof(value))
                if (!stack_copy_read(stack, sp, &value) || stack_walk_is_code(walk, sample, value))
                        return true;
        return false;
}

/* By call frame information. The SP at its begin can be unknown. */
static RegistersStep stack_walk_step_frame(StackWalk *walk, Registers *registers, StackCopy *stack,
                                           const CallFrame *frame)
{
        if (frame->cfa.kind != FRAME_RULE_REGISTER || frame->cfa.number != REGISTER_SP ||
            registers_have(registers, REGISTER_SP))
                return registers_step_frame(registers, stack, frame);
        walk->is_guess = true;
        walk->is_uncertain = !call_frame_keeps_pointer(frame, walk->machine);
        return registers_step_pointer(registers, stack);
}

/*
 * By the rules of compiled code. If they lead nowhere in known memory, SP is not that of this
 * frame: after a stack overflow, the runtime handles it on another stack, and its call frame
 * information restores the frame pointer only.
 */
static RegistersStep stack_walk_step_code(StackWalk *walk, Registers *registers, StackCopy *stack,
                                          const CallFrame *frame)
{
        const Registers before = *registers;
        const RegistersStep step = registers_step_frame(registers, stack, frame);
        const uint64_t pc = step == REGISTERS_END ? 0 : registers->values[REGISTER_PC];

        if (!walk->memory || (pc && pc < walk->machine->end))
                return step;
        *registers = before;
        walk->is_uncertain = true;
        return registers_step_pointer(registers, stack);
}

/* A handler has returned to the vdso. */
static RegistersStep stack_walk_step_signal(StackWalk *walk, Registers *registers, StackCopy *stack)
{
        const RegistersStep step = registers_step_signal(registers, stack);

        walk->is_uncertain = step == REGISTERS_END;
        return step == REGISTERS_END ? registers_step_pointer(registers, stack) : step;
}

/* IS_LEAF: ADDRESS is that of the next instruction, not in a call. */
static RegistersStep stack_walk_step(StackWalk *walk, const PerfSample *sample,
                                     Registers *registers, StackCopy *stack,
                                     const SpaceMapping *mapping, uint64_t address, bool is_leaf)
{
        FrameSearch search = FRAMES_NONE;
        CallFrame frame;

        walk->is_uncertain = false;
        if (!is_leaf && walk->machine->ends_signals_in_vdso && stack_walk_is_vdso(walk, mapping))
                return stack_walk_step_signal(walk, registers, stack);
        if (!stack_walk_is_compiled(walk, mapping))
                search = call_frames_find(walk->frames, sample->pid, mapping, address, is_leaf,
                                          &frame);
        walk->is_guess |= search == FRAMES_MISSING || search == FRAMES_SPENT;
        walk->is_missing |= search == FRAMES_MISSING;
        walk->is_spent |= search == FRAMES_SPENT;
        if (search == FRAMES_FOUND)
                return stack_walk_step_frame(walk, registers, stack, &frame);
        if (search != FRAMES_NONE)
                return registers_step_pointer(registers, stack);
        switch (stack_walk_find_code(walk, sample, mapping, address, is_leaf, &frame)) {
        case FRAME_CODE_RULES:
        case FRAME_CODE_HIDDEN:
                return stack_walk_step_code(walk, registers, stack, &frame);
        case FRAME_CODE_UNKNOWN:
                walk->is_uncertain = stack_walk_is_uncertain(walk, sample, stack, registers);
                break;
        case FRAME_CODE_POINTER:
                walk->is_uncertain = stack_walk_is_vdso(walk, mapping) && is_leaf &&
                                     stack_walk_is_code_in_lr(walk, sample, registers);
                break;
        }
        return registers_step_pointer(registers, stack);
}

static void stack_walk_take(const StackWalk *walk, int32_t tid, uint64_t address,
                            const Registers *registers, bool is_hidden)
{
        if (walk->taker && !walk->is_guess)
                walk->taker->take(walk->taker->data, tid, address, registers, is_hidden);
}

/* The registers of a hidden caller: its callee's frame ends at SP. */
static void stack_walk_take_hidden(const StackWalk *walk, const OsrCaller *row, uint64_t sp,
                                   uint64_t frame)
{
        Registers registers = {.machine = walk->machine};

        registers_set(&registers, REGISTER_PC, row->caller);
        registers_set(&registers, REGISTER_SP, sp);
        registers_set(&registers, REGISTER_FP, frame);
        stack_walk_take(walk, row->tid, row->caller, &registers, /* is_hidden= */ true);
}

static void stack_walk_add_hidden(StackWalk *walk, const OsrCaller *row)
{
        if (walk->hidden->len == OSR_CALLERS_MAX)
                walk->counts.n_hidden_left++;
        else
                g_array_append_val(walk->hidden, *row);
}

/* Code in no mapping, whose record perf has lost: a method can be there. */
static RegistersStep stack_walk_step_unmapped(StackWalk *walk, const PerfSample *sample,
                                              Registers *registers, StackCopy *stack)
{
        walk->is_guess = true;
        walk->is_uncertain = stack_walk_is_uncertain(walk, sample, stack, registers);
        return registers_step_pointer(registers, stack);
}

/* If the method with the frame at POINTER was replaced, that frame hides its caller, and frame
 * pointers lead to REGISTERS. Whether it was replaced is not known here. */
static void stack_walk_find_hidden(StackWalk *walk, const PerfSample *sample, StackCopy *stack,
                                   uint64_t pointer, const Registers *registers)
{
        const uint64_t frame = registers->values[REGISTER_FP];
        OsrCaller row = {.time = sample->time,
                         .slot = registers->values[REGISTER_PC],
                         .frame = pointer,
                         .pid = sample->pid,
                         .tid = sample->tid};
        uint64_t at, value;

        if (frame % sizeof(at) || frame <= pointer || frame > UINT64_MAX - 2 * sizeof(at) ||
            !stack_copy_read(stack, frame + sizeof(at), &row.next))
                return;
        for (at = pointer + 2 * sizeof(at); at < frame - sizeof(at); at += sizeof(at)) {
                if (!stack_copy_read(stack, at, &value) || value != frame ||
                    !stack_copy_read(stack, at + sizeof(at), &row.caller) || row.caller == 0 ||
                    row.caller >= walk->machine->end)
                        continue;
                if (address_spaces_find(walk->spaces, sample->pid, sample->time, row.caller - 1)) {
                        row.distance = at - pointer;
                        stack_walk_add_hidden(walk, &row);
                        stack_walk_take_hidden(walk, &row, at + 2 * sizeof(at), frame);
                }
        }
}

/* Counts a stack of N frames. */
static void stack_walk_spend(StackWalk *walk, size_t n)
{
        if (n > STACK_WALK_MAX_FRAMES)
                walk->n_deep -= n - STACK_WALK_MAX_FRAMES;
        walk->max_callers = MIN(walk->max_callers, STACK_WALK_MAX_FRAMES + walk->n_deep);
}

/*
 * Finds the addresses of the program's frames, the leaf first, and whether the copy is too short.
 * After the frame that the thread begins with comes STACK_BEGIN_MARK.
 */
static unsigned stack_walk_callers(StackWalk *walk, const struct perf_event_attr *attr,
                                   const PerfSample *sample)
{
        RegistersStep step = REGISTERS_SIGNAL;
        StackCopy stack = {.bytes = sample->stack,
                           .n = (size_t)sample->n_stack,
                           .memory = walk->memory,
                           .tid = sample->tid};
        Registers registers, leaf;
        unsigned n = 0;

        walk->is_cut = false;
        if (!sample->regs)
                return 0;
        registers_from_perf(walk->machine, attr->sample_regs_user, sample->regs, &registers);
        leaf = registers;
        stack.address = registers.values[REGISTER_SP];
        if (!registers_have(&registers, REGISTER_SP) || stack.n > UINT64_MAX - stack.address)
                stack.n = 0;
        walk->counts.n_samples++;
        walk->is_missing = false;
        walk->is_spent = false;
        walk->is_guess = false;
        while (n < walk->max_callers && registers_have(&registers, REGISTER_PC)) {
                const uint64_t pc = registers.values[REGISTER_PC];
                /* The call is before its return address. */
                const uint64_t address = step == REGISTERS_SIGNAL ? pc : pc - 1;
                const uint64_t pointer = registers.values[REGISTER_FP];
                const SpaceMapping *mapping;

                if (pc == 0 || pc >= walk->machine->end)
                        break;
                mapping = address_spaces_find(walk->spaces, sample->pid, sample->time, address);
                /* Without a mapping, it is a return address if perf lost the record of the mapping.
                 * The namer decides: it drops code that no source names, and all that follows. */
                /* Readers look a caller up at its call, one byte before. */
                walk->callers[n] = n > 0 && step == REGISTERS_SIGNAL ? pc + 1 : pc;
                stack_walk_take(walk, sample->tid, walk->callers[n], &registers,
                                /* is_hidden= */ false);
                n++;
                step = mapping ? stack_walk_step(walk, sample, &registers, &stack, mapping, address,
                                                 step == REGISTERS_SIGNAL)
                               : stack_walk_step_unmapped(walk, sample, &registers, &stack);
                walk->is_guess |= walk->is_uncertain;
                if (step == REGISTERS_BEGIN || step == REGISTERS_END)
                        break;
                if (walk->is_uncertain && n < walk->max_callers)
                        walk->callers[n++] = STACK_HIDDEN_MARK;
                if (mapping && walk->machine->hides_callers && step == REGISTERS_CALLER &&
                    stack_walk_is_jitted(walk, mapping))
                        stack_walk_find_hidden(walk, sample, &stack, pointer, &registers);
        }
        walk->is_cut =
                (n == walk->max_callers && step != REGISTERS_BEGIN) ||
                (step == REGISTERS_END && stack.is_short && stack.n >= attr->sample_stack_user);
        stack_walk_spend(walk, n);
        walk->keeps_pointer = registers_have(&registers, REGISTER_FP) &&
                              registers.values[REGISTER_FP] == leaf.values[REGISTER_FP];
        walk->counts.n_missing += walk->is_missing;
        walk->counts.n_spent += walk->is_spent;
        if (step == REGISTERS_BEGIN)
                walk->callers[n++] = STACK_BEGIN_MARK;
        return n;
}

/* The first N_BEFORE words of the chain of SAMPLE, up to the program's part, then N callers. */
static StackWalkResult stack_walk_make_chain(StackWalk *walk, const PerfSample *sample,
                                             uint64_t n_before, size_t n,
                                             const uint64_t **ret_chain, size_t *ret_n)
{
        size_t n_chain = (size_t)n_before;

        if (n_before)
                memcpy(walk->chain, sample->chain, n_chain * sizeof(*walk->chain));
        if (n) {
                walk->chain[n_chain++] = PERF_CONTEXT_USER;
                memcpy(walk->chain + n_chain, walk->callers, n * sizeof(*walk->chain));
                n_chain += n;
        }
        *ret_chain = walk->chain;
        *ret_n = n_chain;
        return WALK_CHAIN;
}

/* True if the native code there has a frame without a frame pointer. */
static bool stack_walk_hides_native(StackWalk *walk, int32_t pid, const SpaceMapping *mapping,
                                    uint64_t address, bool is_leaf)
{
        const uint64_t place = (uint64_t)is_leaf << 63 ^ (uint64_t)mapping->file << 48 ^
                               (address - mapping->begin + mapping->offset);
        gpointer known = g_hash_table_lookup(walk->hiding, &place);
        CallFrame frame;

        if (!known) {
                const bool hides = call_frames_find(walk->frames, pid, mapping, address, is_leaf,
                                                    &frame) == FRAMES_FOUND &&
                                   !frame.is_signal &&
                                   !call_frame_keeps_pointer(&frame, walk->machine);

                known = GINT_TO_POINTER(hides ? NATIVE_HIDES : NATIVE_SHOWS);
                if (g_hash_table_size(walk->hiding) < MAX_HIDING)
                        g_hash_table_insert(walk->hiding, g_memdup2(&place, sizeof(place)), known);
        }
        return GPOINTER_TO_INT(known) == NATIVE_HIDES;
}

/* The mapping of the address at place I of the callers; NULL: perf has lost its record. */
static const SpaceMapping *stack_walk_mapping(const StackWalk *walk, const PerfSample *sample,
                                              size_t i)
{
        return address_spaces_find(walk->spaces, sample->pid, sample->time,
                                   walk->callers[i] - (i > 0));
}

/* True if the frame at place I of the callers, in MAPPING, keeps no frame pointer, so that the next
 * one is not its caller. */
static bool stack_walk_hides_next(StackWalk *walk, const PerfSample *sample, size_t i,
                                  const SpaceMapping *mapping)
{
        const uint64_t address = walk->callers[i] - (i > 0);
        FrameCodeKind kind;
        CallFrame frame;

        if (!stack_walk_is_compiled(walk, mapping) &&
            stack_walk_hides_native(walk, sample->pid, mapping, address, i == 0))
                return true;
        kind = stack_walk_find_code(walk, sample, mapping, address, i == 0, &frame);
        return kind == FRAME_CODE_HIDDEN || kind == FRAME_CODE_UNKNOWN;
}

/*
 * The caller of the leaf of SAMPLE, if it is still in LR, and perf has recorded LR; else the mark.
 */
static uint64_t stack_walk_leaf_caller(StackWalk *walk, const PerfAttr *event,
                                       const PerfSample *sample)
{
        const uint64_t address = walk->callers[0];
        const SpaceMapping *mapping = stack_walk_mapping(walk, sample, 0);
        FrameCodeKind kind = FRAME_CODE_UNKNOWN;
        Registers registers;
        CallFrame frame;

        if (!sample->regs || !mapping)
                return STACK_HIDDEN_MARK;
        registers_from_perf(walk->machine, event->attr.sample_regs_user, sample->regs, &registers);
        if (!stack_walk_is_code_in_lr(walk, sample, &registers))
                return STACK_HIDDEN_MARK;
        if (stack_walk_is_compiled(walk, mapping))
                kind = stack_walk_find_code(walk, sample, mapping, address, true, &frame);
        else if (call_frames_find(walk->frames, sample->pid, mapping, address, true, &frame) ==
                 FRAMES_FOUND)
                kind = FRAME_CODE_HIDDEN;
        return kind == FRAME_CODE_HIDDEN && call_frame_is_leaf(&frame, walk->machine)
                       ? machine_code_address(walk->machine, registers.values[REGISTER_LR])
                       : STACK_HIDDEN_MARK;
}

/* True if missing callers of SAMPLE get marks: in other processes, few have the frame pointer. */
static bool stack_walk_marks(const StackWalk *walk, const PerfSample *sample)
{
        const MethodFinder *methods = walk->methods;

        return methods && (!methods->has || methods->has(methods->data, sample->pid, sample->time));
}

/*
 * Inserts marks where callers are missing among the N, from place FIRST on. Returns the new number.
 */
static size_t stack_walk_mark_hidden(StackWalk *walk, const PerfAttr *event,
                                     const PerfSample *sample, size_t n, size_t first)
{
        const SpaceMapping *mapping;
        size_t i;

        for (i = first; i + 1 < n && n < walk->max_callers; i++) {
                if (walk->callers[i] >= walk->machine->end) /* a mark */
                        continue;
                mapping = stack_walk_mapping(walk, sample, i);
                if (mapping && !stack_walk_hides_next(walk, sample, i, mapping))
                        continue;
                memmove(walk->callers + i + 2, walk->callers + i + 1,
                        (n - i - 1) * sizeof(*walk->callers));
                walk->callers[i + 1] =
                        i == 0 ? stack_walk_leaf_caller(walk, event, sample) : STACK_HIDDEN_MARK;
                n++;
                /* A caller can hide its own caller. */
                i += walk->callers[i + 1] == STACK_HIDDEN_MARK;
        }
        return n;
}

/* True if the stack of the N frames ends elsewhere than its thread begins, at a frame that hides
 * its caller. */
static bool stack_walk_is_torn(StackWalk *walk, const PerfSample *sample, size_t n)
{
        const SpaceMapping *mapping;

        if (walk->callers[n - 1] >= walk->machine->end ||
            walk->callers[n - 1] == thread_roots_find(&walk->roots, sample->tid))
                return false;
        mapping = stack_walk_mapping(walk, sample, n - 1);
        return mapping && stack_walk_hides_next(walk, sample, n - 1, mapping);
}

/*
 * Continues the N callers of a short copy with those of CHAIN, of N_FRAMES frames in all. If the
 * frame pointer is still that of the leaf, the second address of CHAIN is the caller of the last
 * one.
 */
static size_t stack_walk_continue(StackWalk *walk, const PerfAttr *event, const PerfSample *sample,
                                  size_t n, const uint64_t *chain, size_t n_chain, size_t n_frames)
{
        const unsigned max_frames = event_max_frames(event);
        const size_t n_copied = n;
        bool marks, is_torn;
        size_t last;

        n = stack_pair_merge(walk->callers, n, walk->max_callers, chain, n_chain, &last);
        if (last == n_copied && walk->keeps_pointer && n_chain > 1) {
                n += MIN(n_chain - 1, walk->max_callers - n);
                memcpy(walk->callers + n_copied, chain + 1, (n - n_copied) * sizeof(*chain));
                last = n_copied - 1;
        }
        walk->counts.n_cut += last == n_copied;
        if (last == n_copied) {
                walk->callers[n++] = STACK_CUT_MARK;
                return n;
        }
        marks = stack_walk_marks(walk, sample);
        is_torn = marks && n_frames < max_frames && stack_walk_is_torn(walk, sample, n);
        if (marks)
                n = stack_walk_mark_hidden(walk, event, sample, n, last);
        if (is_torn)
                walk->callers[n++] = STACK_TORN_MARK;
        else if (n_frames >= max_frames)
                walk->callers[n++] = STACK_CUT_LIMIT_MARK;
        return n;
}

/* A sample by frame pointers without a copy of its stack. CHAIN: the program's part, of N frames,
 * which begins after BEGIN words. */
static StackWalkResult stack_walk_mark(StackWalk *walk, const PerfAttr *event,
                                       const PerfSample *sample, const uint64_t *chain, size_t n,
                                       uint64_t begin, const uint64_t **ret_chain, size_t *ret_n)
{
        size_t n_marked;
        bool is_torn;

        if (!n || n >= walk->max_callers || !stack_walk_marks(walk, sample))
                return WALK_UNCHANGED;
        memcpy(walk->callers, chain, n * sizeof(*chain));
        is_torn = stack_walk_is_torn(walk, sample, n);
        n_marked = stack_walk_mark_hidden(walk, event, sample, n, 0);
        if (is_torn)
                walk->callers[n_marked++] = STACK_TORN_MARK;
        if (n_marked == n)
                return WALK_UNCHANGED;
        return stack_walk_make_chain(walk, sample, begin, n_marked, ret_chain, ret_n);
}

/*
 * A sample by frame pointers. If there is a copy of its stack, the copy takes its place; but a copy
 * that is too short only if both are of one moment, so that frame pointers continue it.
 */
static StackWalkResult stack_walk_pointers(StackWalk *walk, const PerfAttr *event,
                                           PerfSample *sample, const uint64_t **ret_chain,
                                           size_t *ret_n)
{
        const uint64_t *chain;
        uint64_t begin;
        PerfSample copy;
        size_t n, n_callers = 0;

        n = perf_sample_user_chain(sample, &chain, &begin);
        if (n && event == walk->pairs.chains && stack_pairs_read(&walk->pairs, sample, &copy))
                n_callers = stack_walk_callers(walk, &walk->pairs.copies->attr, &copy);
        if (!n_callers ||
            (walk->is_cut && !stack_pair_is_one_moment(sample, chain[0], &copy, walk->callers[0])))
                return stack_walk_mark(walk, event, sample, chain, n, begin, ret_chain, ret_n);
        sample->time = copy.time;
        sample->ip = copy.ip;
        if (walk->is_cut)
                n_callers = stack_walk_continue(walk, event, sample, n_callers, chain, n,
                                                n + (begin ? (size_t)begin - 1 : 0));
        return stack_walk_make_chain(walk, &copy, copy.n_chain, n_callers, ret_chain, ret_n);
}

static StackWalkResult stack_walk_find_chain(StackWalk *walk, const PerfAttr *event,
                                             PerfSample *sample, const uint64_t **ret_chain,
                                             size_t *ret_n)
{
        const bool has_stack = perf_sample_has(&event->attr);
        unsigned n;

        if (event == walk->pairs.copies)
                return WALK_DROPPED;
        if (event == walk->pairs.chains || (walk->methods && perf_sample_is_chain(&event->attr)))
                return stack_walk_pointers(walk, event, sample, ret_chain, ret_n);
        if (!has_stack)
                return WALK_UNCHANGED;
        n = stack_walk_callers(walk, &event->attr, sample);
        walk->counts.n_cut += walk->is_cut;
        if (walk->is_cut)
                walk->callers[n++] = STACK_CUT_MARK;
        return stack_walk_make_chain(walk, sample, sample->n_chain, n, ret_chain, ret_n);
}

StackWalkResult stack_walk_sample(StackWalk *walk, const PerfAttr *event, PerfSample *sample,
                                  const uint64_t **ret_chain, size_t *ret_n)
{
        StackWalkResult result;

        walk->is_unread = false;
        result = stack_walk_find_chain(walk, event, sample, ret_chain, ret_n);
        walk->counts.n_chains += result != WALK_DROPPED;
        walk->counts.n_unread += walk->is_unread;
        if (walk->is_unread && !walk->unread)
                walk->unread = sample->pid;
        return result;
}

unsigned stack_walk_max_frames(const StackWalk *walk, const PerfAttr *event)
{
        if (walk && (event == walk->pairs.chains || perf_sample_has(&event->attr)))
                return UINT_MAX;
        return event_max_frames(event);
}

StackWalk *stack_walk_new(PerfData *data, AddressSpaces *spaces, const StackSources *sources)
{
        StackWalk *walk = g_new0(StackWalk, 1);
        guint i;

        walk->machine = stack_walk_machine(&data->features);
        walk->spaces = spaces;
        walk->methods = sources->methods;
        walk->taker = sources->frames;
        walk->memory = sources->memory;
        walk->max_callers = walk->memory ? STACK_WALK_MAX_DEEP : STACK_WALK_MAX_FRAMES;
        walk->n_deep = walk->memory ? STACK_WALK_MAX_TOTAL : 0;
        walk->callers = g_new(uint64_t, walk->max_callers + 1);
        walk->chain = g_new(uint64_t, PERF_MAX_RECORD_WORDS + walk->max_callers + 1);
        walk->hiding = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        walk->hidden = g_array_new(FALSE, FALSE, sizeof(OsrCaller));
        stack_pairs_init(&walk->pairs, data);
        thread_roots_init(&walk->roots);
        for (i = 0; i < data->attrs->len; i++)
                walk->counts.is_aside |=
                        !perf_sample_has(&g_array_index(data->attrs, PerfAttr, i).attr);
        walk->frames = call_frames_new(walk->machine, spaces, sources->debug);
        walk->images = image_frames_new(walk->machine, spaces);
        return walk;
}

void stack_walk_free(StackWalk *walk)
{
        if (!walk)
                return;
        g_array_unref(walk->hidden);
        stack_pairs_deinit(&walk->pairs);
        thread_roots_deinit(&walk->roots);
        g_hash_table_unref(walk->hiding);
        call_frames_free(walk->frames);
        image_frames_free(walk->images);
        g_free(walk->callers);
        g_free(walk->chain);
        g_free(walk);
}

const OsrCaller *stack_walk_hidden(const StackWalk *walk, size_t *ret_n)
{
        *ret_n = walk->hidden->len;
        return (const OsrCaller *)(const void *)walk->hidden->data;
}

/* "NAME (PID)" */
static char *stack_walk_name(const StackWalk *walk, int32_t pid)
{
        const char *name = address_spaces_name(walk->spaces, pid);

        return g_strdup_printf("%s (%d)", name ? name : "a process", (int)pid);
}

void stack_walk_count(const StackWalk *walk, StackCounts *ret_counts)
{
        const int32_t spent = call_frames_most_spent(walk->frames);

        *ret_counts = walk->counts;
        ret_counts->n_hidden = walk->hidden->len;
        ret_counts->missing = g_strdup(call_frames_most_missing(walk->frames));
        ret_counts->spent = spent ? stack_walk_name(walk, spent) : NULL;
        ret_counts->unread = walk->unread ? stack_walk_name(walk, walk->unread) : NULL;
}
