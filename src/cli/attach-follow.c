/* SPDX-License-Identifier: MIT */
#include "cli/attach-follow.h"

#include "attach/holder-client.h"
#include "attach/search.h"
#include "cli/json-field.h"
#include "util/fd.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Between two looks at the processes: a new one is attached within a second. */
#define SCAN_MS 400
/* The port opens a moment after the runtime is mapped; then only now and then, in us. */
#define MAX_QUICK_TRIES 20
#define LATER           G_TIME_SPAN_MINUTE
/* Between two looks at what the holder holds, and at LTTng's sessions, in us. */
#define HOLDER_INTERVAL   (2 * G_TIME_SPAN_SECOND)
#define SESSIONS_INTERVAL (5 * G_TIME_SPAN_SECOND)
/* Requests at a time: each makes a worker, and a rundown. */
#define MAX_ASKED 8

typedef enum FollowedState {
        FOLLOWED_WAITING,  /* to be attached */
        FOLLOWED_ASKED,    /* the answer is awaited */
        FOLLOWED_ATTACHED, /* it was */
} FollowedState;

/* A .NET process. */
typedef struct Followed {
        pid_t pid;
        FollowedState state;
        gint64 next_try; /* WAITING: us of g_get_monotonic_time() */
        unsigned n_tries;
        int fd; /* ASKED: for the answer; else -1 */
} Followed;

typedef struct Follow {
        const FollowSettings *settings;
        Search *search;        /* owned */
        GHashTable *processes; /* pid -> owned Followed */
        unsigned n_asked;
        gint64 next_look;     /* at the holder */
        gint64 next_sessions; /* at LTTng's */
        pid_t holder;         /* whoever listens for it; 0: not known */
} Follow;

static void followed_free(void *data)
{
        Followed *followed = data;

        fd_clear(&followed->fd);
        g_free(followed);
}

static void follow_drop_answer(Follow *follow, Followed *followed)
{
        if (followed->fd >= 0)
                follow->n_asked--;
        fd_clear(&followed->fd);
}

static void followed_wait(Followed *followed)
{
        followed->state = FOLLOWED_WAITING;
        followed->next_try = 0;
        followed->n_tries = 0;
}

/* PID was found: for the first time, or because it runs another program. */
static void follow_see(Follow *follow, pid_t pid)
{
        Followed *followed = g_hash_table_lookup(follow->processes, GINT_TO_POINTER(pid));

        if (!followed) {
                followed = g_new0(Followed, 1);
                followed->pid = pid;
                followed->fd = -1;
                g_hash_table_insert(follow->processes, GINT_TO_POINTER(pid), followed);
        }
        follow_drop_answer(follow, followed);
        followed_wait(followed);
}

static gboolean follow_is_gone(gpointer key, gpointer value, gpointer data)
{
        Followed *followed = value;
        Follow *follow = data;

        if (search_has(follow->search, followed->pid))
                return FALSE;
        follow_drop_answer(follow, followed);
        return TRUE;
}

static void follow_scan(Follow *follow)
{
        g_autoptr(GArray) found = search_look(follow->search);
        guint i;

        g_hash_table_foreach_remove(follow->processes, follow_is_gone, follow);
        for (i = 0; i < found->len; i++)
                follow_see(follow, g_array_index(found, pid_t, i));
}

/* Takes over ERROR. */
static void follow_fail(Follow *follow, Followed *followed, GError *error)
{
        const bool is_over = g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_ENDED) ||
                             g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS);
        const gint64 now = g_get_monotonic_time();

        followed->state = FOLLOWED_WAITING;
        followed->n_tries++;
        followed->next_try = followed->n_tries < MAX_QUICK_TRIES ? now : now + LATER;
        if (followed->n_tries == MAX_QUICK_TRIES && !is_over)
                follow->settings->failed(followed->pid, error, follow->settings->data);
        else
                g_error_free(error);
}

static void follow_ask(Follow *follow, Followed *followed, gint64 now)
{
        AttachManner *manner = follow->settings->manner;
        Request request;
        GError *error = NULL;

        if (now >= follow->next_sessions) {
                attach_manner_refresh(manner);
                follow->next_sessions = g_get_monotonic_time() + SESSIONS_INTERVAL;
        }
        request = attach_manner_request(manner, followed->pid);
        followed->fd = holder_client_ask(&request, /* is_starting= */ true, &error);
        if (followed->fd < 0) {
                follow_fail(follow, followed, error);
                return;
        }
        followed->state = FOLLOWED_ASKED;
        follow->n_asked++;
}

