/* SPDX-License-Identifier: MIT */

/* Mappings by time, samples with stacks, and the step to a caller */

#include "perfdata/address-space.h"
#include "unwind/registers.h"
#include "unwind/stack-walk.h"
#include "perfdata/perf-sample.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A record of bounded size, as in the file. */
typedef union Record {
        struct perf_event_header header;
        uint8_t bytes[1024];
} Record;

static void record_add(Record *record, const void *bytes, size_t n)
{
        ck_assert_uint_le(record->header.size + n, sizeof(record->bytes));
        memcpy(record->bytes + record->header.size, bytes, n);
        record->header.size = (uint16_t)(record->header.size + n);
}

static void record_begin(Record *record, uint32_t type, uint16_t misc)
{
        *record = (Record){.header = {type, misc, sizeof(record->header)}};
}

static void record_add_u32(Record *record, uint32_t value)
{
        record_add(record, &value, sizeof(value));
}

static void record_add_u64(Record *record, uint64_t value)
{
        record_add(record, &value, sizeof(value));
}

typedef enum Happening {
        MAPPED,
        MAPPED_DATA, /* not executable */
        FORKED,
        EXECUTED,
} Happening;

typedef struct Step {
        Happening what;
        uint64_t time;
        uint32_t pid, parent;
        uint64_t begin, size;
        const char *path;
} Step;

