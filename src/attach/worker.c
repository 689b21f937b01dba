/* SPDX-License-Identifier: MIT */
#include "attach/worker.h"

#include "attach/attachment-file.h"
#include "attach/collectible.h"
#include "attach/collection-session.h"
#include "attach/culture.h"
#include "attach/error.h"
#include "attach/eventpipe-feed.h"
#include "attach/eventpipe-session.h"
#include "attach/jit-log.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Bytes of memory that a worker does not give back to the kernel. */
#define KEPT_MEMORY (1 << 20)
/* Bytes of a worker's data: FEED_MAX_WAITING, growing tables, and the holder's own data. */
#define WORKER_MAX_MEMORY (UINT64_C(768) << 20)
/* ms between two checks of the attachment's file by an orphan. */
#define ORPHAN_MS 500
/* us for the daemon to acknowledge the last events. */
#define FINISH_LIMIT (5 * G_TIME_SPAN_SECOND)
/* us for an orphan to end: it stops its session, and waits for its FINISH_LIMIT. */
#define ORPHAN_LIMIT (15 * G_TIME_SPAN_SECOND)
/* us between two pings; and the maximum of pings. The first one usually brings the horizon. */
#define PING_INTERVAL G_TIME_SPAN_SECOND
#define MAX_PINGS     10
/* us without an event after which a session that has begun has no code to list. */
#define SILENCE G_TIME_SPAN_SECOND
/* us between two looks whether the runtime has started. */
#define LOOK_INTERVAL (100 * G_TIME_SPAN_MILLISECOND)
/* us for the daemon to acknowledge a rundown; then the holder learns the reason of the delay. */
#define FED_LIMIT (5 * G_TIME_SPAN_SECOND)
/* us between two pings for different times. */
#define PING_PAUSE (200 * G_TIME_SPAN_MILLISECOND)
/* us. A busy runtime writes ten times a second, and confirms its earlier writes. If it is silent
 * for longer, a ping confirms its last events. */
#define BURST_PAUSE (150 * G_TIME_SPAN_MILLISECOND)

/* The events that the daemon must have before the process counts as attached. */
typedef struct FedMark {
        uint64_t time; /* ns: time of the last of these events; 0: none are awaited */
        uint64_t
                n_batches; /* number of batches that contain them; 0: they are not in batches yet */
        gint64 deadline;   /* us of g_get_monotonic_time() */
        bool is_reported;  /* the holder knows that the daemon lacks them */
} FedMark;

/* The reason why a worker stops serving. */
typedef enum WorkerEnd {
        WORKER_GOES_ON,
        WORKER_MUST_QUIT,
        WORKER_IS_MUTE,   /* a report could not be sent, although the holder runs */
        WORKER_IS_ORPHAN, /* the holder has died */
        WORKER_IS_DONE,   /* the session is over or damaged, or the target has ended */
} WorkerEnd;

typedef struct Worker {
        int fd; /* socket to the holder */
        Target target;
        EventPipeSession session; /* fd -1: no session */
        EventPipeWait wait;       /* for a rundown; interrupt_fd -1 after the holder's death */
        char *version;            /* owned or NULL */
        WorkerEnd end;
        uint64_t lost_since; /* ns: the session is over, and has lost events since; 0: it is not */
        bool wants_rundown;  /* a rundown was ordered, or none was made yet */
        AttachVia via;       /* LTTNG or EVENTPIPE; ANY: not chosen yet */
        AttachList list;     /* rule of that rundown */
        AttachList rule;     /* rule of rundowns without an order for this process */

        bool is_early;    /* a report said that the session has not begun: see worker_has_begun() */
        uint64_t early;   /* ns: time of that report */
        gint64 next_look; /* LTTNG, if IS_EARLY: us, when to look whether the runtime has started */

        /* With EVENTPIPE; else NULL and unused. */
        EventPipeFeed *feed;    /* owned */
        bool has_begun;         /* the session has begun: it has written bytes */
        bool awaits_code;       /* the session was early, and has neither code nor its start */
        TargetThreads *threads; /* owned */
        JitLog *jit_log;        /* owned; NULL: no log is wanted */
        CollectionSession collections;
        bool wants_flush; /* a flush of COLLECTIONS was ordered */
        EventPipeSink sink, listing_sink;
        int orphan;             /* pidfd: a rundown waits for its exit; -1: no orphan */
        gint64 orphan_deadline; /* us of g_get_monotonic_time(): end of that wait */
        FedMark fed;
        gint64 last_bytes;           /* us of g_get_monotonic_time(): last read of the session */
        uint64_t wanted_horizon;     /* ns: horizon that a client waits for; 0: none */
        unsigned n_pings;            /* pings for that horizon */
        gint64 last_ping, next_ping; /* us of g_get_monotonic_time() */
} Worker;

