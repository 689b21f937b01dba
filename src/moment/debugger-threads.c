/* SPDX-License-Identifier: MIT */
#include "moment/debugger-threads.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[MOMENT_N_REGISTERS] = {
        [MOMENT_AX] = "rax",  [MOMENT_BX] = "rbx",  [MOMENT_CX] = "rcx",  [MOMENT_DX] = "rdx",
        [MOMENT_SI] = "rsi",  [MOMENT_DI] = "rdi",  [MOMENT_BP] = "rbp",  [MOMENT_SP] = "rsp",
        [MOMENT_IP] = "rip",  [MOMENT_R8] = "r8",   [MOMENT_R9] = "r9",   [MOMENT_R10] = "r10",
        [MOMENT_R11] = "r11", [MOMENT_R12] = "r12", [MOMENT_R13] = "r13", [MOMENT_R14] = "r14",
        [MOMENT_R15] = "r15",
};

static bool threads_fail(GError **error, const char *what)
{
        g_set_error(error, MOMENT_ERROR, 0, "cannot read the threads of the debugger: %s", what);
        return false;
}

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

static bool thread_read(const json_t *object, MomentThread *ret)
{
        const json_t *registers = json_object_get(object, "registers");
        const json_int_t tid = json_integer_value(json_object_get(object, "tid"));
        const char *name = json_string_value(json_object_get(object, "name"));
        unsigned i;

        if (tid < 1 || tid > G_MAXINT32)
                return false;
        ret->tid = (pid_t)tid;
        g_strlcpy(ret->name, name ? name : "", sizeof(ret->name));
        for (i = 0; i < MOMENT_N_REGISTERS; i++) {
                const json_t *value = json_object_get(registers, NAMES[i]);
                const bool is_needed = i == MOMENT_IP || i == MOMENT_SP;

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

                ok = thread_read(json_array_get(threads, i), &thread);
                if (ok)
                        g_array_append_val(moment->threads, thread);
        }
        json_decref(threads);
        return ok || threads_fail(error, "it is not a JSON array of objects with tid, name, and "
                                         "registers with rip and rsp");
}
