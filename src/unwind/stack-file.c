/* SPDX-License-Identifier: MIT */
#include "unwind/stack-file.h"

#include "perf/mapping-kind.h"
#include "perf/osr-callers.h"
#include "perf/stack-roots.h"
#include "unwind/address-space.h"
#include "unwind/call-frames.h"
#include "unwind/error.h"
#include "unwind/image-frames.h"
#include "unwind/registers.h"
#include "unwind/rewrite.h"
#include "unwind/stack-pairs.h"
#include "unwind/stack-sample.h"
#include "unwind/thread-roots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As many as perf's own limit for stacks by frame pointers is at most set to. */
#define MAX_CALLERS 1024u
/* Programs have no addresses above. */
#define USER_END      (UINT64_C(1) << 47)
#define STACK_MEMBERS ((uint64_t)PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Places in files of which it is remembered whether native code there keeps a frame pointer. */
#define MAX_HIDING (1u << 20)
enum { NATIVE_SHOWS = 1, NATIVE_HIDES };

typedef struct StackFile {
        Rewrite rewrite;
        AddressSpaces *spaces;
        CallFrames *frames;
        ImageFrames *images;
        const MethodFinder *methods; /* borrowed; NULL: no code of methods is known */
        GHashTable *hiding;          /* owned: owned place in a file -> NATIVE_* */
        FILE *hidden;                /* rows for osr_callers_read() */
        StackCounts counts;
        StackPairs pairs;
        ThreadRoots roots;                    /* by the chains of samples without a copy */
        const struct perf_event_attr *paired; /* of samples that copies belong to; NULL: of none */
        unsigned max_frames;                  /* perf's limit for these */
        bool is_missing;                      /* a file with frames of this sample */
        bool is_spent;                        /* the process of this sample has cost too much */
        bool is_uncertain;                    /* the caller of this frame */
        bool keeps_pointer; /* the last frame of this sample has the frame pointer of the leaf */
        bool is_cut;        /* the copy of this sample ends before the callers do */
        uint64_t callers[MAX_CALLERS + 1];
        uint64_t record[UINT16_MAX / sizeof(uint64_t) + 1]; /* of the other event */
} StackFile;

/* perf's own limit of frames, unless the event has another one. */
#define MAX_FRAMES 127

void stack_counts_deinit(StackCounts *counts)
{
        g_clear_pointer(&counts->missing, g_free);
        g_clear_pointer(&counts->spent, g_free);
}

bool stack_file_is(const char *path)
{
        PerfData data;
        bool is_ok = perf_data_open(&data, path, NULL), has_stacks = false;
        guint i;

        for (i = 0; is_ok && i < data.attrs->len; i++)
                has_stacks |= stack_sample_has(&g_array_index(data.attrs, PerfAttr, i).attr);
        perf_data_deinit(&data);
        return has_stacks;
}

static void stack_file_note_copy(StackFile *file, const struct perf_event_header *record)
{
        const PerfData *data = &file->rewrite.data;
        const struct perf_event_attr *attr = perf_data_attr(data, record);
        StackSample sample;

        if (attr && stack_sample_has(attr) && stack_sample_read(attr, record, &sample) &&
            sample.regs)
                stack_pairs_add(&file->pairs,
                                &(const StackPair){.time = sample.time,
                                                   .offset = data->next - record->size,
                                                   .tid = sample.tid});
}

/* Without the number of them, which comes first. */
static uint64_t sample_chain_words(const StackSample *sample)
{
        return (sample->chain_end - sample->chain_begin) / sizeof(uint64_t) - 1;
}

/* The begin of the program's part of a chain of N words, from its marker on; N: it has none, or
 * another part after it. */
static uint64_t chain_user_begin(const uint64_t *chain, uint64_t n)
{
        uint64_t begin = n, i;

        for (i = 0; i < n; i++)
                if (chain[i] >= PERF_CONTEXT_MAX) {
                        if (begin < n)
                                return n;
                        begin = chain[i] == PERF_CONTEXT_USER ? i : n;
                }
        return begin;
}

/* The program's part of the chain of SAMPLE, its leaf first. Returns how many addresses; 0: it has
 * none, or another part after it. */
