/* SPDX-License-Identifier: MIT */
#include "attach/collection-session.h"

#include <poll.h>

/* us for a target to write its remaining collections after its session has ended. */
#define END_LIMIT (2 * G_TIME_SPAN_SECOND)
/* us for threads to write their buffers. Each thread does so at its next async event; for a thread
 * without one for 250 ms, the runtime does, once a second. */
#define FLUSH_TIME (1300 * G_TIME_SPAN_MILLISECOND)

/* The first major version of a runtime with async events. */
#define ASYNC_VERSION 11

static bool collection_session_has_async(const Target *target)
{
        g_autofree char *version = eventpipe_runtime_version(target, /* error= */ NULL);

        return version && g_ascii_strtoull(version, NULL, 10) >= ASYNC_VERSION;
}

static bool collection_session_start(CollectionSession *session, const Target *target,
                                     GError **error)
{
        const EventPipeSink *sink = collection_log_sink(session->log);

        if (collection_log_wants_collections(session->log))
                return eventpipe_session_open_collections(target, sink,
                                                          collection_log_wants_async(session->log),
                                                          &session->session, error);
        return !collection_session_has_async(target) ||
               eventpipe_session_open_async(target, sink, &session->session, error);
}

bool collection_session_open(CollectionSession *session, const char *path, const Target *target,
                             TargetThreads *threads, int64_t clock_ahead, GError **error)
{
        session->log = collection_log_open(path, threads, clock_ahead);
        if (!session->log || collection_session_start(session, target, error))
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

/* Opens a session that makes threads flush. False: there is nothing to flush, or the target
 * refuses. */
static bool collection_session_open_flush(const CollectionSession *session, const Target *target,
                                          EventPipeSession *ret_flush)
{
        static const EventPipeSink SINK = {.take = collection_session_ignore};

        return session->session.fd >= 0 && collection_log_has_async(session->log) &&
               eventpipe_session_open_async(target, &SINK, ret_flush, /* error= */ NULL);
}

/* Ends the running flush. */
static void collection_session_end_flush(CollectionSession *session, const Target *target)
{
        if (session->flush.fd < 0)
                return;
        eventpipe_session_stop(target, &session->flush, /* error= */ NULL);
        session->wanted_flush = 0;
}

/* Both sessions continue meanwhile, because stopping a session with these events stops them for
 * all. */
void collection_session_flush(CollectionSession *session, const Target *target,
                              const EventPipeSession *held)
{
        const gint64 deadline = g_get_monotonic_time() + FLUSH_TIME;
        EventPipeSession flush;
        gint64 left;

        collection_session_end_flush(session, target);
        if (!collection_session_open_flush(session, target, &flush))
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

void collection_session_begin_flush(CollectionSession *session, const Target *target)
{
        const uint64_t now = eventpipe_session_clock();

        /* Threads may buffer further events after a flush has begun: the next flush takes them. */
        if (session->flush.fd >= 0) {
                session->wanted_flush = now;
                return;
        }
        if (!collection_session_open_flush(session, target, &session->flush))
                return;
        session->flush_begin = now;
        session->flush_end = g_get_monotonic_time() + FLUSH_TIME;
}

void collection_session_serve(CollectionSession *session, const Target *target)
{
        const bool is_wanted = session->wanted_flush != 0;

        if (session->flush.fd < 0 || (eventpipe_session_drain(&session->flush) &&
                                      g_get_monotonic_time() < session->flush_end))
                return;
        if (session->session.fd >= 0 && eventpipe_session_drain(&session->session) &&
            g_get_monotonic_time() >= session->flush_end)
                collection_log_add_flushed(session->log, session->flush_begin,
                                           eventpipe_session_clock());
        collection_session_end_flush(session, target);
        if (is_wanted)
                collection_session_begin_flush(session, target);
}

int collection_session_timeout(const CollectionSession *session)
{
        const gint64 left = session->flush_end - g_get_monotonic_time();

        return session->flush.fd < 0 ? -1 : (int)(MAX(left, 0) / 1000) + 1;
}

void collection_session_stop(CollectionSession *session, const Target *target)
{
        session->is_complete = session->session.fd >= 0 &&
                               eventpipe_session_stop(target, &session->session, /* error= */ NULL);
}

void collection_session_close(CollectionSession *session)
{
        eventpipe_session_close(&session->flush);
        eventpipe_session_close(&session->session);
        collection_log_close(session->log, session->is_complete);
        session->log = NULL;
}
