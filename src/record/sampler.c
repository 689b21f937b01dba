/* SPDX-License-Identifier: MIT */
#include "record/sampler.h"

#include "perf/osr-callers.h"
#include "perfdata/event-name.h"
#include "record/spawn.h"
#include "unwind/stack-walk.h"
#include "util/child.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* us for perf to start: it opens an event for each thread, and at its end writes its buffers. */
#define START_LIMIT (60 * G_TIME_SPAN_SECOND)
#define STOP_LIMIT  (120 * G_TIME_SPAN_SECOND)
#define REPLY_MS    50
/* Maximum of starts of perf, each disturbed by threads that end. */
#define MAX_ATTEMPTS 8

/* perf adds the time to the name of a part. */
#define SAMPLES "perf.data"
#define PART    SAMPLES "."

/* Bytes; with less, perf could not write its samples. */
#define LEAST_ROOM (64 * 1024)
/* Bytes of a sample: 127 frames, besides the copy of the stack. */
#define MAX_FRAMES 1200
/* Without a call graph: the largest of these sizes of copies of which all CPUs together have perf
 * write no more than MAX_COPIED_BYTES a second. */
#define MAX_COPIED_BYTES (UINT64_C(40) << 20)
static const unsigned COPIED_SIZES[] = {16384, 8192, 4096};
/* Bytes of the copy of a waiting stack, of which 99.5 % are smaller; perf loses larger copies from
 * some 50,000 switches a second on. */
#define WAITS_COPY_SIZE 8192
/*
 * MiB of memory for each CPU, for samples that perf has not read yet. Other users than root may not
 * lock as much. Each switch has a copy of a stack: for waits they are larger, but together no more
 * than WAITS_BUFFERS.
 */
enum { BUFFER = 4, WAITS_BUFFER = 16, WAITS_BUFFERS = 256 };

/* Bytes a second, of all CPUs: beyond this, only the threads of the processes are recorded. A disk
 * can write that much. */
#define MAX_MACHINE_BYTES (UINT64_C(64) << 20)

/*
 * The source of a sample's callers. Frame pointers lead to the start of a thread, but not through
 * code that keeps none: in a web server, 22 % of the samples lack their managed callers, because
 * the leaf is in libc. Copies of stacks have all callers up to their size: of hello, half of which
 * is compiled, 44 % of the stacks are longer than 16 KiB. Both together have all callers
 * (unwind/stack-pairs.h).
 */
typedef enum StackSource {
        STACKS_BY_POINTERS,
        STACKS_BY_COPIES,
        STACKS_BY_BOTH,
        _STACK_SOURCE_MAX,
} StackSource;

static const struct {
        const char *name; /* of a call graph */
        unsigned size;    /* bytes of a copy, unless another number is given */
} SOURCES[_STACK_SOURCE_MAX] = {
        [STACKS_BY_POINTERS] = {"fp", 16384},
        [STACKS_BY_COPIES] = {"dwarf", 32768},
        [STACKS_BY_BOTH] = {"both", 16384},
};

/*
 * Frame pointers hide the caller of a method that was replaced on the stack (perf/osr-callers.h).
 * So a second event copies some stacks: a part of the frequency, at most COPIES_MAX a second. Only
 * copies cover each call that runs for some time: the event of the new body (MethodLoadVerbose,
 * from the thread that is being replaced, with its stack) covers only the first call, and costs a
 * walk of the stack for each compiled method. 97 copies a second use no measurable CPU (1.00 of the
 * program and perf without them), and 1.6 MB a second for each busy CPU.
 */
enum { COPIES_PART = 5, COPIES_MAX = 97 };

#define ENABLE "enable\n"
/* Only wakes perf, which then looks for samples. */
#define PING "ping\n"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
/* Above this value, a user without privileges may not use perf at all (Debian's and Ubuntu's
 * kernels). */
#define MAX_PARANOID 2
/* Above this value, such a user may not record the whole machine. */
#define MAX_PARANOID_MACHINE 0

static int sampler_paranoid(void)
{
        g_autofree char *text = NULL;

        return g_file_get_contents(PARANOID, &text, NULL, NULL) ? atoi(text) : 0;
}

/* perf's first messages, except its progress and threads that ended meanwhile; NULL: none. */
static char *sampler_words(const Sampler *sampler)
{
        static const char IGNORED[] = "WARNING: Ignored open failure", TITLE[] = "Error:";
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t i;

        if (!g_file_get_contents(sampler->log, &text, NULL, NULL))
                return NULL;
        lines = g_strsplit(text, "\n", -1);
        for (i = 0; lines[i]; i++)
                if (*g_strstrip(lines[i]) && *lines[i] != '[' &&
                    !g_str_has_prefix(lines[i], IGNORED) && strcmp(lines[i], TITLE) != 0)
                        return g_strdup(lines[i]);
        return NULL;
}

