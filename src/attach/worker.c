/* SPDX-License-Identifier: MIT */
#include "attach/worker.h"

#include "attach/attachment-file.h"
#include "attach/error.h"
#include "attach/eventpipe-session.h"
#include "util/fd.h"

#include <poll.h>
#include <sys/socket.h>

/* Between two looks of an orphan at the attachment's file. */
#define ORPHAN_MS 500

/* Why a worker stops serving. */
typedef enum WorkerEnd {
        WORKER_GOES_ON,
        WORKER_MUST_QUIT,
        WORKER_IS_MUTE,   /* a report could not be sent, though the holder lives */
        WORKER_IS_ORPHAN, /* the holder has died */
        WORKER_IS_DONE,   /* the session is over, or the target is */
} WorkerEnd;

typedef struct Worker {
        int fd; /* to the holder */
        Target target;
        EventPipeSession session; /* fd -1: none */
        EventPipeWait wait;       /* of a rundown; interrupt_fd -1 once the holder has died */
        char *version;            /* owned or NULL */
        WorkerEnd end;
        bool wants_rundown; /* one was ordered, or none was made yet */
} Worker;

static WorkerReport worker_report_new(const Worker *worker, WorkerEvent event)
{
        const ProcessKey *key = target_key(&worker->target);
        WorkerReport report = {.event = event,
                               .session = worker->session.id,
                               .is_persistent = worker->session.is_persistent,
                               .vpid = key->pid,
                               .pid_ns = key->pid_ns};

        g_strlcpy(report.version, worker->version ? worker->version : "", sizeof(report.version));
        return report;
}

/*
 * If the holder has died, that shows when orders are read. If it lives and does not get the report,
 * it would wait for one: the worker ends, and the holder starts another.
 */
static void worker_send(Worker *worker, const WorkerReport *report)
{
        ssize_t n;

        do
                n = send(worker->fd, report, sizeof(*report), MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n >= 0 || errno == EPIPE || errno == ECONNRESET || worker->end != WORKER_GOES_ON)
                return;
        g_warning("the worker of process %d cannot report to the holder, and ends: %s",
                  (int)worker->target.info.host_pid, g_strerror(errno));
        worker->end = WORKER_IS_MUTE;
}

static void worker_send_error(Worker *worker, const GError *error)
{
        WorkerReport report = {.event = WORKER_FAILED, .error = (uint32_t)error->code};

        if (error->code == ATTACH_ERROR_ENDED)
                report.event = WORKER_ENDED;
        g_strlcpy(report.message, error->message, sizeof(report.message));
        worker_send(worker, &report);
}

/* Takes the orders that have come. True: what the worker does is to stop. */
static bool worker_take_orders(void *data)
{
        Worker *worker = data;
        char order;
        ssize_t n;

        while ((n = recv(worker->fd, &order, 1, MSG_DONTWAIT)) > 0 || (n < 0 && errno == EINTR)) {
                if (n > 0 && order == WORKER_QUIT)
                        worker->end = WORKER_MUST_QUIT;
                else if (n > 0 && order == WORKER_DO_RUNDOWN)
                        worker->wants_rundown = true;
        }
        if (worker->end == WORKER_GOES_ON && !(n < 0 && errno == EAGAIN)) {
                worker->end = WORKER_IS_ORPHAN;
                worker->wait.interrupt_fd = -1;
        }
        /* An orphan completes its rundown. */
        return worker->end == WORKER_MUST_QUIT;
}

static void worker_do_rundown(Worker *worker)
{
        WorkerReport report = worker_report_new(worker, WORKER_RUNDOWN);
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown;

        worker->wants_rundown = false;
        if (!eventpipe_rundown(&worker->target, &worker->wait, &rundown, &error)) {
                if (worker->end == WORKER_MUST_QUIT)
                        return;
                worker_send_error(worker, error);
                if (error->code == ATTACH_ERROR_ENDED)
                        worker->end = WORKER_IS_DONE;
                return;
        }
        report.begin = rundown.begin;
        report.end = rundown.end;
        report.is_empty = rundown.is_empty;
        worker_send(worker, &report);
}

static bool worker_find_target(const WorkerJob *job, Worker *worker, GError **error)
{
        if (target_open(job->pid, &worker->target, error)) {
                if (!job->start_ticks || worker->target.start_ticks == job->start_ticks)
                        return true;
        } else if (!job->start_ticks ||
                   !g_error_matches(*error, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS)) {
                return false;
        }
        /* It existed once. If it were only absent, the holder would try again for ever. */
        g_clear_error(error);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended", (int)job->pid);
        return false;
}

