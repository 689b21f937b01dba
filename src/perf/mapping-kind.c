/* SPDX-License-Identifier: MIT */
#include "perf/mapping-kind.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

typedef enum DsoMatch {
        MATCH_WHOLE,
        MATCH_BEGIN,
        MATCH_END,    /* end of the path, in upper or lower case */
        MATCH_LIBRARY /* "libc.so", "libc.so.6" */
} DsoMatch;

static const struct {
        DsoMatch match;
        const char *text;
        MappingKind kind;
} ROWS[] = {
        {MATCH_WHOLE, "[unknown]", MAPPING_NOWHERE},
        /* W^X: the runtime maps the memory of jitted code a second time, executable. */
        {MATCH_BEGIN, "/memfd:doublemapper", MAPPING_JITTED},
        {MATCH_BEGIN, "//anon", MAPPING_JITTED},
        {MATCH_BEGIN, "/anon_hugepage", MAPPING_JITTED},
        {MATCH_BEGIN, "/dev/zero", MAPPING_JITTED},
        {MATCH_BEGIN, "/SYSV", MAPPING_JITTED},
        {MATCH_WHOLE, "anon", MAPPING_JITTED},
        {MATCH_WHOLE, "[heap]", MAPPING_JITTED},
        /* Anonymous memory for which perf reads a perf map. */
        {MATCH_BEGIN, "[JIT] tid ", MAPPING_JITTED},
        {MATCH_BEGIN, "/tmp/perf-", MAPPING_JITTED},
        {MATCH_END, ".dll", MAPPING_IMAGE},
        {MATCH_END, ".exe", MAPPING_IMAGE},
        {MATCH_BEGIN, "[", MAPPING_LIBRARY}, /* [vdso] */
        {MATCH_LIBRARY, ".so", MAPPING_LIBRARY},
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

MappingKind mapping_kind_of_dso(const char *dso)
{
        static const char DELETED[] = " (deleted)";
        size_t i, n;

        if (!dso || !*dso)
                return MAPPING_NOWHERE;
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
                        return ROWS[i].kind;
        }
        return MAPPING_OTHER;
}

bool mapping_is_of_runtime(const char *dso)
{
        static const char *const LIBRARIES[] = {"libcoreclr.so", "libclrjit.so"};
        const char *slash = dso ? strrchr(dso, '/') : NULL;
        size_t i;

        for (i = 0; slash && i < sizeof(LIBRARIES) / sizeof(LIBRARIES[0]); i++)
                if (!strcmp(slash + 1, LIBRARIES[i]))
                        return true;
        return false;
}

bool mapping_kind_may_be_managed(MappingKind kind, const char *symbol)
{
        switch (kind) {
        case MAPPING_NOWHERE:
        case MAPPING_OTHER:
                return !symbol;
        case MAPPING_JITTED: /* the name may be from a perf map, which has no times */
        case MAPPING_IMAGE:
        case MAPPING_MANAGED:
                return true;
        case MAPPING_LIBRARY:
                break;
        }
        return false;
}