/* True if the kernel, or a container's filter of system calls, refused. */
static bool sampler_is_forbidden(const Sampler *sampler)
{
        static const char *const PHRASES[] = {"Access to performance monitoring",
                                              "Operation not permitted", "Permission denied"};
        g_autofree char *text = NULL;
        size_t i;

        if (!g_file_get_contents(sampler->log, &text, NULL, NULL))
                return false;
        for (i = 0; i < G_N_ELEMENTS(PHRASES); i++)
                if (strstr(text, PHRASES[i]))
                        return true;
        return false;
}

static void sampler_set_refused(const Sampler *sampler, const SamplerSettings *settings,
                                GError **error)
{
        const int paranoid = sampler_paranoid();
        const int most = settings->is_whole_machine ? MAX_PARANOID_MACHINE : MAX_PARANOID;
        g_autofree char *words = sampler_words(sampler);

        if (geteuid() != 0 && paranoid > most)
                g_set_error(error, SPAWN_ERROR, 0,
                            "perf is not permitted%s: kernel.perf_event_paranoid is %d; run sudo "
                            "sysctl kernel.perf_event_paranoid=%d, or clrsym as root",
                            settings->is_whole_machine ? " for the whole machine" : "", paranoid,
                            settings->is_whole_machine ? MAX_PARANOID_MACHINE : 1);
        else if (sampler_is_forbidden(sampler))
                g_set_error(error, SPAWN_ERROR, 0,
                            "perf is not permitted, though kernel.perf_event_paranoid is %d: if "
                            "this is a container, start it with --cap-add=PERFMON; or run clrsym "
                            "outside, as root",
                            paranoid);
        else
                g_set_error(error, SPAWN_ERROR, 0, "perf record does not start: %s",
                            words ? words : "it prints no reason: try perf record alone");
}

/* True if this user may have samples of kernel code, where a thread loses its CPU. */
static bool sampler_may_sample_kernel(void)
{
        g_autofree char *status = NULL;
        const char *line;
        uint64_t capabilities = 0;

        if (geteuid() == 0 || sampler_paranoid() < 2)
                return true;
        if (g_file_get_contents("/proc/self/status", &status, NULL, NULL) &&
            (line = strstr(status, "\nCapEff:")))
                capabilities = g_ascii_strtoull(line + strlen("\nCapEff:"), NULL, 16);
        return capabilities & (UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_PERFMON);
}

static void sampler_set_hidden(GError **error)
{
        g_set_error(error, SPAWN_ERROR, 0,
                    "perf may not see where threads wait: kernel.perf_event_paranoid is %d; run "
                    "sudo sysctl kernel.perf_event_paranoid=1, or clrsym as root; " WAITS_ADVICE,
                    sampler_paranoid());
}

static bool sampler_enable(Sampler *sampler, int wake_fd)
{
        const gint64 deadline = g_get_monotonic_time() + START_LIMIT;
        struct pollfd fd = {.fd = sampler->control, .events = POLLIN};
        char reply[16];

        if (send(sampler->control, ENABLE, strlen(ENABLE), MSG_NOSIGNAL) < 0)
                return false;
        while (poll(&fd, 1, REPLY_MS) <= 0)
                if (sampler_is_over(sampler) || g_get_monotonic_time() >= deadline ||
                    spawn_is_woken(wake_fd))
                        return false;
        return recv(sampler->control, reply, sizeof(reply), 0) > 0;
}

static StackSource sampler_source(const SamplerSettings *settings)
{
        StackSource source = _STACK_SOURCE_MAX;

        while (source-- > 0)
                if (g_str_has_prefix(settings->call_graph, SOURCES[source].name))
                        return source;
        return STACKS_BY_POINTERS;
}

/* Bytes of a copied stack. */
static unsigned sampler_copy_size(const SamplerSettings *settings)
{
        const char *size = strchr(settings->call_graph, ',');

        return size ? (unsigned)g_ascii_strtoull(size + 1, NULL, 10)
                    : SOURCES[sampler_source(settings)].size;
}

static uint64_t sampler_frequency(const SamplerSettings *settings)
{
        return g_ascii_strtoull(settings->frequency, NULL, 10);
}

