/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

/* The part of PATH after its last slash, a part of the same text. NULL stays NULL. */
static inline const char *file_name_of(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;

        return slash ? slash + 1 : path;
}
