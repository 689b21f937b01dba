/* SPDX-License-Identifier: MIT */
#include "attach/ipc.h"

#include "support/suite.h"

#include <string.h>

#define OK    "\xff\x00"
#define ERROR "\xff\xff"

static GByteArray *message(const char *kind, const void *payload, size_t n)
{
        GByteArray *bytes = g_byte_array_new();
        const uint16_t size = GUINT16_TO_LE(IPC_HEADER_SIZE + n);

        g_byte_array_append(bytes, (const uint8_t *)"DOTNET_IPC_V1", 14);
        g_byte_array_append(bytes, (const uint8_t *)&size, 2);
        g_byte_array_append(bytes, (const uint8_t *)kind, 2);
        g_byte_array_append(bytes, (const uint8_t *)"\0", 2);
        g_byte_array_append(bytes, payload, (guint)n);
        return bytes;
}

/* Feeds REPLY with at most PIECE bytes at a time, as from a socket. Returns the number of bytes
 * that REPLY took. */
static size_t put(IpcReply *reply, const uint8_t *bytes, size_t n, size_t piece)
{
        size_t n_taken = 0, wanted;

        ipc_reply_clear(reply);
        while ((wanted = ipc_reply_wanted(reply)) && n_taken < n) {
                size_t take = MIN(MIN(wanted, piece), n - n_taken);

                ipc_reply_put(reply, bytes + n_taken, take);
                n_taken += take;
        }
        return n_taken;
}

static void append_string(GByteArray *out, const char *text)
{
        const uint32_t n = GUINT32_TO_LE(strlen(text) + 1);
        size_t i;

        g_byte_array_append(out, (const uint8_t *)&n, 4);
        for (i = 0; i <= strlen(text); i++) {
                g_byte_array_append(out, (const uint8_t *)text + i, 1);
                g_byte_array_append(out, (const uint8_t *)"", 1);
        }
}

static GByteArray *process_info(uint64_t pid, const char *version)
{
        GByteArray *out = g_byte_array_new();
        const uint8_t cookie[16] = {0};

        pid = GUINT64_TO_LE(pid);
        g_byte_array_append(out, (const uint8_t *)&pid, 8);
        g_byte_array_append(out, cookie, sizeof(cookie));
        append_string(out, "/usr/bin/dotnet app.dll");
        append_string(out, "Linux");
        append_string(out, "x64");
        append_string(out, "app");
        append_string(out, version);
        return out;
}

