/* SPDX-License-Identifier: MIT */
#include "attach/worker.h"

#include "attach/error.h"
#include "attach/session.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Between looks at the file, for one whose holder has died. */
#define ORPHAN_MS 500

typedef struct Worker {
        int fd;
        Target target;
        Session session; /* fd -1: none */
        char *version;   /* owned or NULL */
} Worker;

static WorkerReport report_new(const Worker *worker, WorkerEvent event)
{
        const ProcessKey *key = target_key(&worker->target);
        WorkerReport report = {.event = event,
                               .session = worker->session.id,
                               .is_silent = worker->session.is_silent,
                               .vpid = key->pid,
                               .pid_ns = key->pid_ns};

        g_strlcpy(report.version, worker->version ? worker->version : "", sizeof(report.version));
        return report;
}

/* Whoever is told may be gone: then that shows when orders are read. */
static void tell(const Worker *worker, const WorkerReport *report)
{
        while (send(worker->fd, report, sizeof(*report), MSG_NOSIGNAL) < 0 && errno == EINTR)
                ;
}

static void tell_error(const Worker *worker, const GError *error)
{
        WorkerReport report = {.event = WORKER_FAILED, .error = (uint32_t)error->code};

        if (error->code == ATTACH_ERROR_ENDED)
                report.event = WORKER_ENDED;
        g_strlcpy(report.message, error->message, sizeof(report.message));
        tell(worker, &report);
}

static bool list(Worker *worker)
{
        WorkerReport report = report_new(worker, WORKER_LISTED);
        g_autoptr(GError) error = NULL;
        SessionRundown rundown;

        if (!session_rundown(&worker->target, &worker->session, &rundown, &error)) {
                tell_error(worker, error);
                return error->code != ATTACH_ERROR_ENDED;
        }
        report.begin = rundown.begin;
        report.end = rundown.end;
        report.is_empty = rundown.is_empty;
        tell(worker, &report);
        return true;
}

static bool find_target(const WorkerJob *job, Worker *worker, GError **error)
{
        if (!target_open(job->pid, &worker->target, error))
                return false;
        if (job->start_ticks && worker->target.start_ticks != job->start_ticks) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                            (int)job->pid);
                return false;
        }
        return true;
}

static bool hold(const WorkerJob *job, Worker *worker, GError **error)
{
        WorkerReport report;

        worker->version = session_runtime_version(&worker->target, error);
        if ((!worker->version && *error) || !target_check_provider(&worker->target, error) ||
            !session_open(&worker->target, &worker->session, error))
                return false;
        report = report_new(worker, WORKER_HELD);
        report.time = session_clock();
        tell(worker, &report);
        /* After the new one is open, so that there is nothing in between. */
        if (job->old_session && job->old_session != worker->session.id)
                session_stop_id(&worker->target, job->old_session, NULL);
        return true;
}

typedef enum Order {
        ORDER_NONE,
        ORDER_QUIT,
        ORDER_ORPHANED, /* the holder has died */
        ORDER_ENDED,    /* the target has */
} Order;

static Order obey(Worker *worker)
{
        char order;
        ssize_t n = recv(worker->fd, &order, 1, 0);

        if (n < 0)
                return errno == EINTR || errno == EAGAIN ? ORDER_NONE : ORDER_ORPHANED;
        if (n == 0)
                return ORDER_ORPHANED;
        if (order == WORKER_QUIT)
                return ORDER_QUIT;
        return order != WORKER_LIST || list(worker) ? ORDER_NONE : ORDER_ENDED;
}

/* Waits for TIMEOUT_MS (-1: for ever). False: the session is over. */
static bool wait(const Worker *worker, bool has_orders, int timeout_ms, bool *ret_is_ordered)
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
        return !fds[2].revents && (!fds[1].revents || session_drain(&worker->session));
}

/* Until the holder has an order that is none of listing, or the session is over. */
static Order serve(Worker *worker)
{
        Order order = ORDER_NONE;
        bool is_ordered;

        while (order == ORDER_NONE) {
                if (!wait(worker, true, -1, &is_ordered))
                        return ORDER_ENDED;
                if (is_ordered)
                        order = obey(worker);
        }
        return order;
}

static bool is_wanted(const Worker *worker, const char *path)
{
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) &&
               g_ascii_strtoull(text, NULL, 10) == worker->session.id;
}

/* Holds on until another holder has attached the target, or detached it. */
static void be_orphan(Worker *worker, const char *path)
{
        bool is_ordered;

        if (worker->session.is_silent)
                return;
        while (is_wanted(worker, path))
                if (!wait(worker, false, ORPHAN_MS, &is_ordered))
                        return;
        session_stop(&worker->target, &worker->session, NULL);
}

static void tell_ended(const Worker *worker)
{
        g_autoptr(GError) error = NULL;

        if (target_is_ending(&worker->target))
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                            (int)worker->target.info.host_pid);
        else
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "the runtime of process %d has ended the session",
                            (int)worker->target.info.host_pid);
        tell_error(worker, error);
}

void worker_run(const WorkerJob *job, int fd)
{
        Worker worker = {.fd = fd, .target = {.pidfd = -1}, .session = {.fd = -1}};
        g_autoptr(GError) error = NULL;

        if (!find_target(job, &worker, &error) || !hold(job, &worker, &error)) {
                tell_error(&worker, error);
        } else {
                switch (list(&worker) ? serve(&worker) : ORDER_ENDED) {
                case ORDER_NONE:
                case ORDER_ENDED:
                        tell_ended(&worker);
                        break;
                case ORDER_QUIT:
                        session_stop(&worker.target, &worker.session, NULL);
                        break;
                case ORDER_ORPHANED:
                        be_orphan(&worker, job->path);
                }
        }
        if (worker.session.fd >= 0)
                close(worker.session.fd);
        target_close(&worker.target);
        g_free(worker.version);
}