static size_t sample_user_chain(const struct perf_event_header *record, const StackSample *sample,
                                const uint64_t **ret_chain, uint64_t *ret_begin)
{
        const uint64_t *chain =
                (const uint64_t *)(const void *)((const uint8_t *)record + sample->chain_begin) + 1;
        const uint64_t n = sample_chain_words(sample);

        *ret_begin = chain_user_begin(chain, n);
        *ret_chain = chain + *ret_begin + 1;
        return *ret_begin + 1 < n ? (size_t)(n - *ret_begin - 1) : 0;
}

static void stack_file_note_chain(StackFile *file, const struct perf_event_header *record)
{
        const struct perf_event_attr *attr = perf_data_attr(&file->rewrite.data, record);
        const uint64_t *chain;
        StackSample sample;
        uint64_t begin;
        size_t n;

        if (!attr || !stack_sample_is_chain(attr) || !stack_sample_read(attr, record, &sample))
                return;
        n = sample_user_chain(record, &sample, &chain, &begin);
        if (n)
                thread_roots_note(&file->roots, sample.tid, chain[n - 1]);
}

static bool stack_file_take_mappings(StackFile *file, GError **error)
{
        const struct perf_event_header *record;

        do {
                if (!perf_data_next(&file->rewrite.data, &record, error))
                        return false;
                if (record && record->type != PERF_RECORD_SAMPLE)
                        address_spaces_take(file->spaces, record,
                                            perf_data_time(&file->rewrite.data, record));
                else if (record && file->paired)
                        stack_file_note_copy(file, record);
                if (record && record->type == PERF_RECORD_SAMPLE && file->methods)
                        stack_file_note_chain(file, record);
        } while (record);
        perf_data_rewind(&file->rewrite.data);
        return true;
}

static MappingKind stack_file_kind(const StackFile *file, const SpaceMapping *mapping)
{
        return mapping_kind_of_dso(address_spaces_file(file->spaces, mapping->file)->path);
}

static bool stack_file_is_jitted(const StackFile *file, const SpaceMapping *mapping)
{
        return stack_file_kind(file, mapping) == MAPPING_JITTED;
}

/* Is there nothing but compiled code in it, of which no call frame information is? */
static bool stack_file_is_compiled(const StackFile *file, const SpaceMapping *mapping)
{
        const MappingKind kind = stack_file_kind(file, mapping);

        return kind == MAPPING_JITTED || kind == MAPPING_IMAGE;
}

/* The frame of compiled code, by its instructions. */
static FrameCodeKind stack_file_find_code(StackFile *file, const StackSample *sample,
                                          const SpaceMapping *mapping, uint64_t address,
                                          bool is_leaf, CallFrame *ret)
{
        const MethodPlace place = {.pid = sample->pid,
                                   .time = sample->time,
                                   .address = address,
                                   .begin = mapping->begin,
                                   .end = mapping->end,
                                   .offset = mapping->offset};
        const MappingKind kind = stack_file_kind(file, mapping);
        MethodCode code;
        uint64_t start;

        if (kind == MAPPING_IMAGE || kind == MAPPING_OTHER)
                return image_frames_find(file->images, sample->pid, mapping, address, is_leaf, ret);
        if (kind != MAPPING_JITTED || !file->methods)
                return FRAME_CODE_POINTER;
        switch (file->methods->find(file->methods->data, &place, &code, &start)) {
        case METHOD_FOUND:
                return frame_code_read(&code, (size_t)(address - start), is_leaf, ret);
        case METHOD_UNKNOWN:
                return FRAME_CODE_UNKNOWN;
        case METHOD_UNREAD:
                break;
        }
        return FRAME_CODE_POINTER;
}

/*
 * A frame of unknown code, below REGISTERS, was taken to have the frame pointer. If it has none,
 * its return address is in the stack between its callee's frame, which ends at SP, and that
 * pointer.
 */
static bool stack_file_is_uncertain(StackFile *file, const StackSample *sample, StackCopy *stack,
                                    uint64_t sp, uint64_t pointer)
{
        uint64_t value;

        for (; sp < pointer; sp += sizeof(value))
                if (!stack_copy_read(stack, sp, &value) ||
                    (value && value < USER_END &&
                     address_spaces_find(file->spaces, sample->pid, sample->time, value - 1)))
                        return true;
        return false;
}

