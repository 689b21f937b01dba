/* SPDX-License-Identifier: MIT */
#include "attach/port-watch.h"

#include "util/fd.h"

#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_PREFIX "dotnet-diagnostic-"
#define PORT_SUFFIX "-socket"

/* Bytes: a thousand events with short names. */
#define READ_SIZE (32u << 10)

/* Maximum number of ports taken at a time; programs that start make fewer. */
#define MAX_MADE 256

/* The runtime uses $TMPDIR, else /tmp. Both are watched, because programs may have different ones.
 */
typedef enum PortDirectory {
        PORT_DIRECTORY_COMMON,
        PORT_DIRECTORY_OWN,
        _PORT_DIRECTORY_MAX,
} PortDirectory;

struct PortWatch {
        int fd;
        int descriptors[_PORT_DIRECTORY_MAX]; /* watch descriptors of inotify; -1: not watched */
        char *paths[_PORT_DIRECTORY_MAX];     /* owned or NULL */
        gint64 rest_end;                      /* us of g_get_monotonic_time() */
};

PortWatch *port_watch_new(void)
{
        const char *const paths[_PORT_DIRECTORY_MAX] = {
                [PORT_DIRECTORY_COMMON] = "/tmp",
                [PORT_DIRECTORY_OWN] = g_getenv("TMPDIR"),
        };
        PortWatch *watch = g_new0(PortWatch, 1);
        unsigned i;

        watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        for (i = 0; i < _PORT_DIRECTORY_MAX; i++) {
                watch->paths[i] = g_strdup(paths[i]);
                watch->descriptors[i] =
                        watch->fd >= 0 && paths[i] && *paths[i]
                                ? inotify_add_watch(watch->fd, paths[i], IN_CREATE | IN_ONLYDIR)
                                : -1;
        }
        if (watch->descriptors[PORT_DIRECTORY_COMMON] >= 0)
                return watch;
        port_watch_free(watch);
        return NULL;
}

void port_watch_free(PortWatch *watch)
{
        unsigned i;

        if (!watch)
                return;
        for (i = 0; i < _PORT_DIRECTORY_MAX; i++)
                g_free(watch->paths[i]);
        fd_clear(&watch->fd);
        g_free(watch);
}

int port_watch_fd(const PortWatch *watch)
{
        return watch && g_get_monotonic_time() >= watch->rest_end ? watch->fd : -1;
}

static const char *port_watch_path(const PortWatch *watch, int descriptor)
{
        unsigned i;

        for (i = 0; i < _PORT_DIRECTORY_MAX; i++)
                if (watch->descriptors[i] == descriptor)
                        return watch->paths[i];
        return NULL;
}

/* Anybody may make any number of files that are not sockets. */
static void port_watch_take_name(const PortWatch *watch, const struct inotify_event *event,
                                 GArray *made)
{
        const char *directory = port_watch_path(watch, event->wd);
        g_autofree char *path = NULL;
        struct stat st;
        PortMade port;

        if (!directory || !event->len || !g_str_has_prefix(event->name, PORT_PREFIX) ||
            !g_str_has_suffix(event->name, PORT_SUFFIX))
                return;
        path = g_build_filename(directory, event->name, NULL);
        if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
                return;
        port = (PortMade){(pid_t)g_ascii_strtoll(event->name + strlen(PORT_PREFIX), NULL, 10),
                          st.st_uid};
        g_array_append_val(made, port);
}

/* False: events were lost. */
static bool port_watch_take_events(const PortWatch *watch, const char *bytes, size_t n,
                                   GArray *made)
{
        bool is_whole = true;
        size_t at = 0;

        while (n - at >= sizeof(struct inotify_event)) {
                const struct inotify_event *event = (const void *)(bytes + at);

                is_whole &= !(event->mask & IN_Q_OVERFLOW) && made->len < MAX_MADE;
                if (made->len < MAX_MADE)
                        port_watch_take_name(watch, event, made);
                at += sizeof(*event) + event->len;
        }
        return is_whole;
}

bool port_watch_take(PortWatch *watch, GArray *made)
{
        char bytes[READ_SIZE] __attribute__((aligned(__alignof__(struct inotify_event))));
        const gint64 rest_end =
                g_get_monotonic_time() + PORT_WATCH_REST_MS * G_TIME_SPAN_MILLISECOND;
        bool is_whole = true;
        ssize_t n;

        /* Files may be made as fast as we read their events, so the time for reads is limited. */
        while ((n = read(watch->fd, bytes, sizeof(bytes))) > 0) {
                is_whole &= port_watch_take_events(watch, bytes, (size_t)n, made);
                watch->rest_end = rest_end;
                if (g_get_monotonic_time() >= rest_end)
                        break;
        }
        return is_whole;
}
