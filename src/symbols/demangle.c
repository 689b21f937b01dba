/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

/* Deeper names are left as they are: the library calls itself for each level. */
#define MAX_NAME 4096

char *demangle(const char *name)
{
        const bool is_mangled = !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);

        return is_mangled && strnlen(name, MAX_NAME) < MAX_NAME ? cplus_demangle(name, DMGL_AUTO)
                                                                : NULL;
}
