/* SPDX-License-Identifier: MIT */
#include "lttng/lttng-api.h"

#include "lttng/errors.h"

#include <dlfcn.h>
#include <stdbool.h>

#define LIBRARY "liblttng-ctl.so.0"

static const struct {
        const char *name;
        size_t offset;
} SYMBOLS[] = {
#define LTTNG_API_SYMBOL(name) {#name, offsetof(LttngApi, name)},
        LTTNG_API(LTTNG_API_SYMBOL)
#undef LTTNG_API_SYMBOL
};

const LttngApi *lttng_api(GError **error)
{
        static LttngApi api;
        static bool is_loaded;
        void *library;
        size_t i;

        if (is_loaded)
                return &api;
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_MISSING,
                            "LTTng is not installed (%s): apt install lttng-tools", dlerror());
                return NULL;
        }
        for (i = 0; i < G_N_ELEMENTS(SYMBOLS); i++) {
                void *address = dlsym(library, SYMBOLS[i].name);

                if (!address) {
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_MISSING,
                                    LIBRARY " has no %s: LTTng 2.13 or newer is needed",
                                    SYMBOLS[i].name);
                        dlclose(library);
                        return NULL;
                }
                *(void **)((char *)&api + SYMBOLS[i].offset) = address;
        }
        *(void **)&api.lttng_session_descriptor_set_trace_format =
                dlsym(library, "lttng_session_descriptor_set_trace_format");
        is_loaded = true;
        return &api;
}
