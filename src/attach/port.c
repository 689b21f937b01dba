/* SPDX-License-Identifier: MIT */
#include "attach/port.h"

#include "attach/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SUFFIX "-socket"

/* While the runtime's backlog is full. */
#define RETRY_MS 20

/* A file descriptor that is closed at the end of its scope; -1: none. */
typedef int Fd;

static void fd_close(Fd fd)
{
        close(fd);
}

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(Fd, fd_close, -1)

static int ms_until(gint64 deadline)
{
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;

        return (int)CLAMP(left, 0, G_MAXINT);
}

/* The target's temporary directory; links in it lead where they lead for the target. */
static Fd open_directory(const Target *target)
{
        const struct open_how how = {
                .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        g_autofree char *path = g_strdup_printf("/proc/%d/root", (int)target->info.host_pid);
        g_auto(Fd) root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (root < 0)
                return -1;
        return (int)syscall(SYS_openat2, root, target->directory, &how, sizeof(how));
}

/* Is it the target that listens at the other end? */
static bool is_targets(int fd, const Target *target)
{
        struct ucred credentials;
        socklen_t n = sizeof(credentials);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) == 0 &&
               credentials.pid == target->info.host_pid;
}

/* Connects to a socket by its name in a directory; -1 with errno set. */
static Fd connect_name(int directory, const char *name, gint64 deadline)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        g_auto(Fd) fd = -1;

        /* The path that the directory has can be longer than a socket's may be. */
        if (g_snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory,
                       name) >= (int)sizeof(address.sun_path)) {
                errno = ENAMETOOLONG;
                return -1;
        }
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        while (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN || ms_until(deadline) == 0)
                        return -1;
                poll(NULL, 0, RETRY_MS);
        }
        return fd >= 0 ? g_steal_fd(&fd) : -1;
}

static void set_no_port(const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;

        if (target->is_port_off)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT,
                            "the diagnostic port of process %d is closed: start it without "
                            "DOTNET_EnableDiagnostics=0, or traced (clrsym env)",
                            pid);
        else if (!target->has_coreclr && !target->has_mono && !target->has_provider)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_DOTNET,
                            "process %d is no .NET process, or has not begun to be one", pid);
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT,
                            "process %d has no socket %s/dotnet-diagnostic-%d-*: it was removed, "
                            "or the port is closed (DOTNET_EnableDiagnostics=0): start it again, "
                            "or traced (clrsym env)",
                            pid, target->directory, target_key(target)->pid);
}

static bool set_ended(const Target *target, GError **error)
{
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_ENDED, "process %d has ended",
                    (int)target->info.host_pid);
        return false;
}

bool port_silence(const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;
        uint64_t ticks;
        char state = 0;

        if (target_has_ended(target))
                return set_ended(target, error);
        if (target_state(target->info.host_pid, &state, &ticks) && (state == 'T' || state == 't'))
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_SILENT,
                            "process %d is stopped: let it go on (kill -CONT %d), then attach", pid,
                            pid);
        else
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_SILENT,
                            "the runtime of process %d does not answer: try again when it is less "
                            "busy",
                            pid);
        return false;
}

int port_connect(const Target *target, gint64 deadline, GError **error)
{
        g_autofree char *prefix = g_strdup_printf("dotnet-diagnostic-%d-", target_key(target)->pid);
        g_auto(Fd) directory = open_directory(target), fd = -1;
        const struct dirent *entry;
        bool is_full = false, is_refused = false;
        DIR *names = directory >= 0 ? fdopendir(dup(directory)) : NULL;

        while (names && fd < 0 && (entry = readdir(names))) {
                if (!g_str_has_prefix(entry->d_name, prefix) ||
                    !g_str_has_suffix(entry->d_name, SUFFIX))
                        continue;
                fd = connect_name(directory, entry->d_name, deadline);
                is_full |= fd < 0 && errno == EAGAIN;
                is_refused |= fd < 0 && errno == ECONNREFUSED;
                if (fd >= 0 && !is_targets(fd, target)) {
                        close(fd);
                        fd = -1;
                }
        }
        if (names)
                closedir(names);
        if (fd >= 0)
                return g_steal_fd(&fd);
        if (is_refused ? target_is_ending(target) : target_has_ended(target))
                set_ended(target, error);
        else if (is_full)
                port_silence(target, error);
        else
                set_no_port(target, error);
        return -1;
}

bool port_hang_up(const Target *target, int error_number, GError **error)
{
        if (target_is_ending(target))
                return set_ended(target, error);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                    "the runtime of process %d hung up%s%s: try again", (int)target->info.host_pid,
                    error_number ? ": " : "", error_number ? g_strerror(error_number) : "");
        return false;
}

/* Until FD has EVENTS. */
static bool wait_for(int fd, short events, const Target *target, gint64 deadline, GError **error)
{
        struct pollfd poll_fd = {.fd = fd, .events = events};
        int r;

        do
                r = poll(&poll_fd, 1, ms_until(deadline));
        while (r < 0 && errno == EINTR);
        return r > 0 || port_silence(target, error);
}

static bool send_all(int fd, const Target *target, const GByteArray *bytes, gint64 deadline,
                     GError **error)
{
        size_t n_sent = 0;

        while (n_sent < bytes->len) {
                ssize_t n = send(fd, bytes->data + n_sent, bytes->len - n_sent, MSG_NOSIGNAL);

                if (n >= 0)
                        n_sent += (size_t)n;
                else if (errno != EAGAIN && errno != EINTR)
                        return port_hang_up(target, errno, error);
                else if (!wait_for(fd, POLLOUT, target, deadline, error))
                        return false;
        }
        return true;
}

static bool receive(int fd, const Target *target, gint64 deadline, IpcReply *reply, GError **error)
{
        uint8_t bytes[4096];
        size_t wanted;

        ipc_reply_clear(reply);
        while ((wanted = ipc_reply_wanted(reply))) {
                ssize_t n = recv(fd, bytes, MIN(wanted, sizeof(bytes)), 0);

                if (n > 0)
                        ipc_reply_put(reply, bytes, (size_t)n);
                else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                        return port_hang_up(target, n < 0 ? errno : 0, error);
                else if (!wait_for(fd, POLLIN, target, deadline, error))
                        return false;
        }
        return true;
}

bool port_call(int fd, const Target *target, GByteArray *request, gint64 deadline, IpcReply *reply,
               GError **error)
{
        g_autoptr(GByteArray) owned = request;

        return send_all(fd, target, owned, deadline, error) &&
               receive(fd, target, deadline, reply, error);
}

bool port_refusal(const IpcReply *reply, const Target *target, GError **error)
{
        const int pid = (int)target->info.host_pid;
        uint32_t code;

        switch (ipc_reply_result(reply, &code)) {
        case IPC_RESULT_ERROR:
                if (code == IPC_E_UNKNOWN_COMMAND)
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_TOO_OLD,
                                    "the runtime of process %d is too old: it takes .NET 5 or "
                                    "newer, or a start with tracing (clrsym env)",
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
