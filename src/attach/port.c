/* SPDX-License-Identifier: MIT */
#include "attach/port.h"

#include "attach/error.h"

#include "util/fd.h"
#include "util/peer.h"
#include "util/proc-stat.h"
#include "util/rootfs.h"
#include "util/unix-socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define SUFFIX "-socket"

/* A directory with so many names takes most of the time. */
#define MANY_NAMES 65536
/* ms between two retries while a backlog is full or a socket refuses. */
#define RETRY_MS 5
/*
 * us for which a refusing socket is retried. A starting runtime makes its socket a moment before it
 * listens; an exiting one stops listening a moment before its process ends.
 */
#define REFUSED_LIMIT G_TIME_SPAN_SECOND

static int ms_until(gint64 deadline)
{
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;

        return (int)CLAMP(left, 0, G_MAXINT);
}

/* Opens the target's temporary directory; links in it are resolved in the target's root directory.
 */
static int port_open_directory(const Target *target)
{
        FD_AUTO int root = rootfs_open_root(target->info.host_pid);

        return root >= 0 ? rootfs_open(root, target->directory, O_RDONLY | O_DIRECTORY) : -1;
}

/*
 * The user ids of a target. Its socket belongs to one of them, or to root if the target has dropped
 * root's rights since.
 */
typedef struct PortUsers {
        uint32_t uids[4]; /* real, effective, saved, file system */
        unsigned n;
} PortUsers;

static PortUsers port_users(const Target *target)
{
        PortUsers users = {.n = 0};
        size_t n;
        g_autofree char *status =
                proc_read_file(target->info.host_pid, "status", PROC_MAX_STATUS, &n);

        if (status)
                users.n = proc_status_numbers(status, "Uid", users.uids, G_N_ELEMENTS(users.uids));
        return users;
}

static bool port_users_have(const PortUsers *users, uint32_t uid)
{
        unsigned i;

        for (i = 0; i < users->n; i++)
                if (users->uids[i] == uid)
                        return true;
        return uid == 0;
}

/*
 * True if the target listens at the other end. The pid alone does not prove that: the listener may
 * have exited, with its socket left to a child, and its pid may be the target's now; or the target
 * has exited, and another process has its pid. Two running processes have different pids.
 */
static bool port_is_targets(int fd, const Target *target, const PortUsers *users)
{
        PeerCredentials who;
        FD_AUTO int process = -1;

        if (!peer_credentials(fd, PEER_NO_GROUP, &who) || who.pid != target->info.host_pid ||
            !port_users_have(users, who.uid))
                return false;
        process = peer_open_process(fd, who.pid);
        return process >= 0 && !proc_has_ended(process) && !target_has_ended(target);
}

/* True if NAME is a socket that the target can have made. Other users may have made any number of
 * files. */
static bool port_may_be_name(int directory, const char *name, const PortUsers *users)
{
        struct stat st;

        return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode) &&
               port_users_have(users, st.st_uid);
}

static void port_set_no_port(const Target *target, GError **error)
{
        g_autofree char *obstacle = target_refuses_socket(target);
        const int pid = (int)target->info.host_pid;

        if (target->is_port_off)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_PORT_OFF,
                            "the diagnostic port of process %d is closed: start it without "
                            "DOTNET_EnableDiagnostics=0, or with tracing on (clrsym env)",
                            pid);
        else if (!target->has_coreclr && target_is_compiled(target))
                g_set_error(
                        error, ATTACH_ERROR, ATTACH_ERROR_PORT_OFF,
                        "process %d was compiled ahead of time (NativeAOT), and has no diagnostic "
                        "port: perf and clrsym record name its code without",
                        pid);
        else if (!target->has_coreclr && !target->has_mono && !target->has_provider)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NOT_DOTNET,
                            "process %d is not a .NET process, or its runtime has not started yet",
                            pid);
        else if (obstacle)
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_PORT_OFF,
                            "process %d has no diagnostic port, because %s: start it with another "
                            "TMPDIR",
                            pid, obstacle);
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

/* A search for the target's socket, with the reasons of its failure. */
typedef struct PortSearch {
        const Target *target; /* borrowed */
        PortUsers users;
        DIR *names; /* owned */
        gint64 deadline;
        bool is_crowded; /* the directory has too many names for the time limit */
        bool is_full;    /* a backlog is full, or the time limit has passed */
        bool is_refused;
} PortSearch;

/*
 * Connects to NAME; -1: it does not lead to the target. IS_ITS_NAME: only the target's socket has
 * this name, so it is tried even if the file system does not know owners.
 */
