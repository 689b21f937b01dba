/* SPDX-License-Identifier: MIT */
#include "cli/attach-follow.h"

#include "attach/holder-client.h"
#include "attach/search.h"
#include "cli/json-field.h"
#include "util/fd.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ms between two scans for processes, so that a new process is attached within a second. */
#define SCAN_MS 400
/* us before the first retry; each retry doubles the pause. The port opens a moment after the
 * runtime is mapped. */
#define FIRST_PAUSE (100 * G_TIME_SPAN_MILLISECOND)
#define MAX_PAUSE   G_TIME_SPAN_MINUTE
/* The pause is at least so many times the duration of the failed request. */
#define PAUSE_SHARE 3
/* us: a process that could not be attached for so long is reported. */
#define REPORT_AFTER (8 * G_TIME_SPAN_SECOND)
/* us until the next request for a user without a free place in the holder. */
#define NO_PLACE_PAUSE (5 * G_TIME_SPAN_SECOND)
/* us between two requests for the holder's list, and between two queries of LTTng's sessions. */
#define HOLDER_INTERVAL   (2 * G_TIME_SPAN_SECOND)
#define SESSIONS_INTERVAL (5 * G_TIME_SPAN_SECOND)
/* Concurrent requests: each starts a worker and a rundown. */
#define MAX_ASKED          32
#define MAX_ASKED_PER_USER 8
/* us after which a request frees its place; the holder's list then shows its outcome. */
#define PLACE_TIME (10 * G_TIME_SPAN_SECOND)

typedef enum FollowedState {
        FOLLOWED_WAITING,  /* waits for its request */
        FOLLOWED_ASKED,    /* a request is pending */
        FOLLOWED_LATE,     /* the request has timed out here; the holder continues it */
        FOLLOWED_ATTACHED, /* the holder has attached it */
} FollowedState;

/* A limit that the processes of a user can reach. */
typedef enum FollowLimit {
        FOLLOW_LIMIT_ATTACHMENTS,
        FOLLOW_LIMIT_TIME,
        _FOLLOW_LIMIT_MAX,
} FollowLimit;

typedef struct FollowUser {
        uid_t uid;
        unsigned n_asked;
        uint64_t last_turn; /* value of Follow.turn when the user last got a place */
        gint64 next_try; /* us of g_get_monotonic_time(): no request before, because the holder has
                          * no place */
        bool is_reported[_FOLLOW_LIMIT_MAX];
} FollowUser;

/* A .NET process. */
typedef struct Followed {
        pid_t pid;
        FollowUser *user; /* borrowed: the owner of the process */
        FollowedState state;
        gint64 next_try; /* WAITING: us of g_get_monotonic_time(), as are the next two */
        gint64 first_try;
        gint64 asked_at; /* ASKED, LATE */
        gint64 pause;    /* pause after the last failure; 0: no failure yet */
        bool is_reported;
        int fd; /* ASKED: receives the answer; else -1 */
} Followed;

typedef struct Follow {
        const FollowSettings *settings;
        Search *search;        /* owned */
        GHashTable *processes; /* pid -> owned Followed */
        GHashTable *users;     /* uid -> owned FollowUser */
        unsigned n_asked;
        uint64_t turn;
        gint64 next_look;     /* time of the next request for the holder's list */
        gint64 next_sessions; /* time of the next query of LTTng's sessions */
        pid_t holder;         /* pid of the holder that listens; 0: not known */
} Follow;

static void followed_free(void *data)
{
        Followed *followed = data;

        fd_clear(&followed->fd);
        g_free(followed);
}

