/* SPDX-License-Identifier: MIT */
#include "names/name.h"

#include "names/member.h"
#include "names/signature.h"

static const char *const STYLES[_NAME_STYLE_MAX] = {
        [NAME_STYLE_CLR] = "clr",
        [NAME_STYLE_CSHARP] = "csharp",
        [NAME_STYLE_SHORT] = "short",
};

const char *name_style_text(NameStyle style)
{
        return (unsigned)style < _NAME_STYLE_MAX ? STYLES[style] : NULL;
}

static void clr_append(Text *text, const RawName *raw)
{
        Span name_space = span_of_text(raw->name_space);
        Signature signature;

        text_add_span(text, name_space);
        text_add(text, name_space.at < name_space.end ? "." : "");
        text_add_span(text, span_of_text(raw->name));
        signature_parse(raw->signature, &signature);
        text_add(text, "(");
        if (signature.has_arguments)
                text_add_span(text, signature.arguments);
        text_add(text, ")");
}

size_t name_format(const RawName *raw, NameStyle style, char *buffer, size_t n)
{
        Writer writer = {.is_short = style == NAME_STYLE_SHORT};

        text_init(&writer.text, buffer, n);
        if (raw->name && *raw->name) {
                if (style == NAME_STYLE_CLR)
                        clr_append(&writer.text, raw);
                else
                        member_append(&writer, raw);
                if (raw->is_thunk && style != NAME_STYLE_CLR)
                        text_add(&writer.text, " [thunk]");
        }
        return text_end(&writer.text);
}
