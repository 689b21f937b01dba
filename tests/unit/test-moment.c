/* SPDX-License-Identifier: MIT */

/* A moment, written as a perf.data file and read again; and stopping a child process */

#include "moment/process-stop.h"

#include "perfdata/address-space.h"
#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"
#include "perfdata/thread-names.h"
#include "support/suite.h"
#include "unwind/registers.h"
#include "util/fd.h"

#include <elf.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PID  4711
#define TIME UINT64_C(123456789012)

/* Bytes of the registers of a 32-bit thread: struct user_regs_struct of i386. */
#define SIZE_OF_32_BITS 68u

/* True: each thread has the registers of a 32-bit program, because not every kernel runs one. */
static bool is_of_32_bits;

static const char MAPS[] = "7f0000000000-7f0000002000 r--p 00000000 fe:01 77    /a/lib.so\n"
                           "7f0000002000-7f0000008000 r-xp 00002000 fe:01 77    /a/lib.so\n"
                           "7f0000010000-7f0000020000 rwxp 00000000 00:00 0 \n"
                           "7f0000030000-7f0000030000 r-xp 00000000 00:00 0     /empty\n"
                           "nonsense\n"
                           "7f0000040000-7f0000041000 r-xp 00000000 00:00 0     [vdso]";

static const char *const MACHINES[] = {"x86_64", "aarch64"};

static Moment *moment_made(const char *machine, const uint32_t *n_stacks, guint n)
{
        Moment *moment = moment_new(PID);
        guint i, j;

        moment->machine = machine_find(machine);
        moment->time = TIME;
        moment->time_of_day = 2 * TIME;
        moment_take_maps(moment, MAPS);
        for (i = 0; i < n; i++) {
                MomentThread thread = {.tid = PID + (pid_t)i, .n_stack = n_stacks[i]};

                g_snprintf(thread.name, sizeof(thread.name), "thread %u", i);
                for (j = 0; j < N_REGISTERS; j++)
                        thread.registers[j] = 1000 * i + j;
                thread.stack = g_malloc(n_stacks[i] + 1);
                memset(thread.stack, (int)i + 1, n_stacks[i]);
                g_array_append_val(moment->threads, thread);
        }
        return moment;
}

static void sample_check(const PerfData *data, const struct perf_event_header *record, guint i,
                         uint32_t n_stack)
{
        const PerfAttr *event = perf_data_event(data, record);
        const Machine *machine = machine_find(data->features.machine);
        Registers registers;
        PerfSample sample;
        unsigned j, n = 0;

        ck_assert_ptr_nonnull(event);
        ck_assert(perf_sample_has(&event->attr));
        ck_assert(perf_sample_read(&event->attr, record, &sample));
        ck_assert_int_eq(sample.pid, PID);
        ck_assert_int_eq(sample.tid, PID + (int)i);
        ck_assert_uint_eq(sample.time, TIME);
        ck_assert_uint_eq(sample.ip, 1000 * i + REGISTER_PC);
        ck_assert_uint_eq(sample.n_stack, n_stack);
        if (n_stack) {
                ck_assert_uint_eq(sample.stack[0], i + 1);
                ck_assert_uint_eq(sample.stack[n_stack - 1], i + 1);
        }
        registers_from_perf(machine, event->attr.sample_regs_user, sample.regs, &registers);
        for (j = 0; j < N_REGISTERS; j++) {
                ck_assert_int_eq(registers_have(&registers, j), machine->names[j] != NULL);
                if (registers_have(&registers, j))
                        ck_assert_uint_eq(registers.values[j], 1000 * i + j);
                n += registers_have(&registers, j);
        }
        ck_assert_uint_eq(n, machine->kind == MACHINE_ARM64 ? 33 : 17);
}

