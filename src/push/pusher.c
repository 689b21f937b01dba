/* SPDX-License-Identifier: MIT */
#include "push/pusher.h"

#include "push/push-attempt.h"

/* s */
#define SEND_LIMIT 30
#define END_LIMIT  5
/* us between two tries. */
#define MIN_PAUSE G_TIME_SPAN_SECOND
#define MAX_PAUSE G_TIME_SPAN_MINUTE

struct Pusher {
        const CurlApi *curl; /* borrowed */
        PusherSettings settings;
        GThread *thread;
        GMutex mutex;
        GCond changed;
        GQueue *items; /* owned PushItem, the oldest first */
        uint64_t n_bytes;
        PusherCounts counts;
        gint64 end; /* us of g_get_monotonic_time(): the deadline of the end; 0: not ending yet */
        int64_t last_reason; /* of the last failure, which is printed once; 0: the last profile was
                              * sent */
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

/* Texts of one reason can differ, by the time that it took, or by the store's answer. */
static void pusher_note(Pusher *pusher, const PushResult *result)
{
        if (result->message && result->reason != pusher->last_reason)
                pusher->settings.note(result->message, pusher->settings.data);
        pusher->last_reason = result->reason;
}

/* Sending */

/* A PushAttempt's is_late(). */
static bool pusher_is_late(void *data)
{
        Pusher *pusher = data;
        bool is_late;

        g_mutex_lock(&pusher->mutex);
        is_late = pusher->end && g_get_monotonic_time() > pusher->end;
        g_mutex_unlock(&pusher->mutex);
        return is_late;
}

static void pusher_send(Pusher *pusher, const PushItem *item, long limit, PushResult *ret_result)
{
        const PushAttempt attempt = {.curl = pusher->curl,
                                     .url = pusher->settings.url,
                                     .token = pusher->settings.token,
                                     .limit = limit,
                                     .is_late = pusher_is_late,
                                     .data = pusher};

        push_attempt_run(&attempt, item, ret_result);
        pusher_note(pusher, ret_result);
        g_free(ret_result->message);
}

/* With the mutex. ITEM is freed, or is queued again. */
static void pusher_book(Pusher *pusher, PushItem *item, PushOutcome outcome)
{
        switch (outcome) {
        case PUSH_SENT:
                pusher->counts.n_sent++;
                break;
        case PUSH_NOT_TAKEN:
                g_queue_push_head(pusher->items, item);
                pusher->n_bytes += g_bytes_get_size(item->profile);
                return;
        case PUSH_UNCLEAR:
                pusher->counts.n_unclear++;
                break;
        case PUSH_REFUSED:
                pusher->counts.n_refused++;
                break;
        }
        push_item_free(item);
}

/* With the mutex: timeout of the next request, in s; 0: none is made. */
static long pusher_limit(const Pusher *pusher)
{
        const gint64 left = pusher->end - g_get_monotonic_time();

        if (!pusher->end)
                return SEND_LIMIT;
        return left > 0 ? (long)(left / G_TIME_SPAN_SECOND) + 1 : 0;
}

/* With the mutex: waits for PAUSE, or until the end begins; then only briefly. */
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

/* The store's Retry-After, but no more than our own longest pause. */
static gint64 pusher_wanted_pause(const PushResult *result)
{
        return CLAMP(result->retry_after, 0, MAX_PAUSE / G_TIME_SPAN_SECOND) * G_TIME_SPAN_SECOND;
}

static gpointer pusher_run(gpointer data)
{
        Pusher *pusher = data;
        gint64 pause = MIN_PAUSE;

        g_mutex_lock(&pusher->mutex);
        while (!pusher->end || (!g_queue_is_empty(pusher->items) && pusher_limit(pusher))) {
                const long limit = pusher_limit(pusher);
                PushItem *item = pusher_take_oldest(pusher);
                PushResult result;

                if (!item) {
                        g_cond_wait(&pusher->changed, &pusher->mutex);
                        continue;
                }
                g_mutex_unlock(&pusher->mutex);
                pusher_send(pusher, item, limit, &result);
                g_mutex_lock(&pusher->mutex);
                pusher_book(pusher, item, result.outcome);
                if (result.outcome == PUSH_NOT_TAKEN) {
                        pusher_pause(pusher, MAX(pause, pusher_wanted_pause(&result)));
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
        pusher->curl->global_cleanup();
        g_free(pusher);
}
