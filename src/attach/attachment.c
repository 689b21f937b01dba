/* SPDX-License-Identifier: MIT */
#include "attach/attachment.h"

#include "attach/session.h"
#include "attach/target.h"
#include "attach/worker.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Guesses; untuned. */
#define FIRST_BACKOFF_MS 100
#define MAX_BACKOFF_MS   30000

/* A worker that was killed is missed a moment later: so far back its events are in doubt. */
#define DEATH_MARGIN UINT64_C(1000000000)
/* Between notes that a session that dies with its worker is still held. */
#define HEARTBEAT_S 5

struct Attachment {
        AttachmentInfo info;
        char *path;         /* owned: of its file */
        Silences *silences; /* borrowed */
        AttachmentFn fn;
        void *data;
        pid_t worker;     /* 0: none */
        int fd;           /* to the worker; -1: none */
        guint source;     /* watches it, or waits to start another one */
        uint64_t session; /* of this worker or the last one */
        bool is_silent;   /* that session outlives its worker */
        bool is_holding;  /* the worker has said that it holds it */
        uint64_t seen;    /* when it was held for certain, last */
        uint64_t quit;    /* when the worker was told to end; 0: it was not */
        pid_t orphan;     /* the worker of a holder before, which may hold it yet; 0: none */
        uint64_t orphan_ticks;
        guint heartbeat;
        bool is_detaching;
        bool is_over; /* the target is, or the attachment before it began */
        unsigned backoff_ms;
};

static uint64_t start_of(pid_t pid)
{
        uint64_t ticks;
        char state;

        return pid && target_state(pid, &state, &ticks) && state != 'Z' ? ticks : 0;
}

static SilenceTarget target_of(const Attachment *attachment)
{
        const AttachmentInfo *info = &attachment->info;

        return (SilenceTarget){info->pid, info->start_ticks, info->vpid, info->pid_ns};
}

/* From TIME on it may not be held; unless it never was, or is not known well enough to say so. */
static void begin_silence(const Attachment *attachment, uint64_t time)
{
        const SilenceTarget target = target_of(attachment);

        if (attachment->info.vpid && attachment->info.is_held && !attachment->is_over)
                silences_begin(attachment->silences, &target, time);
}

/*
 * The session, whether it goes on without a worker, since when it is held, when it was for certain,
 * by whom, and of whom. The id of one that is over must not be stopped: the runtime may have given
 * it to another tool's.
 */
static void save(const Attachment *attachment)
{
        const AttachmentInfo *info = &attachment->info;
        g_autofree char *text = g_strdup_printf(
                "%" G_GUINT64_FORMAT " %d %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                " %d %" G_GUINT64_FORMAT " %d %" G_GUINT64_FORMAT "\n",
                (guint64)attachment->session, attachment->is_silent, (guint64)info->held,
                (guint64)attachment->seen, (int)attachment->worker,
                (guint64)start_of(attachment->worker), info->vpid, (guint64)info->pid_ns);
        g_autoptr(GError) error = NULL;

        if (!g_file_set_contents_full(attachment->path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT,
                                      0600, &error))
                g_warning("%s", error->message);
}

static void load(Attachment *attachment)
{
        unsigned long long session, held, seen, ticks, pid_ns;
        AttachmentInfo *info = &attachment->info;
        g_autofree char *text = NULL;
        int is_silent, worker;

        if (!g_file_get_contents(attachment->path, &text, NULL, NULL))
                return;
        /* Whoever wrote that held it. */
        info->is_held = true;
        if (sscanf(text, "%llu %d %llu %llu %d %llu %d %llu", &session, &is_silent, &held, &seen,
                   &worker, &ticks, &info->vpid, &pid_ns) != 8)
                return;
        info->pid_ns = pid_ns;
        attachment->session = session;
        attachment->is_silent = is_silent;
        if (is_silent)
                return;
        info->lost = MAX(held, seen - MIN(seen, DEATH_MARGIN));
        if (ticks && start_of(worker) == ticks) {
                attachment->orphan = worker;
                attachment->orphan_ticks = ticks;
        } else {
                begin_silence(attachment, info->lost);
        }
}

static char *file_path(const char *directory, pid_t pid, uint64_t start_ticks)
{
        return g_strdup_printf("%s/%d-%" G_GUINT64_FORMAT, directory, (int)pid,
                               (guint64)start_ticks);
}

bool attachment_parse_name(const char *name, pid_t *ret_pid, uint64_t *ret_start_ticks)
{
        unsigned long long ticks;
        int pid, n = 0;

        if (sscanf(name, "%d-%llu%n", &pid, &ticks, &n) != 2 || name[n] || pid <= 0)
                return false;
        *ret_pid = pid;
        *ret_start_ticks = ticks;
        return true;
}

