/* SPDX-License-Identifier: MIT */
#include "push/push-attempt.h"

#include "util/printable-string.h"

#include <string.h>

/* s */
#define CONNECT_LIMIT 10
/* Bytes of an answer that are kept. */
#define MAX_REPLY 4096
/* Bytes of the answer's first line in a message. */
#define MAX_WORDS 200
/* Lower statuses are replies before the answer. */
#define LEAST_STATUS 200

/* The beginning of the store's answer. */
typedef struct PushReply {
        char bytes[MAX_REPLY];
        size_t n;
} PushReply;

/* Redirections are not followed: the URL names the receiver. */
PushOutcome push_outcome_of_status(long status)
{
        if (status >= 200 && status < 300)
                return PUSH_SENT;
        /* Too many requests; a failure or an overload of the store itself. After a proxy's 502 or
         * 504 the store may have the profile. */
        if (status == 429 || status == 500 || status == 503)
                return PUSH_NOT_TAKEN;
        return status >= 500 || status == 408 ? PUSH_UNCLEAR : PUSH_REFUSED;
}

char *push_status_advice(long status, const char *location)
{
        g_autofree char *shown = location ? text_printable(location) : NULL;

        if (status >= 300 && status < 400 && shown) {
                /* The address ends before the query, which is ours. */
                shown[strcspn(shown, "?#")] = '\0';
                return g_strdup_printf("; redirections are not followed: if %s is the store, give "
                                       "it (--push)",
                                       shown);
        }
        if (status == 401 || status == 403)
                return g_strdup("; set CLRSYM_PUSH_TOKEN to a token that may write");
        if (status == 404 || status == 405)
                return g_strdup("; give the address of Pyroscope, of Parca with "
                                "/profiles/writeraw at its end, or of a collector of OpenTelemetry "
                                "with /v1development/profiles (--push)");
        if (status == 413)
                return g_strdup("; profiles are smaller with a shorter interval (--every), or "
                                "fewer samples (--freq)");
        return g_strdup("");
}

static size_t reply_take(char *bytes, size_t size, size_t n, void *data)
{
        PushReply *reply = data;
        const size_t n_kept = MIN(size * n, sizeof(reply->bytes) - reply->n);

        memcpy(reply->bytes + reply->n, bytes, n_kept);
        reply->n += n_kept;
        /* A smaller result ends the request. */
        return n_kept;
}

/* ": TEXT", the first line of TEXT; or "". */
static char *words_of(char *text)
{
        g_autofree char *valid = g_utf8_make_valid(g_strstrip(text), -1);
        g_autofree char *shown = NULL;

        /* The first line of a page for browsers has no words. */
        valid[*valid == '<' ? 0 : strcspn(valid, "\r\n")] = '\0';
        if (strlen(valid) > MAX_WORDS)
                *g_utf8_find_prev_char(valid, valid + MAX_WORDS) = '\0';
        shown = text_printable(valid);
        return *shown ? g_strdup_printf(": %s", shown) : g_strdup("");
}

static char *reply_words(const PushReply *reply)
{
        g_autofree char *text = g_strndup(reply->bytes, reply->n);

        return words_of(text);
}

/* A collector answers with a status of success even if it has not accepted the profile. */
static bool attempt_is_rejected(const PushAttempt *attempt, const PushReply *reply,
                                char **ret_words)
{
        g_autofree char *reason = NULL;

        if (push_url_kind(attempt->url) != PUSH_OTLP ||
            !push_response_rejects((const uint8_t *)reply->bytes, reply->n, &reason))
                return false;
        *ret_words = words_of(reason);
        return true;
}

static int attempt_go_on(void *data, curl_off_t n_down, curl_off_t down, curl_off_t n_up,
                         curl_off_t up)
{
        const PushAttempt *attempt = data;

        return attempt->is_late(attempt->data);
}

static PushOutcome attempt_failure(const CurlApi *curl, CURL *request)
{
        long n_request = 0;

        /* Nothing of the request was sent. */
        curl->easy_getinfo(request, CURLINFO_REQUEST_SIZE, &n_request);
        return n_request ? PUSH_UNCLEAR : PUSH_NOT_TAKEN;
}

