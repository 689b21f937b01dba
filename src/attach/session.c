/* SPDX-License-Identifier: MIT */
#include "attach/session.h"

#include "attach/error.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROVIDER "Microsoft-Windows-DotNETRuntime"
/* A session wants a provider; one that nobody has switches nothing on. */
#define NO_PROVIDER "clrsym"

/*
 * Of the provider: loader, JIT, methods at the end of their module, interop (what IL stubs are made
 * for: an event for each), IL maps, precompiled code.
 */
#define KEYWORDS UINT64_C(0x2000022098)
/* Loads of jitted code are verbose. */
#define LEVEL 5

/* A rundown that has told nothing for so long is stuck. Large ones take seconds. */
#define RUNDOWN_PATIENCE (30 * G_TIME_SPAN_SECOND)

/* Bytes; that of the smallest program has a hundred times as much. */
#define LEAST_LISTING 1024

#define DRAIN_SIZE (64u << 10)

static const struct {
        IpcCommand command;
        bool is_silent;
} COMMANDS[] = {
        /* From what costs the target least to what every runtime has. */
        {IPC_COLLECT_TRACING_5, true},
        {IPC_COLLECT_TRACING_4, false},
        {IPC_COLLECT_TRACING_2, false},
};

uint64_t session_clock(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A command on a connection of its own: the connection, or -1. REQUEST is taken over. */
static int call(const Target *target, GByteArray *request, IpcReply *reply, GError **error)
{
        gint64 deadline = g_get_monotonic_time() + PORT_TIMEOUT;
        int fd = port_connect(target, deadline, error);

        if (fd < 0) {
                g_byte_array_unref(request);
                return -1;
        }
        if (port_call(fd, target, request, deadline, reply, error))
                return fd;
        close(fd);
        return -1;
}

/* -1 with the runtime's CODE: it does not do that. */
static int collect(const Target *target, const IpcCollect *how, IpcReply *reply, uint64_t *ret_id,
                   uint32_t *ret_code, GError **error)
{
        int fd = call(target, ipc_collect_new(how), reply, error);

        *ret_code = 0;
        if (fd < 0)
                return -1;
        if (ipc_reply_result(reply, ret_code) == IPC_RESULT_OK &&
            ipc_reply_get_session(reply, ret_id))
                return fd;
        close(fd);
        port_refusal(reply, target, error);
        return -1;
}

bool session_open(const Target *target, Session *ret_session, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(COMMANDS); i++) {
                const IpcCollect how = {.command = COMMANDS[i].command,
                                        .provider = PROVIDER,
                                        .keywords = KEYWORDS,
                                        .level = LEVEL};
                g_autoptr(GError) refusal = NULL;
                uint32_t code;

                ret_session->is_silent = COMMANDS[i].is_silent;
                ret_session->fd = collect(target, &how, reply, &ret_session->id, &code, &refusal);
                if (ret_session->fd >= 0)
                        return true;
                if ((code == IPC_E_UNKNOWN_COMMAND || code == IPC_E_BAD_ENCODING) &&
                    i + 1 < G_N_ELEMENTS(COMMANDS))
                        continue;
                g_propagate_error(error, g_steal_pointer(&refusal));
                return false;
        }
        return false;
}

/* Reads all there is. False: that was the end; N_BYTES is counted up. */
static bool drain(int fd, uint64_t *n_bytes)
{
        uint8_t bytes[DRAIN_SIZE];
        ssize_t n;

        do {
                n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
                if (n > 0)
                        *n_bytes += (uint64_t)n;
        } while (n > 0 || (n < 0 && errno == EINTR));
        return n < 0 && errno == EAGAIN;
}

bool session_drain(const Session *session)
{
        uint64_t n_bytes = 0;

        return drain(session->fd, &n_bytes);
}

bool session_stop_id(const Target *target, uint64_t id, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        int fd = call(target, ipc_stop_new(id), reply, error);
        uint32_t code;

        if (fd < 0)
                return false;
        close(fd);
        return ipc_reply_result(reply, &code) == IPC_RESULT_OK ||
               port_refusal(reply, target, error);
}

typedef struct Stopping {
        int fd;        /* of the session that ends */
        int reply_fd;  /* on which its end was asked for */
        int other_fd;  /* of one that goes on; -1: none */
        bool is_over;  /* the session's stream has ended */
        bool is_acked; /* the reply is complete */
        uint64_t n_bytes;
} Stopping;