static void follow_ask_all(Follow *follow, gint64 now)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, follow->processes);
        while (follow->n_asked < MAX_ASKED && g_hash_table_iter_next(&iter, NULL, &value)) {
                Followed *followed = value;

                if (followed->state == FOLLOWED_WAITING && now >= followed->next_try)
                        follow_ask(follow, followed, now);
        }
}

static void follow_take_answer(Follow *follow, Followed *followed)
{
        GError *error = NULL;
        json_auto_t *answer = holder_client_answer(fd_steal(&followed->fd), &error);

        follow->n_asked--;
        if (!answer) {
                follow_fail(follow, followed, error);
                return;
        }
        followed->state = FOLLOWED_ATTACHED;
        if (json_is_true(json_object_get(answer, "new")))
                follow->settings->attached(answer, follow->settings->data);
}

/* Waits for answers until END, or until a runtime starts. */
static void follow_wait(Follow *follow, gint64 end)
{
        gint64 left;

        while ((left = (end - g_get_monotonic_time() + 999) / 1000) > 0) {
                struct pollfd fds[MAX_ASKED + 1];
                Followed *asked[MAX_ASKED];
                GHashTableIter iter;
                gpointer value;
                nfds_t n = 0, i;

                g_hash_table_iter_init(&iter, follow->processes);
                while (n < MAX_ASKED && g_hash_table_iter_next(&iter, NULL, &value)) {
                        asked[n] = value;
                        fds[n] = (struct pollfd){.fd = asked[n]->fd, .events = POLLIN};
                        n += asked[n]->fd >= 0;
                }
                fds[n] = (struct pollfd){.fd = search_fd(follow->search), .events = POLLIN};
                if (poll(fds, n + 1, (int)left) <= 0)
                        continue;
                if (fds[n].revents && search_take_ports(follow->search))
                        end = 0;
                for (i = 0; i < n; i++)
                        if (fds[i].revents)
                                follow_take_answer(follow, asked[i]);
        }
}

/* Another holder than before: what it does not hold is to be attached. REPLY NULL: there is none.
 */
static void follow_take_holder(Follow *follow, pid_t holder, const json_t *reply)
{
        json_t *attachments = json_object_get(reply, "attachments"), *row;
        g_autoptr(GHashTable) held = g_hash_table_new(NULL, NULL);
        GHashTableIter iter;
        gpointer value;
        size_t i;

        if (reply && holder == follow->holder)
                return;
        follow->holder = holder;
        json_array_foreach(attachments, i, row)
                g_hash_table_add(held, GINT_TO_POINTER((pid_t)field_number(row, "pid")));
        g_hash_table_iter_init(&iter, follow->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Followed *followed = value;

                if (followed->state == FOLLOWED_ATTACHED &&
                    !g_hash_table_contains(held, GINT_TO_POINTER(followed->pid)))
                        followed_wait(followed);
        }
}

static void follow_look_at_holder(Follow *follow, gint64 now)
{
        const Request request = {.verb = REQUEST_LIST};
        g_autoptr(GError) error = NULL;
        struct ucred listener = {0};
        socklen_t n = sizeof(listener);
        json_auto_t *reply = NULL;
        int fd;

        if (now < follow->next_look)
                return;
        follow->next_look = now + HOLDER_INTERVAL;
        fd = holder_client_ask(&request, /* is_starting= */ false, &error);
        if (fd >= 0) {
                getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &n);
                reply = holder_client_answer(fd, &error);
        }
        if (!error)
                follow_take_holder(follow, listener.pid, reply);
}

void attach_follow(const FollowSettings *settings)
{
        const SearchScope scope = {
                .is_whole_machine = true, .uid = settings->uid, .filter = settings->filter};
        Follow follow = {.settings = settings,
                         .search = search_new(&scope),
                         .processes = g_hash_table_new_full(NULL, NULL, NULL, followed_free)};

        for (;;) {
                const gint64 now = g_get_monotonic_time();

                follow_scan(&follow);
                follow_look_at_holder(&follow, now);
                follow_ask_all(&follow, now);
                follow_wait(&follow, now + SCAN_MS * 1000);
        }
}
