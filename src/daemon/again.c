/* SPDX-License-Identifier: MIT */
#include "daemon/again.h"

#include "daemon/proc-ns.h"
#include "daemon/proc.h"
#include "wire/hold-request.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Guesses; untuned. */
#define MAX_PENDING 16
#define MAX_ANSWER  (64u << 10)
#define ANSWER_S    60
#define MAX_SAID    200
/* From a change until it is looked at. */
#define SETTLE_US G_TIME_SPAN_SECOND

/* About one process, by its serial. */
typedef struct Memory {
        gint64 time;      /* us, of the last request; 0: none yet */
        gint64 waits;     /* us, since when for all streams to go on; 0: it does not */
        uint64_t gap_end; /* of the newest gap that a holder has answered about */
        bool is_pending;
        unsigned round; /* of looking, in which the process was there */
} Memory;

/* A request under way. */
typedef struct Ask {
        Again *again; /* borrowed */
        uint64_t serial, gap_end;
        int fd;
        guint source, timer;
        GString *input; /* owned */
} Ask;

struct Again {
        const Tracker *tracker; /* borrowed */
        QueryStats *stats;      /* borrowed */
        gint64 interval;        /* us; 0: off */
        char *path;             /* owned or NULL */
        GHashTable *memories;   /* owned serial -> owned Memory */
        GPtrArray *pending;     /* owned Asks */
        guint timer;
        gint64 timer_time; /* us, when it is due */
        unsigned round;
        bool has_failed; /* and said so */
};

static void ask_free(gpointer data)
{
        Ask *ask = data;

        g_clear_handle_id(&ask->source, g_source_remove);
        g_clear_handle_id(&ask->timer, g_source_remove);
        if (ask->fd >= 0)
                close(ask->fd);
        g_string_free(ask->input, TRUE);
        g_free(ask);
}

static void note_failure(Again *again, const char *why)
{
        again->stats->again_failed++;
        if (!again->has_failed)
                g_warning("the holder at %s did not list a process once more: %s", again->path,
                          why);
        again->has_failed = true;
}

/* It is over, and freed. WHY: it failed, and is tried again after the interval. */
static void ask_end(Ask *ask, const char *why)
{
        Again *again = ask->again;
        Memory *memory = g_hash_table_lookup(again->memories, &ask->serial);

        if (memory)
                memory->is_pending = false;
        if (why)
                note_failure(again, why);
        else if (memory)
                memory->gap_end = MAX(memory->gap_end, ask->gap_end);
        g_ptr_array_remove_fast(again->pending, ask);
        again_wake(again);
}

static void take_answer(Ask *ask, size_t n)
{
        g_autofree char *message = NULL, *said = NULL;

        switch (request_outcome(ask->input->str, n, &message)) {
        case REQUEST_LISTED:
                ask->again->stats->again_listed++;
                break;
        case REQUEST_NOT_HELD:
                ask->again->stats->again_not_held++;
                break;
        case REQUEST_FAILED:
                /* Its words may be anything; in the log they are one short line. */
                said = g_strescape(message, NULL);
                said[MIN(strlen(said), MAX_SAID)] = 0;
                ask_end(ask, said);
                return;
        case REQUEST_NONSENSE:
        default:
                ask_end(ask, "what answers is no clrsym-holder");
                return;
        }
        ask->again->has_failed = false;
        ask_end(ask, NULL);
}

/* Once a call: others have their turn in between, however much there is. */
static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
        Ask *ask = data;
        char bytes[4096];
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        const char *end = n > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n > 0 && !end && ask->input->len + (size_t)n <= MAX_ANSWER) {
                g_string_append_len(ask->input, bytes, n);
                return G_SOURCE_CONTINUE;
        }
        ask->source = 0;
        if (end) {
                g_string_append_len(ask->input, bytes, end - bytes);
                take_answer(ask, ask->input->len);
        } else {
                ask_end(ask, n > 0   ? "its answer is too long"
                             : n < 0 ? g_strerror(errno)
                                     : "it hung up");
        }
        return G_SOURCE_REMOVE;
}

