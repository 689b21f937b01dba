/* SPDX-License-Identifier: MIT */
#include "moment/process-stop.h"

#include "moment/debugger-threads.h"
#include "unwind/stack-walk.h"
#include "util/clock.h"
#include "util/proc-stat.h"
#include "util/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The smallest page of a machine. By these, a copy ends where it ends by larger pages. */
#define PAGE 4096u
/* Bytes of one copy of a deep stack. */
#define PIECE (256u << 10)
/* Maximum of CPU time that copies of deep stacks take, in ns. */
#define DEEP_LIMIT (20 * INT64_C(1000000))
/* Time between two looks at a thread that shall stop. */
#define POLL_NS 50000

/* The number of fs_base in the kernel's status of a thread on x86-64 (struct user_regs_struct). */
enum { STATUS_FS_BASE = 21 };

typedef enum StopState {
        STOP_SEIZED,  /* it runs, traced by us */
        STOP_ASKED,   /* it was asked to stop */
        STOP_STOPPED, /* it is stopped */
        STOP_OVER,    /* it continues, or has ended */
} StopState;

typedef struct StopThread {
        pid_t tid;
        StopState state;
        int signal; /* to deliver when it continues; 0: none */
} StopThread;

typedef struct ProcessStop {
        Moment *moment;
        GArray *threads;   /* owned, of StopThread */
        GHashTable *known; /* owned: set of tids */
        char *maps;        /* owned: /proc/PID/maps during the stop; NULL: not read */
        gint64 deadline;   /* us of g_get_monotonic_time(), like disk_deadline */
        gint64 disk_deadline;
        gint64 copy_limit; /* us from the first copy to the last */
        uint64_t begin;    /* ns: time of the first request to stop */
        int seize_error;   /* errno of the first thread that could not be seized; 0: none */
        pid_t refused;     /* the tid of that thread */
        bool is_other;     /* it is a 32-bit process */
} ProcessStop;

/* Seizes each new thread, which goes on running. Returns their number. */
static unsigned stop_seize(ProcessStop *stop)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)stop->moment->pid);
        DIR *directory = opendir(path);
        const struct dirent *entry;
        unsigned n = 0;

        while (directory && (entry = readdir(directory))) {
                StopThread thread = {.tid = (pid_t)atoi(entry->d_name), .state = STOP_SEIZED};

                if (thread.tid <= 0 || stop->threads->len == PROCESS_STOP_MAX_THREADS ||
                    !g_hash_table_add(stop->known, GINT_TO_POINTER(thread.tid)))
                        continue;
                if (ptrace(PTRACE_SEIZE, thread.tid, 0, 0) < 0) {
                        /* ESRCH: the thread has ended meanwhile. */
                        if (errno != ESRCH && !stop->seize_error) {
                                stop->seize_error = errno;
                                stop->refused = thread.tid;
                        }
                        continue;
                }
                g_array_append_val(stop->threads, thread);
                n++;
        }
        if (directory)
                closedir(directory);
        return n;
}

static void stop_interrupt(ProcessStop *stop)
{
        guint i;

        for (i = 0; i < stop->threads->len; i++) {
                StopThread *thread = &g_array_index(stop->threads, StopThread, i);

                if (thread->state != STOP_SEIZED)
                        continue;
                thread->state =
                        ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0) == 0 ? STOP_ASKED : STOP_OVER;
        }
}

/*
 * Updates the state of THREAD. WNOWAIT leaves the state with the kernel: a signal about to be
 * delivered would be lost if we consumed its stop and were killed.
 */
static void thread_look(StopThread *thread)
{
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)thread->tid, &info,
                   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) < 0) {
                thread->state = STOP_OVER;
                return;
        }
        if (!info.si_pid)
                return;
        if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED) {
                thread->state = STOP_OVER;
                return;
        }
        thread->state = STOP_STOPPED;
        /*
         * Other stops have an event in the bits above the signal: they have no signal to deliver.
         */
        thread->signal = info.si_status >> 8 ? 0 : info.si_status;
}

/* True if the thread waits in the kernel, for example for a disk: nothing can stop it then. */
static bool thread_is_uninterruptible(pid_t tid)
{
        ProcStat stat;

        return proc_stat_read(tid, &stat) && stat.state == 'D';
}

static bool stop_gives_up(const ProcessStop *stop, const StopThread *thread)
{
        const gint64 now = g_get_monotonic_time();

        return now >= stop->deadline ||
               (now >= stop->disk_deadline && thread_is_uninterruptible(thread->tid));
}