/* IS_LEAF: ADDRESS is that of the next instruction, not in a call. */
static RegistersStep stack_file_step(StackFile *file, const StackSample *sample,
                                     Registers *registers, StackCopy *stack,
                                     const SpaceMapping *mapping, uint64_t address, bool is_leaf)
{
        CallFrame frame;
        const FrameSearch search =
                stack_file_is_compiled(file, mapping)
                        ? FRAMES_NONE
                        : call_frames_find(file->frames, sample->pid, mapping, address, &frame);

        file->is_uncertain = false;
        file->is_missing |= search == FRAMES_MISSING;
        file->is_spent |= search == FRAMES_SPENT;
        if (search == FRAMES_FOUND)
                return registers_step_frame(registers, stack, &frame);
        if (search != FRAMES_NONE)
                return registers_step_pointer(registers, stack);
        switch (stack_file_find_code(file, sample, mapping, address, is_leaf, &frame)) {
        case FRAME_CODE_RULES:
        case FRAME_CODE_HIDDEN:
                return registers_step_frame(registers, stack, &frame);
        case FRAME_CODE_UNKNOWN:
                file->is_uncertain =
                        stack_file_is_uncertain(file, sample, stack, registers->values[REGISTER_SP],
                                                registers->values[REGISTER_FP]);
                break;
        case FRAME_CODE_POINTER:
                break;
        }
        return registers_step_pointer(registers, stack);
}

static void stack_file_add_hidden(StackFile *file, const OsrCaller *row)
{
        if (file->counts.n_hidden == OSR_CALLERS_MAX) {
                file->counts.n_hidden_left++;
                return;
        }
        file->counts.n_hidden++;
        fwrite(row, sizeof(*row), 1, file->hidden);
}

/*
 * If the method with the frame at POINTER was replaced, that frame hides its caller, and frame
 * pointers lead to REGISTERS. Which methods were replaced is not known here.
 */
static void stack_file_find_hidden(StackFile *file, const StackSample *sample, StackCopy *stack,
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
                    row.caller >= USER_END)
                        continue;
                if (address_spaces_find(file->spaces, sample->pid, sample->time, row.caller - 1)) {
                        row.distance = at - pointer;
                        stack_file_add_hidden(file, &row);
                }
        }
}

/* The addresses of the program's frames, the leaf first; whether the copy is cut. */
static unsigned stack_file_callers(StackFile *file, const struct perf_event_attr *attr,
                                   const StackSample *sample)
{
        RegistersStep step = REGISTERS_SIGNAL;
        StackCopy stack = {.bytes = sample->stack, .n = (size_t)sample->n_stack};
        Registers registers, leaf;
        unsigned n = 0;

        file->is_cut = false;
        if (!sample->regs)
                return 0;
        registers_from_perf(attr->sample_regs_user, sample->regs, &registers);
        leaf = registers;
        stack.address = registers.values[REGISTER_SP];
        if (!registers_have(&registers, REGISTER_SP) || stack.n > UINT64_MAX - stack.address)
                stack.n = 0;
        file->counts.n_samples++;
        file->is_missing = false;
        file->is_spent = false;
        while (n < MAX_CALLERS && registers_have(&registers, REGISTER_PC)) {
                const uint64_t pc = registers.values[REGISTER_PC];
                /* The call is before its return address. */
                const uint64_t address = step == REGISTERS_SIGNAL ? pc : pc - 1;
                const uint64_t pointer = registers.values[REGISTER_FP];
                const SpaceMapping *mapping;

                if (pc == 0 || pc >= USER_END)
                        break;
                mapping = address_spaces_find(file->spaces, sample->pid, sample->time, address);
                /* Only the leaf is certain: what is not in a mapping of code was no return address.
                 */
                if (!mapping && n > 0)
                        break;
                /* Readers look a caller up at the call, one byte before. */
                file->callers[n] = n > 0 && step == REGISTERS_SIGNAL ? pc + 1 : pc;
                n++;
                step = mapping ? stack_file_step(file, sample, &registers, &stack, mapping, address,
                                                 step == REGISTERS_SIGNAL)
                               : registers_step_pointer(&registers, &stack);
                if (step == REGISTERS_END)
                        break;
                if (mapping && file->is_uncertain && n < MAX_CALLERS)
                        file->callers[n++] = STACK_HIDDEN_MARK;
                if (mapping && step == REGISTERS_CALLER && stack_file_is_jitted(file, mapping))
                        stack_file_find_hidden(file, sample, &stack, pointer, &registers);
        }
        file->is_cut = n == MAX_CALLERS || (step == REGISTERS_END && stack.is_short &&
                                            stack.n >= attr->sample_stack_user);
        file->keeps_pointer = registers_have(&registers, REGISTER_FP) &&
                              registers.values[REGISTER_FP] == leaf.values[REGISTER_FP];
        file->counts.n_missing += file->is_missing;
        file->counts.n_spent += file->is_spent;
        return n;
}

