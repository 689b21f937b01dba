/* SPDX-License-Identifier: MIT */
#include "attach/attachment.h"

#include "attach/attachment-file.h"
#include "attach/eventpipe-session.h"
#include "attach/watchdog.h"
#include "attach/worker.h"
#include "util/child.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc-stat.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Guesses; untuned. */
#define FIRST_BACKOFF_MS 100
#define MAX_BACKOFF_MS   30000

/*
 * Seconds after which a worker is killed, because it hangs in something that the target controls.
 * Opening a session takes up to four commands, each with its own time limit, and so does stopping
 * it.
 */
#define START_LIMIT_S   60
#define RUNDOWN_LIMIT_S 180 /* the worker's own limit comes first */
#define QUIT_LIMIT_S    15
/* us for a worker that has closed its socket to exit, and for a killed one. */
#define END_LIMIT G_TIME_SPAN_SECOND

/* Seconds between two notes that a session that ends with its worker is held. */
#define HEARTBEAT_S 5

struct Attachment {
        AttachmentInfo info;
        char *path;         /* owned: path of the attachment's file */
        GapLog *gaps;       /* borrowed */
        WorkerShare *share; /* borrowed or NULL: share of its workers */
        AttachmentFn fn;
        void *data;
        pid_t worker;          /* 0: none */
        int fd;                /* socket to the worker; -1: none */
        guint source;          /* watches FD, or starts the next worker */
        uint64_t session;      /* id of the session of this worker or of the previous one */
        bool is_persistent;    /* that session outlives its worker */
        bool was_held;         /* this holder or an earlier one has held the session */
        bool has_met;          /* the runtime has connected since the start of the worker */
        uint64_t held_until;   /* ns of CLOCK_MONOTONIC: last time at which the session was known to
                                * be held */
        uint64_t over_since;   /* ns of CLOCK_MONOTONIC: events may be missing from here on, by the
                                * worker, whose session is over; 0: it has not reported that */
        uint64_t quit_time;    /* ns of CLOCK_MONOTONIC of the order to quit; 0: no order */
        pid_t orphan;          /* worker of an earlier holder, which may still hold the session; 0:
                                * none */
        uint64_t orphan_start; /* start of ORPHAN in clock ticks since boot */
        guint heartbeat;
        Watchdog *watchdog; /* owned or NULL: watches the worker */
        guint watch;        /* timer of WATCHDOG */
        guint deadline;     /* timer that kills the worker; 0: no limit */
        unsigned backoff_ms;
        bool has_lttng;       /* see AttachmentTarget */
        int64_t clock_offset; /* EVENTPIPE: equal for all its workers, see FeedTarget */
};

static bool attachment_is_held(const Attachment *attachment)
{
        switch (attachment->info.state) {
        case ATTACHMENT_HELD:
        case ATTACHMENT_WAITING:
        case ATTACHMENT_COMPLETE:
                return true;
        case ATTACHMENT_STARTING:
        case ATTACHMENT_BACKOFF:
        case ATTACHMENT_ENDED:
        case ATTACHMENT_DETACHING:
        case ATTACHMENT_QUITTING:
                break;
        }
        return false;
}

/* In clock ticks since boot; 0: no such process, or a zombie. */
static uint64_t worker_start_ticks(pid_t worker)
{
        ProcStat stat;

        return proc_stat_read(worker, &stat) && stat.state != 'Z' ? stat.start_ticks : 0;
}

static GapTarget attachment_gap_target(const Attachment *attachment)
{
        const AttachmentInfo *info = &attachment->info;

        return (GapTarget){info->pid, info->start_ticks, info->vpid, info->pid_ns};
}

/* Begins a gap at TIME, unless the session was never held, or the target has ended. */
static void attachment_begin_gap(const Attachment *attachment, uint64_t time)
{
        const GapTarget target = attachment_gap_target(attachment);

        if (attachment->info.vpid && attachment->was_held &&
            attachment->info.state != ATTACHMENT_ENDED)
                gap_log_begin(attachment->gaps, &target, time);
}

/*
 * Does not keep the id of an ended session: a later holder would stop it, and the runtime may have
 * given the id to another tool's session.
 */
