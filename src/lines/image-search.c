/* SPDX-License-Identifier: MIT */
#include "lines/image-search.h"

#include "util/fd.h"
#include "util/rootfs.h"

/* Searches the module's place, and the program. */
static bool search_process(ImageSources *sources, pid_t pid, const char *path, uint64_t *work,
                           ImageFn fn, void *data)
{
        FD_AUTO int process_root = rootfs_open_root(pid);
        /*
         * An ended process may have had another root: search ours, because ids identify the files.
         */
        FD_AUTO int own_root = process_root < 0 ? rootfs_open_root(0) : -1;
        const int root = process_root >= 0 ? process_root : own_root;
        FD_AUTO int fd = rootfs_open_file(root, path);

        if (fd >= 0)
                return fn(&(ImageBytes){fd, 0, work}, data);
        return bundles_find_image(&sources->bundles, pid, root, path, work, fn, data);
}

void image_search(ImageSources *sources, pid_t pid, const char *path, ImageFn fn, void *data)
{
        uint64_t work = SOURCES_FILE_WORK;

        if (!image_sources_may_look(sources, pid))
                return;
        if (!search_process(sources, pid, path, &work, fn, data))
                symbol_dirs_find_image(&sources->dirs, path, &work, fn, data);
        image_sources_add_work(sources, pid, work);
}
