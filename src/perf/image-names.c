/* SPDX-License-Identifier: MIT */
#include "perf/image-names.h"

#include <string.h>

void image_names_read(ImageNames *names, int fd)
{
        DebugDirectory directory;
        const char *reason;
        PeFile pe;

        *names = (ImageNames){.is_read = true};
        if (pe_file_read(&pe, fd, 0, &reason) < 0 ||
            r2r_names_read(&names->names, &pe, &reason) < 0)
                return;
        if (debug_directory_read(&directory, &pe, &reason) == 0 && directory.has_id)
                memcpy(names->guid, directory.id.guid, PDB_GUID_SIZE);
}

void image_names_deinit(ImageNames *names)
{
        r2r_names_free(names->names);
        *names = (ImageNames){0};
}
