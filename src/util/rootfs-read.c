/* SPDX-License-Identifier: MIT */
#include "util/rootfs-read.h"

#include "util/fd.h"
#include "util/rootfs.h"

GBytes *rootfs_read(int root, const char *path, size_t max)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        FD_AUTO int fd = rootfs_open_file(root, path);
        ssize_t n = 1;

        if (fd < 0)
                return NULL;
        while (n > 0 && bytes->len < max) {
                guint old = bytes->len;
                size_t room = MIN(max - old, 65536);

                g_byte_array_set_size(bytes, (guint)(old + room));
                n = read(fd, bytes->data + old, room);
                g_byte_array_set_size(bytes, old + (guint)MAX(n, 0));
                if (n < 0 && errno == EINTR)
                        n = 1;
        }
        return n < 0 ? NULL : g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
}
