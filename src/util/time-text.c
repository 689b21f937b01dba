/* SPDX-License-Identifier: MIT */
#include "util/time-text.h"

#include "util/seconds-text.h"

#include <glib.h>
#include <string.h>
#include <time.h>

#define NS NS_PER_SECOND

static bool parse_digits(const char **text, uint64_t *ret_u)
{
        const char *p = *text;

        if (!g_ascii_isdigit(*p))
                return false;
        for (*ret_u = 0; g_ascii_isdigit(*p); p++)
                if (__builtin_mul_overflow(*ret_u, 10, ret_u) ||
                    __builtin_add_overflow(*ret_u, (uint64_t)(*p - '0'), ret_u))
                        return false;
        *text = p;
        return true;
}

/* ".frac" in ns; digits after the ninth are dropped, as perf does. */
static bool parse_fraction(const char **text, uint64_t *ret_ns)
{
        uint64_t scale = NS / 10;
        const char *p = *text;

        *ret_ns = 0;
        if (*p != '.')
                return true;
        if (!g_ascii_isdigit(*++p))
                return false;
        for (; g_ascii_isdigit(*p); p++, scale /= 10)
                *ret_ns += (uint64_t)(*p - '0') * scale;
        *text = p;
        return true;
}

static const char *from_realtime(int64_t realtime, const TimeContext *context, uint64_t *ret_time)
{
        int64_t time;

        if (!context->has_offset)
                return "the clock offset is not known yet: give a monotonic time";
        if (__builtin_sub_overflow(realtime, context->clock_offset, &time) || time < 0)
                return "a time before the machine started";
        *ret_time = (uint64_t)time;
        return NULL;
}

/* "-5s": 5 s before now. */
static const char *from_age(const char *text, const TimeContext *context, uint64_t *ret_time)
{
        static const struct {
                const char *unit;
                uint64_t ns;
        } UNITS[] = {{"", NS},  {"s", NS},      {"ms", NS / 1000}, {"us", NS / 1000000},
                     {"ns", 1}, {"m", 60 * NS}, {"h", 3600 * NS}};
        uint64_t whole, fraction;
        size_t i;

        if (!parse_digits(&text, &whole) || !parse_fraction(&text, &fraction))
                return "not a time";
        for (i = 0; i < G_N_ELEMENTS(UNITS); i++) {
                uint64_t age;

                if (strcmp(text, UNITS[i].unit))
                        continue;
                /* fraction is in 1e-9 of a unit. */
                if (__builtin_mul_overflow(whole, UNITS[i].ns, &age) ||
                    __builtin_add_overflow(
                            age, (uint64_t)((__uint128_t)fraction * UNITS[i].ns / NS), &age) ||
                    age > context->now)
                        return "a time before the machine started";
                *ret_time = context->now - age;
                return NULL;
        }
        return "not a time: the units are ns, us, ms, s, m and h";
}

/* "HH:MM:SS[.frac]", with a date if DAY has one. */
static const char *from_clock(const char *text, GDateTime *day, const TimeContext *context,
                              uint64_t *ret_time)
{
        g_autoptr(GDateTime) local = NULL;
        uint64_t hour, minute, second, fraction;

        if (!parse_digits(&text, &hour) || *text++ != ':' || !parse_digits(&text, &minute) ||
            *text++ != ':' || !parse_digits(&text, &second) || !parse_fraction(&text, &fraction) ||
            *text || hour > 23 || minute > 59 || second > 59)
                return "not a time of day";
        local = g_date_time_new_local(g_date_time_get_year(day), g_date_time_get_month(day),
                                      g_date_time_get_day_of_month(day), (gint)hour, (gint)minute,
                                      (gdouble)second);
        if (!local)
                return "not a time of day";
        return from_realtime(g_date_time_to_unix(local) * (int64_t)NS + (int64_t)fraction, context,
                             ret_time);
}

/* A time of day is on the day of the newest data, or on the day before if it is later than the
 * data. */
static const char *from_time_of_day(const char *text, const TimeContext *context,
                                    uint64_t *ret_time)
{
        g_autoptr(GDateTime) today = NULL, yesterday = NULL;
        uint64_t earlier;
        const char *wrong;

        if (!context->has_offset)
                return "the clock offset is not known yet: give a monotonic time";
        today = g_date_time_new_from_unix_local(((int64_t)context->end + context->clock_offset) /
                                                (int64_t)NS);
        if (!today)
                return "not a time of day";
        wrong = from_clock(text, today, context, ret_time);
        if (wrong || *ret_time <= context->end)
                return wrong;
        yesterday = g_date_time_add_days(today, -1);
        if (yesterday && !from_clock(text, yesterday, context, &earlier) &&
            earlier >= context->begin)
                *ret_time = earlier;
        return NULL;
}

static const char *from_date(const char *text, const TimeContext *context, uint64_t *ret_time)
{
        g_autoptr(GDateTime) day = NULL;
        uint64_t year, month, date;

        if (!parse_digits(&text, &year) || *text++ != '-' || !parse_digits(&text, &month) ||
            *text++ != '-' || !parse_digits(&text, &date) || (*text != ' ' && *text != 'T') ||
            year < 1970 || year > 9999 || month > 12 || date > 31)
                return "not a date and time";
        day = g_date_time_new_local((gint)year, (gint)month, (gint)date, 0, 0, 0);
        if (!day)
                return "not a date and time";
        return from_clock(text + 1, day, context, ret_time);
}

const char *time_from_text(const char *text, const TimeContext *context, uint64_t *ret_time)
{
        g_autofree char *copy = g_strstrip(g_strdup(text));
        size_t n = strlen(copy);
        const char *p = copy;
        uint64_t realtime, time;

        if (n && copy[n - 1] == ':') /* perf script ends a time with a colon */
                copy[--n] = '\0';
        if (!strcmp(p, "now")) {
                *ret_time = context->now;
                return NULL;
        }
        if (*p == '-')
                return from_age(p + 1, context, ret_time);
        if (*p == '@') {
                p = seconds_parse(p + 1, &realtime);
                if (!p || *p || realtime > INT64_MAX)
                        return "not a Unix time";
                return from_realtime((int64_t)realtime, context, ret_time);
        }
        if (n > 4 && p[4] == '-')
                return from_date(p, context, ret_time);
        if (strchr(p, ':'))
                return from_time_of_day(p, context, ret_time);
        if (strchr(p, '.')) {
                p = seconds_parse(p, &time);
                if (!p || *p)
                        return "not a time";
                *ret_time = time;
                return NULL;
        }
        if (!parse_digits(&p, ret_time) || *p)
                return "not a time";
        return NULL;
}
