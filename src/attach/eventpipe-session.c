/* SPDX-License-Identifier: MIT */
#include "attach/eventpipe-session.h"

#include "attach/error.h"
#include "util/clock.h"
#include "util/fd.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#define PROVIDER "Microsoft-Windows-DotNETRuntime"
/* The provider's keyword for one event: methods inlined into a method. A runtime emits it only if
 * the program was started with DOTNET_RichDebugInfo=1. */
#define PRIVATE          "Microsoft-Windows-DotNETRuntimePrivate"
#define PRIVATE_KEYWORDS UINT64_C(0x40000)
/*
 * Chains of async methods (event/async-events.h). Of runtime async: where a context suspends,
 * completes, unwinds, and resumes, then with the stack. Of state machines the same, and where a
 * method completes.
 */
#define ASYNC_PROVIDER "System.Runtime.CompilerServices.AsyncProfilerEventSource"
#define ASYNC_KEYWORDS UINT64_C(0x2f05c)
#define ASYNC_LEVEL    4
/* A session must name a provider; this one does not exist, so it switches nothing on. */
#define NO_PROVIDER "clrsym"

/* The sampler's keywords, as dotnet-trace sets them: its one event has no keyword. */
#define SAMPLER          "Microsoft-DotNETCore-SampleProfiler"
#define SAMPLER_KEYWORDS UINT64_C(0xf00000000000)
#define SAMPLER_LEVEL    4

/*
 * Keywords of the provider: loader, JIT, methods at the end of their module, interop (an event for
 * each method that an IL stub is made for), IL maps, types, precompiled code, details of methods.
 */
#define KEYWORDS       UINT64_C(0x60000a2098)
#define KEYWORD_LOADER 0x8
/* Garbage collections. At a higher level, the runtime reports allocations with the same keyword. */
#define KEYWORD_GC 0x1
#define GC_LEVEL   4
#define TICK_LEVEL 5
/* Events with stacks. */
#define KEYWORD_SAMPLED    UINT64_C(0x80000000000)
#define SAMPLED_LEVEL      4
#define KEYWORD_CONTENTION 0x4000
#define CONTENTION_LEVEL   4
#define KEYWORD_EXCEPTION  0x8000
#define EXCEPTION_LEVEL    2

/* The runtime's default keywords of a rundown, and the settings of tiered compilation, which no
 * other event has. */
#define RUNDOWN_KEYWORDS UINT64_C(0x1080020139)
/*
 * Modules and precompiled methods. A session's own rundown follows when its events are off, so
 * methods jitted in between would look like lost loads; and listing jitted methods can harm the
 * target. A rundown without jitted methods ends no code's life.
 */
#define PRECOMPILED_KEYWORDS UINT64_C(0x128)
/* Loads of jitted code are verbose. */
#define LEVEL 5

/* us after which a rundown without a new byte is stuck. */
#define RUNDOWN_PATIENCE (30 * G_TIME_SPAN_SECOND)
/* us for stopping a session without a rundown. */
#define STOP_LIMIT (10 * G_TIME_SPAN_SECOND)

/* Minimum bytes of a complete rundown; the smallest program has a hundred times as many. */
#define MIN_RUNDOWN 1024

#define DRAIN_SIZE (64u << 10)
/* Bytes to drain before the next check of orders and deadlines. */
#define MAX_DRAIN (4u << 20)

/* In the order of preference: cheapest for the target first, supported by every runtime last. */
static const struct {
        IpcCommand command;
        bool is_persistent;
} COMMANDS[] = {
        {IPC_COLLECT_TRACING_5, true},
        {IPC_COLLECT_TRACING_4, false},
        {IPC_COLLECT_TRACING_2, false},
};

