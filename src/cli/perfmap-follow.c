/* SPDX-License-Identifier: MIT */

/*
 * clrsym perfmap --follow
 *
 * The daemon reports loads and unloads. The file is replaced, and never appended to: a reader sees
 * a whole map, whose entries were all true at one moment. After the first change the file is
 * written at once, then at intervals that grow with the map.
 *
 * If the daemon goes away, the file stays unchanged until a daemon that knows the process is there
 * again.
 */

#include "cli/live-code.h"
#include "cli/map-file.h"
#include "cli/perfmap.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/message.h"
#include "util/proc-ns.h"
#include "util/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

/* The pause between two writes of the file is the maximum of: MIN_PAUSE us; PAUSE_SHARE times the
 * CPU time of the last write; the map's bytes divided by BYTES_PER_US. */
#define MIN_PAUSE    (100 * G_TIME_SPAN_MILLISECOND)
#define PAUSE_SHARE  10
#define BYTES_PER_US 10
/* us after the first event for which further events are collected before a write. */
#define FIRST_PAUSE (20 * G_TIME_SPAN_MILLISECOND)
/* us between retries to write the file, or to find the daemon. */
#define RETRY_PAUSE (500 * G_TIME_SPAN_MILLISECOND)
/* us between two looks whether the file is still there, unchanged. */
#define CHECK_PAUSE G_TIME_SPAN_SECOND

typedef enum FollowEnd {
        FOLLOW_GOES_ON,
        FOLLOW_ENDED, /* the process has ended */
        FOLLOW_STOPPED,
        FOLLOW_FAILED,
} FollowEnd;

typedef struct MapFollow {
        const Options *options;
        Generation generation;
        pid_t pid; /* of our own namespace */
        int pidfd; /* owned; of that process */
        int signal_fd;
        AnswerSource *source; /* owned; NULL: the daemon is away */
        clrsym_watch *watch;  /* owned; NULL with SOURCE */
        LiveCode *code;       /* owned */
        MapFile *file;        /* owned */
        GString *text;        /* owned: the map that was written last */
        bool is_known;        /* the daemon knows the process, and CODE is its code */
        bool is_changed;      /* CODE was changed after the file was written */
        bool has_events;      /* the watch may have events that its descriptor does not signal */
        bool is_failing;      /* the last write failed, and that was reported */
        gint64 next_write;    /* us of g_get_monotonic_time(): no write before */
        gint64 next_open;     /* the same for a reconnection to the daemon */
        gint64 next_check;    /* the same for the next look at the file */
} MapFollow;

static void follow_disconnect(MapFollow *follow)
{
        clrsym_watch_close(follow->watch);
        follow->watch = NULL;
        g_clear_pointer(&follow->source, answer_source_free);
        follow->is_known = follow->has_events = false;
}

static int map_follow_take_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        MapFollow *follow = data;

        if (process->generation == follow->generation.number)
                live_code_add(follow->code, body);
        return 0;
}

static json_t *map_follow_parameters(const MapFollow *follow)
{
        return json_pack("{s:i, s:I}", "pid", (int)follow->generation.name.pid, "pid_ns",
                         (json_int_t)follow->generation.name.pid_ns);
}

/* Lists all code of the process. If the daemon does not know it, the code stays as it was. */
static bool map_follow_list(MapFollow *follow, GError **error)
{
        const clrsym_filter filter = {.size = sizeof(filter),
                                      .pid = follow->generation.name.pid,
                                      .has_pid_ns = true,
                                      .pid_ns = follow->generation.name.pid_ns};
        g_autoptr(GArray) generations =
                perfmap_generations(follow->source, map_follow_parameters(follow), error);
        const Generation *last;

        if (!generations)
                return false;
        last = generations->len ? &g_array_index(generations, Generation, generations->len - 1)
                                : NULL;
        follow->is_known = last && !last->has_exited;
        if (!follow->is_known)
                return true;
        follow->generation = *last;
        live_code_clear(follow->code);
        follow->is_changed = true;
        if (clrsym_methods(answer_source_handle(follow->source), &filter, map_follow_take_body,
                           follow) >= 0)
                return true;
        answer_source_set_error(follow->source, error);
        return false;
}

/* The list follows the begin of the watch, so no event is missed. */
static bool map_follow_connect(MapFollow *follow, GError **error)
{
        const clrsym_filter filter = {.size = sizeof(filter),
                                      .pid = follow->generation.name.pid,
                                      .has_pid_ns = true,
                                      .pid_ns = follow->generation.name.pid_ns};

        follow->source = answer_source_open(follow->options, ANSWER_SOURCE_ONCE, error);
        if (!follow->source)
                return false;
        if (clrsym_watch_open(answer_source_handle(follow->source), &filter, &follow->watch) < 0) {
                answer_source_set_error(follow->source, error);
                return false;
        }
        return map_follow_list(follow, error);
}

