/* SPDX-License-Identifier: MIT */

/* The protocol of lttng-relayd's viewers: requests byte by byte, and replies in pieces */

#include "feed/viewer-wire.h"

#include "support/suite.h"

#include <errno.h>
#include <string.h>

/* Parses the bytes of a message: hex numbers, separated by blanks; zN: N bytes of zero. */
static GByteArray *bytes_of(const char *text)
{
        GByteArray *bytes = g_byte_array_new();
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        guint i;

        for (i = 0; words[i]; i++) {
                const char *word = words[i];
                static const uint8_t ZERO;
                unsigned n = *word == 'z' ? (unsigned)g_ascii_strtoull(word + 1, NULL, 10) : 0;

                for (; n > 0; n--)
                        g_byte_array_append(bytes, &ZERO, 1);
                for (; *word && *word != 'z'; word += 2) {
                        uint8_t byte = (uint8_t)(g_ascii_xdigit_value(word[0]) << 4 |
                                                 g_ascii_xdigit_value(word[1]));

                        g_byte_array_append(bytes, &byte, 1);
                }
        }
        return bytes;
}

START_TEST(puts_requests)
{
        static const struct {
                ViewerCommand command;
                const char *bytes;
        } ROWS[] = {
                {VIEWER_CONNECT, "z7 14 00000001 z4 z8 00000002 0000000f 00000001"},
                {VIEWER_LIST_SESSIONS, "z8 00000002 z4"},
                {VIEWER_ATTACH_SESSION, "z7 14 00000003 z4 0102030405060708 z8 00000002"},
                {VIEWER_GET_NEXT_INDEX, "z7 08 00000004 z4 0102030405060708"},
                {VIEWER_GET_PACKET, "z7 14 00000005 z4 0102030405060708 1112131415161718 21222324"},
                {VIEWER_GET_METADATA, "z7 08 00000006 z4 0102030405060708"},
                {VIEWER_GET_NEW_STREAMS, "z7 08 00000007 z4 0102030405060708"},
                {VIEWER_CREATE_SESSION, "z8 00000008 z4"},
                {VIEWER_DETACH_SESSION, "z7 08 00000009 z4 0102030405060708"},
        };
        const uint64_t id = 0x0102030405060708;
        size_t i;

        ck_assert_uint_eq(G_N_ELEMENTS(ROWS), _VIEWER_COMMAND_MAX - 1);
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) expected = bytes_of(ROWS[i].bytes);
                g_autoptr(GByteArray) out = g_byte_array_new();

                switch (ROWS[i].command) {
                case VIEWER_CONNECT:
                        viewer_put_connect(out);
                        break;
                case VIEWER_ATTACH_SESSION:
                        viewer_put_attach(out, id);
                        break;
                case VIEWER_GET_PACKET:
                        viewer_put_get_packet(out, id, 0x1112131415161718, 0x21222324);
                        break;
                case VIEWER_LIST_SESSIONS:
                case VIEWER_CREATE_SESSION:
                        viewer_put_empty(out, ROWS[i].command);
                        break;
                default:
                        viewer_put_id(out, ROWS[i].command, id);
                        break;
                }
                ck_assert_uint_eq(out->len, expected->len);
                ck_assert_mem_eq(out->data, expected->data, out->len);
        }
}
END_TEST

#define SESSION_ROW "0102030405060708 000186a0 00000001 00000003 686f7374 z60 6e616d65 z251"
#define NAMED_ROW                                                                                  \
        "0102030405060708 000186a0 00000001 00000003 00000004 00000002 00000001 686f7374 6e61"
#define STREAM_ROW "0102030405060708 1112131415161718 00000001 2f70 z4094 6368 z253"

