/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Message: what the last failed call says, in one line
 */

typedef struct Message {
        char *text; /* owned; NULL: nothing failed, or there was no memory for it */
        int error;  /* negative errno, 0: nothing failed */
} Message;

/*
 * Says it, with what a terminal would obey escaped, for parts of it may be another program's words.
 * Returns ERROR, a negative errno.
 */
__attribute__((format(printf, 3, 4))) int message_set(Message *message, int error,
                                                      const char *format, ...);
int message_set_no_memory(Message *message);
/* Never NULL. */
const char *message_text(const Message *message);
void message_clear(Message *message);
