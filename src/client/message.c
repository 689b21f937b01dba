/* SPDX-License-Identifier: MIT */
#include "client/message.h"

#include "util/printable.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int message_set(Message *message, int error, const char *format, ...)
{
        TextBuffer writer = {0};
        va_list arguments;
        char *raw;
        int n;

        message_clear(message);
        message->error = error;
        va_start(arguments, format);
        n = vasprintf(&raw, format, arguments);
        va_end(arguments);
        if (n < 0)
                return error;
        text_buffer_put_printable(&writer, raw);
        message->text = malloc(writer.n + 1);
        if (message->text) {
                writer = (TextBuffer){.buffer = message->text, .size = writer.n + 1};
                text_buffer_put_printable(&writer, raw);
                text_buffer_end(&writer);
        }
        free(raw);
        return error;
}

int message_set_no_memory(Message *message)
{
        message_clear(message);
        message->error = -ENOMEM;
        return -ENOMEM;
}

const char *message_text(const Message *message)
{
        if (message->text)
                return message->text;
        return message->error ? "out of memory" : "nothing failed";
}

void message_clear(Message *message)
{
        free(message->text);
        *message = (Message){0};
}