static WorkerReport worker_report_new(const Worker *worker, WorkerEvent event)
{
        const ProcessKey *key = target_key(&worker->target);
        WorkerReport report = {.event = event,
                               .via = worker->via,
                               .session = worker->session.id,
                               .is_persistent = worker->session.is_persistent,
                               .vpid = key->pid,
                               .pid_ns = key->pid_ns};

        g_strlcpy(report.version, worker->version ? worker->version : "", sizeof(report.version));
        return report;
}

static void worker_take_stream(void *data, const uint8_t *bytes, size_t n)
{
        Worker *worker = data;

        worker->has_begun = true;
        worker->last_bytes = g_get_monotonic_time();
        eventpipe_feed_push(worker->feed, bytes, n);
}

static void worker_take_listing(void *data, const uint8_t *bytes, size_t n)
{
        eventpipe_feed_push_listing(((const Worker *)data)->feed, bytes, n);
}

/* A session that must be read all the time: the holder watches its socket. */
static int worker_stream(const Worker *worker, const WorkerReport *report)
{
        return report->event == WORKER_HELD && !worker->session.is_persistent ? worker->session.fd
                                                                              : -1;
}

/*
 * If the holder has died, the next read of orders shows that. If it runs and the report fails, it
 * would wait forever: the worker ends, and the holder starts another one.
 */
static void worker_send(Worker *worker, const WorkerReport *report)
{
        ssize_t n;

        do
                n = worker_report_send(worker->fd, report, worker_stream(worker, report));
        while (n < 0 && errno == EINTR);
        if (n >= 0 || errno == EPIPE || errno == ECONNRESET || worker->end != WORKER_GOES_ON)
                return;
        g_warning("the worker of process %d cannot report to the holder, and ends: %s",
                  (int)worker->target.info.host_pid, g_strerror(errno));
        worker->end = WORKER_IS_MUTE;
}

static void worker_send_error(Worker *worker, const GError *error)
{
        WorkerReport report = {
                .event = WORKER_FAILED, .error = (uint32_t)error->code, .time = worker->lost_since};

        if (error->code == ATTACH_ERROR_ENDED)
                report.event = WORKER_ENDED;
        g_strlcpy(report.message, error->message, sizeof(report.message));
        worker_send(worker, &report);
}

static void worker_want_rundown(Worker *worker, AttachList list)
{
        /* A rule does not revoke an order for this process. */
        if (!worker->wants_rundown || list == ATTACH_LIST_ALWAYS)
                worker->list = list;
        worker->wants_rundown = true;
}

/* Makes the horizon pass TIME soon, even if the target emits nothing. */
static void worker_want_horizon(Worker *worker, uint64_t time)
{
        worker->wanted_horizon = time;
        worker->n_pings = 0;
        worker->next_ping = worker->last_ping + PING_PAUSE;
}

/* Reports to the holder when the daemon has all events up to TIME. */
static void worker_await_fed(Worker *worker, uint64_t time)
{
        if (worker->feed)
                worker->fed =
                        (FedMark){.time = time, .deadline = g_get_monotonic_time() + FED_LIMIT};
}

