/* SPDX-License-Identifier: MIT */

/*
 * Names methods for tests that are not written in C: reads a namespace, a name and a signature,
 * each ended by a NUL, and writes the name in each style, each ended by a NUL; repeats until end of
 * file.
 */

#include "names/name.h"

#include <stdio.h>
#include <stdlib.h>

/* NULL: end of file. The caller owns the line. */
static char *field_read(void)
{
        char *field = NULL;
        size_t size = 0;

        if (getdelim(&field, &size, '\0', stdin) < 0) {
                free(field);
                return NULL;
        }
        return field;
}

static int name_write(const RawName *raw, NameStyle style)
{
        size_t n = name_format(raw, style, NULL, 0) + 1;
        char *name = malloc(n);
        int r;

        if (!name)
                return -1;
        name_format(raw, style, name, n);
        r = fwrite(name, 1, n, stdout) == n ? 0 : -1;
        free(name);
        return r;
}

int main(void)
{
        for (;;) {
                char *name_space = field_read(), *name = field_read(), *signature = field_read();
                const RawName raw = {
                        .name_space = name_space, .name = name, .signature = signature};
                int r = 0;
                unsigned style;

                if (!signature) {
                        int code = name_space || ferror(stdin) || fflush(stdout) ? 1 : 0;

                        free(name_space);
                        free(name);
                        return code;
                }
                for (style = 0; style < _NAME_STYLE_MAX && !r; style++)
                        r = name_write(&raw, (NameStyle)style);
                free(name_space);
                free(name);
                free(signature);
                if (r)
                        return 1;
        }
}