static void attachment_save(const Attachment *attachment)
{
        const AttachmentInfo *info = &attachment->info;
        const AttachmentFile file = {
                .session = attachment->session,
                .is_persistent = attachment->is_persistent,
                .held_since = info->held_since,
                .held_until = attachment->held_until,
                .worker = (uint64_t)attachment->worker,
                .worker_start = worker_start_ticks(attachment->worker),
                .vpid = (uint64_t)info->vpid,
                .pid_ns = info->pid_ns,
                .via = (uint64_t)info->via,
                .list = (uint64_t)info->list,
                .clock_offset = (uint64_t)attachment->clock_offset,
        };
        g_autofree char *text = attachment_file_format(&file, attachment->info.ingest);
        g_autoptr(GError) error = NULL;

        if (!g_file_set_contents_full(attachment->path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT,
                                      0600, &error))
                g_warning("%s", error->message);
}

static void attachment_load(Attachment *attachment)
{
        AttachmentInfo *info = &attachment->info;
        g_autofree char *text = NULL;
        AttachmentFile file;

        if (!g_file_get_contents(attachment->path, &text, NULL, NULL))
                return;
        /* Only a target that was held has a file. */
        attachment->was_held = true;
        if (!attachment_file_parse(text, &file))
                return;
        info->vpid = (int32_t)file.vpid;
        info->pid_ns = file.pid_ns;
        info->via = file.via ? (AttachVia)file.via : ATTACH_VIA_LTTNG;
        info->list = (AttachList)file.list;
        if (file.clock_offset)
                attachment->clock_offset = (int64_t)file.clock_offset;
        attachment->session = file.session;
        attachment->is_persistent = file.is_persistent;
        if (attachment->is_persistent)
                return;
        info->lost_since =
                MAX(file.held_since, file.held_until - MIN(file.held_until, WORKER_DEATH_MARGIN));
        if (file.worker_start && worker_start_ticks((pid_t)file.worker) == file.worker_start) {
                attachment->orphan = (pid_t)file.worker;
                attachment->orphan_start = file.worker_start;
        } else {
                attachment_begin_gap(attachment, info->lost_since);
        }
}

void attachment_forget(const char *directory, pid_t pid, uint64_t start_ticks)
{
        g_autofree char *path = attachment_file_path(directory, pid, start_ticks);

        g_unlink(path);
}

/* Runs in the child, which keeps only FD of the holder's descriptors, its end of the socket pair.
 */
static G_NORETURN void attachment_be_worker(const Attachment *attachment, int fd)
{
        const WorkerJob job = {
                .pid = attachment->info.pid,
                .start_ticks = attachment->info.start_ticks,
                .old_session = attachment->is_persistent ? attachment->session : 0,
                .path = attachment->path,
                .via = attachment->info.via,
                .list = attachment->info.list,
                .has_lttng = attachment->has_lttng,
                .ingest = attachment->info.ingest,
                .clock_offset = attachment->clock_offset,
                .orphan = attachment->orphan,
                .n_taken = attachment->watchdog ? watchdog_counter(attachment->watchdog) : NULL,
                .share = attachment->share,
        };
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGINT, SIG_IGN); /* a terminal sends it to both: the holder ends, and the worker
                                  * follows */
        signal(SIGTERM, SIG_DFL);
        signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is like a full disk */
        prctl(PR_SET_NAME, "clrsym-worker");
        if (fd > STDERR_FILENO + 1)
                close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
        close_range((unsigned)fd + 1, ~0u, 0);
        worker_run(&job, fd);
        _exit(0);
}

static void attachment_set_message(Attachment *attachment, AttachError code, const char *message)
{
        attachment->info.error = code;
        g_free(attachment->info.message);
        attachment->info.message = g_strdup(message);
}

/* ERROR may be NULL. */
static void attachment_set_fed(Attachment *attachment, bool is_fed, const char *error)
{
        attachment->info.is_fed = is_fed;
        g_free(attachment->info.feed_error);
        attachment->info.feed_error = g_strdup(error);
}

bool attachment_info_awaits_daemon(const AttachmentInfo *info)
{
        return info->state == ATTACHMENT_COMPLETE && info->via == ATTACH_VIA_EVENTPIPE &&
               !info->is_fed && !info->feed_error;
}

static gboolean on_deadline(gpointer data)
{
        Attachment *attachment = data;
        g_autofree char *message =
                g_strdup_printf("the runtime of process %d does not answer: try again when it is "
                                "less busy",
                                (int)attachment->info.pid);

        attachment->deadline = 0;
        g_warning("the worker of process %d takes too long, and is killed",
                  (int)attachment->info.pid);
        attachment_set_message(attachment, ATTACH_ERROR_UNRESPONSIVE, message);
        kill(attachment->worker, SIGKILL);
        return G_SOURCE_REMOVE;
}

