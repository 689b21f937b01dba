/* SPDX-License-Identifier: MIT */
#include "util/library.h"

#include <dlfcn.h>

const void *library_load(Library *library, void *api, GError **error)
{
        const char *const *name = library->names;
        void *handle = NULL;
        size_t i;

        if (library->handle)
                return api;
        for (; !handle && *name; name++)
                handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s (%s): apt install %s",
                            library->absent, dlerror(), library->package);
                return NULL;
        }
        for (i = 0; i < library->n_symbols; i++) {
                void *address = dlsym(handle, library->symbols[i].name);

                if (!address) {
                        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                                    "%s has no %s: %s or newer is needed", library->name,
                                    library->symbols[i].name, library->version);
                        dlclose(handle);
                        return NULL;
                }
                *(void **)((char *)api + library->symbols[i].offset) = address;
        }
        library->handle = handle;
        return api;
}