/* Writes RECORD with the first N_BEFORE words of its chain, up to the program's part, then N of
 * CALLERS; without copies of registers and stack. */
static bool stack_file_write_chain(StackFile *file, const struct perf_event_header *record,
                                   const StackSample *sample, uint64_t n_before, unsigned n,
                                   GError **error)
{
        const uint8_t *bytes = (const uint8_t *)record;
        const uint64_t marker = PERF_CONTEXT_USER;
        const uint64_t n_words = sample_chain_words(sample);
        struct perf_event_header header = *record;
        uint64_t n_chain;
        size_t size;

        size = record->size - (sample->stack_end - sample->regs_begin) -
               (size_t)(n_words - n_before) * sizeof(uint64_t);
        n = (unsigned)MIN(n, (UINT16_MAX - 7 - size) / sizeof(uint64_t) - 1);
        n_chain = n_before + (n ? n + 1 : 0);
        size += (size_t)(n_chain - n_before) * sizeof(uint64_t);
        header.size = (uint16_t)size;
        return rewrite_put(&file->rewrite, &header, sizeof(header), error) &&
               rewrite_put(&file->rewrite, bytes + sizeof(header),
                           sample->chain_begin - sizeof(header), error) &&
               rewrite_put(&file->rewrite, &n_chain, sizeof(n_chain), error) &&
               rewrite_put(&file->rewrite, bytes + sample->chain_begin + sizeof(n_chain),
                           (size_t)n_before * sizeof(uint64_t), error) &&
               (!n || (rewrite_put(&file->rewrite, &marker, sizeof(marker), error) &&
                       rewrite_put(&file->rewrite, file->callers, n * sizeof(uint64_t), error))) &&
               rewrite_put(&file->rewrite, bytes + sample->chain_end,
                           sample->regs_begin - sample->chain_end, error) &&
               rewrite_put(&file->rewrite, bytes + sample->stack_end,
                           record->size - sample->stack_end, error);
}

static bool stack_file_fail_sample(GError **error)
{
        g_set_error_literal(error, UNWIND_ERROR, UNWIND_ERROR_DAMAGED,
                            "one of its samples is not whole");
        return false;
}

/* The copy of the stack that was taken with SAMPLE, as of its time; false: there is none. */
static bool stack_file_find_copy(StackFile *file, const StackSample *sample, StackSample *ret_copy,
                                 const struct perf_event_attr **ret_attr)
{
        const StackPair *pair = stack_pairs_find(&file->pairs, sample->tid, sample->time);
        struct perf_event_header *record = (struct perf_event_header *)(void *)file->record;
        struct perf_event_header header;

        if (!pair ||
            !perf_data_read(&file->rewrite.data, pair->offset, &header, sizeof(header),
                            /* error= */ NULL) ||
            header.size < sizeof(header) ||
            !perf_data_read(&file->rewrite.data, pair->offset, record, header.size,
                            /* error= */ NULL))
                return false;
        /* The file may have changed meanwhile. */
        *record = header;
        *ret_attr = perf_data_attr(&file->rewrite.data, record);
        if (!*ret_attr || !stack_sample_has(*ret_attr) ||
            !stack_sample_read(*ret_attr, record, ret_copy))
                return false;
        ret_copy->time = sample->time;
        return ret_copy->pid == sample->pid;
}

