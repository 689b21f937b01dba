/* SPDX-License-Identifier: MIT */
#include "client/printable.h"
#include "clrsym/clrsym.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The "(...)" that ends a signature such as "class System.String  (int32,bool)". */
static const char *arguments(const char *signature)
{
        size_t n = strlen(signature);
        int depth = 0;

        if (!n || signature[n - 1] != ')')
                return NULL;
        while (n-- > 0) {
                depth += signature[n] == ')' ? 1 : signature[n] == '(' ? -1 : 0;
                if (!depth)
                        return signature + n;
        }
        return NULL;
}

size_t clrsym_symbol(const clrsym_body *body, char *buffer, size_t n)
{
        const char *args = body->signature ? arguments(body->signature) : NULL;
        Writer writer = {.buffer = buffer, .size = n};

        if (body->name) {
                if (body->name_space && *body->name_space) {
                        writer_put_printable(&writer, body->name_space);
                        writer_put(&writer, ".", 1);
                }
                writer_put_printable(&writer, body->name);
                writer_put_printable(&writer, args ? args : "()");
        } else {
                char text[32];

                snprintf(text, sizeof(text), "method 0x%" PRIx64, body->method_id);
                writer_put_text(&writer, text);
        }
        writer_end(&writer);
        return writer.n;
}
