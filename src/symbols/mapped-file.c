/* SPDX-License-Identifier: MIT */
#include "symbols/mapped-file.h"

#include "perf/mapping-file.h"
#include "perf/mapping-kind.h"

#include <glib.h>

bool mapped_file_is_native(const MappedFile *mapped)
{
        return (mapped->inode || mapped->n_build_id) && mapped->path[0] == '/' &&
               !g_str_has_prefix(mapped->path, "/memfd:") &&
               !g_str_has_prefix(mapped->path, "/dev/") &&
               mapping_kind_of_dso(mapped->path) != MAPPING_IMAGE;
}

int mapped_file_open(const MappedFile *mapped)
{
        const Mapping mapping = {.pid = mapped->pid,
                                 .since = UINT64_MAX,
                                 .major = mapped->major,
                                 .minor = mapped->minor,
                                 .inode = mapped->inode,
                                 .has_generation = mapped->generation != 0,
                                 .generation = mapped->generation,
                                 .path = mapped->path};
        MappingSource source;
        struct stat status;
        int fd = -1;

        for (source = MAPPING_HERE; source <= MAPPING_IN_ROOT; source++)
                if (!mapping_file_open(&mapping, source, &fd, &status))
                        return fd;
        return -1;
}