/* Why the daemon lacks the awaited events; NULL: too early to tell. */
static char *worker_fed_trouble(const Worker *worker)
{
        const char *trouble = eventpipe_feed_trouble(worker->feed);

        if (trouble)
                return g_strdup(trouble);
        if (g_get_monotonic_time() < worker->fed.deadline)
                return NULL;
        return g_strdup(eventpipe_feed_is_greeted(worker->feed)
                                ? "the daemon has not taken all of its events yet"
                                : "the daemon has no place for its events yet: see MaxFeeders= in "
                                  "clrsymd.conf, and feeders_waiting in clrsym status");
}

static void worker_check_fed(Worker *worker)
{
        WorkerReport report = worker_report_new(worker, WORKER_FED);
        FedMark *fed = &worker->fed;
        g_autofree char *trouble = NULL;

        if (!fed->time)
                return;
        if (!fed->n_batches && eventpipe_feed_horizon(worker->feed) >= fed->time)
                fed->n_batches = MAX(eventpipe_feed_n_committed(worker->feed), 1);
        if (fed->n_batches && eventpipe_feed_has(worker->feed, fed->n_batches)) {
                fed->time = 0;
                worker_send(worker, &report);
                /* The listing was the largest use of memory, perhaps for hours. */
                malloc_trim(0);
                return;
        }
        trouble = fed->is_reported ? NULL : worker_fed_trouble(worker);
        if (!trouble)
                return;
        fed->is_reported = true;
        g_strlcpy(report.message, trouble, sizeof(report.message));
        worker_send(worker, &report);
}

/* Takes the available orders. True: the current work must stop. */
static bool worker_take_orders(void *data)
{
        Worker *worker = data;
        char order;
        ssize_t n;

        while ((n = recv(worker->fd, &order, 1, MSG_DONTWAIT)) > 0 ||
               (n < 0 && worker_packets_follow(errno))) {
                if (n > 0 && order == WORKER_QUIT)
                        worker->end = WORKER_MUST_QUIT;
                else if (n > 0 && order == WORKER_PING)
                        worker_want_horizon(worker, eventpipe_session_clock());
                else if (n > 0 && order == WORKER_FLUSH)
                        worker->wants_flush = true;
                else if (n > 0)
                        worker_want_rundown(worker, order == WORKER_DO_RUNDOWN ? ATTACH_LIST_ALWAYS
                                                                               : worker->rule);
        }
        if (worker->end == WORKER_GOES_ON && !(n < 0 && errno == EAGAIN)) {
                worker->end = WORKER_IS_ORPHAN;
                worker->wait.interrupt_fd = -1;
        }
        /* An orphan completes its rundown. */
        return worker->end == WORKER_MUST_QUIT;
}

/* us: when a ping is due to confirm the last events; G_MAXINT64: never. */
static gint64 worker_burst_end(const Worker *worker)
{
        const uint64_t waiting = worker->feed ? eventpipe_feed_waiting(worker->feed) : 0;

        return waiting && waiting >= worker->wanted_horizon ? worker->last_bytes + BURST_PAUSE
                                                            : G_MAXINT64;
}

static bool worker_wants_ping(const Worker *worker)
{
        return worker->has_begun && worker->wanted_horizon > eventpipe_feed_horizon(worker->feed) &&
               worker->n_pings < MAX_PINGS;
}

static void worker_ping(Worker *worker)
{
        worker->n_pings++;
        worker->last_ping = g_get_monotonic_time();
        worker->next_ping = worker->last_ping + PING_INTERVAL;
        eventpipe_ping(&worker->target, &worker->wait, /* error= */ NULL);
}