void attachment_forget(const char *directory, pid_t pid, uint64_t start_ticks)
{
        g_autofree char *path = file_path(directory, pid, start_ticks);

        g_unlink(path);
}

/* In the child: nothing of the holder's is kept but the socket. */
static G_NORETURN void be_worker(const Attachment *attachment, int fd)
{
        const WorkerJob job = {
                .pid = attachment->info.pid,
                .start_ticks = attachment->info.start_ticks,
                .old_session = attachment->is_silent ? attachment->session : 0,
                .path = attachment->path,
        };
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGINT, SIG_IGN); /* of a terminal: the holder's end is ours */
        signal(SIGTERM, SIG_DFL);
        prctl(PR_SET_NAME, "clrsym-worker");
        if (fd > STDERR_FILENO + 1)
                close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
        close_range((unsigned)fd + 1, ~0u, 0);
        worker_run(&job, fd);
        _exit(0);
}

static void set_message(Attachment *attachment, AttachError code, const char *message)
{
        attachment->info.error = code;
        g_free(attachment->info.message);
        attachment->info.message = g_strdup(message);
}

static void order(const Attachment *attachment, WorkerOrder what)
{
        const char order = (char)what;

        if (attachment->fd >= 0)
                while (send(attachment->fd, &order, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
                        ;
}

static void start(Attachment *attachment);

static gboolean on_backoff(gpointer data)
{
        Attachment *attachment = data;

        attachment->source = 0;
        start(attachment);
        return G_SOURCE_REMOVE;
}

static void restart_later(Attachment *attachment)
{
        attachment->source = g_timeout_add(attachment->backoff_ms, on_backoff, attachment);
        attachment->backoff_ms = MIN(attachment->backoff_ms * 2, MAX_BACKOFF_MS);
        attachment->info.n_restarts++;
}

/* It has ended, or will in a moment: it has closed its socket. True if it was killed. */
static bool bury_worker(Attachment *attachment)
{
        int status = 0;

        g_clear_handle_id(&attachment->source, g_source_remove);
        close(attachment->fd);
        attachment->fd = -1;
        while (waitpid(attachment->worker, &status, 0) < 0 && errno == EINTR)
                ;
        if (WIFSIGNALED(status))
                g_warning("the worker of process %d was killed: signal %d",
                          (int)attachment->info.pid, WTERMSIG(status));
        attachment->worker = 0;
        g_clear_handle_id(&attachment->heartbeat, g_source_remove);
        return WIFSIGNALED(status);
}

static void on_worker_gone(Attachment *attachment)
{
        AttachmentInfo *info = &attachment->info;
        bool was_held = info->is_held, was_holding = attachment->is_holding;
        bool was_killed = bury_worker(attachment);

        attachment->is_holding = false;
        if (attachment->quit && was_held)
                begin_silence(attachment, attachment->quit);
        if (attachment->is_detaching || attachment->is_over || !was_held) {
                g_unlink(attachment->path);
                attachment->fn(attachment, ATTACHMENT_GONE, attachment->data);
                return;
        }
        /* One that ends by itself saw the end of its session. */
        if (!attachment->is_silent || (was_holding && !was_killed)) {
                uint64_t lost = session_clock() - DEATH_MARGIN;

                if (!info->lost)
                        info->lost = lost;
                begin_silence(attachment, lost);
                attachment->is_silent = false;
        }
        info->is_listed = false;
        restart_later(attachment);
        set_message(attachment, ATTACH_ERROR_FAILED, "the process that held the session died");
        attachment->fn(attachment, ATTACHMENT_FAILED, attachment->data);
}

static gboolean on_heartbeat(gpointer data)
{
        Attachment *attachment = data;

        attachment->seen = session_clock();
        save(attachment);
        return G_SOURCE_CONTINUE;
}

/* It is held from TIME on. Whoever held it before may have done so up to now. */
static void end_silence(Attachment *attachment, uint64_t time)
{
        const SilenceTarget target = target_of(attachment);
        bool was_held =
                attachment->orphan && start_of(attachment->orphan) == attachment->orphan_ticks;

        if (attachment->orphan && was_held)
                attachment->info.lost = 0;
        else if (attachment->orphan)
                begin_silence(attachment, attachment->info.lost);
        attachment->orphan = 0;
        silences_end(attachment->silences, &target, time);
}

static void take_held(Attachment *attachment, const WorkerReport *report)
{
        AttachmentInfo *info = &attachment->info;

        attachment->is_holding = true;
        attachment->session = report->session;
        attachment->is_silent = report->is_silent;
        info->vpid = report->vpid;
        info->pid_ns = report->pid_ns;
        info->held = report->time;
        info->is_held = true;
        g_free(info->version);
        info->version = *report->version ? g_strdup(report->version) : NULL;
        end_silence(attachment, report->time);
        attachment->seen = report->time;
        save(attachment);
        if (!attachment->is_silent && !attachment->heartbeat)
                attachment->heartbeat =
                        g_timeout_add_seconds(HEARTBEAT_S, on_heartbeat, attachment);
}

static void take(Attachment *attachment, const WorkerReport *report)
{
        AttachmentInfo *info = &attachment->info;

        switch ((WorkerEvent)report->event) {
        case WORKER_HELD:
                take_held(attachment, report);
                break;
        case WORKER_LISTED:
                attachment->backoff_ms = FIRST_BACKOFF_MS;
                info->is_listed = true;
                info->is_waiting = report->is_empty;
                info->list_begin = report->begin;
                info->list_end = report->end;
                g_clear_pointer(&info->message, g_free);
                attachment->fn(attachment, ATTACHMENT_LISTED, attachment->data);
                break;
        case WORKER_FAILED:
                set_message(attachment, (AttachError)report->error, report->message);
                attachment->fn(attachment, ATTACHMENT_FAILED, attachment->data);
                break;
        case WORKER_ENDED:
                set_message(attachment, ATTACH_ERROR_ENDED, report->message);
                attachment->is_over = true;
        }
}

static gboolean on_report(gint fd, GIOCondition condition, gpointer data)
{
        Attachment *attachment = data;
        WorkerReport report;
        ssize_t n = recv(fd, &report, sizeof(report), MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n != sizeof(report)) {
                on_worker_gone(attachment); /* has removed the source, and may have freed us */
                return G_SOURCE_CONTINUE;
        }
        report.version[sizeof(report.version) - 1] = '\0';
        report.message[sizeof(report.message) - 1] = '\0';
        take(attachment, &report);
        return G_SOURCE_CONTINUE;
}

static void start(Attachment *attachment)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0) {
                attachment->worker = fork();
                if (attachment->worker == 0)
                        be_worker(attachment, fds[1]);
                close(fds[1]);
                if (attachment->worker > 0) {
                        attachment->fd = fds[0];
                        attachment->source =
                                g_unix_fd_add(fds[0], G_IO_IN | G_IO_HUP, on_report, attachment);
                        if (attachment->is_detaching)
                                attachment_quit(attachment);
                        return;
                }
                close(fds[0]);
        }
        attachment->worker = 0;
        g_warning("no worker for process %d: %s", (int)attachment->info.pid, g_strerror(errno));
        restart_later(attachment);
}

