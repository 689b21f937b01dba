/* SPDX-License-Identifier: MIT */
#include "journal/replay-marker.h"

#include "util/fd.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "replaying"

/* Replays that crash at one entry before it is set aside. */
#define MAX_CRASHES 2
/*
 * Replays that end at one entry for any reason before it is set aside. A kill or a lack of memory
 * can hit the same entry by chance. But an entry that takes all memory, or all time, must be set
 * aside, too, before the service manager gives up (after 5 starts in 10 s).
 */
#define MAX_ENDS 4

/* Bytes of the handler's stack: the daemon's own may be full. */
#define STACK_SIZE (64 << 10)

/* The file, in the machine's byte order. */
typedef struct MarkerFile {
        char magic[16];
        uint64_t number;
        uint64_t offset;
        uint64_t n_ends;    /* replays in a row that ended there, including this one if it does */
        uint64_t n_crashes; /* of these, crashes */
} MarkerFile;

static_assert(sizeof(MarkerFile) == 48, "the file changed: change MAGIC");
static const char MAGIC[16] = "clrsym-replay 2";

/* Signals that a process causes by its own fault. */
static const int CRASHES[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};

struct ReplayMarker {
        int directory;     /* borrowed */
        MarkerFile before; /* of the previous replay; n_ends 0: that replay did not end early */
        MarkerFile *file;  /* mapped, so that any end of the process keeps it; or NULL */
        void *stack;       /* owned; NULL: the process had a stack for handlers already */
};

/* For the handler: the file while an entry is applied, and the replaced handlers. */
static MarkerFile *volatile crash_file;
static struct sigaction crash_actions[G_N_ELEMENTS(CRASHES)];

/* --- Crashes ---------------------------------------------------------------------------------- */

static void crash_restore(int number)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CRASHES); i++)
                if (CRASHES[i] == number)
                        sigaction(number, &crash_actions[i], NULL);
}

/*
 * Marks the crash, and passes the signal on to the previous handler. Calls only async-signal-safe
 * functions. A signal from another process does not count: the service manager sends SIGABRT to a
 * daemon that hangs.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
        bool is_sent = info->si_code <= 0;
        MarkerFile *file = crash_file;

        (void)context;
        if (file && (!is_sent || info->si_pid == getpid())) {
                crash_file = NULL;
                file->n_crashes++;
        }
        crash_restore(number);
        /* A faulty instruction runs again; the other signals would not come back. */
        if (is_sent || number == SIGTRAP)
                raise(number);
}

static void marker_watch_crashes(ReplayMarker *marker)
{
        const struct sigaction action = {.sa_sigaction = on_crash,
                                         .sa_flags = SA_SIGINFO | SA_ONSTACK};
        stack_t stack;
        size_t i;

        if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
                marker->stack = g_malloc(STACK_SIZE);
                stack = (stack_t){.ss_sp = marker->stack, .ss_size = STACK_SIZE};
                sigaltstack(&stack, NULL);
        }
        for (i = 0; i < G_N_ELEMENTS(CRASHES); i++)
                sigaction(CRASHES[i], &action, &crash_actions[i]);
}

static void marker_unwatch_crashes(ReplayMarker *marker)
{
        const stack_t none = {.ss_flags = SS_DISABLE};
        size_t i;

        crash_file = NULL;
        for (i = 0; i < G_N_ELEMENTS(CRASHES); i++)
                crash_restore(CRASHES[i]);
        if (marker->stack)
                sigaltstack(&none, NULL);
        g_free(marker->stack);
}

/* --- The file --------------------------------------------------------------------------------- */

static MarkerFile marker_read(int directory)
{
        FD_AUTO int fd = openat(directory, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        MarkerFile file;

        if (fd < 0 || read(fd, &file, sizeof(file)) != sizeof(file) ||
            memcmp(file.magic, MAGIC, sizeof(MAGIC)) != 0)
                return (MarkerFile){0};
        return file;
}

static MarkerFile *marker_map(int directory)
{
        FD_AUTO int fd = -1;
        void *file;

        unlinkat(directory, NAME, 0);
        fd = openat(directory, NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        /* If the disk is full, a write to the mapping raises SIGBUS. */
        if (fd < 0 || posix_fallocate(fd, 0, sizeof(MarkerFile)) != 0)
                return NULL;
        file = mmap(NULL, sizeof(MarkerFile), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return file == MAP_FAILED ? NULL : file;
}

ReplayMarker *replay_marker_new(const JournalDirectory *directory)
{
        ReplayMarker *marker = g_new0(ReplayMarker, 1);

        marker->directory = directory->fd;
        marker->before = marker_read(directory->fd);
        marker->file = marker_map(directory->fd);
        if (marker->file)
                *marker->file = marker->before;
        marker_watch_crashes(marker);
        return marker;
}

void replay_marker_free(ReplayMarker *marker)
{
        marker_unwatch_crashes(marker);
        if (marker->file)
                munmap(marker->file, sizeof(*marker->file));
        unlinkat(marker->directory, NAME, 0);
        g_free(marker);
}

static bool marker_is_at(const MarkerFile *file, uint64_t number, uint64_t offset)
{
        return file->n_ends && file->number == number && file->offset == offset;
}

bool replay_marker_is_poison(const ReplayMarker *marker, uint64_t number, uint64_t offset)
{
        const MarkerFile *before = &marker->before;

        return marker_is_at(before, number, offset) &&
               (before->n_crashes >= MAX_CRASHES || before->n_ends >= MAX_ENDS);
}

void replay_marker_set(ReplayMarker *marker, uint64_t number, uint64_t offset)
{
        bool is_again = marker_is_at(&marker->before, number, offset);

        if (!marker->file)
                return;
        *marker->file = (MarkerFile){.number = number,
                                     .offset = offset,
                                     .n_ends = is_again ? marker->before.n_ends + 1 : 1,
                                     .n_crashes = is_again ? marker->before.n_crashes : 0};
        memcpy(marker->file->magic, MAGIC, sizeof(MAGIC));
        crash_file = marker->file;
}
