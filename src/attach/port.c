/* SPDX-License-Identifier: MIT */
#include "attach/port.h"

#include "attach/error.h"

#include "util/fd.h"
#include "util/proc-stat.h"
#include "util/rootfs.h"
#include "util/unix-socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#define SUFFIX "-socket"

/* While a backlog is full. */
#define RETRY_MS 20

static int ms_until(gint64 deadline)
{
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;

        return (int)CLAMP(left, 0, G_MAXINT);
}

/* The target's temporary directory; links in it lead where they lead for the target. */
static int port_open_directory(const Target *target)
{
        FD_AUTO int root = rootfs_open_root(target->info.host_pid);

        return root >= 0 ? rootfs_open(root, target->directory, O_RDONLY | O_DIRECTORY) : -1;
}

/* True if it is the target that listens at the other end. */
static bool port_is_targets(int fd, const Target *target)
{
        struct ucred credentials;
        socklen_t n = sizeof(credentials);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) == 0 &&
               credentials.pid == target->info.host_pid;
}

/* Connects to a socket by its name in a directory; a negative errno on failure. */
static int port_connect_name(int directory, const char *name)
{
        /* The path of the directory itself can be longer than a socket's path can be. */
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d/%s", directory, name);

        return unix_connect(path, SOCK_NONBLOCK, /* wait_ms= */ 0);
}

static void port_set_no_port(const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;

        if (target->is_port_off)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT,
                            "the diagnostic port of process %d is closed: start it without "
                            "DOTNET_EnableDiagnostics=0, or with tracing on (clrsym env)",
                            pid);
        else if (!target->has_coreclr && !target->has_mono && !target->has_provider)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_DOTNET,
                            "process %d is not a .NET process, or its runtime has not started yet",
                            pid);
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT,
                            "process %d has no socket %s/dotnet-diagnostic-%d-*: it was removed, "
                            "or the port is closed (DOTNET_EnableDiagnostics=0): start it again, "
                            "or with tracing on (clrsym env)",
                            pid, target->directory, target_key(target)->pid);
}

static bool port_set_ended(const Target *target, GError **error)
{
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                    (int)target->info.host_pid);
        return false;
}

bool port_set_unresponsive(const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;
        ProcStat stat;

        if (target_has_ended(target))
                return port_set_ended(target, error);
        if (proc_stat_read(target->info.host_pid, &stat) &&
            (stat.state == 'T' || stat.state == 't'))
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE,
                            "process %d is stopped: let it go on (kill -CONT %d), then attach", pid,
                            pid);
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE,
                            "the runtime of process %d does not answer: try again when it is less "
                            "busy",
                            pid);
        return false;
}

/* Why no name led to the target. */
typedef struct PortFailures {
        bool is_full; /* a backlog is, or there is no time left */
        bool is_refused;
} PortFailures;

/* Tries each name once; -1: none leads to the target. */
static int port_connect_any(const Target *target, DIR *names, gint64 deadline,
                            PortFailures *ret_failures)
{
        g_autofree char *prefix = g_strdup_printf("dotnet-diagnostic-%d-", target_key(target)->pid);
        PortFailures failures = {false};
        const struct dirent *entry;
        FD_AUTO int fd = -1;

        rewinddir(names);
        while (fd < 0 && (entry = readdir(names))) {
                /* Anybody may have made any number of names. */
                if (ms_until(deadline) == 0) {
                        failures.is_full = true;
                        break;
                }
                if (!g_str_has_prefix(entry->d_name, prefix) ||
                    !g_str_has_suffix(entry->d_name, SUFFIX))
                        continue;
                fd = port_connect_name(dirfd(names), entry->d_name);
                failures.is_full |= fd == -EAGAIN;
                failures.is_refused |= fd == -ECONNREFUSED;
                if (fd >= 0 && !port_is_targets(fd, target))
                        fd_clear(&fd);
        }
        *ret_failures = failures;
        return fd_steal(&fd);
}

