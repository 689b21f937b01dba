/* SPDX-License-Identifier: MIT */
#include "util/listener.h"

#include "util/fd.h"
#include "util/unix-socket.h"

#include <errno.h>
#include <glib.h>
#include <glib-unix.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ms until a retry: without free descriptors, accept() fails until one is closed. */
#define EXHAUSTED_MS 200

struct Listener {
        int fd;
        char *path;       /* owned; NULL: the socket was handed over */
        struct stat made; /* the socket file that we made */
        ListenerAccept accept;
        void *data;
        guint source; /* watches for callers, or waits for descriptors */
};

static bool listener_set_error(GError **error, const char *format, const char *path)
{
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), format, path,
                    g_strerror(errno));
        return false;
}

static bool is_listened_on(const char *path)
{
        int fd = unix_connect(path, SOCK_NONBLOCK, /* wait_ms= */ 0), r = fd;

        fd_clear(&fd);
        /* After other errors (no permission, a full backlog), a listener may be there. */
        return r != -ECONNREFUSED && r != -ENOENT;
}

/* Gives root's socket file to GROUP, if that group exists. */
static void give_to_group(const char *path, const char *name)
{
        const struct group *group = name && geteuid() == 0 ? getgrnam(name) : NULL;

        if (group && lchown(path, (uid_t)-1, group->gr_gid) < 0)
                g_warning("cannot give %s to group %s: %s", path, name, g_strerror(errno));
}

static bool make_socket(Listener *listener, mode_t mode, const char *group, GError **error)
{
        g_autofree char *directory = g_path_get_dirname(listener->path);
        /* The file gets its name once the socket listens, because a process that waits for the file
         * may connect at once. */
        g_autofree char *early = g_strdup_printf("%s.%d", listener->path, (int)getpid());
        struct stat st;

        if (strlen(early) >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
                errno = ENAMETOOLONG;
                return listener_set_error(error, "%s: %s", listener->path);
        }
        if (g_mkdir_with_parents(directory, 0755) < 0)
                return listener_set_error(error, "cannot make the directory %s: %s", directory);
        if (lstat(listener->path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                            "%s exists and is not a socket: give another path", listener->path);
                return false;
        }
        if (is_listened_on(listener->path)) {
                g_set_error(
                        error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                        "another process listens on %s already: stop that clrsymd, or give another "
                        "path",
                        listener->path);
                return false;
        }
        unlink(early);
        listener->fd = unix_listen(early, 0600);
        if (listener->fd < 0) {
                errno = -listener->fd;
                return listener_set_error(error, "cannot listen on %s: %s", listener->path);
        }
        give_to_group(early, group);
        if (chmod(early, mode) < 0 || lstat(early, &listener->made) < 0 ||
            rename(early, listener->path) < 0) {
                listener_set_error(error, "cannot listen on %s: %s", listener->path);
                unlink(early);
                return false;
        }
        return true;
}

/* With another socket, accept() would fail forever. */
static bool is_listening(int fd)
{
        int type = 0, domain = 0, is_accepting = 0;
        socklen_t n = sizeof(int);

        return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 && domain == AF_UNIX &&
               getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
               getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_accepting, &n) == 0 && is_accepting;
}

static gboolean on_caller(gint fd, GIOCondition condition, gpointer data);

static gboolean on_exhausted_over(gpointer data)
{
        Listener *listener = data;

        listener->source = g_unix_fd_add(listener->fd, G_IO_IN, on_caller, listener);
        return G_SOURCE_REMOVE;
}

static gboolean on_caller(gint fd, GIOCondition condition, gpointer data)
{
        Listener *listener = data;
        int caller = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (caller >= 0) {
                listener->accept(listener->data, caller);
                return G_SOURCE_CONTINUE;
        }
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
                return G_SOURCE_CONTINUE;
        g_warning("cannot accept a caller: %s", g_strerror(errno));
        listener->source = g_timeout_add(EXHAUSTED_MS, on_exhausted_over, listener);
        return G_SOURCE_REMOVE;
}

Listener *listener_new(const char *path, mode_t mode, const char *group, int fd,
                       ListenerAccept accept, void *data, GError **error)
{
        Listener *listener = g_new0(Listener, 1);

        listener->accept = accept;
        listener->data = data;
        listener->fd = fd;
        if (fd >= 0 && !is_listening(fd)) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                            "the socket that was handed over for %s is not a listening Unix "
                            "socket: check clrsymd.socket",
                            path);
                listener_free(listener);
                return NULL;
        }
        if (fd < 0) {
                listener->path = g_strdup(path);
                if (!make_socket(listener, mode, group, error)) {
                        listener_free(listener);
                        return NULL;
                }
        }
        listener_set_accepting(listener, true);
        return listener;
}

void listener_free(Listener *listener)
{
        struct stat st;

        if (!listener)
                return;
        if (listener->source)
                g_source_remove(listener->source);
        /* Removes our own file only; nobody replaces it while we listen. */
        if (listener->path && listener->made.st_ino && lstat(listener->path, &st) == 0 &&
            st.st_ino == listener->made.st_ino && st.st_dev == listener->made.st_dev)
                unlink(listener->path);
        if (listener->fd >= 0)
                close(listener->fd);
        g_free(listener->path);
        g_free(listener);
}

void listener_set_accepting(Listener *listener, bool accepting)
{
        if (accepting == (listener->source != 0))
                return;
        if (accepting)
                listener->source = g_unix_fd_add(listener->fd, G_IO_IN, on_caller, listener);
        else
                g_clear_handle_id(&listener->source, g_source_remove);
}

bool listener_is_called(const Listener *listener)
{
        struct pollfd fd = {.fd = listener->fd, .events = POLLIN};

        return poll(&fd, 1, 0) > 0;
}