static bool take_reply(Stopping *stopping, IpcReply *reply)
{
        uint8_t bytes[256];
        ssize_t n = recv(stopping->reply_fd, bytes, MIN(ipc_reply_wanted(reply), sizeof(bytes)),
                         MSG_DONTWAIT);

        if (n < 0)
                return errno == EAGAIN || errno == EINTR;
        if (n > 0)
                ipc_reply_put(reply, bytes, (size_t)n);
        stopping->is_acked = ipc_reply_wanted(reply) == 0;
        return n > 0;
}

/* The runtime writes the session's last bytes before it answers: both must be read at once. */
static bool finish(const Target *target, Stopping *stopping, IpcReply *reply, GError **error)
{
        ipc_reply_clear(reply);
        while (!stopping->is_over || !stopping->is_acked) {
                struct pollfd fds[] = {
                        {.fd = stopping->is_over ? -1 : stopping->fd, .events = POLLIN},
                        {.fd = stopping->is_acked ? -1 : stopping->reply_fd, .events = POLLIN},
                        {.fd = stopping->other_fd, .events = POLLIN},
                };
                uint64_t n_other = 0;
                int r = poll(fds, G_N_ELEMENTS(fds), RUNDOWN_PATIENCE / 1000);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0 || (r == 1 && fds[2].revents && target_has_ended(target)))
                        return port_silence(target, error);
                if (fds[0].revents)
                        stopping->is_over = !drain(stopping->fd, &stopping->n_bytes);
                if (fds[1].revents && !take_reply(stopping, reply))
                        return port_hang_up(target, 0, error);
                if (fds[2].revents && !drain(stopping->other_fd, &n_other))
                        stopping->other_fd = -1;
        }
        return true;
}

static bool stop_and_wait(const Target *target, const Session *session, const Session *other,
                          uint64_t *ret_n_bytes, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        Stopping stopping = {.fd = session->fd, .other_fd = other ? other->fd : -1};
        g_autoptr(GByteArray) request = ipc_stop_new(session->id);
        bool is_stopped;
        uint32_t code;

        stopping.reply_fd = port_connect(target, g_get_monotonic_time() + PORT_TIMEOUT, error);
        if (stopping.reply_fd < 0)
                return false;
        /* It is small: a new connection takes it whole, or is none any more. */
        if (send(stopping.reply_fd, request->data, request->len, MSG_NOSIGNAL) !=
            (ssize_t)request->len)
                is_stopped = port_hang_up(target, 0, error);
        else
                is_stopped = finish(target, &stopping, reply, error) &&
                             (ipc_reply_result(reply, &code) == IPC_RESULT_OK ||
                              port_refusal(reply, target, error));
        close(stopping.reply_fd);
        *ret_n_bytes = stopping.n_bytes;
        return is_stopped;
}

bool session_stop(const Target *target, Session *session, GError **error)
{
        uint64_t n_bytes;
        bool is_stopped = stop_and_wait(target, session, NULL, &n_bytes, error);

        close(session->fd);
        session->fd = -1;
        return is_stopped;
}

bool session_rundown(const Target *target, const Session *other, SessionRundown *ret_rundown,
                     GError **error)
{
        const IpcCollect how = {
                .command = IPC_COLLECT_TRACING_2, .provider = NO_PROVIDER, .has_rundown = true};
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        Session session = {.fd = -1};
        uint64_t n_bytes = 0;
        bool is_listed;
        uint32_t code;

        ret_rundown->begin = session_clock();
        session.fd = collect(target, &how, reply, &session.id, &code, error);
        if (session.fd < 0)
                return false;
        is_listed = stop_and_wait(target, &session, other, &n_bytes, error);
        ret_rundown->is_empty = n_bytes < LEAST_LISTING;
        ret_rundown->end = session_clock();
        close(session.fd);
        return is_listed;
}

char *session_runtime_version(const Target *target, GError **error)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        int fd = call(target, ipc_process_info_new(), reply, error);
        IpcProcessInfo info;
        uint32_t code;

        if (fd < 0)
                return NULL;
        close(fd);
        if (ipc_reply_result(reply, &code) == IPC_RESULT_ERROR && code == IPC_E_UNKNOWN_COMMAND)
                return NULL;
        if (code == 0 && ipc_reply_get_process_info(reply, &info))
                return info.version;
        port_refusal(reply, target, error);
        return NULL;
}