/* Waits until all asked threads have stopped, or a timeout. */
static void stop_await(ProcessStop *stop)
{
        const struct timespec pause = {.tv_nsec = POLL_NS};
        guint i;

        for (i = 0; i < stop->threads->len; i++) {
                StopThread *thread = &g_array_index(stop->threads, StopThread, i);

                for (;;) {
                        if (thread->state == STOP_ASKED)
                                thread_look(thread);
                        if (thread->state != STOP_ASKED || stop_gives_up(stop, thread))
                                break;
                        nanosleep(&pause, NULL);
                }
        }
}

/* The address of the thread's own data: on x86-64 in its STATUS. 0: unknown. */
static uint64_t thread_pointer(pid_t tid, const Machine *machine, const uint64_t *status)
{
        uint64_t pointer = 0;
        struct iovec area = {&pointer, sizeof(pointer)};

        if (machine->kind == MACHINE_X86_64)
                return status[STATUS_FS_BASE];
        return ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &area) < 0 ? 0 : pointer;
}

/*
 * Copies SIZE bytes at ADDRESS of the memory of PID, at most PIECE. Copies page by page, so that a
 * copy can end at unmapped memory. Returns the number of copied bytes.
 */
static size_t memory_copy(pid_t pid, uint64_t address, uint8_t *buffer, size_t size)
{
        const struct iovec local = {buffer, size};
        struct iovec pages[PIECE / PAGE + 2];
        uint64_t at = address;
        unsigned n = 0;
        ssize_t copied;

        while (at < address + size && n < G_N_ELEMENTS(pages)) {
                const uint64_t next = MIN((at | (PAGE - 1)) + 1, address + size);

                pages[n++] = (struct iovec){(void *)(uintptr_t)at, (size_t)(next - at)};
                at = next;
        }
        copied = process_vm_readv(pid, &local, 1, pages, n, 0);
        return copied > 0 ? (size_t)copied : 0;
}

static void thread_copy_stack(MomentThread *thread, pid_t pid, uint8_t *buffer, size_t size)
{
        thread->n_stack = (uint32_t)memory_copy(pid, thread->registers[REGISTER_SP], buffer, size);
        if (thread->n_stack)
                thread->stack = g_memdup2(buffer, thread->n_stack);
}

typedef struct CopyEnd {
        int64_t deep;    /* ns of our thread's CPU time: end of the copies of deep stacks */
        gint64 deadline; /* us of g_get_monotonic_time(): end of all copies */
} CopyEnd;

#define COPY_END_NEVER ((CopyEnd){INT64_MAX, INT64_MAX})

static bool copy_end_is_past(const CopyEnd *end)
{
        return g_get_monotonic_time() >= end->deadline;
}

static bool copy_end_is_past_deep(const CopyEnd *end)
{
        return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end->deep || copy_end_is_past(end);
}

/* Copies the rest of a deep stack, until END. */
static void thread_copy_rest(MomentThread *thread, pid_t pid, const CopyEnd *end)
{
        const uint64_t limit = MIN(thread->limit, MOMENT_MAX_DEEP);
        size_t copied;

        thread->stack = g_realloc(thread->stack, limit);
        do {
                copied = memory_copy(pid, thread->registers[REGISTER_SP] + thread->n_stack,
                                     thread->stack + thread->n_stack,
                                     (size_t)MIN(PIECE, limit - thread->n_stack));
                thread->n_stack += (uint32_t)copied;
        } while (copied && thread->n_stack < limit && !copy_end_is_past_deep(end));
        thread->stack = g_realloc(thread->stack, thread->n_stack);
}

/* A mapping; arrays are in order of address. */
typedef struct MapRange {
        uint64_t begin, end;
} MapRange;

/* Reads MAPS, the text of /proc/PID/maps. Returns an array of MapRange. */
static GArray *maps_read_ranges(const char *maps)
{
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(MapRange));

        while (maps && *maps) {
                char *rest;
                const uint64_t begin = strtoull(maps, &rest, 16);
                const MapRange range = {begin, *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0};

                g_array_append_val(ranges, range);
                maps = strchr(maps, '\n');
                maps += maps != NULL;
        }
        return ranges;
}

static int range_compare(const void *key, const void *element)
{
        const uint64_t address = *(const uint64_t *)key;
        const MapRange *range = element;

        return address < range->begin ? -1 : address >= range->end;
}