static gboolean on_timeout(gpointer data)
{
        Ask *ask = data;

        ask->timer = 0;
        ask_end(ask, "it does not answer");
        return G_SOURCE_REMOVE;
}

/* The connection, with the request sent; -1 with errno. A socket that is full refuses at once. */
static int send_request(const char *path, pid_t pid)
{
        const Request request = {REQUEST_AGAIN, pid, /* is_held_only= */ true};
        g_autofree char *line = request_format(&request);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        size_t n = strlen(line);
        int fd, saved;

        if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
            sizeof(address.sun_path)) {
                errno = ENAMETOOLONG;
                return -1;
        }
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -1;
        errno = 0;
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
            send(fd, line, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n)
                return fd;
        saved = errno ? errno : EAGAIN;
        close(fd);
        errno = saved;
        return -1;
}

static void begin(Again *again, const Process *process, Memory *memory, uint64_t gap_end, pid_t pid)
{
        int fd = send_request(again->path, pid);
        Ask *ask;

        if (fd < 0) {
                note_failure(again, g_strerror(errno));
                return;
        }
        ask = g_new(Ask, 1);
        *ask = (Ask){.again = again,
                     .serial = process->serial,
                     .gap_end = gap_end,
                     .fd = fd,
                     .input = g_string_new(NULL)};
        ask->source = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, ask);
        ask->timer = g_timeout_add_seconds(ANSWER_S, on_timeout, ask);
        memory->is_pending = true;
        g_ptr_array_add(again->pending, ask);
}

static uint64_t last_end(const GArray *gaps)
{
        return gaps->len ? g_array_index(gaps, Gap, gaps->len - 1).end : 0;
}

/* All that is fed of it is fed again. */
static bool goes_on(const Process *process)
{
        guint i;

        for (i = 0; i < process->traces->len; i++)
                if (!trace_goes_on(process->traces->pdata[i]))
                        return false;
        return true;
}

/* When the newest gap of the process was over, if no listing of all its code came since; else 0. */
static uint64_t unlisted_gap_end(const Process *process)
{
        const GArray *rundowns = process->rundowns;
        uint64_t end = last_end(process->lapses.told);
        guint i;

        /* While nobody holds its session, nobody can have it listed. */
        if (process->exit != BODY_FOREVER || process->lapses.open != BODY_FOREVER)
                return 0;
        for (i = 0; i < process->traces->len; i++) {
                const Trace *trace = process->traces->pdata[i];

                end = MAX(end, last_end(trace->gaps));
        }
        /* One that never ends is none that a listing would be behind. */
        if (end < process->begin || end == UINT64_MAX || process->rundown_begin > end)
                return 0;
        if (rundowns->len && g_array_index(rundowns, Rundown, rundowns->len - 1).begin > end)
                return 0;
        return end;
}

/* Its pid here, if that program still runs, and no other one with its pid. */
static bool find_running(const Again *again, const Process *process, pid_t *ret_pid)
{
        uint64_t start;

        if (tracker_process(again->tracker, &process->key) != process ||
            !proc_host_pid(process->key.pid_ns, process->key.pid, ret_pid))
                return false;
        start = proc_start_time(*ret_pid);
        return start && start <= process->last;
}

static Memory *memory_of(Again *again, uint64_t serial)
{
        Memory *memory = g_hash_table_lookup(again->memories, &serial);

        if (!memory) {
                memory = g_new0(Memory, 1);
                g_hash_table_insert(again->memories, g_memdup2(&serial, sizeof(serial)), memory);
        }
        return memory;
}

static void schedule(Again *again, gint64 time);