uint64_t eventpipe_session_clock(void)
{
        return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/*
 * Reads the available bytes, with a limit in case the target writes as fast as we read, and adds
 * their number to N_BYTES. False: end of the stream.
 */
static bool eventpipe_drain(const EventPipeSession *session, uint64_t *n_bytes)
{
        uint8_t bytes[DRAIN_SIZE];
        uint64_t n_drained = 0;
        ssize_t n;

        do {
                n = recv(session->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
                if (n > 0)
                        n_drained += (uint64_t)n;
                if (n > 0 && session->n_taken)
                        atomic_fetch_add(session->n_taken, (uint64_t)n);
                if (n > 0 && session->sink)
                        session->sink->take(session->sink->data, bytes, (size_t)n);
        } while ((n > 0 && n_drained < MAX_DRAIN) || (n < 0 && errno == EINTR));
        *n_bytes += n_drained;
        return n > 0 || (n < 0 && errno == EAGAIN);
}

bool eventpipe_session_drain(const EventPipeSession *session)
{
        uint64_t n_bytes = 0;

        if (session->beside && session->beside->fd >= 0)
                eventpipe_drain(session->beside, &n_bytes);
        return eventpipe_drain(session, &n_bytes);
}

static bool eventpipe_meanwhile(void *data)
{
        return eventpipe_session_drain(data);
}

/*
 * Sends a command on a new connection, which is returned, or -1. Frees REQUEST. Drains OTHER
 * meanwhile; NULL: no other session.
 */
static int eventpipe_call(const Target *target, GByteArray *request, const EventPipeSession *other,
                          IpcReply *reply, GError **error)
{
        g_autoptr(GByteArray) owned = request;
        PortCall call = {
                .target = target,
                .deadline = g_get_monotonic_time() + PORT_TIMEOUT,
                .meanwhile = {other ? other->fd : -1, eventpipe_meanwhile, (void *)other},
        };
        FD_AUTO int fd = port_connect(target, call.deadline, error);

        call.fd = fd;
        if (fd < 0 || !port_call(&call, owned, reply, error))
                return -1;
        return fd_steal(&fd);
}

/* -1 with RET_CODE set: the runtime's error code, or 0 if it sent none. */
static int eventpipe_collect(const Target *target, const IpcCollect *collect,
                             const EventPipeSession *other, IpcReply *reply, uint64_t *ret_id,
                             uint32_t *ret_code, GError **error)
{
        FD_AUTO int fd = eventpipe_call(target, ipc_collect_new(collect), other, reply, error);

        *ret_code = 0;
        if (fd < 0)
                return -1;
        if (ipc_reply_result(reply, ret_code) == IPC_RESULT_OK &&
            ipc_reply_get_session(reply, ret_id))
                return fd_steal(&fd);
        port_set_refusal(reply, target, error);
        return -1;
}

/* True if the runtime is older than the command. */
static bool eventpipe_is_unknown(uint32_t code)
{
        return code == IPC_E_UNKNOWN_COMMAND || code == IPC_E_BAD_ENCODING;
}

/* Uses the first command that the runtime supports; ignores the command in WHAT. */
static bool eventpipe_open(const Target *target, const IpcCollect *what, const EventPipeSink *sink,
                           EventPipeSession *ret_session, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        IpcCollect collect = *what;
        size_t i;

        collect.is_read = sink != NULL;
        for (i = 0; i < G_N_ELEMENTS(COMMANDS); i++) {
                EventPipeSession session = {.is_persistent = COMMANDS[i].is_persistent && !sink,
                                            .sink = sink};
                g_autoptr(GError) refusal = NULL;
                uint32_t code;

                collect.command = COMMANDS[i].command;
                session.fd = eventpipe_collect(target, &collect, /* other= */ NULL, reply,
                                               &session.id, &code, &refusal);
                if (session.fd >= 0) {
                        *ret_session = session;
                        return true;
                }
                if (eventpipe_is_unknown(code) && i + 1 < G_N_ELEMENTS(COMMANDS))
                        continue;
                g_propagate_error(error, g_steal_pointer(&refusal));
                return false;
        }
        return false;
}

static const IpcCollect CODE = {.provider = {PROVIDER, KEYWORDS, LEVEL},
                                .other = {PRIVATE, PRIVATE_KEYWORDS, LEVEL}};

bool eventpipe_session_open(const Target *target, EventPipeSession *ret_session, GError **error)
{
        return eventpipe_open(target, &CODE, /* sink= */ NULL, ret_session, error);
}

bool eventpipe_session_open_read(const Target *target, const EventPipeSink *sink,
                                 bool lists_precompiled, EventPipeSession *ret_session,
                                 GError **error)
{
        IpcCollect collect = CODE;

        collect.rundown_keywords = lists_precompiled ? PRECOMPILED_KEYWORDS : 0;
        return eventpipe_open(target, &collect, sink, ret_session, error);
}

bool eventpipe_session_open_collections(const Target *target, const EventPipeSink *sink,
                                        bool has_async, EventPipeSession *ret_session,
                                        GError **error)
{
        IpcCollect collect = {.provider = {PROVIDER, KEYWORD_GC, GC_LEVEL}};

        if (has_async)
                collect.other = (IpcProvider){ASYNC_PROVIDER, ASYNC_KEYWORDS, ASYNC_LEVEL};
        return eventpipe_open(target, &collect, sink, ret_session, error);
}

bool eventpipe_session_open_async(const Target *target, const EventPipeSink *sink,
                                  EventPipeSession *ret_session, GError **error)
{
        static const IpcCollect ASYNC = {.provider = {ASYNC_PROVIDER, ASYNC_KEYWORDS, ASYNC_LEVEL}};

        return eventpipe_open(target, &ASYNC, sink, ret_session, error);
}

/* AllocationSampled needs .NET 10. For older or unknown versions: GCAllocationTick. */
static IpcProvider eventpipe_alloc_provider(const Target *target)
{
        g_autofree char *version = eventpipe_runtime_version(target, /* error= */ NULL);
        const bool is_sampled = version && g_ascii_strtoull(version, NULL, 10) >= 10;

        return is_sampled ? (IpcProvider){PROVIDER, KEYWORD_SAMPLED, SAMPLED_LEVEL}
                          : (IpcProvider){PROVIDER, KEYWORD_GC, TICK_LEVEL};
}

static IpcProvider eventpipe_samples_provider(const Target *target, EventPipeSamples samples)
{
        switch (samples) {
        case EVENTPIPE_SAMPLES_ALLOC:
                return eventpipe_alloc_provider(target);
        case EVENTPIPE_SAMPLES_CONTENTION:
                return (IpcProvider){PROVIDER, KEYWORD_CONTENTION, CONTENTION_LEVEL};
        case EVENTPIPE_SAMPLES_EXCEPTION:
                return (IpcProvider){PROVIDER, KEYWORD_EXCEPTION, EXCEPTION_LEVEL};
        case EVENTPIPE_SAMPLES_THREADS:
                break;
        }
        return (IpcProvider){SAMPLER, SAMPLER_KEYWORDS, SAMPLER_LEVEL};
}

/* Samples need stacks, which the oldest command enables. */
bool eventpipe_session_open_samples(const Target *target, EventPipeSamples samples,
                                    const EventPipeSink *sink, EventPipeSession *ret_session,
                                    GError **error)
{
        const IpcCollect collect = {.command = IPC_COLLECT_TRACING_2,
                                    .provider = eventpipe_samples_provider(target, samples),
                                    .is_read = true};
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        EventPipeSession session = {.sink = sink};
        uint32_t code;

        session.fd = eventpipe_collect(target, &collect, /* other= */ NULL, reply, &session.id,
                                       &code, error);
        if (session.fd >= 0)
                *ret_session = session;
        return session.fd >= 0;
}

bool eventpipe_session_stop_id(const Target *target, uint64_t id, const EventPipeSession *other,
                               GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        FD_AUTO int fd = eventpipe_call(target, ipc_stop_new(id), other, reply, error);
        uint32_t code;

        return fd >= 0 && (ipc_reply_result(reply, &code) == IPC_RESULT_OK ||
                           port_set_refusal(reply, target, error));
}

/* A session that is being stopped. */
typedef struct EventPipeStop {
        const EventPipeSession *session; /* borrowed */
        int fd;                          /* the session's stream */
        int reply_fd;                    /* connection of the request */
        int other_fd;                    /* stream of a session that continues; -1: none */
        const EventPipeWait *wait;       /* borrowed or NULL */
        gint64 deadline;                 /* us of g_get_monotonic_time() */
        bool has_ended;                  /* the session's stream has ended */
        bool has_reply;                  /* the reply is complete */
        uint64_t n_bytes;
} EventPipeStop;

static bool eventpipe_stop_take_reply(EventPipeStop *stop, IpcReply *reply)
{
        uint8_t bytes[256];
        ssize_t n = recv(stop->reply_fd, bytes, MIN(ipc_reply_wanted(reply), sizeof(bytes)),
                         MSG_DONTWAIT);

        if (n < 0)
                return errno == EAGAIN || errno == EINTR;
        if (n > 0)
                ipc_reply_put(reply, bytes, (size_t)n);
        stop->has_reply = ipc_reply_wanted(reply) == 0;
        return n > 0;
}

/* ms to poll; 0: the deadline has passed. */
static int eventpipe_stop_left(const EventPipeStop *stop)
{
        gint64 left = (stop->deadline - g_get_monotonic_time() + 999) / 1000;

        return (int)CLAMP(left, 0, RUNDOWN_PATIENCE / 1000);
}

/* True if the host interrupts the wait. */
static bool eventpipe_stop_is_interrupted(const EventPipeStop *stop, GError **error)
{
        if (!stop->wait->interrupt(stop->wait->data))
                return false;
        g_set_error_literal(error, ATTACH_ERROR, ATTACH_ERROR_FAILED, "the rundown was abandoned");
        return true;
}

/* Reads the stream and the reply together, because the runtime writes the session's last bytes
 * before it replies. */
static bool eventpipe_stop_wait(const Target *target, EventPipeStop *stop, IpcReply *reply,
                                GError **error)
{
        ipc_reply_clear(reply);
        while (!stop->has_ended || !stop->has_reply) {
                struct pollfd fds[] = {
                        {.fd = stop->has_ended ? -1 : stop->fd, .events = POLLIN},
                        {.fd = stop->has_reply ? -1 : stop->reply_fd, .events = POLLIN},
                        {.fd = stop->other_fd, .events = POLLIN},
                        {.fd = stop->wait ? stop->wait->interrupt_fd : -1, .events = POLLIN},
                };
                const int left = eventpipe_stop_left(stop);
                int r = poll(fds, G_N_ELEMENTS(fds), left);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0 || left == 0 || (r == 1 && fds[2].revents && target_has_ended(target)))
                        return port_set_unresponsive(target, error);
                if (fds[3].revents && eventpipe_stop_is_interrupted(stop, error))
                        return false;
                if (fds[0].revents)
                        stop->has_ended = !eventpipe_drain(stop->session, &stop->n_bytes);
                if (fds[1].revents && !eventpipe_stop_take_reply(stop, reply))
                        return port_set_hang_up(target, 0, error);
                if (fds[2].revents && !eventpipe_session_drain(stop->wait->other))
                        stop->other_fd = -1;
        }
        return true;
}

/* Stops SESSION and reads it to its end. WAIT may be NULL. */
static bool eventpipe_stop(const Target *target, const EventPipeSession *session,
                           const EventPipeWait *wait, gint64 limit, uint64_t *ret_n_bytes,
                           GError **error)
{
        const gint64 deadline = g_get_monotonic_time() + limit;
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        g_autoptr(GByteArray) request = ipc_stop_new(session->id);
        FD_AUTO int fd = port_connect(target, deadline, error);
        EventPipeStop stop = {.session = session,
                              .fd = session->fd,
                              .reply_fd = fd,
                              .other_fd = wait && wait->other ? wait->other->fd : -1,
                              .wait = wait,
                              .deadline = deadline};
        uint32_t code;

        if (fd < 0)
                return false;
        /* The request is small: a new connection accepts it whole, unless the target has closed it.
         */
        if (send(fd, request->data, request->len, MSG_NOSIGNAL) != (ssize_t)request->len)
                return port_set_hang_up(target, 0, error);
        if (!eventpipe_stop_wait(target, &stop, reply, error))
                return false;
        *ret_n_bytes = stop.n_bytes;
        return ipc_reply_result(reply, &code) == IPC_RESULT_OK ||
               port_set_refusal(reply, target, error);
}

void eventpipe_session_close(EventPipeSession *session)
{
        if (session->fd >= 0)
                shutdown(session->fd, SHUT_RDWR);
        fd_clear(&session->fd);
}

bool eventpipe_session_stop(const Target *target, EventPipeSession *session, GError **error)
{
        uint64_t n_bytes;
        bool is_stopped =
                eventpipe_stop(target, session, /* wait= */ NULL, STOP_LIMIT, &n_bytes, error);

        eventpipe_session_close(session);
        return is_stopped;
}

/* Takes the bytes of the session and of the other one for DURATION us. */
static bool eventpipe_stop_pass(EventPipeStop *stop, gint64 duration, GError **error)
{
        const gint64 end = g_get_monotonic_time() + duration;
        gint64 left;

        while (!stop->has_ended && (left = end - g_get_monotonic_time()) > 0) {
                struct pollfd fds[] = {{.fd = stop->fd, .events = POLLIN},
                                       {.fd = stop->other_fd, .events = POLLIN},
                                       {.fd = stop->wait->interrupt_fd, .events = POLLIN}};

                if (poll(fds, G_N_ELEMENTS(fds), (int)((left + 999) / 1000)) <= 0)
                        continue;
                if (fds[2].revents && eventpipe_stop_is_interrupted(stop, error))
                        return false;
                if (fds[0].revents)
                        stop->has_ended = !eventpipe_drain(stop->session, &stop->n_bytes);
                if (fds[1].revents && !eventpipe_session_drain(stop->wait->other))
                        stop->other_fd = -1;
        }
        return true;
}

bool eventpipe_watch_loads(const Target *target, const EventPipeWait *wait, gint64 duration,
                           bool *ret_is_able, GError **error)
{
        const IpcCollect collect = {.command = IPC_COLLECT_TRACING_4,
                                    .provider = {PROVIDER, KEYWORD_LOADER, LEVEL},
                                    .rundown_keywords = KEYWORD_LOADER,
                                    .is_read = true};
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        EventPipeSession session = {.sink = wait->sink};
        g_autoptr(GError) refusal = NULL;
        uint64_t n_bytes;
        uint32_t code;
        FD_AUTO int fd = eventpipe_collect(target, &collect, wait->other, reply, &session.id, &code,
                                           &refusal);
        EventPipeStop watch = {.session = &session,
                               .fd = fd,
                               .reply_fd = -1,
                               .other_fd = wait->other ? wait->other->fd : -1,
                               .wait = wait};

        session.fd = fd;
        *ret_is_able = fd >= 0;
        if (fd < 0 && (code == IPC_E_UNKNOWN_COMMAND || code == IPC_E_BAD_ENCODING))
                return true;
        if (fd < 0) {
                g_propagate_error(error, g_steal_pointer(&refusal));
                return false;
        }
        return eventpipe_stop_pass(&watch, duration, error) &&
               eventpipe_stop(target, &session, wait, STOP_LIMIT, &n_bytes, error);
}

/*
 * Opens a session without a provider, and stops it. WAIT->sink takes its stream. False with
 * RET_CODE set: the runtime's error code if it refused to open the session, or 0.
 */
static bool eventpipe_open_and_stop(const Target *target, const IpcCollect *collect,
                                    const EventPipeWait *wait, uint64_t *ret_n_bytes,
                                    uint32_t *ret_code, GError **error)
{
        const gint64 limit = wait->limit ? wait->limit : EVENTPIPE_RUNDOWN_LIMIT;
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        EventPipeSession session = {.sink = wait->sink};
        FD_AUTO int fd = eventpipe_collect(target, collect, wait->other, reply, &session.id,
                                           ret_code, error);

        session.fd = fd;
        return fd >= 0 && eventpipe_stop(target, &session, wait, limit, ret_n_bytes, error);
}

bool eventpipe_rundown(const Target *target, const EventPipeWait *wait,
                       EventPipeRundown *ret_rundown, GError **error)
{
        IpcCollect collect = {.command = IPC_COLLECT_TRACING_4,
                              .provider = {.name = NO_PROVIDER},
                              .rundown_keywords = RUNDOWN_KEYWORDS,
                              .is_read = wait->sink != NULL};
        uint64_t begin = eventpipe_session_clock(), n_bytes;
        g_autoptr(GError) refusal = NULL;
        uint32_t code;

        /* The runtime makes the rundown when the session is stopped. */
        if (!eventpipe_open_and_stop(target, &collect, wait, &n_bytes, &code, &refusal)) {
                if (!eventpipe_is_unknown(code)) {
                        g_propagate_error(error, g_steal_pointer(&refusal));
                        return false;
                }
                collect.command = IPC_COLLECT_TRACING_2;
                collect.has_rundown = true;
                if (!eventpipe_open_and_stop(target, &collect, wait, &n_bytes, &code, error))
                        return false;
        }
        *ret_rundown = (EventPipeRundown){.begin = begin,
                                          .end = eventpipe_session_clock(),
                                          .is_empty = n_bytes < MIN_RUNDOWN};
        return true;
}

bool eventpipe_ping(const Target *target, const EventPipeWait *wait, GError **error)
{
        const IpcCollect collect = {.command = IPC_COLLECT_TRACING_2,
                                    .provider = {.name = NO_PROVIDER}};
        EventPipeWait ping = *wait;
        uint64_t n_bytes;
        uint32_t code;

        ping.limit = STOP_LIMIT;
        ping.sink = NULL;
        return eventpipe_open_and_stop(target, &collect, &ping, &n_bytes, &code, error);
}

char *eventpipe_runtime_version(const Target *target, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        FD_AUTO int fd =
                eventpipe_call(target, ipc_process_info_new(), /* other= */ NULL, reply, error);
        IpcProcessInfo info;
        uint32_t code;

        if (fd < 0)
                return NULL;
        if (ipc_reply_result(reply, &code) == IPC_RESULT_ERROR && code == IPC_E_UNKNOWN_COMMAND)
                return NULL;
        if (code == 0 && ipc_reply_get_process_info(reply, &info))
                return info.version;
        port_set_refusal(reply, target, error);
        return NULL;
}