/* Takes over ERROR. */
static void map_follow_lose(MapFollow *follow, GError *error)
{
        message_print("clrsym", "%s: %s stays as it is until a daemon knows process %d again",
                      error->message, map_file_path(follow->file), (int)follow->pid);
        g_error_free(error);
        follow_disconnect(follow);
        follow->next_open = g_get_monotonic_time() + RETRY_PAUSE;
}

static void map_follow_reconnect(MapFollow *follow)
{
        g_autoptr(GError) error = NULL;

        if (map_follow_connect(follow, &error)) {
                message_print("clrsym", "reconnected to clrsymd");
                return;
        }
        follow_disconnect(follow);
        follow->next_open = g_get_monotonic_time() + RETRY_PAUSE;
}

static bool map_follow_obey(MapFollow *follow, const clrsym_event *event, GError **error)
{
        const bool is_other = event->generation != follow->generation.number;

        if (event->type == CLRSYM_EVENT_RESYNC || !follow->is_known ||
            (is_other && event->generation > follow->generation.number))
                return map_follow_list(follow, error);
        if (is_other || !event->has_body)
                return true;
        if (event->type == CLRSYM_EVENT_LOAD)
                live_code_add(follow->code, &event->body);
        else
                live_code_remove(follow->code, &event->body);
        follow->is_changed = true;
        return true;
}

/* Takes the available events, until the next write is due. */
static void map_follow_take_events(MapFollow *follow)
{
        const gint64 until = MAX(follow->next_write, g_get_monotonic_time() + FIRST_PAUSE);
        clrsym_event event;
        GError *error = NULL;
        int r;

        while ((r = clrsym_watch_next(follow->watch, /* timeout_ms= */ 0, &event)) > 0) {
                if (!map_follow_obey(follow, &event, &error)) {
                        map_follow_lose(follow, error);
                        return;
                }
                follow->has_events = follow->is_changed && g_get_monotonic_time() >= until;
                if (follow->has_events)
                        return;
        }
        follow->has_events = false;
        if (r < 0) {
                g_set_error(&error, ANSWER_SOURCE_ERROR, 0, "%s",
                            clrsym_watch_message(follow->watch));
                map_follow_lose(follow, error);
        }
}

static MapFileResult map_follow_put(MapFollow *follow, GError **error)
{
        g_string_truncate(follow->text, 0);
        live_code_append_map(follow->code, follow->text);
        return map_file_write(follow->file, follow->text->str, follow->text->len, error);
}

static FollowEnd map_follow_write(MapFollow *follow, GError **error)
{
        const int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        const bool is_missing = map_file_state(follow->file) == MAP_FILE_MISSING;
        g_autoptr(GError) failure = NULL;
        const MapFileResult result = map_follow_put(follow, &failure);
        const gint64 used = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000;

        if (result == MAP_FILE_FOREIGN) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return FOLLOW_FAILED;
        }
        follow->is_changed = result == MAP_FILE_FAILED;
        if (follow->is_changed && !follow->is_failing)
                message_print("clrsym", "%s: the file is outdated; retrying", failure->message);
        else if (!follow->is_changed && follow->is_failing)
                message_print("clrsym", "%s is current again", map_file_path(follow->file));
        else if (!follow->is_changed && is_missing)
                message_print("clrsym", "another program had removed %s: it is there again",
                              map_file_path(follow->file));
        follow->is_failing = follow->is_changed;
        follow->next_write =
                g_get_monotonic_time() +
                (follow->is_failing
                         ? RETRY_PAUSE
                         : MAX(MIN_PAUSE,
                               MAX(PAUSE_SHARE * used, (gint64)follow->text->len / BYTES_PER_US)));
        return FOLLOW_GOES_ON;
}

/* ms until the next action. */
static int map_follow_timeout(const MapFollow *follow, gint64 now)
{
        gint64 next = follow->has_events ? now : follow->next_check;

        if (follow->is_changed)
                next = MIN(next, follow->next_write);
        if (!follow->watch)
                next = MIN(next, follow->next_open);
        return (int)(MAX(next - now + 999, 0) / 1000);
}

/* A file that another program has removed or changed is written again, or leads to an error. */
static void map_follow_check(MapFollow *follow)
{
        const gint64 now = g_get_monotonic_time();

        if (now < follow->next_check)
                return;
        follow->next_check = now + CHECK_PAUSE;
        if (map_file_state(follow->file) != MAP_FILE_CURRENT)
                follow->is_changed = true;
}

static FollowEnd map_follow_step(MapFollow *follow, GError **error)
{
        struct pollfd fds[] = {
                {.fd = follow->signal_fd, .events = POLLIN},
                {.fd = follow->pidfd, .events = POLLIN},
                {.fd = follow->watch ? clrsym_watch_fd(follow->watch) : -1, .events = POLLIN},
        };

        if (poll(fds, G_N_ELEMENTS(fds), map_follow_timeout(follow, g_get_monotonic_time())) < 0 &&
            errno != EINTR) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "cannot wait for events: %s",
                            g_strerror(errno));
                return FOLLOW_FAILED;
        }
        if (fds[0].revents)
                return FOLLOW_STOPPED;
        if (fds[1].revents)
                return FOLLOW_ENDED;
        if (follow->watch)
                map_follow_take_events(follow);
        else if (g_get_monotonic_time() >= follow->next_open)
                map_follow_reconnect(follow);
        map_follow_check(follow);
        return follow->is_changed && g_get_monotonic_time() >= follow->next_write
                       ? map_follow_write(follow, error)
                       : FOLLOW_GOES_ON;
}