static FollowUser *follow_user(Follow *follow, uid_t uid)
{
        FollowUser *user = g_hash_table_lookup(follow->users, GUINT_TO_POINTER(uid));

        if (!user) {
                user = g_new0(FollowUser, 1);
                user->uid = uid;
                g_hash_table_insert(follow->users, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

static void follow_report_limit(const Follow *follow, FollowUser *user, FollowLimit limit,
                                const char *text)
{
        if (!user->is_reported[limit])
                follow->settings->limited(user->uid, text, follow->settings->data);
        user->is_reported[limit] = true;
}

static void follow_free_place(Follow *follow, const Followed *followed)
{
        follow->n_asked--;
        followed->user->n_asked--;
}

/* Stops to wait for the answer. */
static void follow_drop_answer(Follow *follow, Followed *followed)
{
        if (followed->fd >= 0)
                follow_free_place(follow, followed);
        fd_clear(&followed->fd);
}

static void followed_wait(Followed *followed)
{
        followed->state = FOLLOWED_WAITING;
        followed->next_try = followed->first_try = followed->pause = 0;
        followed->is_reported = false;
}

/* A scan found PID: a new process, or one with another program than before. */
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
        followed->user = follow_user(follow, search_owner(follow->search, pid));
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

/* Postpones the request: the user has no free place, and the process itself did not fail. Takes
 * over ERROR. */
static void follow_put_off(Follow *follow, Followed *followed, GError *error)
{
        followed->state = FOLLOWED_WAITING;
        followed->user->next_try = g_get_monotonic_time() + NO_PLACE_PAUSE;
        follow_report_limit(follow, followed->user, FOLLOW_LIMIT_ATTACHMENTS, error->message);
        g_error_free(error);
}

/* Takes over ERROR. */
static void follow_fail(Follow *follow, Followed *followed, GError *error)
{
        const bool is_over = g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_ENDED) ||
                             g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NO_PROCESS);
        const gint64 now = g_get_monotonic_time();

        if (g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NO_PLACE)) {
                follow_put_off(follow, followed, error);
                return;
        }
        followed->state = FOLLOWED_WAITING;
        followed->pause = MAX(2 * followed->pause, PAUSE_SHARE * (now - followed->asked_at));
        followed->pause = CLAMP(followed->pause, FIRST_PAUSE, MAX_PAUSE);
        followed->next_try = now + followed->pause;
        if (!followed->is_reported && !is_over && now - followed->first_try >= REPORT_AFTER) {
                followed->is_reported = true;
                follow->settings->failed(followed->pid, error, follow->settings->data);
        } else {
                g_error_free(error);
        }
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
        followed->asked_at = g_get_monotonic_time();
        followed->user->last_turn = ++follow->turn;
        if (!followed->first_try)
                followed->first_try = followed->asked_at;
        request = attach_manner_request(manner, followed->pid);
        followed->fd = holder_client_ask(&request, /* is_starting= */ true, &error);
        if (followed->fd < 0) {
                follow_fail(follow, followed, error);
                return;
        }
        followed->state = FOLLOWED_ASKED;
        follow->n_asked++;
        followed->user->n_asked++;
}

/* True if A is requested before B. */
static bool followed_is_before(const Followed *a, const Followed *b)
{
        if (a->user == b->user)
                return a->next_try < b->next_try;
        if (a->user->n_asked != b->user->n_asked)
                return a->user->n_asked < b->user->n_asked;
        return a->user->last_turn < b->user->last_turn;
}

/* The process to request next; NULL: none is due, or no place is free. */
static Followed *follow_next(const Follow *follow, gint64 now)
{
        Followed *next = NULL;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, follow->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Followed *followed = value;

                if (followed->state != FOLLOWED_WAITING || now < followed->next_try ||
                    now < followed->user->next_try || followed->user->n_asked >= MAX_ASKED_PER_USER)
                        continue;
                if (!next || followed_is_before(followed, next))
                        next = followed;
        }
        return next;
}

static void follow_ask_all(Follow *follow, gint64 now)
{
        Followed *followed;

        while (follow->n_asked < MAX_ASKED && (followed = follow_next(follow, now)))
                follow_ask(follow, followed, now);
}

static void follow_take_answer(Follow *follow, Followed *followed)
{
        GError *error = NULL;
        json_auto_t *answer = holder_client_answer(fd_steal(&followed->fd), &error);

        follow_free_place(follow, followed);
        if (!answer) {
                follow_fail(follow, followed, error);
                return;
        }
        followed->state = FOLLOWED_ATTACHED;
        if (json_is_true(json_object_get(answer, "new")))
                follow->settings->attached(answer, follow->settings->data);
}

