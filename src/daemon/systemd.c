/* SPDX-License-Identifier: MIT */
#include "daemon/systemd.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* First descriptor handed over: fixed by sd_listen_fds(3). */
#define LISTEN_FDS_START 3

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

int systemd_listen_fd(const char *name)
{
        const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
        const char *all = getenv("LISTEN_FDNAMES");
        g_auto(GStrv) names = g_strsplit(all ? all : "", ":", -1);
        int n = fds ? atoi(fds) : 0, i;

        if (!pid || strtol(pid, NULL, 10) != (long)getpid())
                return -1;
        for (i = 0; i < n && names[i]; i++)
                if (!strcmp(names[i], name)) {
                        int fd = LISTEN_FDS_START + i, flags = fcntl(fd, F_GETFL);

                        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
                            fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
                                return -1;
                        return fd;
                }
        return -1;
}