/*
 * Copies the stack of THREAD from its stack pointer on. Its end is the end of the mapping, or
 * POINTER, the thread's own data, if they are in that mapping: libc puts them at the end of a
 * thread's stack. Without a mapping, `limit` stays 0.
 */
static void moment_copy_stack(const Moment *moment, MomentThread *thread, uint64_t pointer,
                              const GArray *ranges, uint8_t *buffer)
{
        const uint64_t begin = thread->registers[REGISTER_SP];
        const MapRange *range =
                bsearch(&begin, ranges->data, ranges->len, sizeof(*range), range_compare);
        uint64_t size = moment->max_stack;

        if (range) {
                thread->limit =
                        (pointer > begin && pointer < range->end ? pointer : range->end) - begin;
                size = MIN(size, thread->limit);
        }
        thread_copy_stack(thread, moment->pid, buffer, (size_t)size);
}

/* Copies the missing parts of deep stacks, until END. */
static void moment_copy_deep(Moment *moment, const CopyEnd *end)
{
        uint64_t n_left = MOMENT_MAX_STACKS;
        guint i;

        for (i = 0; i < moment->threads->len; i++) {
                MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);
                const uint64_t n = MIN(thread->limit, MOMENT_MAX_DEEP);

                if (thread->n_stack < moment->max_stack || thread->n_stack >= n || n > n_left ||
                    copy_end_is_past_deep(end))
                        continue;
                thread_copy_rest(thread, moment->pid, end);
                n_left -= thread->n_stack;
        }
}

static void stop_copy_one(ProcessStop *stop, const StopThread *from, const GArray *ranges,
                          uint8_t *buffer)
{
        Moment *moment = stop->moment;
        MomentThread thread = {.tid = from->tid};
        uint64_t status[MACHINE_MAX_STATUS];
        struct iovec area = {status, sizeof(status)};

        if (ptrace(PTRACE_GETREGSET, from->tid, NT_PRSTATUS, &area) < 0)
                return;
        if (area.iov_len != moment->machine->n_of_status * sizeof(*status)) {
                stop->is_other = true;
                return;
        }
        machine_take_status(moment->machine, (const uint8_t *)status, thread.registers);
        moment_copy_stack(moment, &thread, thread_pointer(from->tid, moment->machine, status),
                          ranges, buffer);
        g_array_append_val(moment->threads, thread);
}

/* Sets the times of MOMENT to now, and the maximum of a stack for N threads. */
static void moment_begin(Moment *moment, unsigned n)
{
        moment->time = (uint64_t)(clock_ns(CLOCK_MONOTONIC) - proc_own_clock_ahead());
        moment->time_of_day = (uint64_t)clock_ns(CLOCK_REALTIME);
        moment->max_stack =
                (uint32_t)MIN(MOMENT_MAX_STACK, (MOMENT_MAX_STACKS / MAX(n, 1u)) & ~UINT64_C(7));
}

static void stop_copy(ProcessStop *stop)
{
        Moment *moment = stop->moment;
        g_autofree uint8_t *buffer = g_malloc(MOMENT_MAX_STACK);
        g_autoptr(GArray) ranges = NULL;
        CopyEnd end = {.deadline = g_get_monotonic_time() + stop->copy_limit};
        unsigned n_left = 0;
        size_t n;
        guint i;

        moment_begin(moment, stop->threads->len);
        stop->maps = proc_read_file(moment->pid, "maps", PROC_MAX_MAPS, &n);
        ranges = maps_read_ranges(stop->maps);
        for (i = 0; i < stop->threads->len; i++) {
                const StopThread *thread = &g_array_index(stop->threads, StopThread, i);

                if (thread->state != STOP_STOPPED)
                        continue;
                if (copy_end_is_past(&end))
                        n_left++;
                else
                        stop_copy_one(stop, thread, ranges, buffer);
        }
        end.deep = clock_ns(CLOCK_THREAD_CPUTIME_ID) + DEEP_LIMIT;
        moment_copy_deep(moment, &end);
        if (n_left)
                g_ptr_array_add(moment->notes,
                                g_strdup_printf("the stacks of %u of %u threads are missing: %d ms "
                                                "were not enough to copy them, because the machine "
                                                "is busy; a retry may succeed",
                                                n_left, stop->threads->len,
                                                (int)(stop->copy_limit / 1000)));
}

/*
 * Detaches all stopped threads. A thread that has not stopped continues when our tracing thread
 * ends.
 */
