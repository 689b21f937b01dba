/* SPDX-License-Identifier: MIT */
#include "attach/collection-session.h"

#include <poll.h>

/* In us: for a target to write the rest of its collections, once its session is over. */
#define END_LIMIT (2 * G_TIME_SPAN_SECOND)
/* In us: for threads to write what they have buffered. Each does so at its next async event; for
 * one that has none for 250 ms, the runtime does, once a second. */
#define FLUSH_TIME (1300 * G_TIME_SPAN_MILLISECOND)

bool collection_session_open(CollectionSession *session, const char *path, const Target *target,
                             TargetThreads *threads, int64_t clock_ahead, GError **error)
{
        session->log = collection_log_open(path, threads, clock_ahead);
        if (!session->log ||
            eventpipe_session_open_collections(target, collection_log_sink(session->log),
                                               collection_log_wants_async(session->log),
                                               &session->session, error))
                return true;
        collection_log_close(session->log, /* is_complete= */ false);
        session->log = NULL;
        return false;
}

void collection_session_end(CollectionSession *session)
{
        const gint64 deadline = g_get_monotonic_time() + END_LIMIT;
        struct pollfd fd = {.fd = session->session.fd, .events = POLLIN};
        gint64 left;

        while (session->session.fd >= 0 && (left = deadline - g_get_monotonic_time()) > 0)
                if (poll(&fd, 1, (int)(left / 1000) + 1) > 0 &&
                    !eventpipe_session_drain(&session->session))
                        eventpipe_session_close(&session->session);
        eventpipe_session_close(&session->session);
}

static void collection_session_ignore(void *data, const uint8_t *bytes, size_t n)
{
}

/* Once a session that has the events is stopped, the others get no more: so both go on. */
void collection_session_flush(CollectionSession *session, const Target *target,
                              const EventPipeSession *held)
{
        static const EventPipeSink SINK = {.take = collection_session_ignore};
        const gint64 deadline = g_get_monotonic_time() + FLUSH_TIME;
        EventPipeSession flush;
        gint64 left;

        if (session->session.fd < 0 || !collection_log_has_async(session->log) ||
            !eventpipe_session_open_async(target, &SINK, &flush, /* error= */ NULL))
                return;
        while ((left = deadline - g_get_monotonic_time()) > 0) {
                struct pollfd fds[] = {{.fd = session->session.fd, .events = POLLIN},
                                       {.fd = held->fd, .events = POLLIN},
                                       {.fd = flush.fd, .events = POLLIN}};

                if (poll(fds, G_N_ELEMENTS(fds), (int)(left / 1000) + 1) > 0 &&
                    (!eventpipe_session_drain(held) || !eventpipe_session_drain(&flush)))
                        break;
        }
        eventpipe_session_stop(target, &flush, /* error= */ NULL);
}

void collection_session_stop(CollectionSession *session, const Target *target)
{
        session->is_complete = session->session.fd >= 0 &&
                               eventpipe_session_stop(target, &session->session, /* error= */ NULL);
}

void collection_session_close(CollectionSession *session)
{
        eventpipe_session_close(&session->session);
        collection_log_close(session->log, session->is_complete);
        session->log = NULL;
}
