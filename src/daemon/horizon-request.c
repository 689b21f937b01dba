/* SPDX-License-Identifier: MIT */
#include "daemon/horizon-request.h"

#include "util/clock.h"
#include "util/fd.h"
#include "wire/hold-request.h"

#include <sys/socket.h>

/* us between two requests about one process: the event comes within a tenth of a second. */
#define INTERVAL (200 * G_TIME_SPAN_MILLISECOND)
/* Processes kept; at the limit, those without recent requests are dropped. */
#define MAX_WISHES 256

/* The requests about one process. */
typedef struct HorizonWish {
        HorizonRequester *requester; /* borrowed */
        uint64_t serial;
        ProcessKey key;
        gint64 time; /* us: of the last request */
        guint timer; /* of the next one; 0: there is none */
} HorizonWish;

struct HorizonRequester {
        const Tracker *tracker; /* borrowed */
        char *path;             /* owned or NULL */
        GHashTable *wishes;     /* serial in the wish -> owned HorizonWish */
};

static void horizon_wish_free(gpointer data)
{
        HorizonWish *wish = data;

        g_clear_handle_id(&wish->timer, g_source_remove);
        g_free(wish);
}

HorizonRequester *horizon_requester_new(const Tracker *tracker)
{
        HorizonRequester *requester = g_new(HorizonRequester, 1);

        *requester = (HorizonRequester){
                .tracker = tracker,
                .wishes =
                        g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, horizon_wish_free),
        };
        return requester;
}

void horizon_requester_free(HorizonRequester *requester)
{
        if (!requester)
                return;
        g_hash_table_destroy(requester->wishes);
        g_free(requester->path);
        g_free(requester);
}

void horizon_requester_configure(HorizonRequester *requester, const char *path)
{
        g_free(requester->path);
        requester->path = g_strdup(path);
}

/* Does not wait for the reply, which nobody needs. */
static void horizon_wish_send(const HorizonWish *wish)
{
        const Request request = {
                .verb = REQUEST_HORIZON, .pid = wish->key.pid, .pid_ns = wish->key.pid_ns};
        FD_AUTO int fd =
                request_send(&request, wish->requester->path, SOCK_NONBLOCK, /* wait_ms= */ 0);
}

static gboolean horizon_wish_on_timer(gpointer data)
{
        HorizonWish *wish = data;

        wish->timer = 0;
        wish->time = g_get_monotonic_time();
        if (wish->requester->path)
                horizon_wish_send(wish);
        return G_SOURCE_REMOVE;
}

static gboolean horizon_wish_is_old(gpointer key, gpointer value, gpointer data)
{
        const HorizonWish *wish = value;

        return !wish->timer && *(const gint64 *)data - wish->time > INTERVAL;
}

static HorizonWish *requester_wish(HorizonRequester *requester, const QueryWait *wait, gint64 now)
{
        HorizonWish *wish = g_hash_table_lookup(requester->wishes, &wait->serial);

        if (wish)
                return wish;
        if (g_hash_table_size(requester->wishes) >= MAX_WISHES)
                g_hash_table_foreach_remove(requester->wishes, horizon_wish_is_old, &now);
        if (g_hash_table_size(requester->wishes) >= MAX_WISHES)
                return NULL;
        wish = g_new(HorizonWish, 1);
        *wish = (HorizonWish){requester, wait->serial, wait->key, now - INTERVAL, 0};
        g_hash_table_replace(requester->wishes, &wish->serial, wish);
        return wish;
}

/* Only holders know from the kernel which process it is. */
static bool process_is_held(const Process *process)
{
        guint i;

        for (i = 0; i < process->traces->len; i++) {
                const Trace *trace = process->traces->pdata[i];

                if (trace->scheme == BUFFER_SCHEME_PER_PID && trace->uid != UINT32_MAX)
                        return true;
        }
        return false;
}

/* us from now until the process can have events of that time. */
static gint64 wait_us_ahead(const QueryWait *wait)
{
        const uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC);

        return wait->time > now ? (gint64)((wait->time - now) / 1000) + 1 : 0;
}

void horizon_requester_want(HorizonRequester *requester, const QueryWait *wait)
{
        const Process *process =
                wait->serial ? tracker_process_of(requester->tracker, &wait->key, wait->uid) : NULL;
        const gint64 now = g_get_monotonic_time(), ahead = wait_us_ahead(wait);
        HorizonWish *wish;

        /* If nobody waits for a time, no request is sent either. */
        if (!requester->path || !process || process->serial != wait->serial ||
            process->exit != BODY_FOREVER || !process_is_held(process) ||
            ahead > (gint64)QUERY_MAX_WAIT_MS * G_TIME_SPAN_MILLISECOND)
                return;
        wish = requester_wish(requester, wait, now);
        if (wish && !wish->timer)
                wish->timer = g_timeout_add(
                        (guint)(MAX(MAX(ahead, wish->time + INTERVAL - now), 0) / 1000),
                        horizon_wish_on_timer, wish);
}