/* Writes the map of the process's fullest moment, for readers of recordings, which come after its
 * end. */
static void map_follow_end(MapFollow *follow)
{
        g_autoptr(GError) error = NULL;

        g_string_truncate(follow->text, 0);
        if (!follow->source)
                message_print(
                        "clrsym",
                        "process %d has ended while clrsymd did not answer: %s stays as it is",
                        (int)follow->pid, map_file_path(follow->file));
        else if (!perfmap_append_last(follow->text, follow->source, &follow->generation, &error) ||
                 map_file_write(follow->file, follow->text->str, follow->text->len, &error) !=
                         MAP_FILE_WRITTEN)
                message_print("clrsym", "process %d has ended, and %s stays as it is: %s",
                              (int)follow->pid, map_file_path(follow->file), error->message);
        else
                message_print("clrsym",
                              "process %d has ended: %s has the code of the moment at which most "
                              "was loaded",
                              (int)follow->pid, map_file_path(follow->file));
}

static void map_follow_stop(const MapFollow *follow)
{
        if (options_has(follow->options, OPTION_KEEP)) {
                message_print("clrsym", "stopped: %s stays, and is no longer updated",
                              map_file_path(follow->file));
                return;
        }
        if (!map_file_remove(follow->file)) {
                message_print("clrsym", "stopped: another program has changed or removed %s",
                              map_file_path(follow->file));
                return;
        }
        message_print("clrsym",
                      "stopped: %s is removed, because it would become outdated (--keep leaves it)",
                      map_file_path(follow->file));
}

static bool map_follow_run(MapFollow *follow, GError **error)
{
        FollowEnd end = FOLLOW_GOES_ON;

        if (!map_follow_connect(follow, error) || map_follow_put(follow, error) != MAP_FILE_WRITTEN)
                return false;
        follow->is_changed = false;
        message_print("clrsym", "%s is kept current until process %d ends, or until Ctrl-C",
                      map_file_path(follow->file), (int)follow->pid);
        while (end == FOLLOW_GOES_ON)
                end = map_follow_step(follow, error);
        if (end == FOLLOW_ENDED)
                map_follow_end(follow);
        else if (end == FOLLOW_STOPPED)
                map_follow_stop(follow);
        return end != FOLLOW_FAILED;
}

static bool map_follow_find(MapFollow *follow, GError **error)
{
        const ProcessName *name = &follow->generation.name;

        if (follow->generation.has_exited ||
            !proc_host_pid(name->pid_ns, name->pid, &follow->pid) ||
            (follow->pidfd = pidfd_open(follow->pid, 0)) < 0 || proc_has_ended(follow->pidfd)) {
                g_set_error(error, ANSWER_SOURCE_ERROR, 0,
                            "process %d does not run, or cannot be seen from here: --follow needs "
                            "a running process",
                            (int)name->pid);
                return false;
        }
        follow->file = map_file_new(follow->pid, follow->options->output,
                                    options_has(follow->options, OPTION_FORCE), error);
        return follow->file != NULL;
}

/* The signals that our parent does not ignore (nohup(1)). */
static sigset_t signals_to_obey(void)
{
        static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
        struct sigaction action;
        sigset_t signals;
        size_t i;

        sigemptyset(&signals);
        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                if (sigaction(SIGNALS[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                        sigaddset(&signals, SIGNALS[i]);
        return signals;
}

/* Signals up to now were obeyed. Closes the descriptor. */
static void release_signals(int signal_fd)
{
        struct signalfd_siginfo info;

        while (signal_fd >= 0 && read(signal_fd, &info, sizeof(info)) > 0)
                ;
        fd_clear(&signal_fd);
}

bool perfmap_follow(const Options *options, const Generation *generation, GError **error)
{
        MapFollow follow = {.options = options,
                            .generation = *generation,
                            .pidfd = -1,
                            .code = live_code_new(),
                            .text = g_string_new(NULL)};
        sigset_t signals = signals_to_obey(), old_signals;
        bool ok;

        sigprocmask(SIG_BLOCK, &signals, &old_signals);
        follow.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        ok = map_follow_find(&follow, error) && map_follow_run(&follow, error);
        follow_disconnect(&follow);
        live_code_free(follow.code);
        map_file_free(follow.file);
        g_string_free(follow.text, TRUE);
        fd_clear(&follow.pidfd);
        release_signals(follow.signal_fd);
        sigprocmask(SIG_SETMASK, &old_signals, NULL);
        return ok;
}