/* Replies, and the text of their parts. */
static const struct {
        const char *name;
        ViewerCommand command;
        const char *bytes, *parts;
        uint32_t minor;
} REPLIES[] = {
        {"connect", VIEWER_CONNECT, "0102030405060708 00000002 0000000d 00000001", "version 2.13;",
         0},
        {"no sessions", VIEWER_LIST_SESSIONS, "00000000", "head 0;", 0},
        {"two sessions", VIEWER_LIST_SESSIONS, "00000002 " SESSION_ROW " " SESSION_ROW,
         "head 0,session 102030405060708 100000 1 3 host name,"
         "session 102030405060708 100000 1 3 host name;",
         0},
        {"sessions of version 2.14", VIEWER_LIST_SESSIONS, "00000001 " SESSION_ROW,
         "head 0,session 102030405060708 100000 1 3 host name;", 14},
        {"two sessions with lengths", VIEWER_LIST_SESSIONS, "00000002 " NAMED_ROW " " NAMED_ROW,
         "head 0,session 102030405060708 100000 1 3 host na,"
         "session 102030405060708 100000 1 3 host na;",
         15},
        {"a session without names", VIEWER_LIST_SESSIONS,
         "00000001 0102030405060708 000186a0 00000001 00000003 z8 00000001",
         "head 0,session 102030405060708 100000 1 3  ;", 15},
        {"attached", VIEWER_ATTACH_SESSION, "00000001 00000001 " STREAM_ROW,
         "head 1,stream 102030405060708 1112131415161718 metadata;", 0},
        {"attached, no streams", VIEWER_ATTACH_SESSION, "00000001 00000000", "head 1;", 0},
        {"busy", VIEWER_ATTACH_SESSION, "00000002 00000000", "head 2;", 0},
        {"busy, with a number of streams", VIEWER_ATTACH_SESSION, "00000002 00000005", "head 2;",
         0},
        {"index", VIEWER_GET_NEXT_INDEX,
         "0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005 "
         "0000000000000006 0000000000000007 00000001 00000003",
         "index 1 3: 1 2 3 4 5 6 7;", 0},
        {"packet", VIEWER_GET_PACKET, "00000001 00000003 00000000 616263", "bytes 1 0: abc;", 0},
        {"packet without bytes", VIEWER_GET_PACKET, "00000001 00000000 00000000", "bytes 1 0: ;",
         0},
        {"packet after metadata", VIEWER_GET_PACKET, "00000003 00000000 00000001", "bytes 3 1: ;",
         0},
        {"no packet, with a length", VIEWER_GET_PACKET, "00000003 7fffffff 00000001",
         "bytes 3 1: ;", 0},
        {"metadata", VIEWER_GET_METADATA, "0000000000000002 00000001 6162", "bytes 1 0: ab;", 0},
        {"no metadata", VIEWER_GET_METADATA, "0000000000000000 00000002", "bytes 2 0: ;", 0},
        {"new streams", VIEWER_GET_NEW_STREAMS, "00000001 00000001 " STREAM_ROW,
         "head 1,stream 102030405060708 1112131415161718 metadata;", 0},
        {"hung up", VIEWER_GET_NEW_STREAMS, "00000004 00000000", "head 4;", 0},
        {"created", VIEWER_CREATE_SESSION, "00000001", "status 1;", 0},
        {"detached", VIEWER_DETACH_SESSION, "00000001", "status 1;", 0},
};

static void append_part(GString *out, ViewerCommand command, const ViewerReply *reply)
{
        const ViewerIndex *index = &reply->index;

        switch (command) {
        case VIEWER_CONNECT:
                g_string_append_printf(out, "version %u.%u", reply->major, reply->minor);
                break;
        case VIEWER_LIST_SESSIONS:
                if (reply->is_row)
                        g_string_append_printf(out,
                                               "session %" G_GINT64_MODIFIER "x %u %u %u %s %s",
                                               reply->session.id, reply->session.timer_us,
                                               reply->session.n_clients, reply->session.n_streams,
                                               reply->session.host, reply->session.name);
                else
                        g_string_append_printf(out, "head %u", reply->status);
                break;
        case VIEWER_ATTACH_SESSION:
        case VIEWER_GET_NEW_STREAMS:
                if (reply->is_row)
                        g_string_append_printf(
                                out, "stream %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %s",
                                reply->stream.id, reply->stream.trace_id,
                                reply->stream.is_metadata ? "metadata" : "data");
                else
                        g_string_append_printf(out, "head %u", reply->status);
                break;
        case VIEWER_GET_NEXT_INDEX:
                g_string_append_printf(out,
                                       "index %u %u: %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                       " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                       " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                       " %" G_GUINT64_FORMAT,
                                       reply->status, reply->flags, index->offset,
                                       index->packet_bits, index->content_bits, index->begin,
                                       index->end, index->discarded, index->class_id);
                break;
        case VIEWER_GET_PACKET:
        case VIEWER_GET_METADATA:
                g_string_append_printf(out, "bytes %u %u: ", reply->status, reply->flags);
                g_string_append_len(out, (const char *)reply->bytes, (gssize)reply->n_bytes);
                break;
        default:
                g_string_append_printf(out, "status %u", reply->status);
                break;
        }
        g_string_append_c(out, reply->is_last ? ';' : ',');
}

/* Takes parts from AT to the end of N bytes; returns the begin of the rest. */
static size_t take_parts(ViewerParser *parser, ViewerCommand command, const GByteArray *bytes,
                         size_t at, size_t n, GString *out)
{
        for (;;) {
                ViewerReply reply;
                ssize_t used = viewer_reply_next(parser, command, bytes->data + at, n - at, &reply);

                ck_assert_int_ge(used, 0);
                if (used == 0)
                        return at;
                append_part(out, command, &reply);
                at += (size_t)used;
                if (reply.is_last)
                        return at;
        }
}

