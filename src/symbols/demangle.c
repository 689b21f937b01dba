/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a mangled name, and of the result. A short name can refer to its own parts again and
 * again, so that the result could have any length. */
#define MAX_NAME   4096
#define MAX_RESULT 8192

typedef struct Demangling {
        char text[MAX_RESULT];
        size_t n;
        jmp_buf too_long;
} Demangling;

/* libiberty has allocated only its stack when it calls this. */
static void demangling_add(const char *text, size_t n, void *data)
{
        Demangling *demangling = data;

        if (n >= MAX_RESULT - demangling->n)
                longjmp(demangling->too_long, 1);
        memcpy(demangling->text + demangling->n, text, n);
        demangling->n += n;
}

static bool demangling_run(Demangling *demangling, const char *name)
{
        if (setjmp(demangling->too_long))
                return false;
        if (rust_demangle_callback(name, DMGL_NO_OPTS, demangling_add, demangling))
                return true;
        demangling->n = 0;
        return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, demangling_add, demangling);
}

char *demangle(const char *name)
{
        const bool is_mangled = !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
        Demangling demangling;

        demangling.n = 0;
        return is_mangled && strnlen(name, MAX_NAME) < MAX_NAME && demangling_run(&demangling, name)
                       ? strndup(demangling.text, demangling.n)
                       : NULL;
}