/*
 * A starting runtime keeps a list of sessions, by their addresses, that begin when it has started.
 * A session that is stopped before stays in the list; the next session gets its memory, begins
 * twice, and is used after it was freed: the target crashes (.NET 10.0.12). So no other session is
 * opened beside the held one until that has begun, which its first bytes show. The runtime has
 * written them before it answers another question. Without such bytes (LTTng), the first rundown
 * tries: if the runtime is starting, that rundown is empty.
 */
static bool worker_has_begun(Worker *worker)
{
        struct pollfd fd = {.fd = worker->session.fd, .events = POLLIN};

        if (!worker->feed)
                return !worker->is_early || target_has_started(&worker->target);
        if (worker->has_begun || poll(&fd, 1, 0) > 0)
                return true;
        g_free(eventpipe_runtime_version(&worker->target, /* error= */ NULL));
        return poll(&fd, 1, 0) > 0;
}

/* IS_EARLY false: the session has existed since the target's start, so no code needs listing. */
static void worker_report_early(Worker *worker, bool is_early)
{
        WorkerReport report = worker_report_new(worker, WORKER_RUNDOWN);

        if (is_early)
                worker->early = eventpipe_session_clock();
        worker->is_early = is_early;
        worker->awaits_code |= is_early && worker->feed;
        worker->next_look = g_get_monotonic_time() + LOOK_INTERVAL;
        report.is_empty = is_early;
        report.begin = report.end = worker->early;
        worker_send(worker, &report);
        if (!is_early)
                worker_await_fed(worker, worker->early);
}

/* us: when an early session counts as begun although no event came; G_MAXINT64: never. */
static gint64 worker_silence_end(const Worker *worker)
{
        return worker->is_early && worker->has_begun ? worker->last_bytes + SILENCE : G_MAXINT64;
}

/*
 * The session was opened before the runtime began it. If it has the start of the runtime, it has
 * all later code, too. Else a listing is due as soon as another session can be opened.
 */
static void worker_follow_start(Worker *worker)
{
        const gint64 now = g_get_monotonic_time();

        if (!worker->is_early || worker->wants_rundown)
                return;
        if (worker->feed) {
                if (!worker->awaits_code || now >= worker_silence_end(worker))
                        worker_report_early(worker, false);
        } else if (now >= worker->next_look) {
                worker->next_look = now + LOOK_INTERVAL;
                if (target_has_started(&worker->target))
                        worker_want_rundown(worker, worker->rule);
        }
}

static bool worker_list_code(Worker *worker, EventPipeRundown *ret_rundown, GError **error)
{
        const GError *why;
        bool ok;

        if (worker->feed)
                eventpipe_feed_begin_listing(worker->feed);
        ok = eventpipe_rundown(&worker->target, &worker->wait, ret_rundown, error);
        if (!worker->feed)
                return ok;
        if (eventpipe_feed_end_listing(worker->feed, ok)) {
                worker_want_horizon(worker, ret_rundown->end);
                return true;
        }
        why = eventpipe_feed_listing_error(worker->feed);
        if (why && why->domain == ATTACH_ERROR) {
                g_clear_error(error);
                g_propagate_prefixed_error(error, g_error_copy(why),
                                           "process %d: ", (int)worker->target.info.host_pid);
        } else if (ok && !ret_rundown->is_empty) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "the runtime of process %d wrote a rundown that cannot be read",
                            (int)worker->target.info.host_pid);
        }
        return ok && !*error;
}

/* RET_MAY: the rule LIST permits a listing. */
static bool worker_may_list(Worker *worker, AttachList list, bool *ret_may, GError **error)
{
        bool has_contexts = false;

        if (list == ATTACH_LIST_AUTO &&
            !collectible_find(&worker->target, &worker->wait, &has_contexts, error))
                return false;
        *ret_may = list != ATTACH_LIST_NEVER && !has_contexts;
        return true;
}