/* Requests, byte for byte. */
START_TEST(test_requests)
{
        static const uint8_t STOP[] = "DOTNET_IPC_V1\0\x1c\x00\x02\x01\x00\x00"
                                      "\x08\x07\x06\x05\x04\x03\x02\x01";
        static const uint8_t INFO[] = "DOTNET_IPC_V1\0\x14\x00\x04\x04\x00";
        static const uint8_t COLLECT_2[] = "DOTNET_IPC_V1\0\x39\x00\x02\x03\x00\x00"
                                           "\x01\0\0\0\x01\0\0\0\x01\x01\0\0\0"
                                           "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                           "\x02\0\0\0P\0\0\0\0\0\0";
        static const uint8_t COLLECT_4[] = "DOTNET_IPC_V1\0\x41\x00\x02\x05\x00\x00"
                                           "\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"
                                           "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                           "\x02\0\0\0P\0\0\0\0\0\0";
        static const uint8_t COLLECT_5[] = "DOTNET_IPC_V1\0\x4a\x00\x02\x06\x00\x00\0\0\0\0"
                                           "\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"
                                           "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                           "\x02\0\0\0P\0\0\0\0\0\0\0\x01\0\0\0";
        /* A request for a rundown of modules. */
        static const uint8_t MODULES_4[] = "DOTNET_IPC_V1\0\x41\x00\x02\x05\x00\x00"
                                           "\0\x01\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\0\x01\0\0\0"
                                           "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                           "\x02\0\0\0P\0\0\0\0\0\0";
        /* A request with a buffer of 256 MB and without the events 146 and 160. */
        static const uint8_t READ_2[] = "DOTNET_IPC_V1\0\x39\x00\x02\x03\x00\x00"
                                        "\0\x01\0\0\x01\0\0\0\x01\x01\0\0\0"
                                        "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                        "\x02\0\0\0P\0\0\0\0\0\0";
        static const uint8_t READ_4[] = "DOTNET_IPC_V1\0\x41\x00\x02\x05\x00\x00"
                                        "\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"
                                        "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                        "\x02\0\0\0P\0\0\0\0\0\0";
        static const uint8_t READ_5[] = "DOTNET_IPC_V1\0\x52\x00\x02\x06\x00\x00\0\0\0\0"
                                        "\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"
                                        "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                        "\x02\0\0\0P\0\0\0\0\0\0\0\0\x02\0\0\0"
                                        "\x92\0\0\0\xa0\0\0";
        static const uint8_t TWO_4[] = "DOTNET_IPC_V1\0\x59\x00\x02\x05\x00\x00"
                                       "\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0"
                                       "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                       "\x02\0\0\0P\0\0\0\0\0\0\0"
                                       "\x00\x00\x04\0\0\0\0\0\x05\0\0\0"
                                       "\x02\0\0\0Q\0\0\0\0\0\0";
        static const uint8_t TWO_5[] = "DOTNET_IPC_V1\0\x6f\x00\x02\x06\x00\x00\0\0\0\0"
                                       "\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0"
                                       "\x98\x00\x02\x00\x20\0\0\0\x05\0\0\0"
                                       "\x02\0\0\0P\0\0\0\0\0\0\0\0\x02\0\0\0"
                                       "\x92\0\0\0\xa0\0\0\0"
                                       "\x00\x00\x04\0\0\0\0\0\x05\0\0\0"
                                       "\x02\0\0\0Q\0\0\0\0\0\0\0\0\0\0\0";
        IpcCollect collect = {.provider = {"P", 0x2000020098, 5}, .has_rundown = true};
        g_autoptr(GByteArray) stop = ipc_stop_new(0x0102030405060708);
        g_autoptr(GByteArray) info = ipc_process_info_new();
        static const uint8_t RESUME[] = "DOTNET_IPC_V1\0\x14\x00\x04\x01\x00";
        g_autoptr(GByteArray) resume = ipc_resume_new();
        const struct {
                IpcCommand command;
                const uint8_t *bytes;
                size_t n;
                bool is_read;
                uint64_t rundown_keywords;
                const char *other;
        } rows[] = {
                {IPC_COLLECT_TRACING_2, COLLECT_2, sizeof(COLLECT_2), false, 0, NULL},
                {IPC_COLLECT_TRACING_4, COLLECT_4, sizeof(COLLECT_4), false, 0, NULL},
                {IPC_COLLECT_TRACING_5, COLLECT_5, sizeof(COLLECT_5), false, 0, NULL},
                {IPC_COLLECT_TRACING_2, READ_2, sizeof(READ_2), true, 0, NULL},
                {IPC_COLLECT_TRACING_4, READ_4, sizeof(READ_4), true, 0, NULL},
                {IPC_COLLECT_TRACING_5, READ_5, sizeof(READ_5), true, 0, NULL},
                {IPC_COLLECT_TRACING_4, MODULES_4, sizeof(MODULES_4), true, 8, NULL},
                {IPC_COLLECT_TRACING_4, TWO_4, sizeof(TWO_4), true, 0, "Q"},
                {IPC_COLLECT_TRACING_5, TWO_5, sizeof(TWO_5), true, 0, "Q"},
        };
        size_t i;

        ck_assert_uint_eq(stop->len, sizeof(STOP) - 1);
        ck_assert_mem_eq(stop->data, STOP, stop->len);
        ck_assert_uint_eq(info->len, sizeof(INFO));
        ck_assert_mem_eq(info->data, INFO, info->len);
        ck_assert_uint_eq(resume->len, sizeof(RESUME));
        ck_assert_mem_eq(resume->data, RESUME, resume->len);
        for (i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GByteArray) bytes = NULL;

                collect.command = rows[i].command;
                collect.is_read = rows[i].is_read;
                collect.rundown_keywords = rows[i].rundown_keywords;
                collect.other = (IpcProvider){rows[i].other, 0x40000, 5};
                bytes = ipc_collect_new(&collect);
                ck_assert_uint_eq(bytes->len, rows[i].n);
                ck_assert_mem_eq(bytes->data, rows[i].bytes, rows[i].n);
        }
}
END_TEST

/* An announcement of .NET 10, and copies with one byte of the magic changed. */
START_TEST(test_announcement)
{
        uint8_t bytes[IPC_ANNOUNCEMENT_SIZE + 1] =
                "ADVR_V1\0\xb2\x64\x24\xad\xb5\x27\x61\x46\x80\x8e\xfb\x37\x6e\x65\x30\x97"
                "\x83\x0e\0\0\0\0\0\0\0\0";
        size_t i;

        ck_assert(ipc_is_announcement(bytes));
        for (i = 0; i < IPC_ANNOUNCEMENT_COOKIE_AT; i++) {
                bytes[i] ^= 1;
                ck_assert(!ipc_is_announcement(bytes));
                bytes[i] ^= 1;
        }
}
END_TEST

