/* SPDX-License-Identifier: MIT */
#include "cli/time-text.h"

#include <glib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* The digits at *TEXT, which is moved behind them. */
static bool take_number(const char **text, uint64_t *ret_u)
{
        if (!g_ascii_isdigit(**text))
                return false;
        for (*ret_u = 0; g_ascii_isdigit(**text); ++*text)
                if (__builtin_mul_overflow(*ret_u, 10, ret_u) ||
                    __builtin_add_overflow(*ret_u, (uint64_t)(**text - '0'), ret_u))
                        return false;
        return true;
}

/* Digits behind the ninth are cut. */
static bool take_fraction(const char **text, uint64_t *ret_ns)
{
        uint64_t scale = NS_PER_S / 10;

        if (!g_ascii_isdigit(**text))
                return false;
        for (*ret_ns = 0; g_ascii_isdigit(**text); ++*text, scale /= 10)
                *ret_ns += (uint64_t)(**text - '0') * scale;
        return true;
}

bool time_from_plain_text(const char *text, uint64_t *ret_time)
{
        uint64_t time, fraction;

        if (!take_number(&text, &time))
                return false;
        if (*text == '.') {
                text++;
                if (!take_fraction(&text, &fraction) ||
                    __builtin_mul_overflow(time, NS_PER_S, &time) ||
                    __builtin_add_overflow(time, fraction, &time))
                        return false;
        }
        if (*text == ':')
                text++;
        if (*text)
                return false;
        *ret_time = time;
        return true;
}
