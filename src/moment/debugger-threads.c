/* SPDX-License-Identifier: MIT */
#include "moment/debugger-threads.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Reads "0x7f.."; false: another value. */
static bool number_read(const json_t *value, uint64_t *ret)
{
        const char *text = json_string_value(value);
        char *end;

        if (!text || strncmp(text, "0x", 2) != 0 || !g_ascii_isxdigit(text[2]))
                return false;
        errno = 0;
        *ret = strtoull(text + 2, &end, 16);
        return !*end && !errno;
}

static bool thread_read(const json_t *object, const Machine *machine, MomentThread *ret)
{
        const json_t *registers = json_object_get(object, "registers");
        const json_int_t tid = json_integer_value(json_object_get(object, "tid"));
        const char *name = json_string_value(json_object_get(object, "name"));
        unsigned i;

        if (tid < 1 || tid > G_MAXINT32)
                return false;
        ret->tid = (pid_t)tid;
        g_strlcpy(ret->name, name ? name : "", sizeof(ret->name));
        for (i = 0; i < N_REGISTERS && machine->names[i]; i++) {
                const json_t *value = json_object_get(registers, machine->names[i]);
                const bool is_needed = i == REGISTER_PC || i == REGISTER_SP;

                if (value ? !number_read(value, &ret->registers[i]) : is_needed)
                        return false;
        }
        return true;
}

bool debugger_threads_read(Moment *moment, const char *text, size_t n, GError **error)
{
        json_error_t failure;
        json_t *threads = n <= DEBUGGER_THREADS_MAX_TEXT
                                  ? json_loadb(text, n, JSON_REJECT_DUPLICATES, &failure)
                                  : NULL;
        const size_t n_threads = json_array_size(threads);
        bool ok = n_threads > 0 && n_threads <= DEBUGGER_THREADS_MAX;
        size_t i;

        for (i = 0; ok && i < n_threads; i++) {
                MomentThread thread = {0};

                ok = thread_read(json_array_get(threads, i), moment->machine, &thread);
                if (ok)
                        g_array_append_val(moment->threads, thread);
        }
        json_decref(threads);
        if (!ok)
                g_set_error(error, MOMENT_ERROR, 0,
                            "cannot read the threads of the debugger: it is not a JSON array of "
                            "objects with tid, name, and registers with %s and %s",
                            moment->machine->names[REGISTER_PC],
                            moment->machine->names[REGISTER_SP]);
        return ok;
}
