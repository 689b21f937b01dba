/* SPDX-License-Identifier: MIT */
#include "lines/image-search.h"

#include "lines/bundle.h"
#include "util/fd.h"
#include "util/rootfs.h"

void image_search(pid_t pid, const char *path, const SymbolDirs *dirs, SymbolImageFn fn, void *data)
{
        FD_AUTO int process_root = rootfs_open_root(pid);
        /* A process that is gone may have had another root. The ids show what is its. */
        FD_AUTO int own_root = process_root < 0 ? rootfs_open_root(0) : -1;
        const int root = process_root >= 0 ? process_root : own_root;
        FD_AUTO int fd = rootfs_open_file(root, path);

        if (!(fd >= 0 && fn(fd, 0, data)) &&
            !(fd < 0 && bundle_find_image(pid, root, path, fn, data)))
                symbol_dirs_find_image(dirs, path, fn, data);
}