static void attempt_set_body(const CurlApi *curl, CURL *request, const PushItem *item,
                             curl_mime *form, const char *json)
{
        curl_mimepart *part;
        gsize n;
        const char *bytes = g_bytes_get_data(item->profile, &n);

        if (json) {
                curl->easy_setopt(request, CURLOPT_POSTFIELDS, json);
                return;
        }
        if (!form) {
                curl->easy_setopt(request, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
                curl->easy_setopt(request, CURLOPT_POSTFIELDS, bytes);
                return;
        }
        part = curl->mime_addpart(form);
        curl->mime_name(part, "profile");
        curl->mime_filename(part, "profile.pprof");
        curl->mime_data(part, bytes, n);
        curl->easy_setopt(request, CURLOPT_MIMEPOST, form);
}

static struct curl_slist *attempt_headers(const PushAttempt *attempt, PushKind kind)
{
        const CurlApi *curl = attempt->curl;
        /* No reply is awaited between the head and the body. */
        struct curl_slist *headers = curl->slist_append(NULL, "Expect:");

        if (kind == PUSH_PARCA)
                headers = curl->slist_append(headers, "Content-Type: application/json");
        if (kind == PUSH_OTLP) {
                headers = curl->slist_append(headers, "Content-Type: application/x-protobuf");
                headers = curl->slist_append(headers, "Content-Encoding: gzip");
        }
        if (attempt->token) {
                g_autofree char *line = g_strdup_printf("Authorization: Bearer %s", attempt->token);

                headers = curl->slist_append(headers, line);
        }
        return headers;
}

/* R is libcurl's result, WHY its message. */
static void attempt_judge(const PushAttempt *attempt, CURL *request, const PushReply *reply,
                          CURLcode r, const char *why, PushResult *ret_result)
{
        const CurlApi *curl = attempt->curl;
        g_autofree char *shown = push_url_shown(attempt->url);
        g_autofree char *words = reply_words(reply);
        g_autofree char *advice = NULL, *rejected = NULL;
        curl_off_t retry_after = 0;
        char *location = NULL;
        long status = 0;

        curl->easy_getinfo(request, CURLINFO_RESPONSE_CODE, &status);
        *ret_result = (PushResult){.outcome = attempt_failure(curl, request), .reason = -(int)r};
        if (r != CURLE_OK && status < LEAST_STATUS) {
                ret_result->message = g_strdup_printf(
                        "%s: %s", shown,
                        r == CURLE_ABORTED_BY_CALLBACK ? "no answer until the recording's end"
                        : *why                         ? why
                                                       : curl->easy_strerror(r));
                return;
        }
        ret_result->outcome = push_outcome_of_status(status);
        if (ret_result->outcome == PUSH_SENT && attempt_is_rejected(attempt, reply, &rejected)) {
                *ret_result = (PushResult){.outcome = PUSH_REFUSED, .reason = status};
                ret_result->message =
                        g_strdup_printf("%s has rejected the profile%s", shown, rejected);
                return;
        }
        if (ret_result->outcome == PUSH_SENT) {
                ret_result->reason = 0;
                return;
        }
        curl->easy_getinfo(request, CURLINFO_REDIRECT_URL, &location);
        curl->easy_getinfo(request, CURLINFO_RETRY_AFTER, &retry_after);
        advice = push_status_advice(status, location);
        ret_result->reason = status;
        ret_result->message =
                g_strdup_printf("%s answers with status %ld%s%s", shown, status, words, advice);
        ret_result->retry_after = retry_after;
}

void push_attempt_run(const PushAttempt *attempt, const PushItem *item, PushResult *ret_result)
{
        const CurlApi *curl = attempt->curl;
        const PushKind kind = push_url_kind(attempt->url);
        g_autofree char *url = push_request_url(attempt->url, item, g_get_host_name());
        g_autofree char *json =
                kind == PUSH_PARCA ? push_request_json(item, g_get_host_name()) : NULL;
        struct curl_slist *headers = attempt_headers(attempt, kind);
        CURL *request = curl->easy_init();
        curl_mime *form = kind == PUSH_PYROSCOPE ? curl->mime_init(request) : NULL;
        char why[CURL_ERROR_SIZE] = "";
        PushReply reply = {.n = 0};
        CURLcode r;

        curl->easy_setopt(request, CURLOPT_URL, url);
        curl->easy_setopt(request, CURLOPT_HTTPHEADER, headers);
        curl->easy_setopt(request, CURLOPT_ERRORBUFFER, why);
        curl->easy_setopt(request, CURLOPT_NOSIGNAL, 1L);
        /* A name server that does not answer is not waited for, either. */
        curl->easy_setopt(request, CURLOPT_QUICK_EXIT, 1L);
        curl->easy_setopt(request, CURLOPT_CONNECTTIMEOUT,
                          MIN(attempt->limit, (long)CONNECT_LIMIT));
        curl->easy_setopt(request, CURLOPT_TIMEOUT, attempt->limit);
        curl->easy_setopt(request, CURLOPT_WRITEFUNCTION, reply_take);
        curl->easy_setopt(request, CURLOPT_WRITEDATA, &reply);
        curl->easy_setopt(request, CURLOPT_NOPROGRESS, 0L);
        curl->easy_setopt(request, CURLOPT_XFERINFOFUNCTION, attempt_go_on);
        curl->easy_setopt(request, CURLOPT_XFERINFODATA, (void *)attempt);
        /*
         * Without this, libcurl sends a request again if a kept connection turns out to be closed.
         */
        curl->easy_setopt(request, CURLOPT_FRESH_CONNECT, 1L);
        curl->easy_setopt(request, CURLOPT_FORBID_REUSE, 1L);
        attempt_set_body(curl, request, item, form, json);
        r = curl->easy_perform(request);
        attempt_judge(attempt, request, &reply, r, why, ret_result);
        curl->mime_free(form);
        curl->slist_free_all(headers);
        curl->easy_cleanup(request);
}