/* Returns when to look at it again, in us; INT64_MAX: when something has changed. */
static gint64 look_at(Again *again, const Process *process, gint64 now)
{
        uint64_t end = unlisted_gap_end(process);
        Memory *memory = g_hash_table_lookup(again->memories, &process->serial);
        pid_t pid;

        if (memory) {
                memory->round = again->round;
                memory->waits = end ? memory->waits : 0;
        }
        if (!end || (memory && (memory->is_pending || memory->gap_end >= end)))
                return INT64_MAX;
        if (memory && memory->time && now - memory->time < again->interval)
                return memory->time + again->interval;
        if (again->pending->len >= MAX_PENDING)
                return INT64_MAX; /* the next one that ends wakes us */
        memory = memory_of(again, process->serial);
        memory->round = again->round;
        /* The stream of a processor that has nothing to do goes on late, and its gap ends then: a
         * listing before that would be in vain. But it may have nothing to do for long. */
        if (!goes_on(process)) {
                memory->waits = memory->waits ? memory->waits : now;
                if (now - memory->waits < again->interval)
                        return memory->waits + again->interval;
        }
        memory->waits = 0;
        memory->time = now;
        if (find_running(again, process, &pid))
                begin(again, process, memory, end, pid);
        return memory->is_pending ? INT64_MAX : now + again->interval;
}

static gboolean is_gone(gpointer key, gpointer value, gpointer data)
{
        return ((const Memory *)value)->round != ((const Again *)data)->round;
}

static gboolean on_look(gpointer data)
{
        Again *again = data;
        const GPtrArray *processes = tracker_processes(again->tracker);
        gint64 now = g_get_monotonic_time(), next = INT64_MAX;
        guint i;

        again->timer = 0;
        again->round++;
        for (i = 0; i < processes->len; i++)
                next = MIN(next, look_at(again, processes->pdata[i], now));
        g_hash_table_foreach_remove(again->memories, is_gone, again);
        if (next != INT64_MAX)
                schedule(again, next);
        return G_SOURCE_REMOVE;
}

/* No later than at TIME. */
static void schedule(Again *again, gint64 time)
{
        gint64 wait = MAX(time - g_get_monotonic_time(), 0) / G_TIME_SPAN_MILLISECOND + 1;

        if (again->timer && again->timer_time <= time)
                return;
        g_clear_handle_id(&again->timer, g_source_remove);
        again->timer_time = time;
        again->timer = g_timeout_add((guint)MIN(wait, G_MAXINT), on_look, again);
}

Again *again_new(const Tracker *tracker, QueryStats *stats)
{
        Again *again = g_new(Again, 1);

        *again = (Again){.tracker = tracker,
                         .stats = stats,
                         .memories =
                                 g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
                         .pending = g_ptr_array_new_with_free_func(ask_free)};
        return again;
}

void again_free(Again *again)
{
        if (!again)
                return;
        g_clear_handle_id(&again->timer, g_source_remove);
        g_ptr_array_unref(again->pending);
        g_hash_table_unref(again->memories);
        g_free(again->path);
        g_free(again);
}

static void forget_pending(Again *again)
{
        guint i;

        for (i = 0; i < again->pending->len; i++) {
                const Ask *ask = again->pending->pdata[i];
                Memory *memory = g_hash_table_lookup(again->memories, &ask->serial);

                if (memory)
                        memory->is_pending = false;
        }
        g_ptr_array_set_size(again->pending, 0);
}

void again_configure(Again *again, uint64_t interval, const char *path)
{
        bool is_other = g_strcmp0(path, again->path) != 0;

        if (!path)
                interval = 0;
        again->interval = (gint64)interval * G_TIME_SPAN_SECOND;
        if (is_other || !interval) {
                g_clear_handle_id(&again->timer, g_source_remove);
                forget_pending(again);
                again->has_failed = false;
        }
        if (is_other) {
                g_free(again->path);
                again->path = g_strdup(path);
        }
        again->stats->has_again |= interval > 0;
        again_wake(again);
}

void again_wake(Again *again)
{
        if (again->interval)
                schedule(again, g_get_monotonic_time() + SETTLE_US);
}
