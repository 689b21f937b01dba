/* SPDX-License-Identifier: MIT */
#include "attach/guest-port.h"

#include "util/fd.h"
#include "util/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>

/* The runtime there may be another user's, who finds nothing but the socket. */
#define DIRECTORY_MODE 0711

/* A directory that was made. */
typedef struct Made {
        int parent;
        char *name; /* owned */
} Made;

struct GuestPort {
        Listener *listener; /* owned */
        int directory;      /* of the socket */
        GArray *made;       /* owned, of Made, each in the one before */
};

static void made_clear(void *data)
{
        Made *made = data;

        fd_clear(&made->parent);
        g_free(made->name);
}

/* Opens the directory PATH below ROOT, which is made if it is missing. -1 with errno set. */
static int guest_port_open(GuestPort *port, int root, const char *path)
{
        int fd = rootfs_open(root, path, O_PATH | O_DIRECTORY);
        g_autofree char *above = NULL;
        FD_AUTO int parent = -1;
        Made made;

        if (fd >= 0 || errno != ENOENT || g_str_equal(path, "/"))
                return fd;
        above = g_path_get_dirname(path);
        parent = guest_port_open(port, root, above);
        made = (Made){.parent = parent, .name = g_path_get_basename(path)};
        if (parent < 0 || mkdirat(parent, made.name, DIRECTORY_MODE) < 0) {
                g_free(made.name);
                return -1;
        }
        fd_steal(&parent);
        g_array_append_val(port->made, made);
        return rootfs_open(root, path, O_PATH | O_DIRECTORY);
}

GuestPort *guest_port_new(pid_t pid, const char *path, mode_t mode, ListenerAccept accept,
                          void *data, GError **error)
{
        g_autofree char *directory = g_path_get_dirname(path), *name = g_path_get_basename(path),
                        *here = NULL;
        GuestPort *port = g_new0(GuestPort, 1);
        FD_AUTO int root = rootfs_open_root(pid);

        port->made = g_array_new(FALSE, FALSE, sizeof(Made));
        g_array_set_clear_func(port->made, made_clear);
        port->directory = root >= 0 ? guest_port_open(port, root, directory) : -1;
        if (port->directory < 0) {
                g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                            "cannot make the directory %s that process %d sees: %s", directory,
                            (int)pid, g_strerror(errno));
        } else {
                /* Whatever its links are, it is this directory. */
                here = g_strdup_printf("/proc/self/fd/%d/%s", port->directory, name);
                port->listener = listener_new(here, mode, NULL, -1, accept, data, error);
        }
        if (port->listener)
                return port;
        guest_port_free(port);
        return NULL;
}

void guest_port_free(GuestPort *port)
{
        guint i;

        if (!port)
                return;
        listener_free(port->listener);
        fd_clear(&port->directory);
        for (i = port->made->len; i-- > 0;) {
                const Made *made = &g_array_index(port->made, Made, i);

                unlinkat(made->parent, made->name, AT_REMOVEDIR);
        }
        g_array_unref(port->made);
        g_free(port);
}

Listener *guest_port_listener(const GuestPort *port)
{
        return port->listener;
}