/* Has the native code there a frame without a frame pointer? */
static bool stack_file_hides_native(StackFile *file, int32_t pid, const SpaceMapping *mapping,
                                    uint64_t address)
{
        const uint64_t place =
                (uint64_t)mapping->file << 48 ^ (address - mapping->begin + mapping->offset);
        gpointer known = g_hash_table_lookup(file->hiding, &place);
        CallFrame frame;

        if (!known) {
                const bool hides = call_frames_find(file->frames, pid, mapping, address, &frame) ==
                                           FRAMES_FOUND &&
                                   !frame.is_signal && frame.cfa.kind == FRAME_RULE_REGISTER &&
                                   frame.cfa.number == REGISTER_SP;

                known = GINT_TO_POINTER(hides ? NATIVE_HIDES : NATIVE_SHOWS);
                if (g_hash_table_size(file->hiding) < MAX_HIDING)
                        g_hash_table_insert(file->hiding, g_memdup2(&place, sizeof(place)), known);
        }
        return GPOINTER_TO_INT(known) == NATIVE_HIDES;
}

/* Does the frame at place I of the callers keep no frame pointer, so that the next one is not its
 * caller? */
static bool stack_file_hides_next(StackFile *file, const StackSample *sample, size_t i)
{
        const uint64_t address = file->callers[i] - (i > 0);
        const SpaceMapping *mapping =
                file->callers[i] < USER_END
                        ? address_spaces_find(file->spaces, sample->pid, sample->time, address)
                        : NULL;
        FrameCodeKind kind;
        CallFrame frame;

        if (!mapping)
                return false;
        if (!stack_file_is_compiled(file, mapping) &&
            stack_file_hides_native(file, sample->pid, mapping, address))
                return true;
        kind = stack_file_find_code(file, sample, mapping, address, i == 0, &frame);
        return kind == FRAME_CODE_HIDDEN || kind == FRAME_CODE_UNKNOWN;
}

/* Marks where a caller is missing among the N, from place FIRST on. Returns how many there are. */
static size_t stack_file_mark_hidden(StackFile *file, const StackSample *sample, size_t n,
                                     size_t first)
{
        size_t i;

        for (i = first; file->methods && i + 1 < n && n < MAX_CALLERS; i++) {
                if (!stack_file_hides_next(file, sample, i))
                        continue;
                memmove(file->callers + i + 2, file->callers + i + 1,
                        (n - i - 1) * sizeof(*file->callers));
                file->callers[++i] = STACK_HIDDEN_MARK;
                n++;
        }
        return n;
}

/* Ends the stack of the N frames elsewhere than its thread begins, where its callers are not shown?
 */
static bool stack_file_is_torn(StackFile *file, const StackSample *sample, size_t n)
{
        return file->callers[n - 1] != thread_roots_find(&file->roots, sample->tid) &&
               stack_file_hides_next(file, sample, n - 1);
}

/*
 * Continues the N callers of a copy that is cut with those of CHAIN, of N_FRAMES frames in all. If
 * the frame pointer is still that of the leaf, the second address of CHAIN is the caller of the
 * last one.
 */
static size_t stack_file_continue(StackFile *file, const StackSample *sample, size_t n,
                                  const uint64_t *chain, size_t n_chain, size_t n_frames)
{
        const size_t n_copied = n;
        bool is_torn;
        size_t last;

        n = stack_pair_merge(file->callers, n, MAX_CALLERS, chain, n_chain, &last);
        if (last == n_copied && file->keeps_pointer && n_chain > 1) {
                n += MIN(n_chain - 1, MAX_CALLERS - n);
                memcpy(file->callers + n_copied, chain + 1, (n - n_copied) * sizeof(*chain));
                last = n_copied - 1;
        }
        file->counts.n_cut += last == n_copied;
        if (last == n_copied) {
                file->callers[n++] = STACK_CUT_MARK;
                return n;
        }
        is_torn = n_frames < file->max_frames && stack_file_is_torn(file, sample, n);
        n = stack_file_mark_hidden(file, sample, n, last);
        if (is_torn)
                file->callers[n++] = STACK_TORN_MARK;
        else if (n_frames >= file->max_frames)
                file->callers[n++] = STACK_CUT_LIMIT_MARK;
        return n;
}

