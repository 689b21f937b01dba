/* SPDX-License-Identifier: MIT */
#include "lttng/lttng-api.h"

#include "lttng/errors.h"
#include "util/library.h"

#include <dlfcn.h>
#include <stdbool.h>

static const char *const NAMES[] = {"liblttng-ctl.so.0", NULL};

static const LibrarySymbol SYMBOLS[] = {
#define LTTNG_API_SYMBOL(name) {#name, offsetof(LttngApi, name)},
        LTTNG_API(LTTNG_API_SYMBOL)
#undef LTTNG_API_SYMBOL
};

const LttngApi *lttng_api(GError **error)
{
        static LttngApi api;
        static bool is_loaded;
        const char *missing;
        void *library;

        if (is_loaded)
                return &api;
        library = library_load(NAMES, SYMBOLS, G_N_ELEMENTS(SYMBOLS), &api, &missing);
        if (!library) {
                if (missing)
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_MISSING,
                                    "%s has no %s: LTTng 2.13 or newer is needed", NAMES[0],
                                    missing);
                else
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_MISSING,
                                    "LTTng is not installed (%s): apt install lttng-tools",
                                    dlerror());
                return NULL;
        }
        *(void **)&api.lttng_session_descriptor_set_trace_format =
                dlsym(library, "lttng_session_descriptor_set_trace_format");
        is_loaded = true;
        return &api;
}
