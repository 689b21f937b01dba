/* SPDX-License-Identifier: MIT */
#include "util/seconds-text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N_DIGITS 9

char *seconds_to_text(uint64_t ns, char buffer[SECONDS_TEXT_SIZE])
{
        snprintf(buffer, SECONDS_TEXT_SIZE, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_SECOND,
                 ns % NS_PER_SECOND);
        return buffer;
}

static bool seconds_is_digit(char c)
{
        return c >= '0' && c <= '9';
}

const char *seconds_parse(const char *text, uint64_t *ret_ns)
{
        uint64_t seconds = 0, unit = NS_PER_SECOND / 10, ns = 0;
        const char *at;

        for (at = text; seconds_is_digit(*at); at++)
                if (__builtin_mul_overflow(seconds, 10, &seconds) ||
                    __builtin_add_overflow(seconds, (uint64_t)(*at - '0'), &seconds))
                        return NULL;
        if (at == text)
                return NULL;
        if (*at == '.') {
                if (!seconds_is_digit(*++at))
                        return NULL;
                for (; seconds_is_digit(*at); unit /= 10)
                        ns += (uint64_t)(*at++ - '0') * unit;
        }
        if (__builtin_mul_overflow(seconds, NS_PER_SECOND, &seconds) ||
            __builtin_add_overflow(seconds, ns, &ns))
                return NULL;
        *ret_ns = ns;
        return at;
}

bool seconds_from_text(const char *text, uint64_t *ret_ns)
{
        const char *point = strchr(text, '.'), *end;
        uint64_t ns;

        end = point && strlen(point + 1) == N_DIGITS ? seconds_parse(text, &ns) : NULL;
        if (!end || *end)
                return false;
        *ret_ns = ns;
        return true;
}
