/* SPDX-License-Identifier: MIT */
#include "unwind/dwarf-api.h"

#include "util/library.h"

#include <dlfcn.h>
#include <stdbool.h>

static const char *const NAMES[] = {"libdw.so.1", NULL};

static const LibrarySymbol SYMBOLS[] = {
#define DWARF_API_SYMBOL(name) {#name, offsetof(DwarfApi, name)},
        DWARF_API(DWARF_API_SYMBOL)
#undef DWARF_API_SYMBOL
};

const DwarfApi *dwarf_api(GError **error)
{
        static DwarfApi api;
        static bool is_loaded;
        const char *missing;

        if (is_loaded)
                return &api;
        is_loaded = library_load(NAMES, SYMBOLS, G_N_ELEMENTS(SYMBOLS), &api, &missing);
        if (!is_loaded && missing)
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                            "libdw has no %s: 0.188 or newer is needed", missing);
        else if (!is_loaded)
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                            "libdw is not installed, which knows the frames of native code (%s): "
                            "apt install libdw1",
                            dlerror());
        return is_loaded ? &api : NULL;
}
