/* SPDX-License-Identifier: MIT */

/*
 * A program that exports the name MARK, as those do that have a .NET runtime in themselves; or that
 * only has it as a text. It waits to be killed.
 */

#include <stdio.h>
#include <unistd.h>

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

#ifdef IS_EXPORTED
int MARK = 1;
#endif

int main(void)
{
        /* With the name, so that it is in the file either way. */
        printf("READY " TEXT(MARK) "\n");
        fflush(stdout);
        for (;;)
                pause();
}
