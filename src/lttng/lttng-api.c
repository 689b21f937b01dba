/* SPDX-License-Identifier: MIT */
#include "lttng/lttng-api.h"

#include "lttng/errors.h"
#include "util/library.h"

#include <dlfcn.h>

static const LibrarySymbol SYMBOLS[] = {
#define LTTNG_API_SYMBOL(name) {#name, offsetof(LttngApi, name)},
        LTTNG_API(LTTNG_API_SYMBOL)
#undef LTTNG_API_SYMBOL
};

static Library library = {
        .names = {"liblttng-ctl.so.0"},
        .symbols = SYMBOLS,
        .n_symbols = G_N_ELEMENTS(SYMBOLS),
        .name = "liblttng-ctl.so.0",
        .absent = "LTTng is not installed",
        .package = "lttng-tools",
        .version = "LTTng 2.13",
};

const LttngApi *lttng_api(GError **error)
{
        static LttngApi api;
        g_autoptr(GError) reason = NULL;

        if (library.handle)
                return &api;
        if (!library_load(&library, &api, &reason)) {
                g_set_error_literal(error, LTTNG_ERROR, LTTNG_ERROR_MISSING, reason->message);
                return NULL;
        }
        *(void **)&api.lttng_session_descriptor_set_trace_format =
                dlsym(library.handle, "lttng_session_descriptor_set_trace_format");
        return &api;
}
