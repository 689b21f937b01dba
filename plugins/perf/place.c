/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

typedef enum Match {
        MATCH_WHOLE,
        MATCH_BEGIN,
        MATCH_END,    /* of the path, in upper or lower case */
        MATCH_LIBRARY /* "libc.so", "libc.so.6" */
} Match;

static const struct {
        Match match;
        const char *text;
        Place place;
} ROWS[] = {
        {MATCH_WHOLE, "[unknown]", PLACE_NOWHERE},
        /* W^X: the runtime maps what it writes a second time, executable. */
        {MATCH_BEGIN, "/memfd:", PLACE_JITTED},
        {MATCH_BEGIN, "//anon", PLACE_JITTED},
        {MATCH_BEGIN, "/anon_hugepage", PLACE_JITTED},
        {MATCH_BEGIN, "/dev/zero", PLACE_JITTED},
        {MATCH_BEGIN, "/SYSV", PLACE_JITTED},
        {MATCH_WHOLE, "anon", PLACE_JITTED},
        {MATCH_WHOLE, "[heap]", PLACE_JITTED},
        /* What perf calls anonymous memory for which it looks for a perf map. */
        {MATCH_BEGIN, "[JIT] tid ", PLACE_JITTED},
        {MATCH_BEGIN, "/tmp/perf-", PLACE_JITTED},
        {MATCH_END, ".dll", PLACE_IMAGE},
        {MATCH_END, ".exe", PLACE_IMAGE},
        {MATCH_BEGIN, "[", PLACE_LIBRARY}, /* [vdso] */
        {MATCH_LIBRARY, ".so", PLACE_LIBRARY},
};

static bool ends_with(const char *text, size_t n, const char *end)
{
        size_t n_end = strlen(end);

        return n >= n_end && !strncasecmp(text + n - n_end, end, n_end);
}

static bool is_library(const char *path, size_t n)
{
        const char *slash = memrchr(path, '/', n);
        const char *name = slash ? slash + 1 : path;
        size_t n_name = n - (size_t)(name - path), i;

        for (i = 0; i + 3 <= n_name; i++)
                if (!memcmp(name + i, ".so", 3) && (i + 3 == n_name || name[i + 3] == '.'))
                        return true;
        return false;
}

Place place_of(const char *dso)
{
        static const char DELETED[] = " (deleted)";
        size_t i, n;

        if (!dso || !*dso)
                return PLACE_NOWHERE;
        n = strlen(dso);
        if (ends_with(dso, n, DELETED))
                n -= sizeof(DELETED) - 1;
        for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
                const char *text = ROWS[i].text;
                bool fits = false;

                switch (ROWS[i].match) {
                case MATCH_WHOLE:
                        fits = n == strlen(text) && !memcmp(dso, text, n);
                        break;
                case MATCH_BEGIN:
                        fits = !strncmp(dso, text, strlen(text));
                        break;
                case MATCH_END:
                        fits = ends_with(dso, n, text);
                        break;
                case MATCH_LIBRARY:
                        fits = is_library(dso, n);
                        break;
                }
                if (fits)
                        return ROWS[i].place;
        }
        return PLACE_OTHER;
}

bool place_may_be_managed(Place place, const char *symbol)
{
        switch (place) {
        case PLACE_NOWHERE:
        case PLACE_OTHER:
                return !symbol;
        case PLACE_JITTED: /* a perf map has no time */
        case PLACE_IMAGE:
                return true;
        case PLACE_LIBRARY:
                break;
        }
        return false;
}