/* Copies of stacks a second, besides the samples. */
static unsigned sampler_copies(const SamplerSettings *settings)
{
        if (settings->time == SAMPLED_WAITS)
                return 0;
        switch (sampler_source(settings)) {
        case STACKS_BY_POINTERS:
                if (!OSR_HIDES_CALLERS)
                        return 0;
                return (unsigned)CLAMP(sampler_frequency(settings) / COPIES_PART, 1, COPIES_MAX);
        case STACKS_BY_BOTH:
                return (unsigned)MIN(sampler_frequency(settings), UINT32_MAX);
        case STACKS_BY_COPIES:
        case _STACK_SOURCE_MAX:
                break;
        }
        return 0;
}

/* Maximum of bytes that perf writes a second for a busy CPU. */
static uint64_t sampler_cpu_bytes(const SamplerSettings *settings)
{
        const uint64_t copied =
                sampler_source(settings) == STACKS_BY_COPIES ? sampler_copy_size(settings) : 0;

        return sampler_frequency(settings) * (MAX_FRAMES + copied) +
               (uint64_t)sampler_copies(settings) * sampler_copy_size(settings);
}

char *sampler_call_graph(const char *frequency)
{
        const uint64_t n = g_ascii_strtoull(frequency, NULL, 10) * g_get_num_processors();
        size_t i;

        for (i = 0; stack_walk_machine(NULL) && i < G_N_ELEMENTS(COPIED_SIZES); i++)
                if (n <= MAX_COPIED_BYTES / (MAX_FRAMES + COPIED_SIZES[i]))
                        return g_strdup_printf("both,%u", COPIED_SIZES[i]);
        return g_strdup("fp");
}

/* The events of the CPU's time, for perf. */
static void sampler_add_cpu_events(const SamplerSettings *settings, GPtrArray *argv)
{
        static const char COPIES[] =
                "cpu-clock/name=" OSR_COPIES_EVENT ",freq=%u,call-graph=dwarf,stack-size=%u/";
        const unsigned n = sampler_copies(settings), size = sampler_copy_size(settings);
        g_autofree char *copies = g_strdup_printf(COPIES, n, size);
        /* Times that are added to waits must be ns. */
        const bool is_clock = settings->time == SAMPLED_BOTH;

        /* In a group, both begin together when a thread gets a CPU. */
        if (n && sampler_source(settings) == STACKS_BY_BOTH) {
                g_ptr_array_add(argv, g_strdup_printf("--event={cpu-clock,%s}", copies));
        } else if (n || is_clock) {
                g_ptr_array_add(argv,
                                g_strdup(is_clock ? "--event=cpu-clock" : "--event=cycles:P"));
                if (n)
                        g_ptr_array_add(argv, g_strdup_printf("--event=%su", copies));
        }
}

/*
 * A sample of each thread that loses its CPU has the stack, and a record of each switch has the
 * time until the thread gets a CPU again. Both are the kernel's, so that the stack has its frames,
 * too.
 */
static void sampler_add_wait_events(const SamplerSettings *settings, GPtrArray *argv)
{
        static const char WAITS[] = "--event=context-switches/name=" OFF_CPU_EVENT ",period=1";

        const bool is_copied = sampler_source(settings) == STACKS_BY_COPIES;

        /* Threads wait in libc, which keeps no frame pointers. */
        if (!stack_walk_machine(NULL))
                g_ptr_array_add(argv, g_strconcat(WAITS, "/", NULL));
        else
                g_ptr_array_add(argv, g_strdup_printf("%s,call-graph=dwarf,stack-size=%u/", WAITS,
                                                      is_copied ? sampler_copy_size(settings)
                                                                : WAITS_COPY_SIZE));
        g_ptr_array_add(argv, g_strdup("--switch-events"));
}

static void sampler_add_events(const SamplerSettings *settings, GPtrArray *argv)
{
        const Machine *machine = stack_walk_machine(NULL);

        if (sampler_source(settings) != STACKS_BY_COPIES && machine && machine->perf_registers)
                g_ptr_array_add(argv, g_strconcat("--user-regs=", machine->perf_registers, NULL));
        g_ptr_array_add(argv, sampler_source(settings) == STACKS_BY_COPIES
                                      ? g_strdup_printf("--call-graph=dwarf,%u",
                                                        sampler_copy_size(settings))
                                      : g_strdup("--call-graph=fp"));
        if (settings->time != SAMPLED_WAITS)
                sampler_add_cpu_events(settings, argv);
        if (settings->time != SAMPLED_CPU)
                sampler_add_wait_events(settings, argv);
}

