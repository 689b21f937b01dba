/* SPDX-License-Identifier: MIT */

/*
 * A watch has a connection of its own. Its descriptor is that of an epoll instance, which stays the
 * same when the daemon restarts: it contains the connection, or the timer of the next attempt to
 * reconnect.
 */

#include "client/filter.h"
#include "client/handle.h"
#include "client/json-decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct clrsym_watch {
        Endpoint endpoint;
        Message message;
        Connection connection;
        char *parameters; /* owned: parameters of the call */
        int epoll_fd;
        int timer_fd;
        int64_t give_up; /* without a connection: when to stop trying */
        json_t *events;  /* owned: the last reply's events, with the texts in the caller's hands */
        size_t n_taken;
        bool is_new;    /* the connection is new, and no reply was received on it */
        bool is_resync; /* the next event is a RESYNC: earlier events are void */
        int error;      /* the watch has ended */
};

static int watch_fail(clrsym_watch *watch, int error, const char *detail)
{
        watch->error = error;
        connection_close(&watch->connection);
        return endpoint_explain(&watch->endpoint, error, detail, &watch->message);
}

/* Makes the call on a new connection. */
static int watch_begin(clrsym_watch *watch)
{
        struct epoll_event event = {.events = EPOLLIN};

        if (epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, watch->connection.fd, &event) < 0)
                return -errno;
        return varlink_send(&watch->connection, "Watch", watch->parameters, "more",
                            clock_ms() + UNRESPONSIVE_MS);
}

static int set_timer(clrsym_watch *watch, long ms)
{
        const struct timespec pause = {.tv_nsec = ms * 1000000};
        const struct itimerspec spec = {.it_interval = pause, .it_value = pause};

        return timerfd_settime(watch->timer_fd, 0, &spec, NULL) < 0 ? -errno : 0;
}

/* Reconnects after a lost connection. */
static int begin_again(clrsym_watch *watch)
{
        int r;

        if (!watch->endpoint.reconnect_ms)
                return watch_fail(watch, -ECONNRESET, NULL);
        connection_close(&watch->connection);
        watch->give_up = clock_ms() + watch->endpoint.reconnect_ms;
        r = set_timer(watch, PAUSE_MS);
        return r < 0 ? watch_fail(watch, r, NULL) : 1;
}

/* 1: connected again; 0: not yet. */
static int watch_reconnect(clrsym_watch *watch)
{
        uint64_t n;
        int r;

        /* The timer paces the attempts, also if a daemon disconnects at once. */
        if (read(watch->timer_fd, &n, sizeof(n)) < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : watch_fail(watch, -errno, NULL);
        r = connection_open(&watch->connection, watch->endpoint.path, 0);
        if (r == 0)
                r = set_timer(watch, 0);
        if (r == 0)
                r = watch_begin(watch);
        if (r < 0) {
                connection_close(&watch->connection);
                return clock_ms() >= watch->give_up ? watch_fail(watch, r, NULL) : 0;
        }
        watch->is_new = true;
        return 1;
}

/* 1: EVENTS are those of the next reply; 0: none was received. */
static int watch_take_reply(clrsym_watch *watch)
{
        json_t *events;
        Reply reply;
        int r = varlink_next(&watch->connection, REPLY_TREE, &reply);

        if (r == -EAGAIN) {
                r = connection_receive_some(&watch->connection);
                return r == 0             ? 1
                       : r == -EAGAIN     ? 0
                       : r == -ECONNRESET ? begin_again(watch)
                                          : watch_fail(watch, r, NULL);
        }
        if (r < 0)
                return watch_fail(watch, r, NULL);
        if (reply.error) {
                watch->error = reply_explain(&reply, &watch->message);
                reply_take(&reply, &watch->connection);
                connection_close(&watch->connection);
                return watch->error;
        }
        events = json_object_get(reply.parameters, "events");
        if (json_is_array(events) && reply.continues) {
                json_decref(watch->events);
                watch->events = json_incref(events);
                watch->n_taken = 0;
                /* Not earlier: now the daemon sends all events, so a caller that lists everything
                 * again misses none. */
                watch->is_resync |= watch->is_new;
                watch->is_new = false;
                r = 1;
        }
        reply_take(&reply, &watch->connection);
        return r == 1 ? 1 : watch_fail(watch, -EBADMSG, "Watch: \"events\" is malformed");
}

/* 1: RET is set; 0: there is no further event. */
static int take_event(clrsym_watch *watch, clrsym_event *ret)
{
        const char *wrong;
        char detail[64];

        if (watch->is_resync) {
                watch->is_resync = false;
                *ret = (clrsym_event){.type = CLRSYM_EVENT_RESYNC};
                return 1;
        }
        if (watch->n_taken == json_array_size(watch->events))
                return 0;
        wrong = json_decode_event(json_array_get(watch->events, watch->n_taken++), ret);
        if (!wrong)
                return 1;
        snprintf(detail, sizeof(detail), "Watch: \"%s\" is malformed", wrong);
        return watch_fail(watch, -EBADMSG, detail);
}

int clrsym_watch_next(clrsym_watch *watch, int timeout_ms, clrsym_event *ret_event)
{
        int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_ms() + timeout_ms;
        int r;

        if (watch->error)
                return watch->error;
        for (;;) {
                struct pollfd poll_fd = {.fd = watch->epoll_fd, .events = POLLIN};

                r = take_event(watch, ret_event);
                if (r != 0)
                        return r;
                r = watch->connection.fd >= 0 ? watch_take_reply(watch) : watch_reconnect(watch);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (timeout_ms >= 0 && clock_ms() >= deadline)
                        return 0;
                r = poll(&poll_fd, 1, timeout_ms < 0 ? -1 : ms_until(deadline));
                if (r < 0)
                        return errno == EINTR ? 0 : watch_fail(watch, -errno, NULL);
        }
}

/* Waits for the first reply, which a daemon sends at once. */
static int wait_first(clrsym_watch *watch)
{
        int64_t deadline = clock_ms() + UNRESPONSIVE_MS;

        while (!watch->events) {
                struct pollfd poll_fd = {.fd = watch->epoll_fd, .events = POLLIN};
                int r = watch->connection.fd >= 0 ? watch_take_reply(watch)
                                                  : watch_reconnect(watch);

                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (clock_ms() >= deadline)
                        return watch_fail(watch, -ETIMEDOUT, NULL);
                if (poll(&poll_fd, 1, ms_until(deadline)) < 0 && errno != EINTR)
                        return watch_fail(watch, -errno, NULL);
        }
        watch->is_resync = false;
        return 0;
}

static int open_files(clrsym_watch *watch)
{
        struct epoll_event event = {.events = EPOLLIN};

        watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (watch->epoll_fd < 0 || watch->timer_fd < 0 ||
            epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, watch->timer_fd, &event) < 0)
                return watch_fail(watch, -errno, NULL);
        return 0;
}