/* In pieces of any size, the reader takes the whole reply and no byte after it. */
START_TEST(test_pieces)
{
        g_autoptr(GByteArray) payload = process_info(77, "10.0.12");
        g_autoptr(GByteArray) bytes = message(OK, payload->data, payload->len);
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t n = bytes->len, piece;

        g_byte_array_append(bytes, (const uint8_t *)"Nettrace", 8);
        for (piece = 1; piece <= bytes->len; piece++) {
                IpcProcessInfo info = {0};
                uint32_t code;

                ck_assert_uint_eq(put(reply, bytes->data, bytes->len, piece), n);
                ck_assert_uint_eq(ipc_reply_wanted(reply), 0);
                ck_assert_int_eq(ipc_reply_result(reply, &code), IPC_RESULT_OK);
                ck_assert(ipc_reply_get_process_info(reply, &info));
                ck_assert_uint_eq(info.pid, 77);
                ck_assert_str_eq(info.version, "10.0.12");
                g_free(info.version);
        }
}
END_TEST

/* A truncated reply is incomplete, wherever it is truncated. */
START_TEST(test_cut)
{
        g_autoptr(GByteArray) bytes = message(OK, "\1\0\0\0\0\0\0\0", 8);
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        uint64_t session;
        uint32_t code;
        size_t n;

        for (n = 0; n < bytes->len; n++) {
                ck_assert_uint_eq(put(reply, bytes->data, n, SIZE_MAX), n);
                ck_assert_uint_gt(ipc_reply_wanted(reply), 0);
                ck_assert(!ipc_reply_get_session(reply, &session));
        }
        put(reply, bytes->data, bytes->len, SIZE_MAX);
        ck_assert_int_eq(ipc_reply_result(reply, &code), IPC_RESULT_OK);
        ck_assert(ipc_reply_get_session(reply, &session) && session == 1);
}
END_TEST

START_TEST(test_errors)
{
        g_autoptr(GByteArray) unknown = message(ERROR, "\x85\x13\x13\x80", 4);
        g_autoptr(GByteArray) longer = message(ERROR, "\x84\x13\x13\x80more", 8);
        g_autoptr(GByteArray) shorter = message(ERROR, "\x84\x13\x13", 3);
        g_autoptr(GByteArray) other = message("\xff\x01", "", 0);
        g_autoptr(GByteArray) request = message("\x02\x03", "", 0);
        const struct {
                const GByteArray *bytes;
                IpcResult result;
                uint32_t code;
        } rows[] = {
                {unknown, IPC_RESULT_ERROR, IPC_E_UNKNOWN_COMMAND},
                {longer, IPC_RESULT_ERROR, IPC_E_BAD_ENCODING},
                {shorter, IPC_RESULT_BROKEN, 0},
                {other, IPC_RESULT_BROKEN, 0},
                {request, IPC_RESULT_BROKEN, 0},
        };
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(rows); i++) {
                uint32_t code;

                put(reply, rows[i].bytes->data, rows[i].bytes->len, 1);
                ck_assert_int_eq(ipc_reply_result(reply, &code), rows[i].result);
                ck_assert_uint_eq(code, rows[i].code);
        }
}
END_TEST

/* For a newer version of the protocol, the error names the version and nothing else. */
START_TEST(test_other_version)
{
        static const struct {
                char digit, next;
                const char *version;
        } ROWS[] = {{'1', '\0', NULL}, {'2', '\0', "2"}, {'2', '0', NULL}, {'x', '\0', NULL}};
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) bytes = message(OK, "12345678", 8);
                const char *version;

                bytes->data[12] = (guint8)ROWS[i].digit;
                bytes->data[13] = (guint8)ROWS[i].next;
                put(reply, bytes->data, bytes->len, 7);
                version = ipc_reply_other_version(reply);
                ck_assert_int_eq(g_strcmp0(version, ROWS[i].version), 0);
        }
        ipc_reply_clear(reply);
        ck_assert_ptr_null(ipc_reply_other_version(reply));
}
END_TEST

