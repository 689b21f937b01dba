/* SPDX-License-Identifier: MIT */
#include "perf/type-handles.h"

#include <string.h>

/* The prefix of a handle in style csharp; see handle_append() of names/signature.c. */
#define HANDLE "type:"

void type_handles_drop(char *name)
{
        const char *from = name;
        char *to = name;

        while (*from) {
                if (strncmp(from, HANDLE "0x", strlen(HANDLE "0x"))) {
                        *to++ = *from++;
                        continue;
                }
                /* Keep the prefix, without its colon. */
                memmove(to, from, strlen(HANDLE) - 1);
                to += strlen(HANDLE) - 1;
                from += strlen(HANDLE "0x");
                from += strspn(from, "0123456789abcdefABCDEF");
        }
        *to = '\0';
}