/* A sample by frame pointers without a copy of its stack. CHAIN: the program's part, of N frames,
 * which begins after BEGIN words. */
static bool stack_file_write_marked(StackFile *file, const struct perf_event_header *record,
                                    const StackSample *sample, const uint64_t *chain, size_t n,
                                    uint64_t begin, GError **error)
{
        size_t n_marked = n;
        bool is_torn;

        if (!n || n >= MAX_CALLERS || !file->methods)
                return rewrite_put(&file->rewrite, record, record->size, error);
        memcpy(file->callers, chain, n * sizeof(*chain));
        is_torn = stack_file_is_torn(file, sample, n);
        n_marked = stack_file_mark_hidden(file, sample, n, 0);
        if (is_torn)
                file->callers[n_marked++] = STACK_TORN_MARK;
        if (n_marked == n)
                return rewrite_put(&file->rewrite, record, record->size, error);
        return stack_file_write_chain(file, record, sample, begin, (unsigned)n_marked, error);
}

/* A sample by frame pointers: with its copy of the stack, if there is one, it has the callers near
 * the leaf. */
static bool stack_file_write_pointers(StackFile *file, const struct perf_event_header *record,
                                      GError **error)
{
        const struct perf_event_attr *attr = perf_data_attr(&file->rewrite.data, record);
        const uint64_t *chain;
        uint64_t begin;
        StackSample sample, copy;
        size_t n, n_callers;

        if (!stack_sample_read(attr, record, &sample))
                return stack_file_fail_sample(error);
        n = sample_user_chain(record, &sample, &chain, &begin);
        if (!n || attr != file->paired || !stack_file_find_copy(file, &sample, &copy, &attr))
                return stack_file_write_marked(file, record, &sample, chain, n, begin, error);
        n_callers = stack_file_callers(file, attr, &copy);
        if (!n_callers || file->callers[0] != chain[0])
                return stack_file_write_marked(file, record, &sample, chain, n, begin, error);
        if (file->is_cut)
                n_callers = stack_file_continue(file, &sample, n_callers, chain, n,
                                                n + (begin ? (size_t)begin - 1 : 0));
        return stack_file_write_chain(file, record, &sample, begin, (unsigned)n_callers, error);
}

static bool stack_file_write_sample(StackFile *file, const struct perf_event_header *record,
                                    GError **error)
{
        const struct perf_event_attr *attr = perf_data_attr(&file->rewrite.data, record);
        const bool has_stack = attr && stack_sample_has(attr);
        StackSample sample;
        unsigned n;

        if (file->paired && has_stack)
                return true;
        if (attr && (attr == file->paired || (file->methods && stack_sample_is_chain(attr))))
                return stack_file_write_pointers(file, record, error);
        if (!has_stack)
                return rewrite_put(&file->rewrite, record, record->size, error);
        if (!stack_sample_read(attr, record, &sample))
                return stack_file_fail_sample(error);
        n = stack_file_callers(file, attr, &sample);
        file->counts.n_cut += file->is_cut;
        if (file->is_cut)
                file->callers[n++] = STACK_CUT_MARK;
        return stack_file_write_chain(file, record, &sample, sample_chain_words(&sample), n, error);
}

static bool stack_file_write_records(StackFile *file, GError **error)
{
        const struct perf_event_header *record;

        do {
                if (!perf_data_next(&file->rewrite.data, &record, error))
                        return false;
                if (record && !(record->type == PERF_RECORD_SAMPLE
                                        ? stack_file_write_sample(file, record, error)
                                        : rewrite_put(&file->rewrite, record, record->size, error)))
                        return false;
        } while (record);
        return true;
}