/* After a wrong header, the reader takes no further bytes. */
START_TEST(test_bad_headers)
{
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t i;

        for (i = 0; i < 14; i++) {
                g_autoptr(GByteArray) bytes = message(OK, "12345678", 8);
                uint32_t code;

                bytes->data[i] ^= 0x20;
                ck_assert_uint_eq(put(reply, bytes->data, bytes->len, 7), IPC_HEADER_SIZE);
                ck_assert_int_eq(ipc_reply_result(reply, &code), IPC_RESULT_BROKEN);
        }
        for (i = 0; i < IPC_HEADER_SIZE; i++) {
                g_autoptr(GByteArray) bytes = message(OK, "12345678", 8);
                uint32_t code;

                bytes->data[14] = (uint8_t)i;
                ck_assert_uint_eq(put(reply, bytes->data, bytes->len, 7), IPC_HEADER_SIZE);
                ck_assert_int_eq(ipc_reply_result(reply, &code), IPC_RESULT_BROKEN);
        }
}
END_TEST

/* The longest possible message. */
START_TEST(test_longest)
{
        g_autofree uint8_t *payload = g_malloc0(IPC_MAX_MESSAGE - IPC_HEADER_SIZE);
        g_autoptr(GByteArray) bytes = message(OK, payload, IPC_MAX_MESSAGE - IPC_HEADER_SIZE);
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        IpcProcessInfo info;
        uint64_t session;
        uint32_t code;

        ck_assert_uint_eq(put(reply, bytes->data, bytes->len, 4096), IPC_MAX_MESSAGE);
        ck_assert_int_eq(ipc_reply_result(reply, &code), IPC_RESULT_OK);
        ck_assert(!ipc_reply_get_session(reply, &session));
        /* Empty strings: no version. */
        ck_assert(ipc_reply_get_process_info(reply, &info));
        ck_assert_str_eq(info.version, "");
        g_free(info.version);
}
END_TEST

/* Each length in a reply, one too large, and so large that it overflows. */
START_TEST(test_bad_lengths)
{
        static const uint32_t LENGTHS[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x40000000, 0x8000};
        g_autoptr(GByteArray) payload = process_info(77, "10.0.12");
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        size_t at = 24, i, n;
        IpcProcessInfo info;

        while (at < payload->len) {
                uint32_t length, wrong;

                memcpy(&length, payload->data + at, 4);
                length = GUINT32_FROM_LE(length);
                for (i = 0; i < G_N_ELEMENTS(LENGTHS); i++) {
                        g_autoptr(GByteArray) bytes = message(OK, payload->data, payload->len);

                        wrong = GUINT32_TO_LE(LENGTHS[i]);
                        memcpy(bytes->data + IPC_HEADER_SIZE + at, &wrong, 4);
                        put(reply, bytes->data, bytes->len, SIZE_MAX);
                        ck_assert(!ipc_reply_get_process_info(reply, &info));
                }
                at += 4 + 2 * length;
        }
        ck_assert_uint_eq(at, payload->len);
        /* Truncate the payload, and adjust the sizes. */
        for (n = 0; n < payload->len; n++) {
                g_autoptr(GByteArray) bytes = message(OK, payload->data, n);

                put(reply, bytes->data, bytes->len, SIZE_MAX);
                ck_assert(!ipc_reply_get_process_info(reply, &info));
        }
}
END_TEST

/* Versions are printed on terminals: only short texts of printable ASCII are valid. */
START_TEST(test_bad_versions)
{
        static const char *const VERSIONS[] = {"10.0\x1b[2J", "10 0", "10.0\n", "\x7f"};
        g_autofree char *too_long = g_strnfill(129, '1'), *longest = g_strnfill(128, '1');
        g_autofree IpcReply *reply = g_new(IpcReply, 1);
        IpcProcessInfo info;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(VERSIONS) + 2; i++) {
                const char *version = i < G_N_ELEMENTS(VERSIONS)    ? VERSIONS[i]
                                      : i == G_N_ELEMENTS(VERSIONS) ? too_long
                                                                    : longest;
                g_autoptr(GByteArray) payload = process_info(1, version);
                g_autoptr(GByteArray) bytes = message(OK, payload->data, payload->len);

                put(reply, bytes->data, bytes->len, SIZE_MAX);
                ck_assert_int_eq(ipc_reply_get_process_info(reply, &info), version == longest);
        }
        ck_assert_str_eq(info.version, longest);
        g_free(info.version);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-ipc");
        TCase *tcase = tcase_create("attach-ipc");

        tcase_add_test(tcase, test_requests);
        tcase_add_test(tcase, test_announcement);
        tcase_add_test(tcase, test_pieces);
        tcase_add_test(tcase, test_cut);
        tcase_add_test(tcase, test_errors);
        tcase_add_test(tcase, test_bad_headers);
        tcase_add_test(tcase, test_other_version);
        tcase_add_test(tcase, test_longest);
        tcase_add_test(tcase, test_bad_lengths);
        tcase_add_test(tcase, test_bad_versions);
        suite_add_tcase(suite, tcase);
        return suite;
}