START_TEST(test_round)
{
        const uint32_t n_stacks[] = {0, 1, 8, 4093, MOMENT_MAX_STACK};
        Moment *moment = moment_made(MACHINES[_i], n_stacks, G_N_ELEMENTS(n_stacks));
        FD_AUTO int fd = memfd_create("moment", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        const struct perf_event_header *record;
        AddressSpaces *spaces = address_spaces_new();
        ThreadNames *names = thread_names_new();
        const SpaceMapping *mapping;
        PerfData data;
        guint i = 0;

        /* Without a file, the address serves as offset and as place. */
        ck_assert_uint_eq(moment->code->len, 1);
        ck_assert_uint_eq(g_array_index(moment->code, MomentCode, 0).offset, 0x7f0000010000);
        ck_assert_uint_eq(g_array_index(moment->code, MomentCode, 0).place, 0x7f0000010000);
        ck_assert_uint_eq(g_array_index(moment->code, MomentCode, 0).n, 0x10000);
        ck_assert(moment_write(moment, fd, NULL));
        ck_assert(perf_data_open(&data, path, NULL));
        ck_assert(!data.is_cut);
        ck_assert_str_eq(data.features.machine, MACHINES[_i]);
        ck_assert(data.features.reference.is_known);
        ck_assert_uint_eq(data.features.reference.clock, TIME);
        ck_assert_uint_eq(data.features.reference.tod, 2 * TIME);
        for (;;) {
                ck_assert(perf_data_next(&data, &record, NULL));
                if (!record)
                        break;
                if (record->type == PERF_RECORD_SAMPLE) {
                        ck_assert_uint_lt(i, G_N_ELEMENTS(n_stacks));
                        sample_check(&data, record, i, n_stacks[i]);
                        i++;
                }
                address_spaces_take(spaces, record, 0);
                thread_names_take(names, record, 0);
        }
        ck_assert_uint_eq(i, G_N_ELEMENTS(n_stacks));
        ck_assert_str_eq(thread_names_find(names, PID + 3, TIME), "thread 3");
        mapping = address_spaces_find(spaces, PID, TIME, 0x7f0000002010);
        ck_assert_ptr_nonnull(mapping);
        ck_assert_uint_eq(mapping->offset, 0x2000);
        ck_assert_str_eq(address_spaces_file(spaces, mapping->file)->path, "/a/lib.so");
        ck_assert_uint_eq(address_spaces_file(spaces, mapping->file)->inode, 77);
        mapping = address_spaces_find(spaces, PID, TIME, 0x7f0000010010);
        ck_assert_ptr_nonnull(mapping);
        ck_assert_str_eq(address_spaces_file(spaces, mapping->file)->path, "//anon");
        ck_assert_ptr_null(address_spaces_find(spaces, PID, TIME, 0x7f0000000010));
        ck_assert_ptr_nonnull(address_spaces_find(spaces, PID, TIME, 0x7f0000040010));
        address_spaces_free(spaces);
        thread_names_free(names);
        perf_data_deinit(&data);
        moment_free(moment);
}
END_TEST

/* A recording has the begin of a stack, and the moment has the rest. */
START_TEST(test_deep)
{
        const uint32_t n_stacks[] = {8, 3 * MOMENT_MAX_STACK};
        g_autoptr(Moment) moment = moment_made(MACHINES[0], n_stacks, G_N_ELEMENTS(n_stacks));
        const StackMemory memory = moment_stack_memory(moment);
        const uint64_t begin = 1000 + REGISTER_SP, end = begin + n_stacks[1];
        FD_AUTO int fd = memfd_create("moment", MFD_CLOEXEC);
        const struct {
                int32_t tid;
                uint64_t address;
                bool is_there;
        } CASES[] = {
                {PID + 1, begin, true},          {PID + 1, begin - 1, false},
                {PID + 1, end - 8, true},        {PID + 1, end - 7, false},
                {PID, REGISTER_SP, true},        {PID, REGISTER_SP + 1, false},
                {PID + 2, begin, false},         {PID + 1, UINT64_MAX, false},
                {PID + 1, begin + 100000, true},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CASES); i++) {
                uint64_t value = 0;

                ck_assert_int_eq(memory.read(memory.data, CASES[i].tid, CASES[i].address, &value),
                                 CASES[i].is_there);
                ck_assert_uint_eq(value & 255,
                                  CASES[i].is_there ? (uint64_t)(CASES[i].tid - PID + 1) : 0);
        }
        ck_assert(moment_write(moment, fd, NULL));
}
END_TEST

START_TEST(test_full)
{
        const uint32_t n_stacks[] = {100};
        Moment *moment = moment_made(MACHINES[0], n_stacks, G_N_ELEMENTS(n_stacks));
        GError *error = NULL;

        ck_assert(!moment_write(moment, -1, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "the stacks of process 4711 cannot be kept"));
        g_error_free(error);
        moment_free(moment);
}
END_TEST

/* Starts a child with N bytes on its stack that waits in pause(). Returns when the bytes are
 * there. */
static pid_t child_start_deep(size_t n)
{
        int ready[2];
        pid_t pid;
        char byte;

        ck_assert_int_eq(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                volatile uint8_t *bytes = __builtin_alloca(n);
                size_t i;

                for (i = 0; i < n; i++)
                        bytes[i] = 77;
                close(ready[0]);
                close(ready[1]);
                for (;;)
                        pause();
        }
        close(ready[1]);
        /* The child's end of the pipe is closed. */
        ck_assert_int_eq(read(ready[0], &byte, 1), 0);
        close(ready[0]);
        return pid;
}

static pid_t child_start(void)
{
        return child_start_deep(16);
}

