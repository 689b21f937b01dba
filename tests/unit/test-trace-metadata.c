/* SPDX-License-Identifier: MIT */
#include "feed/relay-files.h"
#include "feed/trace-metadata.h"
#include "util/remove-tree.h"

#include "support/suite.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define UUID_TEXT "a3fee628-c3c5-4355-be53-29b7a4cc3e59"
static const uint8_t UUID[16] = {
        0xa3, 0xfe, 0xe6, 0x28, 0xc3, 0xc5, 0x43, 0x55,
        0xbe, 0x53, 0x29, 0xb7, 0xa4, 0xcc, 0x3e, 0x59,
};

#define TSDL_TRACE                                                                                 \
        "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"" UUID_TEXT              \
        "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"                                   \
        "\t\tinteger { size = 32; align = 8; } magic;\n\t};\n};\n"
#define TSDL_STREAM "\nstream {\n\tid = 0;\n};\n"

#define JSON_PREAMBLE "\x1e{\n  \"type\": \"preamble\",\n  \"version\": 2\n}"
#define JSON_TRACE                                                                                 \
        "\x1e{\n  \"namespace\": \"lttng.org,2009\",\n  \"type\": \"trace-class\",\n"              \
        "  \"uid\": \"" UUID_TEXT "\",\n  \"environment\": {\n    \"a\": \"}\\\"{\"\n  }\n}"

/* A packet in the format of LTTng 2.13. SIZE: size of the whole packet in bits, as bytes. */
#define PACKET(size, text)                                                                         \
        "\x57\x1d\xd1\x75\xa3\xfe\xe6\x28\xc3\xc5\x43\x55\xbe\x53\x29\xb7\xa4\xcc\x3e\x59"         \
        "\0\0\0\0" size size "\0\0\0\1\010" text
#define PACKET_TRACE  PACKET("\030\007\000\000", TSDL_TRACE)
#define PACKET_STREAM PACKET("\330\001\000\000", TSDL_STREAM)

#define PARTS(first, second) first, sizeof(first) - 1, first second, sizeof(first second) - 1

/* Two pieces; the metadata is complete after each of them. */
static const struct {
        const char *first;
        size_t n_first;
        const char *both;
        size_t n_both;
        bool has_identity; /* the first piece has the identity */
} ROWS[] = {
        {PARTS(TSDL_TRACE, TSDL_STREAM), true},
        {PARTS(JSON_PREAMBLE, JSON_TRACE), false},
        {PARTS(JSON_PREAMBLE JSON_TRACE, JSON_TRACE), true},
        {PARTS(PACKET_TRACE, PACKET_STREAM), true},
};

/* From a truncated file, only complete declarations are taken. */
START_TEST(test_whole)
{
        size_t n;

        for (n = 0; n <= ROWS[_i].n_both; n++) {
                g_autofree uint8_t *bytes = g_memdup2(ROWS[_i].both, n);
                size_t whole = trace_metadata_whole(bytes, n);

                if (n == ROWS[_i].n_both)
                        ck_assert_uint_eq(whole, n);
                else if (n >= ROWS[_i].n_first)
                        ck_assert_uint_eq(whole, ROWS[_i].n_first);
                else
                        ck_assert_uint_lt(whole, ROWS[_i].n_first);
        }
}
END_TEST

static bool read_identity(const char *bytes, size_t n, uint8_t ret_uuid[16])
{
        g_autoptr(GHashTable) counts = event_counts_new();
        size_t n_whole = trace_metadata_whole((const uint8_t *)bytes, n);
        g_autoptr(TraceMetadata) metadata = trace_metadata_new((const uint8_t *)bytes, n_whole,
                                                               EVENT_USE_CODE_MAPS, counts, NULL);
        const uint8_t *uuid = metadata ? trace_metadata_uuid(metadata) : NULL;

        if (uuid)
                memcpy(ret_uuid, uuid, 16);
        return uuid != NULL;
}

START_TEST(test_identity)
{
        uint8_t uuid[16] = {0};

        ck_assert(read_identity(ROWS[_i].both, ROWS[_i].n_both, uuid));
        ck_assert_mem_eq(uuid, UUID, sizeof(UUID));
        ck_assert(read_identity(ROWS[_i].first, ROWS[_i].n_first, uuid) == ROWS[_i].has_identity);
        ck_assert(!read_identity(ROWS[_i].both, 20, uuid));
}
END_TEST