static void worker_do_rundown(Worker *worker)
{
        WorkerReport report = worker_report_new(worker, WORKER_RUNDOWN);
        const AttachList list = worker->list;
        g_autoptr(GError) error = NULL;
        EventPipeRundown rundown = {0};
        bool may_list = false;

        worker->wants_rundown = false;
        if (!worker_has_begun(worker)) {
                worker_report_early(worker, true);
                return;
        }
        worker->is_early = worker->awaits_code = false;
        if (!worker_may_list(worker, list, &may_list, &error) ||
            (may_list && !worker_list_code(worker, &rundown, &error))) {
                if (worker->end == WORKER_MUST_QUIT)
                        return;
                worker_send_error(worker, error);
                if (error->code == ATTACH_ERROR_ENDED)
                        worker->end = WORKER_IS_DONE;
                return;
        }
        report.is_unlisted = !may_list;
        report.begin = rundown.begin;
        report.end = rundown.end;
        report.is_empty = rundown.is_empty;
        worker->is_early = rundown.is_empty && !worker->feed;
        worker->next_look = g_get_monotonic_time() + LOOK_INTERVAL;
        worker_send(worker, &report);
        if (!may_list && worker->feed)
                worker_want_horizon(worker, eventpipe_session_clock());
        worker_await_fed(worker, may_list ? rundown.end : worker->wanted_horizon);
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
        /* ENDED, not NO_PROCESS, because the holder retries after NO_PROCESS forever. */
        g_clear_error(error);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended", (int)job->pid);
        return false;
}

/* Each process has one source of events, because an EventPipe session enables its events for LTTng,
 * too. */
static bool worker_choose_via(const WorkerJob *job, Worker *worker, GError **error)
{
        const bool is_recorded = job->has_lttng && target_can_emit(&worker->target);

        worker->via = job->via;
        if (job->via == ATTACH_VIA_AUTO)
                worker->via = is_recorded ? ATTACH_VIA_LTTNG : ATTACH_VIA_EVENTPIPE;
        if (worker->via == ATTACH_VIA_EVENTPIPE)
                worker->wait.sink = &worker->listing_sink;
        if (worker->via != ATTACH_VIA_EVENTPIPE || !is_recorded)
                return true;
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_REFUSED,
                    "a live LTTng session records process %d, so each event would arrive twice: "
                    "attach --via=lttng, or stop that session",
                    (int)worker->target.info.host_pid);
        return false;
}

static bool worker_open(Worker *worker, GError **error)
{
        if (!culture_check(&worker->target, error))
                return false;
        if (worker->via != ATTACH_VIA_EVENTPIPE)
                return target_check_provider(&worker->target, error) &&
                       eventpipe_session_open(&worker->target, &worker->session, error);
        /* Only a rundown reports the extent of precompiled code that is in no file, and an earlier
         * rundown lacks code that runs later. */
        return eventpipe_session_open_read(&worker->target, &worker->sink,
                                           target_is_packed(&worker->target), &worker->session,
                                           error);
}

/* Also before the held session has begun, because neither is stopped before: see
 * worker_has_begun(). */
static void worker_open_collections(Worker *worker, const char *path)
{
        const int64_t ahead = proc_clock_ahead(worker->target.info.host_pid);
        g_autoptr(GError) error = NULL;

        if (collection_session_open(&worker->collections, path, &worker->target, worker->threads,
                                    ahead, &error))
                worker->session.beside = &worker->collections.session;
        else
                g_info("the garbage collections of process %d are not known: %s",
                       (int)worker->target.info.host_pid, error->message);
}

/* The first of the start and the code decides whether a listing is due: worker_follow_start(). */
static void worker_take_record(void *data, const Record *record)
{
        const EventKind kind = record->event->kind;
        Worker *worker = data;

        if (worker->awaits_code &&
            (kind == EVENT_KIND_RUNTIME_START || kind == EVENT_KIND_METHOD_LOAD ||
             kind == EVENT_KIND_MODULE_LOAD)) {
                worker->awaits_code = false;
                if (kind != EVENT_KIND_RUNTIME_START)
                        worker_want_rundown(worker, worker->rule);
        }
        if (worker->jit_log)
                jit_log_take(worker->jit_log, record);
}