static int port_search_try(PortSearch *search, const char *name, bool is_its_name)
{
        const int directory = dirfd(search->names);
        const bool is_owned = port_may_be_name(directory, name, &search->users);
        g_autofree char *path = NULL;
        FD_AUTO int fd = -1;

        if (!is_owned && !is_its_name)
                return -1;
        /* The path of the directory may exceed the length of a socket's path. */
        path = g_strdup_printf("/proc/self/fd/%d/%s", directory, name);
        fd = unix_connect(path, SOCK_NONBLOCK, /* wait_ms= */ 0);
        search->is_full |= fd == -EAGAIN && is_owned;
        search->is_refused |= fd == -ECONNREFUSED;
        if (fd >= 0 && !port_is_targets(fd, search->target, &search->users))
                fd_clear(&fd);
        return fd < 0 ? -1 : fd_steal(&fd);
}

/* Searches all names, because a target in its own time namespace uses another start in its name. */
static int port_search_directory(PortSearch *search)
{
        g_autofree char *prefix =
                g_strdup_printf("dotnet-diagnostic-%d-", target_key(search->target)->pid);
        const struct dirent *entry;
        unsigned n_names = 0;
        int fd = -1;

        rewinddir(search->names);
        while (fd < 0 && (entry = readdir(search->names))) {
                if (ms_until(search->deadline) == 0) {
                        search->is_crowded = n_names >= MANY_NAMES;
                        search->is_full = true;
                        break;
                }
                n_names++;
                if ((entry->d_type == DT_SOCK || entry->d_type == DT_UNKNOWN) &&
                    g_str_has_prefix(entry->d_name, prefix) &&
                    g_str_has_suffix(entry->d_name, SUFFIX))
                        fd = port_search_try(search, entry->d_name, /* is_its_name= */ false);
        }
        return fd;
}

/* Tries each name once; -1: no name leads to the target. */
static int port_search_once(PortSearch *search)
{
        g_autofree char *name =
                g_strdup_printf("dotnet-diagnostic-%d-%" PRIu64 SUFFIX,
                                target_key(search->target)->pid, search->target->start_ticks);
        int fd;

        search->is_full = search->is_refused = false;
        fd = port_search_try(search, name, /* is_its_name= */ true);
        return fd >= 0 || search->is_full ? fd : port_search_directory(search);
}

static void port_set_crowded(const Target *target, GError **error)
{
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT,
                    "the socket of process %d was not found in time, because %s has too many "
                    "files: remove those that are named dotnet-diagnostic-%d-*",
                    (int)target->info.host_pid, target->directory, target_key(target)->pid);
}

static void port_search_set_error(const PortSearch *search, GError **error)
{
        const Target *target = search->target;

        if (target_has_ended(target))
                port_set_ended(target, error);
        else if (search->is_crowded)
                port_set_crowded(target, error);
        else if (search->is_full)
                port_set_unresponsive(target, error);
        else
                port_set_no_port(target, error);
}

/* Waits before a retry. False: a retry is useless. */
static bool port_search_wait(const PortSearch *search, gint64 refused_end)
{
        const gint64 end = search->is_full ? search->deadline : refused_end;

        return (search->is_full || search->is_refused) && ms_until(end) > 0 &&
               !target_ends_within(search->target, RETRY_MS);
}

int port_connect(const Target *target, gint64 deadline, GError **error)
{
        const gint64 refused_end = MIN(deadline, g_get_monotonic_time() + REFUSED_LIMIT);
        PortSearch search = {.target = target, .users = port_users(target), .deadline = deadline};
        FD_AUTO int directory = port_open_directory(target);
        int fd = -1;

        search.names = directory >= 0 ? fdopendir(directory) : NULL;
        if (search.names)
                fd_steal(&directory); /* closedir() closes it */
        while (search.names && (fd = port_search_once(&search)) < 0 &&
               port_search_wait(&search, refused_end))
                ;
        if (search.names)
                closedir(search.names);
        if (fd < 0)
                port_search_set_error(&search, error);
        return fd;
}

bool port_set_hang_up(const Target *target, int error_number, GError **error)
{
        if (target_is_ending(target))
                return port_set_ended(target, error);
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                    "the runtime of process %d disconnected%s%s: try again",
                    (int)target->info.host_pid, error_number ? ": " : "",
                    error_number ? g_strerror(error_number) : "");
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
        const char *version = ipc_reply_other_version(reply);
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
                if (version)
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_REFUSED,
                                    "the runtime of process %d speaks version %s of the "
                                    "diagnostic protocol, and this clrsym only version 1: use a "
                                    "newer clrsym",
                                    pid, version);
                else
                        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                                    "the program that listens on the diagnostic port of process %d "
                                    "does not answer as a .NET runtime does: end that program, or "
                                    "start the process again",
                                    pid);
        }
        return false;
}