static void take_step(AddressSpaces *spaces, const Step *step)
{
        Record record;

        switch (step->what) {
        case MAPPED:
        case MAPPED_DATA:
                record_begin(&record, PERF_RECORD_MMAP2, 0);
                record_add_u32(&record, step->pid);
                record_add_u32(&record, step->pid);
                record_add_u64(&record, step->begin);
                record_add_u64(&record, step->size);
                record_add_u64(&record, 0x3000);
                record_add_u32(&record, 8);  /* major */
                record_add_u32(&record, 1);  /* minor */
                record_add_u64(&record, 77); /* inode */
                record_add_u64(&record, 0);  /* generation */
                record_add_u32(&record, step->what == MAPPED ? PROT_EXEC : PROT_READ);
                record_add_u32(&record, MAP_PRIVATE);
                record_add(&record, step->path, strlen(step->path) + 1);
                break;
        case FORKED:
                record_begin(&record, PERF_RECORD_FORK, 0);
                record_add_u32(&record, step->pid);
                record_add_u32(&record, step->parent);
                record_add_u32(&record, step->pid);
                record_add_u32(&record, step->parent);
                record_add(&record, &step->time, sizeof(step->time));
                break;
        case EXECUTED:
                record_begin(&record, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
                record_add_u32(&record, step->pid);
                record_add_u32(&record, step->pid);
                record_add(&record, "name", 5);
                break;
        }
        address_spaces_take(spaces, &record.header, step->time);
}

START_TEST(test_address_space)
{
        static const Step STEPS[] = {
                {MAPPED, 0, 1, 0, 0x1000, 0x1000, "/old"},
                {MAPPED, 0, 1, 0, 0x8000, 0x4000, "/wide"},
                {MAPPED_DATA, 0, 1, 0, 0x20000, 0x1000, "/data"},
                {MAPPED, 60, 1, 0, 0x9000, 0x1000, "/inside"},
                {MAPPED, 50, 1, 0, 0x1000, 0x1000, "/new"}, /* not sorted by time */
                {FORKED, 40, 2, 1, 0, 0, NULL},
                {MAPPED, 45, 2, 0, 0x40000, 0x1000, "/child"},
                {EXECUTED, 70, 2, 0, 0, 0, NULL},
                {MAPPED, 71, 2, 0, 0x1000, 0x1000, "/executed"},
                {FORKED, 40, 3, 3, 0, 0, NULL}, /* a thread */
                {FORKED, 40, 5, 6, 0, 0, NULL}, /* cyclic parents */
                {FORKED, 40, 6, 5, 0, 0, NULL},
                {MAPPED, 0, 1, 0, UINT64_MAX - 0xfff, 0x2000, "/beyond"},
                {MAPPED, 0, 7, 0, 0x5000, 0x1000, "//anon"},
        };
        static const struct {
                int32_t pid;
                uint64_t time, address;
                const char *path; /* NULL: no mapping */
        } CASES[] = {
                {1, 10, 0x1000, "/old"},    {1, 10, 0x1fff, "/old"},      {1, 10, 0x2000, NULL},
                {1, 10, 0xfff, NULL},       {1, 50, 0x1000, "/new"},      {1, 49, 0x1000, "/old"},
                {1, 59, 0x9800, "/wide"},   {1, 60, 0x9800, "/inside"},   {1, 60, 0xa000, "/wide"},
                {1, 60, 0x8fff, "/wide"},   {1, 60, 0x20000, NULL},       {2, 42, 0x1000, "/old"},
                {2, 55, 0x1000, "/old"}, /* the parent's mapping is later than the fork */
                {2, 55, 0x40800, "/child"}, {1, 55, 0x40800, NULL},       {2, 70, 0x40800, NULL},
                {2, 70, 0x9000, NULL},      {2, 71, 0x1000, "/executed"}, {3, 55, 0x1000, NULL},
                {4, 55, 0x1000, NULL},      {5, 55, 0x1000, NULL},        {1, 55, UINT64_MAX, NULL},
                {7, 10, 0x5800, "//anon"},
        };
        AddressSpaces *spaces = address_spaces_new();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(STEPS); i++)
                take_step(spaces, &STEPS[i]);
        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                const SpaceMapping *found =
                        address_spaces_find(spaces, CASES[i].pid, CASES[i].time, CASES[i].address);
                const char *path = found ? address_spaces_file(spaces, found->file)->path : NULL;

                if (g_strcmp0(path, CASES[i].path) != 0)
                        ck_abort_msg("case %zu: %s, not %s", i, path, CASES[i].path);
        }
        ck_assert_uint_eq(address_spaces_find(spaces, 1, 10, 0x1000)->offset, 0x3000);
        ck_assert_uint_eq(address_spaces_find(spaces, 7, 10, 0x5800)->offset, 0x5000);
        /* The program before the exec, whose call has not returned. */
        ck_assert_ptr_nonnull(address_spaces_find_executor(spaces, 2, 70, 0x40800));
        ck_assert_ptr_null(address_spaces_find_executor(spaces, 2, 70 + 1000000000, 0x40800));
        ck_assert_ptr_null(address_spaces_find_executor(spaces, 2, 69, 0x40800));
        ck_assert_ptr_null(address_spaces_find_executor(spaces, 1, 70, 0x1000));
        ck_assert_ptr_null(address_spaces_find_executor(spaces, 9, 70, 0x1000));
        address_spaces_free(spaces);
}
END_TEST

START_TEST(test_address_space_cut)
{
        const Step step = {MAPPED, 0, 1, 0, 0x1000, 0x1000, "/file"};
        AddressSpaces *spaces = address_spaces_new();
        Record record;
        uint16_t n;

        take_step(spaces, &step);
        record_begin(&record, PERF_RECORD_MMAP2, 0);
        memset(record.bytes + sizeof(record.header), 0xff, 200);
        for (n = sizeof(record.header); n < 200; n++) {
                struct perf_event_header *exact = g_memdup2(record.bytes, n);

                exact->size = n;
                for (exact->type = 0; exact->type < 32; exact->type++)
                        address_spaces_take(spaces, exact, 5);
                g_free(exact);
        }
        ck_assert_ptr_nonnull(address_spaces_find(spaces, 1, 5, 0x1000));
        address_spaces_free(spaces);
}
END_TEST

enum { N_REGS = 3, STACK_SIZE = 64, STACK_COPIED = 40 };