/* SINCE: before the session was opened, in ns: the session has no earlier events. */
static void worker_begin_feed(const WorkerJob *job, Worker *worker, uint64_t since)
{
        const FeedTarget target = {.process = *target_key(&worker->target),
                                   .uid = worker->target.info.uid,
                                   .start_ticks = worker->target.start_ticks,
                                   .clock_ahead = proc_clock_ahead(worker->target.info.host_pid),
                                   .clock_offset = job->clock_offset};
        g_autofree char *command = NULL;
        BacklogLimits limits;

        /* A holder has checked the limits at its start. */
        eventpipe_feed_find_limits(&limits, /* error= */ NULL);
        worker->feed = eventpipe_feed_new(job->ingest, &target, &limits, since);
        eventpipe_feed_set_share(worker->feed, job->share);
        worker->threads = target_threads_new(&worker->target.info);
        worker->jit_log = jit_log_open(job->path, worker->threads);
        eventpipe_feed_watch(worker->feed, worker_take_record, worker);
        worker->orphan = job->orphan ? pidfd_open(job->orphan, 0) : -1;
        worker->orphan_deadline = g_get_monotonic_time() + ORPHAN_LIMIT;
        command = proc_command(worker->target.info.host_pid);
        if (worker->version)
                eventpipe_feed_put_runtime(worker->feed, worker->version, command);
}

/* True while the orphan runs, and its time limit has not passed. */
static bool worker_awaits_orphan(Worker *worker)
{
        struct pollfd fd = {.fd = worker->orphan, .events = POLLIN};

        if (worker->orphan >= 0 &&
            (poll(&fd, 1, 0) > 0 || g_get_monotonic_time() >= worker->orphan_deadline))
                fd_clear(&worker->orphan);
        return worker->orphan >= 0;
}

static bool worker_hold(const WorkerJob *job, Worker *worker, GError **error)
{
        WorkerReport report;
        uint64_t asked;

        if (!worker_choose_via(job, worker, error))
                return false;
        asked = eventpipe_session_clock();
        /* The session comes first: the target may be starting, and code compiled before it must be
         * listed. */
        if (!worker_open(worker, error))
                return false;
        worker->version = eventpipe_runtime_version(&worker->target, /* error= */ NULL);
        worker->session.n_taken = job->n_taken;
        report = worker_report_new(worker, WORKER_HELD);
        report.time = eventpipe_session_clock();
        if (worker->via == ATTACH_VIA_EVENTPIPE)
                worker_begin_feed(job, worker, asked);
        worker_send(worker, &report);
        if (worker->via == ATTACH_VIA_EVENTPIPE)
                worker_open_collections(worker, job->path);
        /* The old session is stopped last, so that a session is open at every moment. */
        if (job->old_session && job->old_session != worker->session.id)
                eventpipe_session_stop_id(&worker->target, job->old_session, &worker->session,
                                          /* error= */ NULL);
        return true;
}