/* What the attributes have of the stacks. */
static bool stack_file_correct(StackFile *file, GError **error)
{
        const GArray *attrs = file->rewrite.data.attrs;
        guint i;

        for (i = 0; i < attrs->len; i++) {
                PerfAttr row = g_array_index(attrs, PerfAttr, i);

                if (!stack_sample_has(&row.attr) &&
                    &g_array_index(attrs, PerfAttr, i).attr != file->paired)
                        continue;
                row.attr.sample_type &= ~STACK_MEMBERS;
                row.attr.sample_regs_user = 0;
                row.attr.sample_stack_user = 0;
                row.attr.exclude_callchain_user = 0;
                row.attr.sample_max_stack = UINT16_MAX; /* STACK_CUT_MARK shows what is cut */
                if (!rewrite_replace(&file->rewrite, row.at, &row.attr,
                                     MIN(row.n, sizeof(row.attr)), error))
                        return false;
        }
        return true;
}

static bool stack_file_run(StackFile *file, GError **error)
{
        Rewrite *rewrite = &file->rewrite;

        return stack_file_take_mappings(file, error) && rewrite_begin(rewrite, error) &&
               stack_file_write_records(file, error) && rewrite_end(rewrite, error) &&
               stack_file_correct(file, error) && rewrite_finish(rewrite, error);
}

/* Among others, perf has an event without samples. */
static void stack_file_find_pairs(StackFile *file)
{
        const GArray *attrs = file->rewrite.data.attrs;
        guint i, j;

        for (i = 0; i < attrs->len; i++)
                for (j = 0; j < attrs->len && !file->paired; j++) {
                        const struct perf_event_attr *attr =
                                &g_array_index(attrs, PerfAttr, i).attr;

                        if (stack_pairs_are(attr, &g_array_index(attrs, PerfAttr, j).attr))
                                file->paired = attr;
                }
        if (file->paired)
                file->max_frames = file->paired->sample_max_stack ? file->paired->sample_max_stack
                                                                  : MAX_FRAMES;
}

/* "NAME (PID)", of the process with most frames that were not looked for; NULL: there are none. */
static char *stack_file_most_spent(const StackFile *file)
{
        const int32_t pid = call_frames_most_spent(file->frames);
        const char *name = pid ? address_spaces_name(file->spaces, pid) : NULL;

        return pid ? g_strdup_printf("%s (%d)", name ? name : "a process", (int)pid) : NULL;
}

#ifdef __x86_64__
enum { IS_KNOWN_MACHINE = true };
#else
enum { IS_KNOWN_MACHINE = false };
#endif

bool stack_file_unwind(const char *path, const StackSources *sources, int fd, int hidden_fd,
                       StackCounts *ret_counts, GError **error)
{
        g_autofree StackFile *file = g_new0(StackFile, 1);
        guint i;
        bool ok;

        file->methods = sources->methods;
        file->hiding = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        file->spaces = address_spaces_new();
        stack_pairs_init(&file->pairs);
        thread_roots_init(&file->roots);
        file->hidden = fdopen(dup(hidden_fd), "w");
        ok = rewrite_open(&file->rewrite, path, fd, error);
        for (i = 0; ok && i < file->rewrite.data.attrs->len; i++)
                file->counts.is_aside |= !stack_sample_has(
                        &g_array_index(file->rewrite.data.attrs, PerfAttr, i).attr);
        if (ok && !IS_KNOWN_MACHINE) {
                g_set_error_literal(error, UNWIND_ERROR, UNWIND_ERROR_UNKNOWN,
                                    "the registers of this machine are not known");
                ok = false;
        }
        if (ok && !file->hidden) {
                g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM, "%s", g_strerror(errno));
                ok = false;
        }
        if (ok) {
                stack_file_find_pairs(file);
                file->frames = call_frames_new(file->spaces, sources->debug);
                file->images = image_frames_new(file->spaces);
                ok = stack_file_run(file, error);
                file->counts.missing = g_strdup(call_frames_most_missing(file->frames));
                file->counts.spent = stack_file_most_spent(file);
        }
        if (file->hidden && fclose(file->hidden) != 0 && ok) {
                g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM,
                            "its callers cannot be written: %s", g_strerror(errno));
                ok = false;
        }
        rewrite_deinit(&file->rewrite);
        stack_pairs_deinit(&file->pairs);
        thread_roots_deinit(&file->roots);
        g_hash_table_unref(file->hiding);
        call_frames_free(file->frames);
        image_frames_free(file->images);
        address_spaces_free(file->spaces);
        *ret_counts = file->counts;
        return ok;
}