/* Writes a sample with every member before the stack. */
static struct perf_event_attr write_sample(Record *record)
{
        static const uint8_t STACK[STACK_SIZE] = {1, 2, 3};
        const struct perf_event_attr attr = {
                .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                               PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                               PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                               PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                               PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                               PERF_SAMPLE_STACK_USER,
                .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
                .sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8, /* BP, SP, IP */
        };
        int i;

        record_begin(record, PERF_RECORD_SAMPLE, 0);
        record_add_u64(record, 0); /* identifier */
        record_add_u64(record, 0); /* ip */
        record_add_u32(record, 31);
        record_add_u32(record, 32);
        record_add_u64(record, 1234); /* time */
        for (i = 0; i < 5; i++)       /* addr, id, stream id, cpu, period */
                record_add_u64(record, 0);
        record_add_u64(record, 2); /* counter values, the time, and each with its id */
        for (i = 0; i < 1 + 2 * 2; i++)
                record_add_u64(record, 0);
        record_add_u64(record, 2); /* callers in the kernel */
        record_add_u64(record, PERF_CONTEXT_KERNEL);
        record_add_u64(record, 0xffffffff81000000);
        record_add_u32(record, 12); /* raw, with its length a multiple of 8 */
        record_add(record, STACK, 12);
        record_add_u64(record, 1); /* a branch */
        for (i = 0; i < 3; i++)
                record_add_u64(record, 0);
        record_add_u64(record, 2); /* 64-bit registers */
        for (i = 0; i < N_REGS; i++)
                record_add_u64(record, 0x1000 + (uint64_t)i);
        record_add_u64(record, STACK_SIZE);
        record_add(record, STACK, STACK_SIZE);
        record_add_u64(record, STACK_COPIED);
        return attr;
}

START_TEST(test_sample)
{
        struct perf_event_attr attr;
        Registers registers;
        PerfSample sample;
        Record record;

        attr = write_sample(&record);
        ck_assert(perf_sample_has(&attr));
        ck_assert(perf_sample_read(&attr, &record.header, &sample));
        ck_assert_int_eq(sample.pid, 31);
        ck_assert_int_eq(sample.tid, 32);
        ck_assert_uint_eq(sample.time, 1234);
        ck_assert_uint_eq(sample.chain_end - sample.chain_begin, 3 * 8);
        ck_assert_uint_eq(sample.n_stack, STACK_COPIED);
        ck_assert_int_eq(sample.stack[2], 3);
        ck_assert_uint_eq(sample.stack_end, record.header.size);
        registers_from_perf(machine_find("x86_64"), attr.sample_regs_user, sample.regs, &registers);
        ck_assert_uint_eq(registers.known,
                          1u << REGISTER_FP | 1u << REGISTER_SP | 1u << REGISTER_PC);
        ck_assert_uint_eq(registers.values[REGISTER_FP], 0x1000);
        ck_assert_uint_eq(registers.values[REGISTER_SP], 0x1001);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x1002);
}
END_TEST

START_TEST(test_sample_cut)
{
        struct perf_event_attr attr;
        Record record;
        uint16_t n;

        attr = write_sample(&record);
        for (n = sizeof(record.header); n < record.header.size; n++) {
                struct perf_event_header *exact = g_memdup2(record.bytes, n);
                PerfSample sample;

                exact->size = n;
                ck_assert_msg(!perf_sample_read(&attr, exact, &sample), "%u bytes", n);
                g_free(exact);
        }
}
END_TEST

START_TEST(test_sample_lengths)
{
        struct perf_event_attr attr;
        PerfSample sample;
        Record record;
        uint16_t at;

        attr = write_sample(&record);
        for (at = sizeof(record.header); at + 8 <= record.header.size; at += 8) {
                struct perf_event_header *exact = g_memdup2(record.bytes, record.header.size);

                memset((uint8_t *)exact + at, 0xff, 8);
                if (perf_sample_read(&attr, exact, &sample)) {
                        ck_assert_uint_le(sample.stack_end, record.header.size);
                        ck_assert_uint_le(sample.n_stack, STACK_SIZE);
                        ck_assert_uint_le(sample.chain_begin, sample.chain_end);
                }
                g_free(exact);
        }
}
END_TEST