int port_connect(const Target *target, gint64 deadline, GError **error)
{
        FD_AUTO int directory = port_open_directory(target);
        DIR *names = directory >= 0 ? fdopendir(directory) : NULL;
        PortFailures failures = {false};
        int fd = -1;

        if (names)
                fd_steal(&directory); /* closedir() closes it */
        while (names && (fd = port_connect_any(target, names, deadline, &failures)) < 0 &&
               failures.is_full && ms_until(deadline) > 0)
                poll(NULL, 0, RETRY_MS);
        if (names)
                closedir(names);
        if (fd >= 0)
                return fd;
        if (failures.is_refused ? target_is_ending(target) : target_has_ended(target))
                port_set_ended(target, error);
        else if (failures.is_full)
                port_set_unresponsive(target, error);
        else
                port_set_no_port(target, error);
        return -1;
}

bool port_set_hang_up(const Target *target, int error_number, GError **error)
{
        if (target_is_ending(target))
                return port_set_ended(target, error);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                    "the runtime of process %d hung up%s%s: try again", (int)target->info.host_pid,
                    error_number ? ": " : "", error_number ? g_strerror(error_number) : "");
        return false;
}

/* Waits until the connection has EVENTS. */
static bool port_wait(PortCall *call, short events, GError **error)
{
        PortMeanwhile *meanwhile = &call->meanwhile;
        int left;

        while ((left = ms_until(call->deadline)) > 0) {
                struct pollfd fds[] = {{.fd = call->fd, .events = events},
                                       {.fd = meanwhile->fd, .events = POLLIN}};

                if (poll(fds, G_N_ELEMENTS(fds), left) <= 0)
                        continue;
                if (fds[1].revents && !meanwhile->take(meanwhile->data))
                        meanwhile->fd = -1;
                if (fds[0].revents)
                        return true;
        }
        return port_set_unresponsive(call->target, error);
}

static bool port_send(PortCall *call, const GByteArray *bytes, GError **error)
{
        size_t n_sent = 0;

        while (n_sent < bytes->len) {
                ssize_t n = send(call->fd, bytes->data + n_sent, bytes->len - n_sent, MSG_NOSIGNAL);

                if (n >= 0)
                        n_sent += (size_t)n;
                else if (errno != EAGAIN && errno != EINTR)
                        return port_set_hang_up(call->target, errno, error);
                else if (!port_wait(call, POLLOUT, error))
                        return false;
        }
        return true;
}

static bool port_receive(PortCall *call, IpcReply *reply, GError **error)
{
        uint8_t bytes[4096];
        size_t wanted;

        ipc_reply_clear(reply);
        while ((wanted = ipc_reply_wanted(reply))) {
                ssize_t n = recv(call->fd, bytes, MIN(wanted, sizeof(bytes)), 0);

                if (n > 0)
                        ipc_reply_put(reply, bytes, (size_t)n);
                else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                        return port_set_hang_up(call->target, n < 0 ? errno : 0, error);
                else if (!port_wait(call, POLLIN, error))
                        return false;
        }
        return true;
}

bool port_call(PortCall *call, const GByteArray *request, IpcReply *reply, GError **error)
{
        return port_send(call, request, error) && port_receive(call, reply, error);
}

bool port_set_refusal(const IpcReply *reply, const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;
        uint32_t code;

        switch (ipc_reply_result(reply, &code)) {
        case IPC_RESULT_ERROR:
                if (code == IPC_E_UNKNOWN_COMMAND)
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_TOO_OLD,
                                    "the runtime of process %d is too old: use .NET 5 or "
                                    "newer, or start it with tracing on (clrsym env)",
                                    pid);
                else
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_REFUSED,
                                    "the runtime of process %d refuses (error 0x%08x): try again, "
                                    "or end other diagnostic tools that use it",
                                    pid, code);
                break;
        case IPC_RESULT_OK:
        case IPC_RESULT_BROKEN:
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "what listens on the diagnostic port of process %d does not answer as "
                            "a .NET runtime does",
                            pid);
        }
        return false;
}
