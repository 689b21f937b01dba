/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Message: why the last call failed, in one line
 */

typedef struct Message {
        char *text; /* owned; NULL: nothing failed, or there was no memory for it */
        int error;  /* negative errno, 0: nothing failed */
} Message;

/* Sets the text. Control characters are escaped, because parts can come from another program.
 * Returns ERROR, a negative errno. */
__attribute__((format(printf, 3, 4))) int message_set(Message *message, int error,
                                                      const char *format, ...);
int message_set_no_memory(Message *message);
/* Never NULL. */
const char *message_text(const Message *message);
void message_clear(Message *message);
