/* SPDX-License-Identifier: MIT */
#include "push/pusher.h"

#include "push/curl-api.h"

/* In s. */
#define CONNECT_LIMIT 10
#define SEND_LIMIT    30
#define END_LIMIT     5
/* Between two tries, in us. */
#define MIN_PAUSE G_TIME_SPAN_SECOND
#define MAX_PAUSE G_TIME_SPAN_MINUTE

/* What became of a profile. */
typedef enum Outcome {
        OUTCOME_SENT,
        OUTCOME_NOT_TAKEN, /* certainly: it can be sent again */
        OUTCOME_UNCLEAR,
        OUTCOME_REFUSED,
} Outcome;

struct Pusher {
        const CurlApi *curl; /* borrowed */
        PusherSettings settings;
        GThread *thread;
        GMutex mutex;
        GCond changed;
        GQueue *items; /* owned PushItem, the oldest first */
        uint64_t n_bytes;
        PusherCounts counts;
        gint64 end; /* us of g_get_monotonic_time(): when it must be over; 0: not yet to end */
        char *last; /* owned: the message of the last failure, which is printed once */
};

/* With the mutex. */
static PushItem *pusher_take_oldest(Pusher *pusher)
{
        PushItem *item = g_queue_pop_head(pusher->items);

        if (item)
                pusher->n_bytes -= g_bytes_get_size(item->profile);
        return item;
}

/* With the mutex. */
static void pusher_drop_oldest(Pusher *pusher)
{
        push_item_free(pusher_take_oldest(pusher));
        pusher->counts.n_dropped++;
}

static void pusher_note(Pusher *pusher, char *message)
{
        if (g_strcmp0(message, pusher->last) && message)
                pusher->settings.note(message, pusher->settings.data);
        g_free(pusher->last);
        pusher->last = message;
}

/* Sending */

/* A redirection is not followed: who it is sent to stands in the URL. */
static Outcome outcome_of_status(long status)
{
        if (status >= 200 && status < 300)
                return OUTCOME_SENT;
        /* Too many requests; a failure or an overload of the store itself. A proxy's 502 or 504
         * leaves open whether the store has it. */
        if (status == 429 || status == 500 || status == 503)
                return OUTCOME_NOT_TAKEN;
        return status >= 500 || status == 408 ? OUTCOME_UNCLEAR : OUTCOME_REFUSED;
}

static Outcome outcome_of_failure(const CurlApi *curl, CURL *request)
{
        long n_request = 0;

        /* Nothing of the request has left. */
        curl->easy_getinfo(request, CURLINFO_REQUEST_SIZE, &n_request);
        return n_request ? OUTCOME_UNCLEAR : OUTCOME_NOT_TAKEN;
}

static size_t reply_ignore(char *bytes, size_t size, size_t n, void *data)
{
        return size * n;
}

static void request_set_body(const CurlApi *curl, CURL *request, const PushItem *item,
                             curl_mime *form, const char *json)
{
        curl_mimepart *part;
        gsize n;
        const char *bytes = g_bytes_get_data(item->profile, &n);

        if (json) {
                curl->easy_setopt(request, CURLOPT_POSTFIELDS, json);
                return;
        }
        part = curl->mime_addpart(form);
        curl->mime_name(part, "profile");
        curl->mime_filename(part, "profile.pprof");
        curl->mime_data(part, bytes, n);
        curl->easy_setopt(request, CURLOPT_MIMEPOST, form);
}

static struct curl_slist *request_headers(const CurlApi *curl, const PusherSettings *settings,
                                          bool is_json)
{
        /* No reply is awaited between the head and the body. */
        struct curl_slist *headers = curl->slist_append(NULL, "Expect:");

        if (is_json)
                headers = curl->slist_append(headers, "Content-Type: application/json");
        if (settings->token) {
                g_autofree char *line =
                        g_strdup_printf("Authorization: Bearer %s", settings->token);

                headers = curl->slist_append(headers, line);
        }
        return headers;
}

/* On failure RET_MESSAGE is owned by the caller. */
static Outcome pusher_send(const Pusher *pusher, const PushItem *item, long limit,
                           char **ret_message)
{
        const PusherSettings *settings = &pusher->settings;
        const CurlApi *curl = pusher->curl;
        const bool is_json = push_url_kind(settings->url) == PUSH_PARCA;
        g_autofree char *url = push_request_url(settings->url, item, g_get_host_name());
        g_autofree char *shown = push_url_shown(settings->url);
        g_autofree char *json = is_json ? push_request_json(item, g_get_host_name()) : NULL;
        struct curl_slist *headers = request_headers(curl, settings, is_json);
        CURL *request = curl->easy_init();
        curl_mime *form = curl->mime_init(request);
        char why[CURL_ERROR_SIZE] = "";
        Outcome outcome;
        CURLcode r;
        long status = 0;

        curl->easy_setopt(request, CURLOPT_URL, url);
        curl->easy_setopt(request, CURLOPT_HTTPHEADER, headers);
        curl->easy_setopt(request, CURLOPT_ERRORBUFFER, why);
        curl->easy_setopt(request, CURLOPT_NOSIGNAL, 1L);
        curl->easy_setopt(request, CURLOPT_CONNECTTIMEOUT, MIN(limit, (long)CONNECT_LIMIT));
        curl->easy_setopt(request, CURLOPT_TIMEOUT, limit);
        curl->easy_setopt(request, CURLOPT_WRITEFUNCTION, reply_ignore);
        /* libcurl sends a request again if a connection that it kept turns out to be closed. */
        curl->easy_setopt(request, CURLOPT_FRESH_CONNECT, 1L);
        curl->easy_setopt(request, CURLOPT_FORBID_REUSE, 1L);
        request_set_body(curl, request, item, form, json);
        r = curl->easy_perform(request);
        curl->easy_getinfo(request, CURLINFO_RESPONSE_CODE, &status);
        if (r == CURLE_OK) {
                outcome = outcome_of_status(status);
                if (outcome != OUTCOME_SENT)
                        *ret_message = g_strdup_printf("%s answers with status %ld", shown, status);
        } else {
                outcome = outcome_of_failure(curl, request);
                *ret_message =
                        g_strdup_printf("%s: %s", shown, *why ? why : curl->easy_strerror(r));
        }
        curl->mime_free(form);
        curl->slist_free_all(headers);
        curl->easy_cleanup(request);
        return outcome;
}