/* The smaller of two timeouts, of which -1 is the largest. */
static int timeout_min(int a, int b)
{
        return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* ms until the next action. */
static int worker_timeout(const Worker *worker)
{
        const gint64 now = g_get_monotonic_time();
        gint64 next = G_MAXINT64;

        if (worker->orphan >= 0)
                return ORPHAN_MS;
        if (worker->fed.time && !worker->fed.is_reported)
                next = worker->fed.deadline;
        if (worker_wants_ping(worker))
                next = MIN(next, worker->next_ping);
        next = MIN(next, worker_burst_end(worker));
        next = MIN(next, worker_silence_end(worker));
        if (worker->is_early && !worker->feed)
                next = MIN(next, worker->next_look);
        return next == G_MAXINT64 ? -1 : (int)CLAMP((next - now + 999) / 1000, 0, G_MAXINT);
}

/* Reads the bytes that the target wrote before its exit. */
static void worker_drain_rest(const Worker *worker)
{
        struct pollfd fd = {.fd = worker->session.fd, .events = POLLIN};

        while (worker->feed && poll(&fd, 1, 0) > 0 && eventpipe_session_drain(&worker->session))
                ;
}

/* Waits for TIMEOUT_MS (-1: without limit) or an order, drains the session, and feeds the daemon.
 * False: the session is over. */
static bool worker_wait(Worker *worker, bool has_orders, int timeout_ms, bool *ret_is_ordered)
{
        struct pollfd fds[] = {
                {.fd = has_orders ? worker->fd : -1, .events = POLLIN},
                {.fd = worker->session.fd, .events = POLLIN},
                {.fd = worker->target.pidfd, .events = POLLIN},
                {.fd = worker->orphan, .events = POLLIN},
                {.fd = -1},
                {.fd = worker->collections.session.fd, .events = POLLIN},
                {.fd = worker->collections.flush.fd, .events = POLLIN},
        };
        int r;

        *ret_is_ordered = false;
        if (worker->feed)
                timeout_ms = timeout_min(timeout_ms, eventpipe_feed_poll(worker->feed, &fds[4]));
        timeout_ms = timeout_min(timeout_ms, collection_session_timeout(&worker->collections));
        r = poll(fds, G_N_ELEMENTS(fds), timeout_min(timeout_ms, worker_timeout(worker)));
        if (r < 0)
                return errno == EINTR;
        *ret_is_ordered = fds[0].revents != 0;
        if (fds[3].revents)
                fd_clear(&worker->orphan);
        if (fds[2].revents) {
                worker_drain_rest(worker);
                return false;
        }
        if (fds[1].revents && !eventpipe_session_drain(&worker->session))
                return false;
        if (fds[5].revents && !eventpipe_session_drain(&worker->collections.session))
                eventpipe_session_close(&worker->collections.session);
        collection_session_serve(&worker->collections, &worker->target);
        if (worker->feed) {
                eventpipe_feed_run(worker->feed);
                worker_check_fed(worker);
        }
        worker_follow_start(worker);
        if (worker->feed && eventpipe_feed_take_forgotten(worker->feed))
                worker_want_rundown(worker, worker->rule);
        if (g_get_monotonic_time() >= worker_burst_end(worker))
                worker_want_horizon(worker, eventpipe_feed_waiting(worker->feed) + 1);
        if (worker_wants_ping(worker) && g_get_monotonic_time() >= worker->next_ping)
                worker_ping(worker);
        return !worker->feed || !eventpipe_feed_error(worker->feed);
}

/* Serves until the worker must quit, or until the session or the holder is over. */
static void worker_serve(Worker *worker)
{
        bool is_ordered;

        while (worker->end == WORKER_GOES_ON) {
                if (worker->wants_rundown && !worker_awaits_orphan(worker))
                        worker_do_rundown(worker);
                else if (!worker_wait(worker, true, -1, &is_ordered))
                        worker->end = WORKER_IS_DONE;
                else if (is_ordered)
                        worker_take_orders(worker);
                jit_log_flush(worker->jit_log);
                if (worker->wants_flush && worker->end == WORKER_GOES_ON)
                        collection_session_begin_flush(&worker->collections, &worker->target);
                worker->wants_flush = false;
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

        eventpipe_session_close(&worker->collections.session);

        if (worker->session.is_persistent)
                return;
        while (worker_is_wanted(worker, path))
                if (!worker_wait(worker, false, ORPHAN_MS, &is_ordered))
                        return;
        eventpipe_session_stop(&worker->target, &worker->session, NULL);
}

static void worker_stop(Worker *worker)
{
        bool is_stopped;

        collection_session_flush(&worker->collections, &worker->target, &worker->session);
        is_stopped = worker->session.fd >= 0 &&
                     eventpipe_session_stop(&worker->target, &worker->session, NULL);
        /* Do not ask a runtime a second time that does not answer. */
        if (is_stopped)
                collection_session_stop(&worker->collections, &worker->target);
}

static void worker_finish_feed(const Worker *worker)
{
        if (worker->feed)
                eventpipe_feed_finish(worker->feed, FINISH_LIMIT);
}

static void worker_send_ended(Worker *worker)
{
        g_autoptr(GError) error = NULL;

        /* The runtime writes all events before the end of the stream. */
        if (worker->feed)
                worker->lost_since = eventpipe_feed_last(worker->feed) + 1;
        if (target_is_ending(&worker->target))
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                            (int)worker->target.info.host_pid);
        else if (worker->feed && eventpipe_feed_error(worker->feed))
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "the session of process %d cannot be read: %s",
                            (int)worker->target.info.host_pid,
                            eventpipe_feed_error(worker->feed)->message);
        else
                g_set_error(&error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "the runtime of process %d has ended the session",
                            (int)worker->target.info.host_pid);
        worker_send_error(worker, error);
}