static void stop_detach(ProcessStop *stop)
{
        guint i;

        for (i = 0; i < stop->threads->len; i++) {
                StopThread *thread = &g_array_index(stop->threads, StopThread, i);

                /* The thread may have stopped meanwhile. */
                if (thread->state == STOP_ASKED)
                        thread_look(thread);
                if (thread->state == STOP_STOPPED)
                        ptrace(PTRACE_DETACH, thread->tid, 0, thread->signal);
                else if (thread->state == STOP_ASKED)
                        g_ptr_array_add(
                                stop->moment->notes,
                                g_strdup_printf("thread %d did not stop, because it waits for a "
                                                "disk, or gets no CPU: its stack is missing",
                                                (int)thread->tid));
        }
}

/* Does the whole stop. When this thread ends, the kernel detaches all remaining threads. */
static gpointer stop_run(gpointer data)
{
        ProcessStop *stop = data;

        /* With a low priority (nice(1)), this thread would get the CPU late, while the process is
         * stopped. Without the permission, the priority stays. */
        if (getpriority(PRIO_PROCESS, 0) > 0)
                setpriority(PRIO_PROCESS, 0, 0);
        while (stop_seize(stop) > 0)
                ;
        if (stop->seize_error || !stop->threads->len)
                return NULL;
        stop->begin = (uint64_t)clock_ns(CLOCK_MONOTONIC);
        stop->deadline = g_get_monotonic_time() + PROCESS_STOP_LIMIT;
        stop->disk_deadline = g_get_monotonic_time() + PROCESS_STOP_DISK_LIMIT;
        /* A thread that still ran may have created another thread. */
        do {
                stop_interrupt(stop);
                stop_await(stop);
        } while (g_get_monotonic_time() < stop->deadline && stop_seize(stop) > 0);
        if (stop->threads->len == PROCESS_STOP_MAX_THREADS)
                g_ptr_array_add(stop->moment->notes,
                                g_strdup_printf("process %d has more threads than the %u that are "
                                                "shown",
                                                (int)stop->moment->pid, PROCESS_STOP_MAX_THREADS));
        stop_copy(stop);
        stop_detach(stop);
        stop->moment->stop = (uint64_t)clock_ns(CLOCK_MONOTONIC) - stop->begin;
        if (stop->maps)
                moment_take_maps(stop->moment, stop->maps);
        return NULL;
}

/* What is wrong */

static char *status_of(pid_t pid)
{
        size_t n;

        return proc_read_file(pid, "status", PROC_MAX_STATUS, &n);
}

/* Sets ERROR to the reason why PTRACE_SEIZE failed. */
static void stop_set_refused(const ProcessStop *stop, GError **error)
{
        const pid_t pid = stop->moment->pid;
        g_autofree char *status = status_of(stop->refused), *scope = NULL;
        uint32_t tracer = 0, uid = 0;

        if (status && proc_status_numbers(status, "TracerPid", &tracer, 1) == 1 && tracer)
                g_set_error(error, MOMENT_ERROR, 0,
                            "process %d is traced already, by process %u: a debugger or strace has "
                            "it, and has to end first",
                            (int)pid, tracer);
        else if (stop->seize_error != EPERM)
                g_set_error(error, MOMENT_ERROR, 0, "process %d cannot be stopped: %s", (int)pid,
                            g_strerror(stop->seize_error));
        else if (geteuid() != 0 && (!proc_uid(pid, &uid) || uid != geteuid()))
                g_set_error(error, MOMENT_ERROR, 0,
                            "process %d belongs to another user: run clrsym as that user, or as "
                            "root",
                            (int)pid);
        else if (geteuid() != 0 &&
                 g_file_get_contents("/proc/sys/kernel/yama/ptrace_scope", &scope, NULL, NULL) &&
                 *scope != '0')
                g_set_error(error, MOMENT_ERROR, 0,
                            "process %d cannot be stopped, because kernel.yama.ptrace_scope is %s: "
                            "run clrsym as root%s",
                            (int)pid, g_strchomp(scope),
                            *scope == '3' ? " on a machine without that setting"
                                          : ", or sysctl kernel.yama.ptrace_scope=0");
        else
                g_set_error(error, MOMENT_ERROR, 0,
                            "process %d cannot be stopped: clrsym needs the capability "
                            "CAP_SYS_PTRACE, which containers do not have by default (docker run "
                            "--cap-add SYS_PTRACE)",
                            (int)pid);
}

