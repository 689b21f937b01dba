/* SPDX-License-Identifier: MIT */
#include "unwind/dwarf-api.h"

#include "util/library.h"

static const LibrarySymbol SYMBOLS[] = {
#define DWARF_API_SYMBOL(name) {#name, offsetof(DwarfApi, name)},
        DWARF_API(DWARF_API_SYMBOL)
#undef DWARF_API_SYMBOL
};

static Library library = {
        .names = {"libdw.so.1"},
        .symbols = SYMBOLS,
        .n_symbols = G_N_ELEMENTS(SYMBOLS),
        .name = "libdw",
        .absent = "libdw is not installed, which knows the frames of native code",
        .package = "libdw1",
        .version = "0.188",
};

const DwarfApi *dwarf_api(GError **error)
{
        static DwarfApi api;

        return library_load(&library, &api, error);
}
