/* SPDX-License-Identifier: MIT */

/*
 * A method's name from the texts of an event: namespace, name and signature of the method, then
 * those of a stub's target, if any; then its type arguments and the names of its type parameters.
 * Each text ends with a NUL.
 */

#include "fuzz.h"
#include "names/name.h"
#include "util/printable.h"

#include <glib.h>
#include <string.h>

enum { N_TEXTS = 9 };

static void check_text(const char *text)
{
        for (; *text; text++)
                FUZZ_REQUIRE((unsigned char)*text >= 0x20 && *text != 0x7f);
}

/* Checks the whole name, and a truncated one. */
static void check_name(const RawName *raw, NameStyle style, size_t n_raw, size_t n_cut)
{
        size_t n = name_format(raw, style, NULL, 0);
        g_autofree char *name = g_malloc(n + 1), *cut = NULL;

        FUZZ_REQUIRE(n <= 64 * n_raw + 64);
        FUZZ_REQUIRE(name_format(raw, style, name, n + 1) == n && strlen(name) == n);
        FUZZ_REQUIRE(g_utf8_validate(name, (gssize)n, NULL));
        check_text(name);
        n_cut %= n + 1;
        cut = g_malloc(n_cut + 1);
        FUZZ_REQUIRE(name_format(raw, style, cut, n_cut + 1) == n);
        FUZZ_REQUIRE(g_str_has_prefix(name, cut) && g_utf8_validate(cut, -1, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_auto(GStrv) texts = g_new0(char *, N_TEXTS + 1);
        RawName raw = {0}, target = {0};
        FuzzInput input = {data, size};
        unsigned style, i;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        for (i = 0; i < N_TEXTS; i++) {
                const uint8_t *end = input.n ? memchr(input.at, '\0', input.n) : NULL;
                FuzzInput part = fuzz_take_part(&input, end ? (size_t)(end - input.at) : input.n);

                fuzz_take(&input, 1);
                texts[i] = g_strndup(part.n ? (const char *)part.at : "", part.n);
        }
        raw = (RawName){.name_space = texts[0], .name = texts[1], .signature = texts[2]};
        if (*texts[6])
                raw.type_args = texts[6];
        raw.type_params = texts[7];
        raw.method_params = texts[8];
        target = (RawName){.name_space = texts[3], .name = texts[4], .signature = texts[5]};
        if (*target.name)
                raw.stub_target = &target;
        for (style = 0; style < _NAME_STYLE_MAX; style++)
                check_name(&raw, (NameStyle)style, size, size * 7);
        return 0;
}
