/* SPDX-License-Identifier: MIT */
#include "util/library.h"

#include <dlfcn.h>

void *library_load(const char *const *names, const LibrarySymbol *symbols, size_t n, void *api,
                   const char **ret_missing)
{
        void *library = NULL;
        size_t i;

        *ret_missing = NULL;
        for (; !library && *names; names++)
                library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        for (i = 0; library && i < n; i++) {
                void *address = dlsym(library, symbols[i].name);

                if (!address) {
                        *ret_missing = symbols[i].name;
                        dlclose(library);
                        return NULL;
                }
                *(void **)((char *)api + symbols[i].offset) = address;
        }
        return library;
}