static void child_end(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

START_TEST(test_stop)
{
        const pid_t pid = child_start();
        GError *error = NULL;
        Moment *moment = moment_of_process(pid, PROCESS_STOP_COPY_LIMIT, &error);
        const MomentThread *thread;
        int status;

        if (!moment) {
                /* In a sandbox that does not permit stopping, the error says so. */
                ck_assert_ptr_nonnull(strstr(error->message, "cannot be stopped"));
                g_error_free(error);
                child_end(pid);
                return;
        }
        ck_assert_uint_eq(moment->threads->len, 1);
        thread = &g_array_index(moment->threads, MomentThread, 0);
        ck_assert_int_eq(thread->tid, pid);
        ck_assert_uint_gt(thread->n_stack, 0);
        ck_assert_uint_gt(moment->mappings->len, 1);
        ck_assert_uint_gt(moment->stop, 0);
        moment_free(moment);
        /* The child runs on: neither stopped nor ended. */
        ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
        child_end(pid);
}
END_TEST

/* Without time for copies, the threads go on, and the reason is given. */
START_TEST(test_stop_late)
{
        const pid_t pid = child_start();
        GError *error = NULL;
        int status;

        ck_assert_ptr_null(moment_of_process(pid, /* copy_limit= */ 0, &error));
        /* A sandbox may not permit the stop. */
        if (!strstr(error->message, "cannot be stopped"))
                ck_assert_ptr_nonnull(
                        strstr(error->message, "the stacks of 1 of 1 threads are missing"));
        g_error_free(error);
        ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
        child_end(pid);
}
END_TEST

START_TEST(test_stop_deep)
{
        const size_t size = 4 * MOMENT_MAX_STACK;
        const pid_t pid = child_start_deep(size);
        const MomentThread *thread;
        Moment *moment;
        size_t i, n = 0;

        moment = moment_of_process(pid, PROCESS_STOP_COPY_LIMIT, NULL);
        child_end(pid);
        /* A sandbox may not permit stopping. */
        if (!moment)
                return;
        thread = &g_array_index(moment->threads, MomentThread, 0);
        ck_assert_uint_gt(thread->n_stack, size);
        for (i = 0; i < thread->n_stack; i++)
                n += thread->stack[i] == 77;
        ck_assert_uint_ge(n, size);
        moment_free(moment);
}
END_TEST

/* In this program, instead of libc's function. */
long ptrace(enum __ptrace_request request, ...)
{
        va_list arguments;
        long tid, address, result;
        void *data;

        va_start(arguments, request);
        tid = va_arg(arguments, pid_t);
        address = va_arg(arguments, long);
        data = va_arg(arguments, void *);
        va_end(arguments);
        result = syscall(SYS_ptrace, request, tid, address, data);
        if (result == 0 && is_of_32_bits && request == PTRACE_GETREGSET && address == NT_PRSTATUS)
                ((struct iovec *)data)->iov_len = SIZE_OF_32_BITS;
        return result;
}

START_TEST(test_32_bits)
{
        const pid_t pid = child_start();
        GError *error = NULL;
        int status;

        is_of_32_bits = true;
        ck_assert_ptr_null(moment_of_process(pid, PROCESS_STOP_COPY_LIMIT, &error));
        is_of_32_bits = false;
        /* A sandbox may not permit the stop. */
        if (!strstr(error->message, "cannot be stopped"))
                ck_assert_ptr_nonnull(strstr(error->message, "is a program of 32 bits"));
        g_error_free(error);
        ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
        child_end(pid);
}
END_TEST

/* A process that was stopped before stays stopped. */
START_TEST(test_stopped)
{
        const pid_t pid = child_start();
        Moment *moment;
        int status;

        kill(pid, SIGSTOP);
        ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
        ck_assert(WIFSTOPPED(status));
        moment = moment_of_process(pid, PROCESS_STOP_COPY_LIMIT, NULL);
        moment_free(moment);
        kill(pid, SIGCONT);
        ck_assert_int_eq(waitpid(pid, &status, WCONTINUED), pid);
        ck_assert(WIFCONTINUED(status));
        child_end(pid);
}
END_TEST

START_TEST(test_refused)
{
        const pid_t pid = child_start();
        GError *error = NULL;

        child_end(pid);
        ck_assert_ptr_null(moment_of_process(pid, PROCESS_STOP_COPY_LIMIT, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "there is no process"));
        g_clear_error(&error);
        ck_assert_ptr_null(moment_of_process(getpid(), PROCESS_STOP_COPY_LIMIT, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "is clrsym itself"));
        g_clear_error(&error);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("moment");
        TCase *tcase = tcase_create("moment");

        tcase_add_loop_test(tcase, test_round, 0, G_N_ELEMENTS(MACHINES));
        tcase_add_test(tcase, test_deep);
        tcase_add_test(tcase, test_full);
        tcase_add_test(tcase, test_stop);
        tcase_add_test(tcase, test_stop_late);
        tcase_add_test(tcase, test_stop_deep);
        tcase_add_test(tcase, test_32_bits);
        tcase_add_test(tcase, test_stopped);
        tcase_add_test(tcase, test_refused);
        suite_add_tcase(suite, tcase);
        return suite;
}