static int watch_start(clrsym_watch *watch, const Endpoint *endpoint, const clrsym_filter *filter)
{
        json_auto_t *parameters = NULL;
        int r = endpoint_copy(&watch->endpoint, endpoint, &watch->message);

        if (r < 0)
                return r;
        r = filter_parameters(filter, false, &parameters, &watch->message);
        if (r < 0)
                return r;
        watch->parameters = json_dumps(parameters, JSON_COMPACT);
        if (!watch->parameters)
                return message_set_no_memory(&watch->message);
        r = open_files(watch);
        if (r == 0)
                r = endpoint_connect(&watch->endpoint, &watch->connection,
                                     watch->endpoint.reconnect_ms, &watch->message);
        if (r < 0)
                return r;
        r = watch_begin(watch);
        return r < 0 ? watch_fail(watch, r, NULL) : wait_first(watch);
}

int clrsym_watch_open(clrsym *handle, const clrsym_filter *filter, clrsym_watch **ret)
{
        clrsym_watch *watch;
        int r = handle_begin(handle);

        *ret = NULL;
        if (r < 0)
                return r;
        if (handle->endpoint.is_trace)
                return handle_end(handle,
                                  message_set(&handle->message, -EOPNOTSUPP,
                                              "%s: a trace does not change: watch a daemon instead",
                                              handle->endpoint.path));
        watch = malloc(sizeof(*watch));
        if (!watch)
                return handle_end(handle, message_set_no_memory(&handle->message));
        *watch = (clrsym_watch){
                .endpoint = {.child = TRACE_CHILD_NONE},
                .connection = CONNECTION_NONE,
                .epoll_fd = -1,
                .timer_fd = -1,
        };
        r = watch_start(watch, &handle->endpoint, filter);
        if (r < 0) {
                /* Copies the watch's message to the handle. */
                handle->message = watch->message;
                watch->message = (Message){0};
                clrsym_watch_close(watch);
        } else {
                *ret = watch;
        }
        return handle_end(handle, r);
}

int clrsym_watch_fd(const clrsym_watch *watch)
{
        return watch->epoll_fd;
}

const char *clrsym_watch_message(const clrsym_watch *watch)
{
        return message_text(&watch->message);
}

void clrsym_watch_close(clrsym_watch *watch)
{
        if (!watch)
                return;
        connection_close(&watch->connection);
        if (watch->epoll_fd >= 0)
                close(watch->epoll_fd);
        if (watch->timer_fd >= 0)
                close(watch->timer_fd);
        json_decref(watch->events);
        free(watch->parameters);
        endpoint_deinit(&watch->endpoint);
        message_clear(&watch->message);
        free(watch);
}