/* Other programs can keep all CPUs busy. */
static bool sampler_may_record_machine(const SamplerSettings *settings)
{
        return (geteuid() == 0 || sampler_paranoid() <= MAX_PARANOID_MACHINE) &&
               sampler_cpu_bytes(settings) * g_get_num_processors() <= MAX_MACHINE_BYTES;
}

/* A power of two. */
static unsigned sampler_buffer(const SamplerSettings *settings)
{
        unsigned size = WAITS_BUFFER;

        if (settings->time == SAMPLED_CPU)
                return BUFFER;
        while (size > BUFFER && size * g_get_num_processors() > WAITS_BUFFERS)
                size /= 2;
        return size;
}

static GPtrArray *sampler_command(const Sampler *sampler, const SamplerSettings *settings,
                                  int control)
{
        GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
        /* -B, -N: it copies nothing into the home directory. The events of BPF programs have a
         * thread of perf's own, which takes a core when a thread that is recorded ends. */
        static const char *const FIXED[] = {"record", "-k", "mono", "-B",
                                            "-N",     "-D", "-1",   "--no-bpf-event"};
        unsigned i;

        g_ptr_array_add(argv, g_strdup(settings->perf));
        for (i = 0; i < G_N_ELEMENTS(FIXED); i++)
                g_ptr_array_add(argv, g_strdup(FIXED[i]));
        g_ptr_array_add(argv, g_strdup_printf("--control=fd:%d,%d", control, control));
        sampler_add_events(settings, argv);
        if (sampler->is_machine && geteuid() == 0)
                g_ptr_array_add(argv,
                                g_strdup_printf("--mmap-pages=%uM", sampler_buffer(settings)));
        g_ptr_array_add(argv, g_strdup_printf("--freq=%s", settings->frequency));
        g_ptr_array_add(argv, g_strdup_printf("--output=%s", sampler->output));
        if (settings->is_divided)
                g_ptr_array_add(argv, g_strdup("--switch-output=signal"));
        if (sampler->is_machine) {
                g_ptr_array_add(argv, g_strdup("--all-cpus"));
        } else {
                g_autoptr(GString) pids = g_string_new("--pid=");

                for (i = 0; i < settings->n_pids; i++)
                        g_string_append_printf(pids, "%s%d", i ? "," : "", (int)settings->pids[i]);
                g_ptr_array_add(argv, g_strdup(pids->str));
        }
        g_ptr_array_add(argv, NULL);
        return argv;
}

