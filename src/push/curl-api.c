/* SPDX-License-Identifier: MIT */
#include "push/curl-api.h"

#include "util/library.h"

static const LibrarySymbol SYMBOLS[] = {
#define CURL_API_SYMBOL(name) {"curl_" #name, offsetof(CurlApi, name)},
        CURL_API(CURL_API_SYMBOL)
#undef CURL_API_SYMBOL
};

static Library library = {
        /* One library, built with either of two libraries for TLS. */
        .names = {"libcurl.so.4", "libcurl-gnutls.so.4"},
        .symbols = SYMBOLS,
        .n_symbols = G_N_ELEMENTS(SYMBOLS),
        .name = "libcurl",
        .absent = "libcurl is not installed, which sends profiles",
        .package = "libcurl4",
        .version = "7.88",
};

const CurlApi *curl_api(GError **error)
{
        static CurlApi api;

        return library_load(&library, &api, error);
}