static const uint64_t STACK_WORDS[] = {0, 0, 0x7020, 0x401000, 0x7000, 0x402000};
#define STACK_AT 0x7000

static StackCopy stack_copy(void)
{
        return (StackCopy){.address = STACK_AT,
                           .bytes = (const uint8_t *)STACK_WORDS,
                           .n = sizeof(STACK_WORDS)};
}

/* The machine in perf's header, and whether callers are found in copies of stacks. */
static const struct {
        const char *feature; /* length, 8, in 4 bytes, and the name; NULL: no header field */
        size_t n;
        bool has_copies, is_read;
        const char *machine;
} MACHINES[] = {
        {"\10\0\0\0x86_64\0", 12, true, true, "x86_64"},
        {"\10\0\0\0aarch64", 12, true, true, "aarch64"},
        {"\10\0\0\0riscv64", 12, true, false, "riscv64"},
        {"\10\0\0\0riscv64", 12, false, true, "riscv64"},
        {"\11\0\0\0aarch64", 12, false, true, NULL}, /* truncated */
        {NULL, 0, false, true, NULL},
};

START_TEST(test_machine)
{
        PerfAttr row = {.attr = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN}};
        PerfData data = {.attrs = g_array_new(FALSE, FALSE, sizeof(PerfAttr))};
        GError *error = NULL;
        bool has_copies;

        if (MACHINES[_i].has_copies)
                row.attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        g_array_append_val(data.attrs, row);
        perf_features_init(&data.features);
        if (MACHINES[_i].feature)
                perf_features_take(&data.features, PERF_FEATURE_ARCH,
                                   (const uint8_t *)MACHINES[_i].feature, MACHINES[_i].n);
        ck_assert_str_eq(perf_features_machine(&data.features),
                         MACHINES[_i].machine ? MACHINES[_i].machine : perf_features_machine(NULL));
        ck_assert_int_eq(stack_walk_check(&data, &has_copies, &error), MACHINES[_i].is_read);
        ck_assert_int_eq(has_copies, MACHINES[_i].has_copies);
        ck_assert(MACHINES[_i].is_read ||
                  strstr(error->message, "copies of stacks are of riscv64"));
        g_clear_error(&error);
        perf_features_deinit(&data.features);
        g_array_unref(data.attrs);
}
END_TEST

START_TEST(test_stack_copy)
{
        static const struct {
                uint64_t address;
                bool is_there, is_short;
        } CASES[] = {
                {STACK_AT, true, false},      {STACK_AT - 1, false, false},
                {STACK_AT + 40, true, false}, {STACK_AT + 41, false, true},
                {STACK_AT + 48, false, true}, {STACK_AT + 49, false, true},
                {UINT64_MAX, false, true},    {0, false, false},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                StackCopy stack = stack_copy();
                uint64_t value;

                ck_assert_int_eq(stack_copy_read(&stack, CASES[i].address, &value),
                                 CASES[i].is_there);
                ck_assert_int_eq(stack.is_short, CASES[i].is_short);
        }
}
END_TEST

/* A StackMemory function: the memory begins at 0x9000. */
static bool memory_read(void *data, int32_t tid, uint64_t address, uint64_t *ret_value)
{
        ++*(unsigned *)data;
        *ret_value = address + (uint64_t)tid;
        return address >= 0x9000;
}

