/* SPDX-License-Identifier: MIT */

/*
 * Peers share the time: a busy peer that yields leaves most of the time to peers that ask one
 * question after the other. After a disconnect, a peer that finishes does its remaining work turn
 * by turn.
 */

#include "util/peer.h"

#include "support/suite.h"

#include <sys/socket.h>
#include <unistd.h>

/* A message is one byte. */
enum { N_MESSAGES = 20, FEEDER_US = 2000, CLIENT_US = 50 };

typedef struct Busy {
        Conversation conversation;
        unsigned us; /* time for one message */
        unsigned n_served;
        int other; /* the other end of the peer's socket */
        Peer *peer;
} Busy;

static void busy_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        Busy *busy = (Busy *)conversation;
        gint64 end = g_get_monotonic_time() + busy->us;

        while (g_get_monotonic_time() < end)
                ;
        busy->n_served++;
        /* The next message is available at once. */
        ck_assert_int_eq(write(busy->other, "", 1), 1);
}

static bool busy_wants_input(const Conversation *conversation)
{
        return true;
}

static bool busy_is_over(const Conversation *conversation)
{
        return false;
}

static const uint8_t *busy_output(const Conversation *conversation, size_t *ret_n)
{
        *ret_n = 0;
        return NULL;
}

static void busy_sent(Conversation *conversation, size_t n)
{
}

static const ConversationType BUSY = {.feed = busy_feed,
                                      .wants_input = busy_wants_input,
                                      .is_over = busy_is_over,
                                      .output = busy_output,
                                      .sent = busy_sent};

static void busy_gone(Peer *peer, void *data)
{
        ck_abort_msg("hung up");
}

static void busy_begin(Busy *busy, const PeerRole *role, unsigned us)
{
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        *busy = (Busy){.conversation = {&BUSY}, .us = us, .other = fds[1]};
        busy->peer = peer_new(fds[0], role, &busy->conversation, busy);
        ck_assert_int_eq(write(busy->other, "", 1), 1);
}

static void busy_end(Busy *busy)
{
        peer_free(busy->peer);
        close(busy->other);
}

START_TEST(test_gives_way)
{
        static const PeerRole FEEDER = {.name = "feeder", .gone = busy_gone, .gives_way = true},
                              CLIENT = {.name = "client", .gone = busy_gone};
        Busy feeder, client;

        busy_begin(&feeder, &FEEDER, FEEDER_US);
        busy_begin(&client, &CLIENT, CLIENT_US);
        while (feeder.n_served < N_MESSAGES)
                g_main_context_iteration(NULL, TRUE);
        /* With alternating turns, both would serve the same number; the client serves about 80
         * times as many. */
        ck_assert_uint_gt(client.n_served, 5 * N_MESSAGES);
        busy_end(&client);
        /* A single peer waits for no other peer. */
        while (feeder.n_served < 2 * N_MESSAGES)
                g_main_context_iteration(NULL, TRUE);
        busy_end(&feeder);
}
END_TEST

/* Its only message takes N_TURNS turns. */
enum { N_TURNS = 50 };

typedef struct Slow {
        Conversation conversation;
        unsigned n_left;
        bool is_gone;
} Slow;

static void slow_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        ((Slow *)conversation)->n_left = N_TURNS;
}

static int slow_run(Conversation *conversation, int64_t now_ms)
{
        Slow *slow = (Slow *)conversation;

        if (slow->n_left)
                slow->n_left--;
        return slow->n_left ? 0 : -1;
}

static bool slow_wants_input(const Conversation *conversation)
{
        return !((const Slow *)conversation)->n_left;
}

static const ConversationType SLOW = {.feed = slow_feed,
                                      .run = slow_run,
                                      .wants_input = slow_wants_input,
                                      .is_over = busy_is_over,
                                      .output = busy_output,
                                      .sent = busy_sent};

static void slow_gone(Peer *peer, void *data)
{
        ((Slow *)data)->is_gone = true;
}

/* Returns the number of turns left when the peer ends, if the other side disconnects during the
 * message. */
static unsigned turns_left(const PeerRole *role)
{
        Slow slow = {.conversation = {&SLOW}};
        Peer *peer;
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        peer = peer_new(fds[0], role, &slow.conversation, &slow);
        ck_assert_int_eq(write(fds[1], "", 1), 1);
        while (!slow.n_left)
                g_main_context_iteration(NULL, TRUE);
        close(fds[1]);
        while (!slow.is_gone)
                g_main_context_iteration(NULL, TRUE);
        peer_free(peer);
        return slow.n_left;
}

START_TEST(test_finishes)
{
        static const PeerRole FEEDER = {.name = "feeder", .gone = slow_gone, .finishes = true},
                              CLIENT = {.name = "client", .gone = slow_gone};

        ck_assert_uint_eq(turns_left(&FEEDER), 0);
        ck_assert_uint_gt(turns_left(&CLIENT), 0);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("peer");
        TCase *tcase = tcase_create("peer");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_gives_way);
        tcase_add_test(tcase, test_finishes);
        suite_add_tcase(suite, tcase);
        return suite;
}
