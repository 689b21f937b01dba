/* SPDX-License-Identifier: MIT */
#include "daemon/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* First descriptor handed over: fixed by sd_listen_fds(3). */
#define LISTEN_FDS_START 3
/* More than that nobody hands over; a guess. */
#define LISTEN_FDS_MAX 256

void systemd_notify(const char *state)
{
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        size_t n = path ? strlen(path) : 0;
        int fd;

        if (!n || n >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
                return;
        memcpy(address.sun_path, path, n);
        if (*path == '@') /* an abstract name */
                address.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return;
        if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                g_warning("cannot notify the service manager: %s", g_strerror(errno));
        close(fd);
}

void systemd_notify_reloading(void)
{
        g_autofree char *state = g_strdup_printf("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT,
                                                 g_get_monotonic_time());

        systemd_notify(state);
}

static gboolean on_watchdog(gpointer unused)
{
        systemd_notify("WATCHDOG=1");
        return G_SOURCE_CONTINUE;
}

/* A variable that is for us if PID_VARIABLE has our pid, or, if it may be, is not set. */
static bool read_number(const char *variable, const char *pid_variable, bool may_be_unset,
                        guint64 max, guint64 *ret_number)
{
        const char *text = getenv(variable), *pid = getenv(pid_variable);

        if (!text || (pid ? strtol(pid, NULL, 10) != (long)getpid() : !may_be_unset))
                return false;
        return g_ascii_string_to_unsigned(text, 10, 1, max, ret_number, NULL);
}

void systemd_watchdog_start(void)
{
        guint64 us;

        if (!read_number("WATCHDOG_USEC", "WATCHDOG_PID", true,
                         G_MAXUINT32 * G_GUINT64_CONSTANT(1000), &us))
                return;
        on_watchdog(NULL);
        g_timeout_add((guint)MAX(us / 2 / 1000, 1), on_watchdog, NULL);
}

/* What systemd calls a socket that nobody has given a name. */
static bool is_unnamed(const char *name)
{
        return !*name || !strcmp(name, "unknown") || g_str_has_suffix(name, ".socket");
}

static bool has_path(int fd, const char *name)
{
        struct sockaddr_un address = {0};
        socklen_t n = sizeof(address);
        g_autofree char *path = NULL, *last = NULL;

        if (getsockname(fd, (struct sockaddr *)&address, &n) < 0 || address.sun_family != AF_UNIX ||
            n <= offsetof(struct sockaddr_un, sun_path) || !*address.sun_path)
                return false;
        path = g_strndup(address.sun_path, n - offsetof(struct sockaddr_un, sun_path));
        last = g_path_get_basename(path);
        return !strcmp(last, name);
}

static int take(int fd)
{
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
            fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
                return -1;
        return fd;
}

/* How a descriptor can be known to be for NAME: the surest way first. */
enum { BY_NAME, BY_PATH, BY_ORDER, N_WAYS };

static bool is_for(unsigned way, int fd, const char *given, const char *name)
{
        if (way == BY_NAME)
                return !strcmp(given, name);
        return is_unnamed(given) && (way == BY_ORDER || has_path(fd, name));
}

void systemd_listen_fds(const char *const *names, size_t n, int *ret_fds)
{
        const char *all = getenv("LISTEN_FDNAMES");
        g_auto(GStrv) given = g_strsplit(all ? all : "", ":", -1);
        const size_t n_given = g_strv_length(given);
        bool is_taken[LISTEN_FDS_MAX] = {false};
        guint64 n_fds;
        size_t i, k;
        unsigned way;

        for (k = 0; k < n; k++)
                ret_fds[k] = -1;
        if (!read_number("LISTEN_FDS", "LISTEN_PID", false, LISTEN_FDS_MAX, &n_fds))
                return;
        for (way = 0; way < N_WAYS; way++)
                for (i = 0; i < n_fds; i++)
                        for (k = 0; k < n; k++) {
                                int fd = LISTEN_FDS_START + (int)i;

                                if (is_taken[i] || ret_fds[k] >= 0 ||
                                    !is_for(way, fd, i < n_given ? given[i] : "", names[k]))
                                        continue;
                                is_taken[i] = true;
                                ret_fds[k] = take(fd);
                        }
}

int systemd_listen_fd(const char *name)
{
        int fd;

        systemd_listen_fds(&name, 1, &fd);
        return fd;
}
