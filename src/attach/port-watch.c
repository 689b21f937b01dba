/* SPDX-License-Identifier: MIT */
#include "attach/port-watch.h"

#include "util/fd.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define PORT_PREFIX "dotnet-diagnostic-"

struct PortWatch {
        int fd;
};

PortWatch *port_watch_new(void)
{
        FD_AUTO int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        const char *directory = g_getenv("TMPDIR");
        PortWatch *watch;

        /* The runtime takes $TMPDIR, else /tmp. Both are watched: others may have another one. */
        if (fd < 0 || inotify_add_watch(fd, "/tmp", IN_CREATE | IN_ONLYDIR) < 0)
                return NULL;
        if (directory && *directory)
                inotify_add_watch(fd, directory, IN_CREATE | IN_ONLYDIR);
        watch = g_new0(PortWatch, 1);
        watch->fd = fd_steal(&fd);
        return watch;
}

void port_watch_free(PortWatch *watch)
{
        if (!watch)
                return;
        close(watch->fd);
        g_free(watch);
}

int port_watch_fd(const PortWatch *watch)
{
        return watch ? watch->fd : -1;
}

/* True if a port is among the N bytes of events; or if some were lost. */
static bool events_take_ports(const char *bytes, size_t n, GArray *pids)
{
        bool is_made = false;
        size_t at = 0;

        while (n - at >= sizeof(struct inotify_event)) {
                const struct inotify_event *event = (const void *)(bytes + at);

                is_made |= (event->mask & IN_Q_OVERFLOW) != 0;
                if (event->len && g_str_has_prefix(event->name, PORT_PREFIX)) {
                        const pid_t pid =
                                (pid_t)g_ascii_strtoll(event->name + strlen(PORT_PREFIX), NULL, 10);

                        g_array_append_val(pids, pid);
                        is_made = true;
                }
                at += sizeof(*event) + event->len;
        }
        return is_made;
}

bool port_watch_take(PortWatch *watch, GArray *pids)
{
        char bytes[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
        bool is_made = false;
        ssize_t n;

        while ((n = read(watch->fd, bytes, sizeof(bytes))) > 0)
                is_made |= events_take_ports(bytes, (size_t)n, pids);
        return is_made;
}
