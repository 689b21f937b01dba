/* SPDX-License-Identifier: MIT */
#include "push/curl-api.h"

#include "util/library.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdbool.h>

/* One library, built with one or the other library for TLS. */
static const char *const NAMES[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};

static const LibrarySymbol SYMBOLS[] = {
#define CURL_API_SYMBOL(name) {"curl_" #name, offsetof(CurlApi, name)},
        CURL_API(CURL_API_SYMBOL)
#undef CURL_API_SYMBOL
};

const CurlApi *curl_api(GError **error)
{
        static CurlApi api;
        static bool is_loaded;
        const char *missing;

        if (is_loaded)
                return &api;
        is_loaded = library_load(NAMES, SYMBOLS, G_N_ELEMENTS(SYMBOLS), &api, &missing);
        if (!is_loaded && missing)
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                            "libcurl has no %s: 7.88 or newer is needed", missing);
        else if (!is_loaded)
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                            "libcurl is not installed, which sends profiles (%s): apt install "
                            "libcurl4",
                            dlerror());
        return is_loaded ? &api : NULL;
}
