/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Curl API: libcurl, loaded when it is first needed
 *
 * It brings thirty other libraries with it. Loading them takes longer than most verbs run, and only
 * one verb sends data.
 */

#include <curl/curl.h>
#include <glib.h>

/* Names without "curl_", because curl.h has macros with some of the names. */
#define CURL_API(X)                                                                                \
        X(easy_cleanup)                                                                            \
        X(easy_getinfo)                                                                            \
        X(easy_init)                                                                               \
        X(easy_perform)                                                                            \
        X(easy_setopt)                                                                             \
        X(easy_strerror)                                                                           \
        X(global_cleanup)                                                                          \
        X(global_init)                                                                             \
        X(mime_addpart)                                                                            \
        X(mime_data)                                                                               \
        X(mime_filename)                                                                           \
        X(mime_free)                                                                               \
        X(mime_init)                                                                               \
        X(mime_name)                                                                               \
        X(slist_append)                                                                            \
        X(slist_free_all)

typedef struct CurlApi {
#define CURL_API_MEMBER(name) __typeof__(curl_##name) *name;
        CURL_API(CURL_API_MEMBER)
#undef CURL_API_MEMBER
} CurlApi;

/* NULL with ERROR set: it is not installed, or too old. Not thread-safe. */
const CurlApi *curl_api(GError **error);
