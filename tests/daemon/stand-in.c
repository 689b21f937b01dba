/* SPDX-License-Identifier: MIT */

/*
 * A program that exports the name MARK, like programs with a .NET runtime in their own file; or
 * that only contains the name as text. It waits for a signal that kills it.
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
        /* The text has the name, so both variants of the file contain it. */
        printf("READY " TEXT(MARK) "\n");
        fflush(stdout);
        for (;;)
                pause();
}
