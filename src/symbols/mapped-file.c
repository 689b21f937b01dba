/* SPDX-License-Identifier: MIT */
#include "symbols/mapped-file.h"

#include "perf/mapping-file.h"

int mapped_file_open(const MappedFile *mapped)
{
        const Mapping mapping = {.pid = mapped->pid,
                                 .since = UINT64_MAX,
                                 .major = mapped->major,
                                 .minor = mapped->minor,
                                 .inode = mapped->inode,
                                 .path = mapped->path};
        MappingSource source;
        struct stat status;
        int fd = -1;

        for (source = MAPPING_HERE; source <= MAPPING_IN_ROOT; source++)
                if (!mapping_file_open(&mapping, source, &fd, &status))
                        return fd;
        return -1;
}