/* Replies, split at each byte. */
START_TEST(takes_replies)
{
        size_t i, split;

        for (i = 0; i < G_N_ELEMENTS(REPLIES); i++) {
                g_autoptr(GByteArray) bytes = bytes_of(REPLIES[i].bytes);

                for (split = 0; split <= bytes->len; split++) {
                        g_autoptr(GString) parts = g_string_new(NULL);
                        ViewerParser parser = {.minor = REPLIES[i].minor};
                        size_t at = take_parts(&parser, REPLIES[i].command, bytes, 0, split, parts);

                        ck_assert_uint_le(at, split);
                        if (split < bytes->len) {
                                ck_assert_msg(!strchr(parts->str, ';'), "%s: %zu bytes",
                                              REPLIES[i].name, split);
                                at = take_parts(&parser, REPLIES[i].command, bytes, at, bytes->len,
                                                parts);
                        }
                        ck_assert_uint_eq(at, bytes->len);
                        ck_assert_str_eq(parts->str, REPLIES[i].parts);
                        ck_assert(!parser.has_head);
                }
        }
}
END_TEST

/* Lengths above the limit are refused as soon as they arrive. */
START_TEST(refuses_lengths)
{
        static const struct {
                ViewerCommand command;
                const char *bytes;
        } ROWS[] = {
                {VIEWER_LIST_SESSIONS, "00010001"},
                {VIEWER_ATTACH_SESSION, "00000001 00010001"},
                {VIEWER_GET_NEW_STREAMS, "00000001 ffffffff"},
                {VIEWER_GET_PACKET, "00000001 04000001 00000000"},
                {VIEWER_GET_PACKET, "00000001 ffffffff 00000000"},
                {VIEWER_GET_METADATA, "0000000004000001 00000001"},
                {VIEWER_GET_METADATA, "ffffffffffffffff 00000001"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) bytes = bytes_of(ROWS[i].bytes);
                ViewerParser parser = {0};
                ViewerReply reply;

                ck_assert_int_eq(viewer_reply_next(&parser, ROWS[i].command, bytes->data,
                                                   bytes->len - 1, &reply),
                                 0);
                ck_assert_int_eq(viewer_reply_next(&parser, ROWS[i].command, bytes->data,
                                                   bytes->len, &reply),
                                 -EBADMSG);
        }
}
END_TEST

/* After the reply to CONNECT, the parser knows the common version. */
START_TEST(takes_version)
{
        static const struct {
                const char *bytes;
                uint32_t minor;
        } ROWS[] = {
                {"z8 00000002 0000000d 00000001", 13},
                {"z8 00000002 0000000f 00000001", 15},
                {"z8 00000002 00000063 00000001", VIEWER_MINOR},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) version = bytes_of(ROWS[i].bytes);
                g_autoptr(GByteArray) none = bytes_of("00000000");
                ViewerParser parser = {0};
                ViewerReply reply;

                ck_assert_int_eq(viewer_reply_next(&parser, VIEWER_CONNECT, version->data,
                                                   version->len, &reply),
                                 version->len);
                ck_assert_uint_eq(parser.minor, ROWS[i].minor);
                ck_assert_int_eq(viewer_reply_next(&parser, VIEWER_LIST_SESSIONS, none->data,
                                                   none->len, &reply),
                                 none->len);
                ck_assert_uint_eq(parser.minor, ROWS[i].minor);
        }
}
END_TEST

/* Names above the limit are refused as soon as the row's lengths arrive. */
START_TEST(refuses_names)
{
        static const char *const ROWS[] = {
                "00000001 0102030405060708 000186a0 00000001 00000003 00001001 00000001 00000001",
                "00000001 0102030405060708 000186a0 00000001 00000003 00000001 ffffffff 00000001",
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) bytes = bytes_of(ROWS[i]);
                ViewerParser parser = {.minor = VIEWER_LENGTHS_MINOR};
                ViewerReply reply;

                ck_assert_int_eq(viewer_reply_next(&parser, VIEWER_LIST_SESSIONS, bytes->data,
                                                   bytes->len, &reply),
                                 4);
                ck_assert_int_eq(viewer_reply_next(&parser, VIEWER_LIST_SESSIONS, bytes->data + 4,
                                                   bytes->len - 4, &reply),
                                 -EBADMSG);
        }
}
END_TEST

Suite *suite_new(void)
{
        TCase *tests = tcase_create("viewer-wire");
        Suite *suite = suite_create("viewer-wire");

        tcase_add_test(tests, puts_requests);
        tcase_add_test(tests, takes_replies);
        tcase_add_test(tests, refuses_lengths);
        tcase_add_test(tests, takes_version);
        tcase_add_test(tests, refuses_names);
        suite_add_tcase(suite, tests);
        return suite;
}