static void attachment_set_deadline(Attachment *attachment, unsigned seconds)
{
        g_clear_handle_id(&attachment->deadline, g_source_remove);
        if (seconds)
                attachment->deadline = g_timeout_add_seconds(seconds, on_deadline, attachment);
}

static void attachment_order(const Attachment *attachment, WorkerOrder what)
{
        const char order = (char)what;

        if (attachment->fd >= 0)
                while (send(attachment->fd, &order, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
                        ;
}

static void attachment_order_quit(Attachment *attachment)
{
        if (!attachment->quit_time) {
                attachment->quit_time = eventpipe_session_clock();
                attachment_set_deadline(attachment, QUIT_LIMIT_S);
        }
        attachment_order(attachment, WORKER_QUIT);
}

static void attachment_start_worker(Attachment *attachment);

static gboolean on_backoff(gpointer data)
{
        Attachment *attachment = data;

        attachment->source = 0;
        attachment_start_worker(attachment);
        return G_SOURCE_REMOVE;
}

static void attachment_restart_later(Attachment *attachment)
{
        if (attachment->info.state != ATTACHMENT_DETACHING)
                attachment->info.state = ATTACHMENT_BACKOFF;
        attachment->source = g_timeout_add(attachment->backoff_ms, on_backoff, attachment);
        attachment->backoff_ms = MIN(attachment->backoff_ms * 2, MAX_BACKOFF_MS);
        attachment->info.n_restarts++;
}

/* Called when a killed worker exits late. */
static void on_late_end(GPid pid, gint status, gpointer unused)
{
        g_spawn_close_pid(pid);
}

/*
 * Waits for the exiting worker, and kills it at DEADLINE (us of g_get_monotonic_time()). If it does
 * not exit within END_LIMIT even then, because the kernel is busy with it, on_late_end() reaps it.
 * Returns true if the worker did not exit by itself.
 */
static bool attachment_reap_worker(Attachment *attachment, gint64 deadline)
{
        const pid_t worker = attachment->worker;
        int status = 0;

        g_clear_handle_id(&attachment->source, g_source_remove);
        g_clear_handle_id(&attachment->heartbeat, g_source_remove);
        g_clear_handle_id(&attachment->watch, g_source_remove);
        attachment_set_deadline(attachment, 0);
        fd_clear(&attachment->fd);
        g_clear_pointer(&attachment->watchdog, watchdog_free);
        attachment->worker = 0;
        worker_share_clear(attachment->share);
        attachment_set_fed(attachment, false, NULL);
        if (!child_wait(worker, deadline, -1, &status)) {
                kill(worker, SIGKILL);
                if (!child_wait(worker, deadline + END_LIMIT, -1, &status)) {
                        g_warning("the worker of process %d does not end, although it was killed",
                                  (int)attachment->info.pid);
                        g_child_watch_add(worker, on_late_end, NULL);
                        return true;
                }
        }
        if (WIFSIGNALED(status))
                g_warning("the worker of process %d was killed: signal %d",
                          (int)attachment->info.pid, WTERMSIG(status));
        return WIFSIGNALED(status);
}

/* HAD_SESSION: the worker held a session. WAS_KILLED false: the worker and its session ended by
 * themselves. */
static void attachment_recover(Attachment *attachment, bool had_session, bool was_killed)
{
        AttachmentInfo *info = &attachment->info;

        if (!attachment->is_persistent || (had_session && !was_killed)) {
                const uint64_t lost_since =
                        attachment->over_since ? attachment->over_since
                                               : eventpipe_session_clock() - WORKER_DEATH_MARGIN;

                if (!info->lost_since)
                        info->lost_since = lost_since;
                attachment_begin_gap(attachment, lost_since);
                attachment->is_persistent = false;
        }
        attachment_restart_later(attachment);
        attachment_set_message(attachment, ATTACH_ERROR_FAILED,
                               "the worker that held the session died");
        attachment->fn(attachment, ATTACHMENT_CHANGE_FAILED, attachment->data);
}

/* The worker closed its socket. May free ATTACHMENT. */
static void attachment_on_worker_gone(Attachment *attachment)
{
        bool had_session = attachment_is_held(attachment);
        bool was_killed = attachment_reap_worker(attachment, g_get_monotonic_time() + END_LIMIT);

        if (attachment->has_met && attachment->info.state == ATTACHMENT_STARTING) {
                attachment_start_worker(attachment);
                return;
        }
        switch (attachment->info.state) {
        case ATTACHMENT_STARTING:
        case ATTACHMENT_BACKOFF:
        case ATTACHMENT_HELD:
        case ATTACHMENT_WAITING:
        case ATTACHMENT_COMPLETE:
        case ATTACHMENT_QUITTING:
                if (attachment->was_held) {
                        attachment_recover(attachment, had_session, was_killed);
                        return;
                }
                break;
        case ATTACHMENT_DETACHING:
                attachment_begin_gap(attachment, attachment->quit_time);
                break;
        case ATTACHMENT_ENDED:
                break;
        }
        g_unlink(attachment->path);
        attachment->fn(attachment, ATTACHMENT_CHANGE_GONE, attachment->data);
}

/* True if the worker is stopped (SIGSTOP): it does not read its session, so the target cannot exit.
 */
static bool attachment_is_worker_stopped(const Attachment *attachment)
{
        ProcStat stat;

        return attachment->worker > 0 && proc_stat_read(attachment->worker, &stat) &&
               stat.state == 'T';
}

static gboolean on_heartbeat(gpointer data)
{
        Attachment *attachment = data;

        if (attachment_is_worker_stopped(attachment)) {
                g_warning("the worker of process %d is stopped, and is killed",
                          (int)attachment->info.pid);
                kill(attachment->worker, SIGKILL);
        }
        attachment->held_until = eventpipe_session_clock();
        attachment_save(attachment);
        return G_SOURCE_CONTINUE;
}

/* True if the target itself is stopped: it neither answers its worker nor exits. */
static bool attachment_is_target_stopped(const Attachment *attachment)
{
        ProcStat stat;

        return proc_stat_read(attachment->info.pid, &stat) &&
               (stat.state == 'T' || stat.state == 't');
}

static gboolean on_watch(gpointer data)
{
        Attachment *attachment = data;

        if (!watchdog_check(attachment->watchdog) || attachment_is_target_stopped(attachment))
                return G_SOURCE_CONTINUE;
        g_warning("the worker of process %d does not read what the runtime writes, and is killed",
                  (int)attachment->info.pid);
        watchdog_shut(attachment->watchdog);
        kill(attachment->worker, SIGKILL);
        attachment->watch = 0;
        return G_SOURCE_REMOVE;
}

/* Takes over STREAM; -1: the session needs no reader. */
static void attachment_watch(Attachment *attachment, int stream)
{
        if (stream < 0 || !attachment->watchdog) {
                fd_clear(&stream);
                return;
        }
        watchdog_watch(attachment->watchdog, stream);
        if (!attachment->watch)
                attachment->watch =
                        g_timeout_add_seconds(WATCHDOG_INTERVAL_S, on_watch, attachment);
}

/* Ends the gap at TIME. An orphan that still runs has held the session up to now. */
static void attachment_end_gap(Attachment *attachment, uint64_t time)
{
        const GapTarget target = attachment_gap_target(attachment);

        if (attachment->orphan &&
            worker_start_ticks(attachment->orphan) == attachment->orphan_start)
                attachment->info.lost_since = 0;
        else if (attachment->orphan)
                attachment_begin_gap(attachment, attachment->info.lost_since);
        attachment->orphan = 0;
        gap_log_end(attachment->gaps, &target, time);
}

static void attachment_take_held(Attachment *attachment, const WorkerReport *report)
{
        AttachmentInfo *info = &attachment->info;

        if (info->state == ATTACHMENT_STARTING)
                info->state = ATTACHMENT_HELD;
        info->via = (AttachVia)report->via;
        attachment->session = report->session;
        attachment->is_persistent = report->is_persistent;
        attachment->was_held = true;
        info->vpid = report->vpid;
        info->pid_ns = report->pid_ns;
        info->held_since = report->time;
        g_free(info->version);
        info->version = *report->version ? g_strdup(report->version) : NULL;
        if (!attachment->quit_time)
                attachment_set_deadline(attachment, RUNDOWN_LIMIT_S);
        attachment_end_gap(attachment, report->time);
        attachment->held_until = report->time;
        attachment_save(attachment);
        if (!attachment->is_persistent && !attachment->heartbeat)
                attachment->heartbeat =
                        g_timeout_add_seconds(HEARTBEAT_S, on_heartbeat, attachment);
}

static void attachment_take_rundown(Attachment *attachment, const WorkerReport *report)
{
        AttachmentInfo *info = &attachment->info;

        attachment->backoff_ms = FIRST_BACKOFF_MS;
        if (!attachment->quit_time)
                attachment_set_deadline(attachment, 0);
        if (attachment_is_held(attachment))
                info->state = report->is_empty ? ATTACHMENT_WAITING : ATTACHMENT_COMPLETE;
        info->is_unlisted = report->is_unlisted;
        if (!report->is_unlisted) {
                info->rundown_begin = report->begin;
                info->rundown_end = report->end;
        }
        g_clear_pointer(&info->message, g_free);
        attachment_set_fed(attachment, false, NULL);
        attachment->fn(attachment, ATTACHMENT_CHANGE_RUNDOWN, attachment->data);
}

static void attachment_take_report(Attachment *attachment, const WorkerReport *report)
{
        switch ((WorkerEvent)report->event) {
        case WORKER_HELD:
                attachment_take_held(attachment, report);
                break;
        case WORKER_RUNDOWN:
                attachment_take_rundown(attachment, report);
                break;
        case WORKER_FED:
                attachment_set_fed(attachment, !*report->message,
                                   *report->message ? report->message : NULL);
                attachment->fn(attachment, ATTACHMENT_CHANGE_FED, attachment->data);
                break;
        case WORKER_FAILED:
                attachment_set_message(attachment, (AttachError)report->error, report->message);
                attachment->over_since = report->time;
                /* A worker without a session ends, which is reported: a client that asks again
                 * after the failure gets a new worker, not the last messages of this one. */
                if (!attachment->was_held)
                        break;
                if (!attachment->quit_time)
                        attachment_set_deadline(attachment, 0);
                attachment->fn(attachment, ATTACHMENT_CHANGE_FAILED, attachment->data);
                break;
        case WORKER_ENDED:
                attachment_set_message(attachment, ATTACH_ERROR_ENDED, report->message);
                attachment->info.state = ATTACHMENT_ENDED;
        }
}

static gboolean on_report(gint fd, GIOCondition condition, gpointer data)
{
        Attachment *attachment = data;
        WorkerReport report;
        int stream = -1;
        ssize_t n = worker_report_receive(fd, &report, &stream);

        if (n < 0 && errno == EAGAIN)
                return G_SOURCE_CONTINUE;
        if (n != sizeof(report)) {
                /* That call removed this source, and may have freed the attachment. */
                attachment_on_worker_gone(attachment);
                return G_SOURCE_CONTINUE;
        }
        attachment_watch(attachment, stream);
        report.version[sizeof(report.version) - 1] = '\0';
        report.message[sizeof(report.message) - 1] = '\0';
        attachment_take_report(attachment, &report);
        return G_SOURCE_CONTINUE;
}

static void attachment_start_worker(Attachment *attachment)
{
        int fds[2] = {-1, -1};

        attachment->worker = -1;
        attachment->has_met = false;
        attachment->over_since = 0;
        attachment->watchdog = watchdog_new();
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0)
                attachment->worker = fork();
        if (attachment->worker == 0)
                attachment_be_worker(attachment, fds[1]);
        fd_clear(&fds[1]);
        if (attachment->worker < 0) {
                fd_clear(&fds[0]);
                g_clear_pointer(&attachment->watchdog, watchdog_free);
                attachment->worker = 0;
                g_warning("no worker for process %d: %s", (int)attachment->info.pid,
                          g_strerror(errno));
                attachment_restart_later(attachment);
                return;
        }
        attachment->fd = fds[0];
        attachment->source = g_unix_fd_add(fds[0], G_IO_IN | G_IO_HUP, on_report, attachment);
        if (attachment->info.state == ATTACHMENT_DETACHING)
                attachment_order_quit(attachment);
        else
                attachment->info.state = ATTACHMENT_STARTING;
        if (!attachment->quit_time)
                attachment_set_deadline(attachment, START_LIMIT_S);
}

Attachment *attachment_new(const char *directory, GapLog *gaps, WorkerAccount *account,
                           const AttachmentTarget *target, AttachmentFn fn, void *data)
{
        Attachment *attachment = g_new0(Attachment, 1);

        attachment->info.pid = target->pid;
        attachment->info.start_ticks = target->start_ticks;
        attachment->info.uid = target->uid;
        attachment->info.via = target->via ? target->via : ATTACH_VIA_LTTNG;
        attachment->info.list = target->list;
        attachment->has_lttng = target->has_lttng;
        attachment->clock_offset = (g_get_real_time() - g_get_monotonic_time()) * 1000;
        attachment->path = attachment_file_path(directory, target->pid, target->start_ticks);
        attachment->gaps = gaps;
        attachment->info.ingest = gap_log_ingest(gaps);
        attachment->share = worker_share_open(account, target->uid);
        attachment->fn = fn;
        attachment->data = data;
        attachment->fd = -1;
        attachment->backoff_ms = FIRST_BACKOFF_MS;
        attachment_load(attachment);
        attachment_start_worker(attachment);
        return attachment;
}

void attachment_quit(Attachment *attachment)
{
        if (attachment->info.state != ATTACHMENT_DETACHING &&
            attachment->info.state != ATTACHMENT_ENDED)
                attachment->info.state = ATTACHMENT_QUITTING;
        attachment_order_quit(attachment);
}

/* The holder exits with its worker. The file makes a later holder attach again. */
static void attachment_stop_worker(Attachment *attachment)
{
        attachment_quit(attachment);
        attachment_reap_worker(attachment, (gint64)(attachment->quit_time / 1000) +
                                                   QUIT_LIMIT_S * G_TIME_SPAN_SECOND);
        attachment_begin_gap(attachment, attachment->quit_time);
        attachment->is_persistent = false;
        attachment->session = 0;
        attachment->held_until = attachment->quit_time;
        if (attachment->info.state == ATTACHMENT_QUITTING && attachment->was_held)
                attachment_save(attachment);
        else if (attachment->info.state == ATTACHMENT_DETACHING)
                g_unlink(attachment->path);
}

void attachment_free(Attachment *attachment)
{
        if (!attachment)
                return;
        if (attachment->fd >= 0)
                attachment_stop_worker(attachment);
        g_clear_handle_id(&attachment->source, g_source_remove);
        g_clear_handle_id(&attachment->heartbeat, g_source_remove);
        g_clear_handle_id(&attachment->watch, g_source_remove);
        g_clear_handle_id(&attachment->deadline, g_source_remove);
        g_free(attachment->info.version);
        g_free(attachment->info.message);
        g_free(attachment->info.feed_error);
        worker_share_close(attachment->share);
        g_free(attachment->path);
        g_free(attachment);
}

const AttachmentInfo *attachment_info(const Attachment *attachment)
{
        return &attachment->info;
}

void attachment_rundown(Attachment *attachment, bool is_explicit)
{
        if (is_explicit)
                attachment->info.list = ATTACH_LIST_ALWAYS;
        /* A worker starts with a rundown, so one that has not started yet needs no order. */
        if (!attachment_is_held(attachment))
                return;
        attachment_order(attachment, is_explicit ? WORKER_DO_RUNDOWN : WORKER_MAY_LIST);
        attachment_set_deadline(attachment, RUNDOWN_LIMIT_S);
        attachment->info.state = ATTACHMENT_HELD;
}

void attachment_want_horizon(const Attachment *attachment)
{
        if (attachment_is_held(attachment) && attachment->info.via == ATTACH_VIA_EVENTPIPE)
                attachment_order(attachment, WORKER_PING);
}

void attachment_want_flush(const Attachment *attachment)
{
        if (attachment_is_held(attachment) && attachment->info.via == ATTACH_VIA_EVENTPIPE)
                attachment_order(attachment, WORKER_FLUSH);
}

bool attachment_meet_runtime(Attachment *attachment)
{
        const AttachmentState state = attachment->info.state;

        attachment->has_met = state == ATTACHMENT_STARTING && !attachment->was_held;
        return state == ATTACHMENT_WAITING || state == ATTACHMENT_COMPLETE;
}

void attachment_resumed(Attachment *attachment)
{
        if (attachment->info.state == ATTACHMENT_WAITING)
                attachment->info.state = ATTACHMENT_COMPLETE;
}

void attachment_detach(Attachment *attachment)
{
        if (attachment->info.state == ATTACHMENT_DETACHING ||
            attachment->info.state == ATTACHMENT_ENDED)
                return;
        attachment->info.state = ATTACHMENT_DETACHING;
        if (attachment->fd < 0) {
                /* Without a worker the session may still exist: a new worker must stop it. */
                g_clear_handle_id(&attachment->source, g_source_remove);
                attachment_start_worker(attachment);
        }
        attachment_order_quit(attachment);
}
