/* SPDX-License-Identifier: MIT */
#include "util/systemd.h"

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

/* The service manager hands over no more descriptors than this; a guess. */
#define LISTEN_FDS_MAX 256

void systemd_notify(const char *state)
{
        int r = sd_notify(/* unset_environment= */ 0, state);

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
        uint64_t us;

        if (sd_watchdog_enabled(/* unset_environment= */ 0, &us) <= 0)
                return;
        systemd_on_watchdog(NULL);
        g_timeout_add((guint)CLAMP(us / 2 / 1000, 1, G_MAXUINT), systemd_on_watchdog, NULL);
}

/* The names that systemd itself gives to a socket without FileDescriptorName=. */
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

/* How a descriptor is matched to a name: the most certain way first. */
enum { BY_NAME, BY_PATH, BY_ORDER, N_WAYS };

static bool systemd_is_match(unsigned way, int fd, const char *given, const char *name)
{
        if (way == BY_NAME)
                return !strcmp(given, name);
        return systemd_is_unnamed(given) && (way == BY_ORDER || systemd_has_path(fd, name));
}

void systemd_listen_fds(const char *const *names, size_t n, int *ret_fds)
{
        g_auto(GStrv) given = NULL;
        bool is_taken[LISTEN_FDS_MAX] = {false};
        int n_fds = sd_listen_fds_with_names(/* unset_environment= */ 0, &given), i;
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
