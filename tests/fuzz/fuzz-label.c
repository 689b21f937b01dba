/* SPDX-License-Identifier: MIT */

/* A frame's name, shortened for the graphs: u8 kind, u8 cells, then the name. */

#include "fuzz.h"
#include "profile/label.h"
#include "util/printable-string.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        FrameKind kind = (FrameKind)(fuzz_take(&input, 1) % (_FRAME_KIND_MAX + 1));
        size_t cells = fuzz_take(&input, 1), begin, end, n;
        g_autofree char *text = g_strndup(input.n ? (const char *)input.at : "", input.n);
        /* Profiles keep only printable names. */
        g_autofree char *name = text_printable(text);
        g_autoptr(GString) label = g_string_new(NULL);
        const Frame frame = {.name = name, .kind = kind, .is_marked = cells & 1};

        if (size > FUZZ_MAX_INPUT)
                return 0;
        n = strlen(name);
        label_short(&frame, &begin, &end);
        FUZZ_REQUIRE(begin <= end && end <= n && (begin < end || n == 0));
        FUZZ_REQUIRE(g_utf8_validate(name + begin, (gssize)(end - begin), NULL));
        FUZZ_REQUIRE(label_utf16_length(name, end) >= label_utf16_length(name, begin));
        label_append(label, &frame, cells);
        FUZZ_REQUIRE(g_utf8_validate(label->str, (gssize)label->len, NULL));
        FUZZ_REQUIRE(label_cells(label->str, label->len) <= cells + 1);
        return 0;
}
