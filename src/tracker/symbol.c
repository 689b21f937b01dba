/* SPDX-License-Identifier: MIT */
#include "tracker/symbol.h"

#include "names/name.h"

#include <inttypes.h>

void symbol_append(GString *out, const Process *process, const Body *body)
{
        const RawName raw = {.name_space = strtab_text(process->names, body->name_space),
                             .name = strtab_text(process->names, body->name),
                             .signature = strtab_text(process->names, body->signature)};
        gsize begin = out->len;
        size_t n;

        if (!raw.name || !*raw.name) {
                g_string_append_printf(out, "method 0x%" PRIx64, body->method_id);
                return;
        }
        n = name_format(&raw, NAME_STYLE_CLR, out->str + begin, out->allocated_len - begin);
        if (n >= out->allocated_len - begin) {
                g_string_set_size(out, begin + n);
                name_format(&raw, NAME_STYLE_CLR, out->str + begin, n + 1);
        }
        out->len = begin + n;
}