static void put(const char *directory, const char *name, const char *bytes, size_t n)
{
        g_autofree char *path = g_build_filename(directory, name, NULL);

        ck_assert(g_file_set_contents(path, bytes, (gssize)n, NULL));
}

static bool want_all(void *data, const StreamKey *key)
{
        return !memcmp(key->uuid, UUID, sizeof(UUID));
}

/* Writes an index with one packet of 64 bytes, of stream 1 of class 0. */
static void put_index(const char *directory)
{
        const uint32_t head[4] = {GUINT32_TO_BE(0xC1F1DCC1), GUINT32_TO_BE(1), GUINT32_TO_BE(1),
                                  GUINT32_TO_BE(72)};
        const uint64_t entry[9] = {0, 512, 512, 10, 20, 0, 0, 1, 0};
        char bytes[sizeof(head) + sizeof(entry)];
        unsigned i;

        memcpy(bytes, head, sizeof(head));
        for (i = 0; i < G_N_ELEMENTS(entry); i++) {
                uint64_t member = GUINT64_TO_BE(entry[i]);

                memcpy(bytes + sizeof(head) + i * sizeof(member), &member, sizeof(member));
        }
        put(directory, "ch_0.idx", bytes, sizeof(bytes));
}

static const uint8_t *identify(void *data, const char *path, int *ret_errno)
{
        g_autofree char *file = g_build_filename(path, "metadata", NULL), *text = NULL;
        gsize n;

        return g_file_get_contents(file, &text, &n, NULL) && read_identity(text, n, data) ? data
                                                                                          : NULL;
}

/* The files of a relay daemon, and their packets. */
START_TEST(test_files)
{
        static const RelayCalls CALLS = {.identify = identify, .wants = want_all};
        static const char MAGIC[64] = "\xc1\x1f\xfc\xc1";
        g_autofree char *output = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *trace = NULL, *index = NULL, *unread = NULL, *broken = NULL;
        g_autoptr(GByteArray) packet = g_byte_array_new();
        g_autoptr(GPtrArray) traces = NULL;
        g_autoptr(GError) error = NULL;
        char host[HOST_NAME_MAX + 1] = "";
        const RelayTrace *found;
        const RelayStream *stream;
        uint8_t uuid[16];

        gethostname(host, sizeof(host) - 1);
        trace = g_build_filename(output, host, "live-20261121-075400", "ust", NULL);
        index = g_build_filename(trace, "index", NULL);
        ck_assert_int_eq(g_mkdir_with_parents(index, 0700), 0);
        put(trace, "metadata", ROWS[_i].both, ROWS[_i].n_both - (ROWS[_i].has_identity ? 1 : 0));
        put(trace, "ch_0", MAGIC, sizeof(MAGIC));
        put_index(index);

        traces = relay_files_scan(output, "live", 0, &CALLS, uuid, &unread, &error);
        ck_assert_ptr_nonnull(traces);
        ck_assert_ptr_null(unread);
        ck_assert_uint_eq(traces->len, 1);
        found = traces->pdata[0];
        ck_assert_uint_eq(found->streams->len, 1);
        stream = found->streams->pdata[0];
        ck_assert_uint_eq(stream->packets->len, 1);
        ck_assert(relay_stream_read(stream, &g_array_index(stream->packets, RelayPacket, 0), packet,
                                    &error));
        ck_assert_uint_eq(packet->len, sizeof(MAGIC));
        ck_assert_mem_eq(packet->data, MAGIC, sizeof(MAGIC));

        /* A second index, at which the kernel fails: EIO. */
        broken = g_build_filename(index, "ch_1.idx", NULL);
        ck_assert_int_eq(symlink("/proc/self/mem", broken), 0);
        g_ptr_array_unref(traces);
        traces = relay_files_scan(output, "live", 0, &CALLS, uuid, &unread, &error);
        ck_assert_ptr_nonnull(traces);
        ck_assert_uint_eq(traces->len, 1);
        ck_assert_ptr_nonnull(unread);
        ck_assert_ptr_nonnull(strstr(unread, "ch_1.idx: Input/output error"));
        remove_tree(output);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("trace-metadata");
        TCase *tcase = tcase_create("trace-metadata");

        tcase_add_loop_test(tcase, test_whole, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_identity, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_files, 0, G_N_ELEMENTS(ROWS));
        suite_add_tcase(suite, tcase);
        return suite;
}