/* The memory can have data that the copy lacks. */
START_TEST(test_stack_memory)
{
        unsigned n = 0;
        const StackMemory memory = {memory_read, &n};
        StackCopy stack = stack_copy();
        uint64_t value;

        stack.memory = &memory;
        stack.tid = 7;
        ck_assert(stack_copy_read(&stack, STACK_AT + 16, &value));
        ck_assert_uint_eq(value, STACK_WORDS[2]);
        ck_assert_uint_eq(n, 0);
        ck_assert(stack_copy_read(&stack, 0x9000, &value));
        ck_assert_uint_eq(value, 0x9007);
        ck_assert(!stack_copy_read(&stack, STACK_AT - 8, &value));
        ck_assert(!stack.is_short);
        ck_assert(!stack_copy_read(&stack, STACK_AT + 41, &value));
        ck_assert(stack.is_short);
        ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(test_step_pointer)
{
        StackCopy stack = stack_copy();
        Registers registers = {.machine = machine_find("x86_64")};

        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
        registers_set(&registers, REGISTER_FP, STACK_AT + 16);
        registers_set(&registers, REGISTER_SP, STACK_AT);
        registers_set(&registers, REGISTER_PC, 0x400000);
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x401000);
        ck_assert_uint_eq(registers.values[REGISTER_SP], STACK_AT + 32);
        ck_assert_uint_eq(registers.values[REGISTER_FP], STACK_AT + 32);
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x402000);
        /* The frame pointer leads back, which could be an endless loop. */
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
        registers_set(&registers, REGISTER_FP, STACK_AT + 0x1001);
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
        ck_assert(!stack.is_short);
        registers_set(&registers, REGISTER_FP, STACK_AT + 0x1000);
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
        ck_assert(stack.is_short);
        registers_set(&registers, REGISTER_FP, UINT64_MAX - 7);
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
}
END_TEST

/* arm64: perf's registers, and steps by rules, by the frame pointer, and through a signal. */

static Registers arm64_registers(uint64_t pointer, uint64_t sp, uint64_t pc, uint64_t address)
{
        Registers registers = {.machine = machine_find("aarch64")};

        registers_set(&registers, REGISTER_FP, pointer);
        registers_set(&registers, REGISTER_SP, sp);
        registers_set(&registers, REGISTER_PC, pc);
        registers_set(&registers, REGISTER_LR, address);
        return registers;
}

START_TEST(test_arm64_registers)
{
        uint64_t values[33];
        Registers registers;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(values); i++)
                values[i] = 100 + i;
        registers_from_perf(machine_find("aarch64"), (UINT64_C(1) << 33) - 1,
                            (const uint8_t *)values, &registers);
        ck_assert_uint_eq(registers.known, (UINT64_C(1) << 33) - 1);
        ck_assert_uint_eq(registers.values[0], 100);
        ck_assert_uint_eq(registers.values[19], 119);
        ck_assert_uint_eq(registers.values[REGISTER_FP], 129);
        ck_assert_uint_eq(registers.values[REGISTER_LR], 130);
        ck_assert_uint_eq(registers.values[REGISTER_SP], 131);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 132);
        for (i = 0; i < N_REGISTERS; i++) {
                char name[8];

                g_snprintf(name, sizeof(name), "x%zu", i);
                ck_assert_str_eq(registers.machine->names[machine_of_dwarf(registers.machine, i)],
                                 i == 31   ? "sp"
                                 : i == 32 ? "pc"
                                           : name);
        }
        /* perf adds only this register to chains. */
        registers_from_perf(machine_find("aarch64"), UINT64_C(1) << 30, (const uint8_t *)values,
                            &registers);
        ck_assert_uint_eq(registers.known, UINT64_C(1) << REGISTER_LR);
}
END_TEST

START_TEST(test_arm64_pointer)
{
        StackCopy stack = stack_copy();
        Registers registers = arm64_registers(STACK_AT + 16, STACK_AT, 0x400000, 0x400100);

        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x401000);
        ck_assert_uint_eq(registers.values[REGISTER_FP], STACK_AT + 32);
        /* The frame pointer still gives the next frame; and x30 has changed. */
        ck_assert(!registers_have(&registers, REGISTER_SP));
        ck_assert(!registers_have(&registers, REGISTER_LR));
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x402000);
        /* The frame pointer leads back. */
        ck_assert_int_eq(registers_step_pointer(&registers, &stack), REGISTERS_END);
}
END_TEST

