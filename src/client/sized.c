/* SPDX-License-Identifier: MIT */
#include "client/sized.h"

#include <errno.h>
#include <string.h>

int sized_read(void *ret, size_t n, size_t first, const void *given, size_t size)
{
        const unsigned char *bytes = given;
        size_t i;

        if (!size)
                size = first;
        if (size < first)
                return -EINVAL;
        for (i = n; i < size; i++)
                if (bytes[i])
                        return -EINVAL;
        memset(ret, 0, n);
        memcpy(ret, given, size < n ? size : n);
        return 0;
}