/* Takes the places of requests that have timed out. */
static void follow_take_places(Follow *follow, gint64 now)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, follow->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Followed *followed = value;
                g_autofree char *text = NULL;

                if (followed->state != FOLLOWED_ASKED || now - followed->asked_at < PLACE_TIME)
                        continue;
                text = g_strdup_printf(
                        "process %d is not attached within %d s, so other processes are tried "
                        "first: see clrsym attach --list, and clrsym doctor %d",
                        (int)followed->pid, (int)(PLACE_TIME / G_TIME_SPAN_SECOND),
                        (int)followed->pid);
                follow_report_limit(follow, followed->user, FOLLOW_LIMIT_TIME, text);
                follow_drop_answer(follow, followed);
                followed->state = FOLLOWED_LATE;
        }
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
                if (fds[n].fd < 0)
                        left = MIN(left, SEARCH_REST_MS);
                if (poll(fds, n + 1, (int)left) <= 0)
                        continue;
                if (fds[n].revents && search_take_ports(follow->search))
                        end = 0;
                for (i = 0; i < n; i++)
                        if (fds[i].revents)
                                follow_take_answer(follow, asked[i]);
        }
}

/* ROW is the holder's entry for a process in the state LATE; NULL: the holder has dropped it. */
static void follow_take_late(Follow *follow, Followed *followed, json_t *row)
{
        const char *state = row ? field_text(row, "state") : NULL;
        json_auto_t *answer = NULL;

        if (!g_strcmp0(state, "attaching"))
                return;
        if (!row || !g_strcmp0(state, "failed")) {
                const char *why = row ? field_text(row, "message") : NULL;

                follow_fail(follow, followed,
                            g_error_new(ATTACH_ERROR, ATTACH_ERROR_UNRESPONSIVE, "%s",
                                        why ? why : "its runtime does not answer"));
                return;
        }
        followed->state = FOLLOWED_ATTACHED;
        answer = json_copy(row);
        json_object_set_new(answer, "new", json_true());
        follow->settings->attached(answer, follow->settings->data);
}

/* If HOLDER is another process than before, attaches again the processes that it does not hold.
 * REPLY NULL: no holder runs. */
static void follow_take_holder(Follow *follow, pid_t holder, const json_t *reply)
{
        const bool is_same = reply && holder == follow->holder;
        json_t *attachments = json_object_get(reply, "attachments"), *row;
        g_autoptr(GHashTable) held = g_hash_table_new(NULL, NULL);
        GHashTableIter iter;
        gpointer value;
        size_t i;

        follow->holder = holder;
        json_array_foreach(attachments, i, row)
                g_hash_table_insert(held, GINT_TO_POINTER((pid_t)field_number(row, "pid")), row);
        g_hash_table_iter_init(&iter, follow->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Followed *followed = value;

                row = g_hash_table_lookup(held, GINT_TO_POINTER(followed->pid));
                if (followed->state == FOLLOWED_LATE)
                        follow_take_late(follow, followed, row);
                else if (followed->state == FOLLOWED_ATTACHED && !row && !is_same)
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

static void on_follow_slow(uid_t uid, void *data)
{
        const Follow *follow = data;

        follow->settings->limited(
                uid,
                "the mappings of these processes take long to read, so new processes are found "
                "later: clrsym attach PID attaches one at once",
                follow->settings->data);
}

static void on_follow_hidden(uid_t uid, void *data)
{
        const Follow *follow = data;

        /* A user without privileges attaches the user's own processes. */
        if (geteuid() == 0)
                follow->settings->limited(uid,
                                          "the kernel does not show what some of these processes "
                                          "have mapped, so that .NET programs among them are not "
                                          "found: give clrsym the capability CAP_SYS_PTRACE, or "
                                          "run it as this user",
                                          follow->settings->data);
}

void attach_follow(const FollowSettings *settings)
{
        Follow follow = {.settings = settings,
                         .processes = g_hash_table_new_full(NULL, NULL, NULL, followed_free),
                         .users = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
        const SearchScope scope = {.is_whole_machine = true,
                                   .uid = settings->uid,
                                   .filter = settings->filter,
                                   .slow = on_follow_slow,
                                   .hidden = on_follow_hidden,
                                   .data = &follow};

        follow.search = search_new(&scope);
        for (;;) {
                const gint64 now = g_get_monotonic_time();

                follow_scan(&follow);
                follow_look_at_holder(&follow, now);
                follow_take_places(&follow, now);
                follow_ask_all(&follow, now);
                follow_wait(&follow, now + SCAN_MS * 1000);
        }
}