/*
 * Batches come and go some times a second. Without this setting, malloc returns their memory each
 * time, and the kernel clears it again, page by page.
 */
static void worker_keep_memory(void)
{
        mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
        mallopt(M_MMAP_THRESHOLD, KEPT_MEMORY);
}

/*
 * A second bound, for unexpected cases: each store of a target's data has a limit of its own. A
 * worker that reaches this one is aborted; the holder reports a gap, and starts another worker
 * later. Sanitizers manage memory themselves.
 */
static void worker_limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
        const struct rlimit limit = {WORKER_MAX_MEMORY, WORKER_MAX_MEMORY};

        setrlimit(RLIMIT_DATA, &limit);
#endif
}

void worker_run(const WorkerJob *job, int fd)
{
        Worker worker = {.fd = fd,
                         .target = {.pidfd = -1},
                         .session = {.fd = -1},
                         .collections = COLLECTION_SESSION_INIT,
                         .wants_rundown = true,
                         .list = job->list,
                         .rule = job->list,
                         .orphan = -1};
        g_autoptr(GError) error = NULL;

        worker_limit_memory();
        worker_keep_memory();
        worker.sink = (EventPipeSink){worker_take_stream, &worker};
        worker.listing_sink = (EventPipeSink){worker_take_listing, &worker};
        worker.wait = (EventPipeWait){.other = &worker.session,
                                      .interrupt_fd = fd,
                                      .interrupt = worker_take_orders,
                                      .data = &worker};
        if (!worker_find_target(job, &worker, &error) || !worker_hold(job, &worker, &error))
                worker_send_error(&worker, error);
        else
                worker_serve(&worker);
        switch (worker.end) {
        case WORKER_GOES_ON: /* no session was held */
                break;
        case WORKER_IS_DONE:
                worker.lost_since = eventpipe_session_clock() - WORKER_DEATH_MARGIN;
                eventpipe_session_close(&worker.session);
                /* The target writes the rest of its sessions one after the other. */
                collection_session_end(&worker.collections);
                worker_finish_feed(&worker);
                worker_send_ended(&worker);
                break;
        case WORKER_IS_MUTE:
        case WORKER_MUST_QUIT:
                worker_stop(&worker);
                worker_finish_feed(&worker);
                break;
        case WORKER_IS_ORPHAN:
                worker_be_orphan(&worker, job->path);
                worker_finish_feed(&worker);
        }
        eventpipe_feed_free(worker.feed);
        jit_log_close(worker.jit_log);
        fd_clear(&worker.orphan);
        eventpipe_session_close(&worker.session);
        collection_session_close(&worker.collections);
        target_threads_free(worker.threads);
        target_close(&worker.target);
        g_free(worker.version);
}