/* With the mutex. ITEM is freed, or waits again. */
static void pusher_book(Pusher *pusher, PushItem *item, Outcome outcome)
{
        switch (outcome) {
        case OUTCOME_SENT:
                pusher->counts.n_sent++;
                break;
        case OUTCOME_NOT_TAKEN:
                g_queue_push_head(pusher->items, item);
                pusher->n_bytes += g_bytes_get_size(item->profile);
                return;
        case OUTCOME_UNCLEAR:
                pusher->counts.n_unclear++;
                break;
        case OUTCOME_REFUSED:
                pusher->counts.n_refused++;
                break;
        }
        push_item_free(item);
}

/* With the mutex: seconds for the next request; 0: none is to be made. */
static long pusher_limit(const Pusher *pusher)
{
        const gint64 left = pusher->end - g_get_monotonic_time();

        if (!pusher->end)
                return SEND_LIMIT;
        return left > 0 ? (long)(left / G_TIME_SPAN_SECOND) + 1 : 0;
}

/* With the mutex: until PAUSE is over or the end has come; at the end it is short. */
static void pusher_pause(Pusher *pusher, gint64 pause)
{
        const gint64 until = g_get_monotonic_time() + pause;

        while (!pusher->end && g_cond_wait_until(&pusher->changed, &pusher->mutex, until))
                ;
        if (pusher->end) {
                g_mutex_unlock(&pusher->mutex);
                g_usleep(MIN_PAUSE);
                g_mutex_lock(&pusher->mutex);
        }
}

static gpointer pusher_run(gpointer data)
{
        Pusher *pusher = data;
        gint64 pause = MIN_PAUSE;

        g_mutex_lock(&pusher->mutex);
        while (!pusher->end || (!g_queue_is_empty(pusher->items) && pusher_limit(pusher))) {
                const long limit = pusher_limit(pusher);
                PushItem *item = pusher_take_oldest(pusher);
                char *message = NULL;
                Outcome outcome;

                if (!item) {
                        g_cond_wait(&pusher->changed, &pusher->mutex);
                        continue;
                }
                g_mutex_unlock(&pusher->mutex);
                outcome = pusher_send(pusher, item, limit, &message);
                pusher_note(pusher, message);
                g_mutex_lock(&pusher->mutex);
                pusher_book(pusher, item, outcome);
                if (outcome == OUTCOME_NOT_TAKEN) {
                        pusher_pause(pusher, pause);
                        pause = MIN(2 * pause, MAX_PAUSE);
                } else {
                        pause = MIN_PAUSE;
                }
        }
        while (!g_queue_is_empty(pusher->items))
                pusher_drop_oldest(pusher);
        g_mutex_unlock(&pusher->mutex);
        return NULL;
}

bool pusher_is_possible(GError **error)
{
        return curl_api(error) != NULL;
}

Pusher *pusher_new(const PusherSettings *settings)
{
        Pusher *pusher = g_new0(Pusher, 1);

        pusher->curl = curl_api(NULL);
        pusher->curl->global_init(CURL_GLOBAL_DEFAULT);
        pusher->settings = *settings;
        pusher->items = g_queue_new();
        g_mutex_init(&pusher->mutex);
        g_cond_init(&pusher->changed);
        pusher->thread = g_thread_new("push", pusher_run, pusher);
        return pusher;
}

void pusher_add(Pusher *pusher, PushItem *item)
{
        g_mutex_lock(&pusher->mutex);
        g_queue_push_tail(pusher->items, item);
        pusher->n_bytes += g_bytes_get_size(item->profile);
        while (pusher->n_bytes > pusher->settings.max_bytes)
                pusher_drop_oldest(pusher);
        g_cond_signal(&pusher->changed);
        g_mutex_unlock(&pusher->mutex);
}

void pusher_free(Pusher *pusher, PusherCounts *ret_counts)
{
        if (!pusher)
                return;
        g_mutex_lock(&pusher->mutex);
        pusher->end = g_get_monotonic_time() + END_LIMIT * G_TIME_SPAN_SECOND;
        g_cond_signal(&pusher->changed);
        g_mutex_unlock(&pusher->mutex);
        g_thread_join(pusher->thread);
        *ret_counts = pusher->counts;
        g_queue_free(pusher->items);
        g_mutex_clear(&pusher->mutex);
        g_cond_clear(&pusher->changed);
        g_free(pusher->last);
        pusher->curl->global_cleanup();
        g_free(pusher);
}
