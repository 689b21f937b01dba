/* SPDX-License-Identifier: MIT */
#include "unwind/stack-file.h"

#include "perf/mapping-kind.h"
#include "perf/osr-callers.h"
#include "perf/stack-roots.h"
#include "unwind/address-space.h"
#include "unwind/call-frames.h"
#include "unwind/error.h"
#include "unwind/perf-data.h"
#include "unwind/registers.h"
#include "unwind/stack-sample.h"

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

typedef struct StackFile {
        PerfData data;
        AddressSpaces *spaces;
        CallFrames *frames;
        FILE *output;
        FILE *hidden; /* rows for osr_callers_read() */
        StackCounts counts;
        bool is_missing; /* a file with frames of this sample */
        bool is_spent;   /* the process of this sample has cost too much */
        uint64_t callers[MAX_CALLERS + 1];
} StackFile;

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

static bool stack_file_take_mappings(StackFile *file, GError **error)
{
        const struct perf_event_header *record;

        do {
                if (!perf_data_next(&file->data, &record, error))
                        return false;
                if (record && record->type != PERF_RECORD_SAMPLE)
                        address_spaces_take(file->spaces, record,
                                            perf_data_time(&file->data, record));
        } while (record);
        perf_data_rewind(&file->data);
        return true;
}

static RegistersStep stack_file_step(StackFile *file, int32_t pid, Registers *registers,
                                     StackCopy *stack, const SpaceMapping *mapping,
                                     uint64_t address)
{
        CallFrame frame;

        switch (call_frames_find(file->frames, pid, mapping, address, &frame)) {
        case FRAMES_FOUND:
                return registers_step_frame(registers, stack, &frame);
        case FRAMES_NONE:
                break;
        case FRAMES_MISSING:
                file->is_missing = true;
                break;
        case FRAMES_SPENT:
                file->is_spent = true;
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

static bool stack_file_is_jitted(const StackFile *file, const SpaceMapping *mapping)
{
        const MappedFile *mapped = address_spaces_file(file->spaces, mapping->file);

        return mapping_kind_of_dso(mapped->path) == MAPPING_JITTED;
}

/* The addresses of the program's frames, the leaf first. */
static unsigned stack_file_callers(StackFile *file, const struct perf_event_attr *attr,
                                   const StackSample *sample)
{
        RegistersStep step = REGISTERS_SIGNAL;
        StackCopy stack = {.bytes = sample->stack, .n = (size_t)sample->n_stack};
        Registers registers;
        unsigned n = 0;

        if (!sample->regs)
                return 0;
        registers_from_perf(attr->sample_regs_user, sample->regs, &registers);
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
                step = mapping ? stack_file_step(file, sample->pid, &registers, &stack, mapping,
                                                 address)
                               : registers_step_pointer(&registers, &stack);
                if (step == REGISTERS_END)
                        break;
                if (mapping && step == REGISTERS_CALLER && stack_file_is_jitted(file, mapping))
                        stack_file_find_hidden(file, sample, &stack, pointer, &registers);
        }
        if (n == MAX_CALLERS ||
            (step == REGISTERS_END && stack.is_short && stack.n >= attr->sample_stack_user)) {
                file->counts.n_cut++;
                file->callers[n++] = STACK_CUT_MARK;
        }
        file->counts.n_missing += file->is_missing;
        file->counts.n_spent += file->is_spent;
        return n;
}

static bool stack_file_fail_write(GError **error)
{
        g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM, "its stacks cannot be written: %s",
                    g_strerror(errno));
        return false;
}

static bool stack_file_write(StackFile *file, const void *bytes, size_t n, GError **error)
{
        return fwrite(bytes, 1, n, file->output) == n || stack_file_fail_write(error);
}