/* Starts perf with its end of a socket pair. */
static void sampler_spawn(Sampler *sampler, const Scratch *scratch, const SamplerSettings *settings,
                          GError **error)
{
        FD_AUTO int log_fd = open(sampler->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        int fds[2] = {-1, -1};

        if (log_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
                g_set_error(error, SPAWN_ERROR, 0, "cannot start perf: %s", g_strerror(errno));
        } else {
                g_autoptr(GPtrArray) argv = sampler_command(sampler, settings, fds[1]);
                const int kept[] = {fds[1], scratch->life_fd};
                const SpawnSettings spawn = {.death_signal = SIGKILL,
                                             .log_fd = log_fd,
                                             .kept = kept,
                                             .n_kept = G_N_ELEMENTS(kept)};

                sampler->perf = spawn_helper((const char *const *)argv->pdata, &spawn, error);
        }
        fd_clear(&fds[1]);
        sampler->control = fds[0];
}

static void sampler_note_threads(const Sampler *sampler, const SamplerSettings *settings)
{
        if (sampler->pace)
                pace_note_threads(sampler->pace, settings->pids, settings->n_pids);
}

unsigned sampler_pace(const Sampler *sampler, gint64 now)
{
        return sampler->pace && sampler->perf ? pace_step(sampler->pace, sampler->perf, now)
                                              : G_MAXUINT;
}

static void sampler_end_attempt(Sampler *sampler)
{
        spawn_end(&sampler->perf, SIGKILL, 0, -1);
        fd_clear(&sampler->control);
}

/* perf ends without a message if a thread that it is about to open has ended. */
static bool sampler_may_retry(const Sampler *sampler, const SamplerSettings *settings)
{
        g_autofree char *words = sampler_words(sampler);

        return sampler->control >= 0 && !sampler->is_machine && !words &&
               !spawn_is_woken(settings->wake_fd);
}

static Sampler *sampler_try(const Scratch *scratch, const SamplerSettings *settings,
                            bool is_machine, GError **error)
{
        Sampler *sampler = g_new0(Sampler, 1);
        unsigned i;

        sampler->output = scratch_file(scratch, SAMPLES);
        sampler->log = scratch_file(scratch, "perf.log");
        sampler->control = -1;
        sampler->copy_size = sampler_copies(settings) ? sampler_copy_size(settings) : 0;
        sampler->is_machine = is_machine;
        sampler->pace = is_machine ? NULL : pace_new(sampler_cpu_bytes(settings));
        for (i = 0; i < MAX_ATTEMPTS; i++) {
                sampler_end_attempt(sampler);
                sampler_note_threads(sampler, settings);
                sampler_spawn(sampler, scratch, settings, error);
                if (sampler->perf && sampler_enable(sampler, settings->wake_fd)) {
                        sampler_note_threads(sampler, settings);
                        return sampler;
                }
                if (!sampler_may_retry(sampler, settings))
                        break;
        }
        if (sampler->control >= 0 && error && !*error)
                sampler_set_refused(sampler, settings, error);
        sampler_free(sampler);
        return NULL;
}

Sampler *sampler_start(const Scratch *scratch, const SamplerSettings *settings, GError **error)
{
        Sampler *sampler = NULL;

        if (settings->time != SAMPLED_CPU && !sampler_may_sample_kernel()) {
                sampler_set_hidden(error);
                return NULL;
        }
        if (!settings->is_whole_machine && sampler_may_record_machine(settings))
                sampler = sampler_try(scratch, settings, /* is_machine= */ true, /* error= */ NULL);
        return sampler ? sampler
                       : sampler_try(scratch, settings, settings->is_whole_machine, error);
}

void sampler_divide(const Sampler *sampler)
{
        if (sampler->perf)
                kill(sampler->perf, SIGUSR2);
}

char *sampler_next_part(const Sampler *sampler)
{
        g_autofree char *directory = g_path_get_dirname(sampler->output), *oldest = NULL;
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        const char *name;

        /* Names sort in the order of their times. */
        while (files && (name = g_dir_read_name(files)))
                if (g_str_has_prefix(name, PART) && (!oldest || strcmp(name, oldest) < 0)) {
                        g_free(oldest);
                        oldest = g_strdup(name);
                }
        return oldest ? g_build_filename(directory, oldest, NULL) : NULL;
}

void sampler_flush(const Sampler *sampler)
{
        char replies[256];

        while (recv(sampler->control, replies, sizeof(replies), MSG_DONTWAIT) > 0)
                ;
        (void)send(sampler->control, PING, strlen(PING), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool sampler_is_over(Sampler *sampler)
{
        int status;

        if (sampler->perf && child_wait(sampler->perf, 0, -1, &status))
                sampler->perf = 0;
        return !sampler->perf;
}

static uint64_t sampler_size(const Sampler *sampler)
{
        struct stat st;

        return stat(sampler->output, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* perf does not report a full disk. */
static bool sampler_has_room(const char *directory)
{
        struct statvfs st;

        return statvfs(directory, &st) < 0 || (uint64_t)st.f_bavail * st.f_frsize >= LEAST_ROOM;
}

char *sampler_room_missing(const Sampler *sampler)
{
        g_autofree char *directory = g_path_get_dirname(sampler->output);

        return sampler_has_room(directory)
                       ? NULL
                       : g_strdup_printf("no room for the samples in %s: free space there, or set "
                                         "TMPDIR to a directory on a disk with more",
                                         directory);
}

bool sampler_stop(Sampler *sampler, int wake_fd, GError **error)
{
        g_autofree char *missing = NULL, *words = NULL;

        if (sampler->perf)
                kill(sampler->perf, SIGCONT); /* see sampler_pace() */
        spawn_end(&sampler->perf, SIGINT, STOP_LIMIT, wake_fd);
        missing = sampler_room_missing(sampler);
        if (missing) {
                g_set_error(error, SPAWN_ERROR, 0, "%s, or record for a shorter time", missing);
                return false;
        }
        if (sampler_size(sampler))
                return true;
        words = sampler_words(sampler);
        g_set_error(error, SPAWN_ERROR, 0, "perf has recorded nothing: %s",
                    words ? words : "it prints no reason: try perf record alone");
        return false;
}

void sampler_free(Sampler *sampler)
{
        if (!sampler)
                return;
        sampler_end_attempt(sampler);
        pace_free(sampler->pace);
        g_free(sampler->output);
        g_free(sampler->log);
        g_free(sampler);
}
