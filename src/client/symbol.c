/* SPDX-License-Identifier: MIT */
#include "clrsym/clrsym.h"
#include "names/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const NameStyle STYLES[] = {
        [CLRSYM_STYLE_CLR] = NAME_STYLE_CLR,
        [CLRSYM_STYLE_CSHARP] = NAME_STYLE_CSHARP,
        [CLRSYM_STYLE_SHORT] = NAME_STYLE_SHORT,
};

enum { N_STYLES = sizeof(STYLES) / sizeof(*STYLES) };

size_t clrsym_symbol(const clrsym_body *body, clrsym_style style, char *buffer, size_t n)
{
        const RawName target = {.name_space = body->stub_name_space,
                                .name = body->stub_name,
                                .signature = body->stub_signature};
        const RawName raw = {.name_space = body->name_space,
                             .name = body->name,
                             .signature = body->signature,
                             .stub_target = body->stub_name ? &target : NULL,
                             .type_args = body->type_arg_names,
                             .type_params = body->type_param_names,
                             .method_params = body->method_param_names,
                             .is_thunk = body->is_thunk};

        if (!body->name || !*body->name)
                return (size_t)snprintf(buffer, n, "method 0x%" PRIx64, body->method_id);
        return name_format(&raw, (unsigned)style < N_STYLES ? STYLES[style] : NAME_STYLE_CLR,
                           buffer, n);
}

const char *clrsym_style_name(clrsym_style style)
{
        return name_style_text((unsigned)style < N_STYLES ? STYLES[style] : NAME_STYLE_CLR);
}

bool clrsym_style_from_name(const char *name, clrsym_style *ret_style)
{
        unsigned i;

        for (i = 0; i < N_STYLES; i++)
                if (!strcmp(name, name_style_text(STYLES[i]))) {
                        *ret_style = (clrsym_style)i;
                        return true;
                }
        return false;
}