static bool stack_file_write_sample(StackFile *file, const struct perf_event_header *record,
                                    GError **error)
{
        const struct perf_event_attr *attr = perf_data_attr(&file->data, record);
        const uint8_t *bytes = (const uint8_t *)record;
        const uint64_t marker = PERF_CONTEXT_USER;
        struct perf_event_header header = *record;
        uint64_t n_kernel, n_chain;
        StackSample sample;
        unsigned n;
        size_t size;

        if (!attr || !stack_sample_has(attr))
                return stack_file_write(file, record, record->size, error);
        if (!stack_sample_read(attr, record, &sample)) {
                g_set_error_literal(error, UNWIND_ERROR, UNWIND_ERROR_DAMAGED,
                                    "one of its samples is not whole");
                return false;
        }
        n = stack_file_callers(file, attr, &sample);
        n_kernel = (sample.chain_end - sample.chain_begin) / sizeof(uint64_t) - 1;
        size = record->size - (sample.stack_end - sample.regs_begin);
        n = (unsigned)MIN(n, (UINT16_MAX - 7 - size) / sizeof(uint64_t) - 1);
        n_chain = n_kernel + (n ? n + 1 : 0);
        size += (size_t)(n_chain - n_kernel) * sizeof(uint64_t);
        header.size = (uint16_t)size;
        return stack_file_write(file, &header, sizeof(header), error) &&
               stack_file_write(file, bytes + sizeof(header), sample.chain_begin - sizeof(header),
                                error) &&
               stack_file_write(file, &n_chain, sizeof(n_chain), error) &&
               stack_file_write(file, bytes + sample.chain_begin + sizeof(n_chain),
                                (size_t)n_kernel * sizeof(uint64_t), error) &&
               (!n || (stack_file_write(file, &marker, sizeof(marker), error) &&
                       stack_file_write(file, file->callers, n * sizeof(uint64_t), error))) &&
               stack_file_write(file, bytes + sample.chain_end,
                                sample.regs_begin - sample.chain_end, error) &&
               stack_file_write(file, bytes + sample.stack_end, record->size - sample.stack_end,
                                error);
}

static bool stack_file_write_records(StackFile *file, uint64_t *ret_size, GError **error)
{
        const off_t begin = ftello(file->output);
        const struct perf_event_header *record;

        do {
                if (!perf_data_next(&file->data, &record, error))
                        return false;
                if (record && !(record->type == PERF_RECORD_SAMPLE
                                        ? stack_file_write_sample(file, record, error)
                                        : stack_file_write(file, record, record->size, error)))
                        return false;
        } while (record);
        *ret_size = (uint64_t)(ftello(file->output) - begin);
        return true;
}

/* N bytes of the file from OFFSET on. */
static bool stack_file_copy(StackFile *file, uint64_t offset, uint64_t n, GError **error)
{
        uint8_t bytes[4096];

        while (n > 0) {
                const size_t part = (size_t)MIN(n, sizeof(bytes));

                if (!perf_data_read(&file->data, offset, bytes, part, error) ||
                    !stack_file_write(file, bytes, part, error))
                        return false;
                offset += part;
                n -= part;
        }
        return true;
}

/* What follows the records: the places of the features, then the features. All move by as much. */
static bool stack_file_write_features(StackFile *file, uint64_t new_end, GError **error)
{
        const PerfFileHeader *header = &file->data.header;
        const uint64_t old_end = header->data.offset + header->data.size;
        uint64_t n = 0, i;

        for (i = 0; i < G_N_ELEMENTS(header->features); i++)
                n += (uint64_t)__builtin_popcountll(header->features[i]);
        for (i = 0; i < n; i++) {
                PerfSection section;

                if (!perf_data_read(&file->data, old_end + i * sizeof(section), &section,
                                    sizeof(section), error))
                        return false;
                section.offset += new_end - old_end;
                if (!stack_file_write(file, &section, sizeof(section), error))
                        return false;
        }
        i = old_end + n * sizeof(PerfSection);
        return stack_file_copy(file, i, file->data.size - i, error);
}