Attachment *attachment_new(const char *directory, Silences *silences, pid_t pid,
                           uint64_t start_ticks, uid_t uid, AttachmentFn fn, void *data)
{
        Attachment *attachment = g_new0(Attachment, 1);

        attachment->info.pid = pid;
        attachment->info.start_ticks = start_ticks;
        attachment->info.uid = uid;
        attachment->path = file_path(directory, pid, start_ticks);
        attachment->silences = silences;
        attachment->fn = fn;
        attachment->data = data;
        attachment->fd = -1;
        attachment->backoff_ms = FIRST_BACKOFF_MS;
        load(attachment);
        start(attachment);
        return attachment;
}

void attachment_quit(Attachment *attachment)
{
        if (!attachment->quit)
                attachment->quit = session_clock();
        order(attachment, WORKER_QUIT);
}

void attachment_free(Attachment *attachment)
{
        if (!attachment)
                return;
        if (attachment->fd >= 0) {
                attachment_quit(attachment);
                g_clear_handle_id(&attachment->source, g_source_remove);
                bury_worker(attachment);
                begin_silence(attachment, attachment->quit);
                attachment->is_silent = false;
                attachment->session = 0;
                attachment->seen = attachment->quit;
                if (attachment->info.is_held)
                        save(attachment);
        }
        g_clear_handle_id(&attachment->source, g_source_remove);
        g_clear_handle_id(&attachment->heartbeat, g_source_remove);
        g_free(attachment->info.version);
        g_free(attachment->info.message);
        g_free(attachment->path);
        g_free(attachment);
}

const AttachmentInfo *attachment_info(const Attachment *attachment)
{
        return &attachment->info;
}

void attachment_list(Attachment *attachment)
{
        /* A worker that is yet to start, or has died, lists everything anyhow. */
        order(attachment, WORKER_LIST);
        attachment->info.is_listed = false;
}

void attachment_detach(Attachment *attachment)
{
        if (attachment->is_detaching)
                return;
        attachment->is_detaching = true;
        if (attachment->fd < 0) {
                /* Between two workers: a session may go on that only a worker can stop. */
                g_clear_handle_id(&attachment->source, g_source_remove);
                start(attachment);
        }
        attachment_quit(attachment);
}