static bool worker_hold(const WorkerJob *job, Worker *worker, GError **error)
{
        WorkerReport report;

        worker->version = eventpipe_runtime_version(&worker->target, error);
        if ((!worker->version && *error) || !target_check_provider(&worker->target, error) ||
            !eventpipe_session_open(&worker->target, &worker->session, error))
                return false;
        report = worker_report_new(worker, WORKER_HELD);
        report.time = eventpipe_session_clock();
        worker_send(worker, &report);
        /* Only now, so that a session is open at every moment. */
        if (job->old_session && job->old_session != worker->session.id)
                eventpipe_session_stop_id(&worker->target, job->old_session, NULL);
        return true;
}

/* Waits for TIMEOUT_MS (-1: for ever) or an order, and drains the session. False: the session is
 * over. */
static bool worker_wait(const Worker *worker, bool has_orders, int timeout_ms, bool *ret_is_ordered)
{
        struct pollfd fds[] = {
                {.fd = has_orders ? worker->fd : -1, .events = POLLIN},
                {.fd = worker->session.fd, .events = POLLIN},
                {.fd = worker->target.pidfd, .events = POLLIN},
        };

        *ret_is_ordered = false;
        if (poll(fds, G_N_ELEMENTS(fds), timeout_ms) < 0)
                return errno == EINTR;
        *ret_is_ordered = fds[0].revents != 0;
        return !fds[2].revents && (!fds[1].revents || eventpipe_session_drain(&worker->session));
}

/* Serves until the worker must quit, or until the session or the holder is over. */
static void worker_serve(Worker *worker)
{
        bool is_ordered;

        while (worker->end == WORKER_GOES_ON) {
                if (worker->wants_rundown)
                        worker_do_rundown(worker);
                else if (!worker_wait(worker, true, -1, &is_ordered))
                        worker->end = WORKER_IS_DONE;
                else if (is_ordered)
                        worker_take_orders(worker);
        }
}

static bool worker_is_wanted(const Worker *worker, const char *path)
{
        g_autofree char *text = NULL;
        AttachmentFile file;

        return g_file_get_contents(path, &text, NULL, NULL) && attachment_file_parse(text, &file) &&
               file.session == worker->session.id;
}

/* Holds the session until another holder has attached the target or detached it. */
static void worker_be_orphan(Worker *worker, const char *path)
{
        bool is_ordered;

        if (worker->session.is_persistent)
                return;
        while (worker_is_wanted(worker, path))
                if (!worker_wait(worker, false, ORPHAN_MS, &is_ordered))
                        return;
        eventpipe_session_stop(&worker->target, &worker->session, NULL);
}

static void worker_send_ended(Worker *worker)
{
        g_autoptr(GError) error = NULL;

        if (target_is_ending(&worker->target))
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                            (int)worker->target.info.host_pid);
        else
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "the runtime of process %d has ended the session",
                            (int)worker->target.info.host_pid);
        worker_send_error(worker, error);
}

void worker_run(const WorkerJob *job, int fd)
{
        Worker worker = {
                .fd = fd, .target = {.pidfd = -1}, .session = {.fd = -1}, .wants_rundown = true};
        g_autoptr(GError) error = NULL;

        worker.wait = (EventPipeWait){.other = &worker.session,
                                      .interrupt_fd = fd,
                                      .interrupt = worker_take_orders,
                                      .data = &worker};
        if (!worker_find_target(job, &worker, &error) || !worker_hold(job, &worker, &error))
                worker_send_error(&worker, error);
        else
                worker_serve(&worker);
        switch (worker.end) {
        case WORKER_GOES_ON: /* it never held a session */
                break;
        case WORKER_IS_DONE:
                worker_send_ended(&worker);
                break;
        case WORKER_IS_MUTE:
        case WORKER_MUST_QUIT:
                if (worker.session.fd >= 0)
                        eventpipe_session_stop(&worker.target, &worker.session, NULL);
                break;
        case WORKER_IS_ORPHAN:
                worker_be_orphan(&worker, job->path);
        }
        fd_clear(&worker.session.fd);
        target_close(&worker.target);
        g_free(worker.version);
}