/* What the attributes and the header have of the stacks and of the size of the records. */
static bool stack_file_correct(StackFile *file, uint64_t size, GError **error)
{
        PerfFileHeader header = file->data.header;
        guint i;

        header.data.size = size;
        if (fseeko(file->output, 0, SEEK_SET) != 0)
                return stack_file_fail_write(error);
        if (!stack_file_write(file, &header, sizeof(header), error))
                return false;
        for (i = 0; i < file->data.attrs->len; i++) {
                PerfAttr row = g_array_index(file->data.attrs, PerfAttr, i);

                if (!stack_sample_has(&row.attr))
                        continue;
                row.attr.sample_type &= ~STACK_MEMBERS;
                row.attr.sample_regs_user = 0;
                row.attr.sample_stack_user = 0;
                row.attr.exclude_callchain_user = 0;
                row.attr.sample_max_stack = UINT16_MAX; /* STACK_CUT_MARK shows what is cut */
                if (fseeko(file->output, (off_t)row.at, SEEK_SET) != 0)
                        return stack_file_fail_write(error);
                if (!stack_file_write(file, &row.attr, MIN(row.n, sizeof(row.attr)), error))
                        return false;
        }
        return true;
}

/* What is corrected must not be among the records, which move. */
static bool stack_file_begins(const StackFile *file, GError **error)
{
        const PerfFileHeader *header = &file->data.header;

        if (header->data.offset >= sizeof(*header) &&
            header->data.offset >= header->attrs.offset + header->attrs.size)
                return true;
        g_set_error_literal(error, UNWIND_ERROR, UNWIND_ERROR_DAMAGED,
                            "its records begin before its events are described");
        return false;
}

static bool stack_file_run(StackFile *file, GError **error)
{
        const PerfSection *records = &file->data.header.data;
        uint64_t size;

        if (!stack_file_begins(file, error) || !stack_file_take_mappings(file, error) ||
            !stack_file_copy(file, 0, records->offset, error) ||
            !stack_file_write_records(file, &size, error))
                return false;
        /* One that was killed has neither their size nor features. */
        if (records->size && records->size <= file->data.size - records->offset &&
            !stack_file_write_features(file, records->offset + size, error))
                return false;
        if (!stack_file_correct(file, records->size ? size : 0, error))
                return false;
        return fflush(file->output) == 0 || stack_file_fail_write(error);
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

bool stack_file_unwind(const char *path, int fd, int hidden_fd, StackCounts *ret_counts,
                       GError **error)
{
        g_autofree StackFile *file = g_new0(StackFile, 1);
        guint i;
        bool ok;

        file->spaces = address_spaces_new();
        file->output = fdopen(dup(fd), "w");
        file->hidden = fdopen(dup(hidden_fd), "w");
        ok = perf_data_open(&file->data, path, error);
        for (i = 0; ok && i < file->data.attrs->len; i++)
                file->counts.is_aside |=
                        !stack_sample_has(&g_array_index(file->data.attrs, PerfAttr, i).attr);
        if (ok && !IS_KNOWN_MACHINE) {
                g_set_error_literal(error, UNWIND_ERROR, UNWIND_ERROR_UNKNOWN,
                                    "the registers of this machine are not known");
                ok = false;
        }
        if (ok && (!file->output || !file->hidden)) {
                g_set_error(error, UNWIND_ERROR, UNWIND_ERROR_SYSTEM, "%s", g_strerror(errno));
                ok = false;
        }
        if (ok) {
                file->frames = call_frames_new(file->spaces);
                ok = stack_file_run(file, error);
                file->counts.missing = g_strdup(call_frames_most_missing(file->frames));
                file->counts.spent = stack_file_most_spent(file);
        }
        if (file->hidden && fclose(file->hidden) != 0 && ok)
                ok = stack_file_fail_write(error);
        if (file->output)
                fclose(file->output);
        perf_data_deinit(&file->data);
        call_frames_free(file->frames);
        address_spaces_free(file->spaces);
        *ret_counts = file->counts;
        return ok;
}