START_TEST(test_arm64_frame)
{
        CallFrame frame = {.cfa = {.kind = FRAME_RULE_REGISTER, .number = REGISTER_SP},
                           .registers = {[REGISTER_FP] = {.kind = FRAME_RULE_SAME},
                                         [REGISTER_SP] = {.kind = FRAME_RULE_OF_CFA},
                                         [REGISTER_LR] = {.kind = FRAME_RULE_SAME}}};
        StackCopy stack = stack_copy();
        Registers registers =
                arm64_registers(STACK_AT + 16, STACK_AT, 0x400000, 0x0044000000400100);

        /* A leaf has nothing on the stack; its return address is signed. */
        ck_assert_int_eq(registers_step_frame(&registers, &stack, &frame), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x400100);
        ck_assert_uint_eq(registers.values[REGISTER_SP], STACK_AT);
        /* The caller is no leaf, so it must have saved x30. */
        ck_assert_int_eq(registers_step_frame(&registers, &stack, &frame), REGISTERS_END);
        frame.cfa.offset = 32;
        frame.registers[REGISTER_FP] = (FrameRule){.kind = FRAME_RULE_AT_CFA, .offset = -16};
        frame.registers[REGISTER_LR] = (FrameRule){.kind = FRAME_RULE_AT_CFA, .offset = -8};
        ck_assert(call_frame_keeps_pointer(&frame, registers.machine));
        ck_assert_int_eq(registers_step_frame(&registers, &stack, &frame), REGISTERS_CALLER);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 0x401000);
        ck_assert_uint_eq(registers.values[REGISTER_SP], STACK_AT + 32);
        /* A frame that is not above the last one is no caller. */
        frame.cfa.offset = 0;
        ck_assert_int_eq(registers_step_frame(&registers, &stack, &frame), REGISTERS_END);
        frame.cfa.offset = 32;
        frame.registers[REGISTER_LR] = (FrameRule){.kind = FRAME_RULE_UNDEFINED};
        ck_assert_int_eq(registers_step_frame(&registers, &stack, &frame), REGISTERS_BEGIN);
}
END_TEST

START_TEST(test_arm64_signal)
{
        uint64_t words[80] = {0};
        StackCopy stack = {
                .address = STACK_AT, .bytes = (const uint8_t *)words, .n = sizeof(words)};
        Registers registers = arm64_registers(STACK_AT + 78 * 8, STACK_AT, 0x400000, 0);
        size_t i;

        for (i = 0; i < 33; i++) /* layout of the kernel: x0 to x30, sp, pc */
                words[39 + i] = 1000 + i;
        words[78] = 1029;
        ck_assert_int_eq(registers_step_signal(&registers, &stack), REGISTERS_END);
        words[79] = 1030;
        ck_assert_int_eq(registers_step_signal(&registers, &stack), REGISTERS_SIGNAL);
        ck_assert_uint_eq(registers.values[REGISTER_PC], 1032);
        ck_assert_uint_eq(registers.values[REGISTER_SP], 1031);
        ck_assert_uint_eq(registers.values[REGISTER_LR], 1030);
        ck_assert_uint_eq(registers.values[20], 1020);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("unwind");
        TCase *tests = tcase_create("unwind");

        tcase_add_test(tests, test_address_space);
        tcase_add_test(tests, test_address_space_cut);
        tcase_add_test(tests, test_sample);
        tcase_add_test(tests, test_sample_cut);
        tcase_add_test(tests, test_sample_lengths);
        tcase_add_loop_test(tests, test_machine, 0, G_N_ELEMENTS(MACHINES));
        tcase_add_test(tests, test_stack_copy);
        tcase_add_test(tests, test_stack_memory);
        tcase_add_test(tests, test_step_pointer);
        tcase_add_test(tests, test_arm64_registers);
        tcase_add_test(tests, test_arm64_pointer);
        tcase_add_test(tests, test_arm64_frame);
        tcase_add_test(tests, test_arm64_signal);
        suite_add_tcase(suite, tests);
        return suite;
}
