/* SPDX-License-Identifier: MIT */
#include "util/systemd.h"

#include "util/library.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

/* The maximum of descriptors that the service manager hands over; a guess. */
#define LISTEN_FDS_MAX 256

/* The functions of libsystemd that are used. */
typedef struct SystemdApi {
        __typeof__(sd_listen_fds_with_names) *listen_fds_with_names;
        __typeof__(sd_watchdog_enabled) *watchdog_enabled;
} SystemdApi;

static const LibrarySymbol SYMBOLS[] = {
        {"sd_listen_fds_with_names", offsetof(SystemdApi, listen_fds_with_names)},
        {"sd_watchdog_enabled", offsetof(SystemdApi, watchdog_enabled)},
};

static Library library = {
        .names = {"libsystemd.so.0"},
        .symbols = SYMBOLS,
        .n_symbols = G_N_ELEMENTS(SYMBOLS),
        .name = "libsystemd",
        .absent = "libsystemd is not installed, which reads it",
        .package = "libsystemd0",
        .version = "227",
};

/* NULL: VARIABLE, which the service manager sets, is not set, or libsystemd is not installed. */
static const SystemdApi *systemd_api(const char *variable)
{
        static SystemdApi api;
        g_autoptr(GError) error = NULL;

        if (!getenv(variable))
                return NULL;
        if (!library_load(&library, &api, &error)) {
                g_warning("%s is set, but %s", variable, error->message);
                return NULL;
        }
        return &api;
}

/* sd_notify() waits while the service manager does not read. The main loop must not wait: a message
 * is lost then, and the next one does as well. Returns 0 or -errno. */
static int systemd_send(const char *path, const char *state)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        size_t n = strlen(path);
        ssize_t sent;
        int fd, r;

        if ((*path != '/' && *path != '@') || n >= sizeof(address.sun_path))
                return -EAFNOSUPPORT;
        memcpy(address.sun_path, path, n);
        if (*path == '@') /* an abstract one */
                address.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
        r = sent < 0 ? -errno : 0;
        close(fd);
        return r;
}

void systemd_notify(const char *state)
{
        const char *path = getenv("NOTIFY_SOCKET");
        int r = path && *path ? systemd_send(path, state) : 0;

        if (r < 0)
                g_warning("cannot notify the service manager: %s", g_strerror(-r));
}

void systemd_notify_reloading(void)
{
        g_autofree char *state = g_strdup_printf("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT,
                                                 g_get_monotonic_time());

        systemd_notify(state);
}

static gboolean systemd_on_watchdog(gpointer unused)
{
        systemd_notify("WATCHDOG=1");
        return G_SOURCE_CONTINUE;
}

void systemd_watchdog_start(void)
{
        const SystemdApi *api = systemd_api("WATCHDOG_USEC");
        uint64_t us;

        if (!api || api->watchdog_enabled(/* unset_environment= */ 0, &us) <= 0)
                return;
        systemd_on_watchdog(NULL);
        g_timeout_add((guint)CLAMP(us / 2 / 1000, 1, G_MAXUINT), systemd_on_watchdog, NULL);
}

/* The names that systemd gives to a socket without FileDescriptorName=. */
static bool systemd_is_unnamed(const char *name)
{
        return !*name || !strcmp(name, "unknown") || g_str_has_suffix(name, ".socket");
}

static bool systemd_has_path(int fd, const char *name)
{
        struct sockaddr_storage storage = {0};
        struct sockaddr_un *address = (struct sockaddr_un *)&storage;
        socklen_t n = sizeof(storage);
        g_autofree char *last = NULL;

        if (getsockname(fd, (struct sockaddr *)&storage, &n) < 0 ||
            address->sun_family != AF_UNIX || n <= offsetof(struct sockaddr_un, sun_path) ||
            !*address->sun_path)
                return false;
        last = g_path_get_basename(address->sun_path);
        return !strcmp(last, name);
}

static int systemd_take_fd(int fd)
{
        int flags = fcntl(fd, F_GETFL);

        return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -1 : fd;
}

/* The ways of matching a descriptor to a name, the most certain one first. */
enum { BY_NAME, BY_PATH, BY_ORDER, N_WAYS };

static bool systemd_is_match(unsigned way, int fd, const char *given, const char *name)
{
        if (way == BY_NAME)
                return !strcmp(given, name);
        return systemd_is_unnamed(given) && (way == BY_ORDER || systemd_has_path(fd, name));
}

void systemd_listen_fds(const char *const *names, size_t n, int *ret_fds)
{
        const SystemdApi *api = systemd_api("LISTEN_FDS");
        g_auto(GStrv) given = NULL;
        bool is_taken[LISTEN_FDS_MAX] = {false};
        int n_fds = api ? api->listen_fds_with_names(/* unset_environment= */ 0, &given) : 0, i;
        unsigned way;
        size_t k;

        for (k = 0; k < n; k++)
                ret_fds[k] = -1;
        for (way = 0; way < N_WAYS; way++)
                for (i = 0; i < MIN(n_fds, LISTEN_FDS_MAX); i++)
                        for (k = 0; k < n; k++) {
                                int fd = SD_LISTEN_FDS_START + i;

                                if (is_taken[i] || ret_fds[k] >= 0 ||
                                    !systemd_is_match(way, fd, given[i], names[k]))
                                        continue;
                                is_taken[i] = true;
                                ret_fds[k] = systemd_take_fd(fd);
                        }
}

int systemd_listen_fd(const char *name)
{
        int fd;

        systemd_listen_fds(&name, 1, &fd);
        return fd;
}
