/* SPDX-License-Identifier: MIT */
#include "push/curl-api.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdbool.h>

/* One library, built with one or the other library for TLS. */
static const char *const LIBRARIES[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static const struct {
        const char *name;
        size_t offset;
} SYMBOLS[] = {
#define CURL_API_SYMBOL(name) {"curl_" #name, offsetof(CurlApi, name)},
        CURL_API(CURL_API_SYMBOL)
#undef CURL_API_SYMBOL
};

static void *curl_api_open(GError **error)
{
        void *library = NULL;
        size_t i;

        for (i = 0; !library && i < G_N_ELEMENTS(LIBRARIES); i++)
                library = dlopen(LIBRARIES[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                            "libcurl is not installed, which sends profiles (%s): apt install "
                            "libcurl4",
                            dlerror());
        return library;
}

const CurlApi *curl_api(GError **error)
{
        static CurlApi api;
        static bool is_loaded;
        void *library;
        size_t i;

        if (is_loaded)
                return &api;
        library = curl_api_open(error);
        if (!library)
                return NULL;
        for (i = 0; i < G_N_ELEMENTS(SYMBOLS); i++) {
                void *address = dlsym(library, SYMBOLS[i].name);

                if (!address) {
                        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                                    "libcurl has no %s: 7.88 or newer is needed", SYMBOLS[i].name);
                        dlclose(library);
                        return NULL;
                }
                *(void **)((char *)&api + SYMBOLS[i].offset) = address;
        }
        is_loaded = true;
        return &api;
}