bool process_stop_check(pid_t pid, GError **error)
{
        g_autofree char *status = status_of(pid);
        uint32_t process = 0;

        if (!stack_walk_machine(NULL))
                g_set_error_literal(error, MOMENT_ERROR, 0,
                                    "stacks are read on x86-64 and arm64 only: clrsym record -p "
                                    "PID samples on other machines");
        else if (!status)
                g_set_error(error, MOMENT_ERROR, 0, "there is no process %d", (int)pid);
        else if (pid == getpid())
                g_set_error(error, MOMENT_ERROR, 0, "process %d is clrsym itself", (int)pid);
        else if (proc_status_numbers(status, "Tgid", &process, 1) == 1 && process != (uint32_t)pid)
                g_set_error(error, MOMENT_ERROR, 0,
                            "%d is a thread of process %u: give %u, whose threads are all shown",
                            (int)pid, process, process);
        else if (strstr(status, "\nState:\tZ"))
                g_set_error(error, MOMENT_ERROR, 0, "process %d has ended", (int)pid);
        else if (!strstr(status, "\nVmSize:"))
                g_set_error(error, MOMENT_ERROR, 0,
                            "%d is a thread of the kernel, which has no stacks of a program",
                            (int)pid);
        else
                return true;
        return false;
}

static void moment_name_threads(Moment *moment)
{
        guint i;

        for (i = 0; i < moment->threads->len; i++) {
                MomentThread *thread = &g_array_index(moment->threads, MomentThread, i);
                g_autofree char *name = proc_thread_name(moment->pid, thread->tid);

                if (name)
                        g_strlcpy(thread->name, name, sizeof(thread->name));
        }
}

Moment *moment_of_process(pid_t pid, gint64 copy_limit, GError **error)
{
        ProcessStop stop = {.copy_limit = copy_limit};
        GThread *thread;

        if (!process_stop_check(pid, error))
                return NULL;
        stop.moment = moment_new(pid);
        stop.threads = g_array_new(FALSE, FALSE, sizeof(StopThread));
        stop.known = g_hash_table_new(NULL, NULL);
        thread = g_thread_new("stop", stop_run, &stop);
        g_thread_join(thread);
        g_array_unref(stop.threads);
        g_hash_table_unref(stop.known);
        g_free(stop.maps);
        if (stop.seize_error)
                stop_set_refused(&stop, error);
        else if (stop.is_other)
                g_set_error(error, MOMENT_ERROR, 0,
                            "process %d is a program of 32 bits: only those of 64 bits have their "
                            "stacks read",
                            (int)pid);
        else if (!stop.moment->threads->len && stop.moment->notes->len)
                g_set_error_literal(error, MOMENT_ERROR, 0, stop.moment->notes->pdata[0]);
        else if (!stop.moment->threads->len)
                g_set_error(error, MOMENT_ERROR, 0, "process %d has ended", (int)pid);
        else {
                moment_name_threads(stop.moment);
                return stop.moment;
        }
        moment_free(stop.moment);
        return NULL;
}

Moment *moment_of_debugger(pid_t pid, const char *text, size_t n, GError **error)
{
        g_autofree uint8_t *buffer = g_malloc(MOMENT_MAX_STACK);
        g_autofree char *status = status_of(pid), *maps = NULL;
        g_autoptr(Moment) moment = NULL;
        g_autoptr(GArray) ranges = NULL;
        uint32_t tracer = 0;
        size_t n_maps;
        guint i;

        if (!process_stop_check(pid, error))
                return NULL;
        if (!status || proc_status_numbers(status, "TracerPid", &tracer, 1) != 1 || !tracer) {
                g_set_error(error, MOMENT_ERROR, 0,
                            "no debugger has stopped process %d: without --debugger, clrsym stops "
                            "it",
                            (int)pid);
                return NULL;
        }
        moment = moment_new(pid);
        if (!debugger_threads_read(moment, text, n, error))
                return NULL;
        maps = proc_read_file(pid, "maps", PROC_MAX_MAPS, &n_maps);
        ranges = maps_read_ranges(maps);
        moment_begin(moment, moment->threads->len);
        for (i = 0; i < moment->threads->len; i++)
                moment_copy_stack(moment, &g_array_index(moment->threads, MomentThread, i),
                                  /* pointer= */ 0, ranges, buffer);
        moment_copy_deep(moment, &COPY_END_NEVER);
        if (maps)
                moment_take_maps(moment, maps);
        return g_steal_pointer(&moment);
}
