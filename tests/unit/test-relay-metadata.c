/* SPDX-License-Identifier: MIT */
#include "feed/relay-files.h"
#include "feed/relay-metadata.h"
#include "util/scratch.h"

#include "support/suite.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define UUID_TEXT "a3fee628-c3c5-4355-be53-29b7a4cc3e59"
static const uint8_t UUID[16] = "\xa3\xfe\xe6\x28\xc3\xc5\x43\x55\xbe\x53\x29\xb7\xa4\xcc\x3e\x59";

#define TSDL_TRACE                                                                                 \
        "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"" UUID_TEXT              \
        "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"                                   \
        "\t\tinteger { size = 32; align = 8; } magic;\n\t};\n};\n"
#define TSDL_STREAM "\nstream {\n\tid = 0;\n};\n"

#define JSON_PREAMBLE "\x1e{\n  \"type\": \"preamble\",\n  \"version\": 2\n}"
#define JSON_TRACE                                                                                 \
        "\x1e{\n  \"namespace\": \"lttng.org,2009\",\n  \"type\": \"trace-class\",\n"              \
        "  \"uid\": \"" UUID_TEXT "\",\n  \"environment\": {\n    \"a\": \"}\\\"{\"\n  }\n}"

/* The packet of 40 bytes that LTTng 2.13 writes: its text is not looked at. */
#define PACKET_HEAD                                                                                \
        "\x57\x1d\xd1\x75\xa3\xfe\xe6\x28\xc3\xc5\x43\x55\xbe\x53\x29\xb7\xa4\xcc\x3e\x59"         \
        "\0\0\0\0\x40\x01\0\0\x40\x01\0\0\0\0\0\x01\x08"
#define PACKET PACKET_HEAD "env"

#define PARTS(first, second) first, sizeof(first) - 1, first second, sizeof(first second) - 1

/* Two pieces, after each of which the metadata is whole. */
static const struct {
        const char *first;
        size_t n_first;
        const char *both;
        size_t n_both;
        bool has_identity; /* already the first has it */
} ROWS[] = {
        {PARTS(TSDL_TRACE, TSDL_STREAM), true},
        {PARTS(JSON_PREAMBLE, JSON_TRACE), false},
        {PARTS(JSON_PREAMBLE JSON_TRACE, JSON_TRACE), true},
        {PARTS(PACKET, PACKET), true},
};

/* However much of the file is there, only whole declarations are taken. */
START_TEST(test_whole)
{
        size_t n;

        for (n = 0; n <= ROWS[_i].n_both; n++) {
                g_autofree uint8_t *bytes = g_memdup2(ROWS[_i].both, n);
                size_t whole = relay_metadata_whole(bytes, n);

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
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;
        int fd = g_file_open_tmp(NULL, &path, &error);
        bool is_known;

        ck_assert_int_ge(fd, 0);
        g_unlink(path);
        ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
        is_known = relay_metadata_identity(fd, ret_uuid);
        close(fd);
        return is_known;
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

/* An index with one packet of 64 bytes, of stream 1 of class 0. */
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

/* The files of a relay daemon are found, and an excerpt has what is whole of the metadata. */
START_TEST(test_files)
{
        static const char MAGIC[64] = "\xc1\x1f\xfc\xc1";
        g_autofree char *output = g_dir_make_tmp("clrsym-XXXXXX", NULL), *copied = NULL;
        g_autofree char *trace = NULL, *index = NULL, *excerpt = NULL, *metadata = NULL;
        g_autoptr(GPtrArray) traces = NULL;
        g_autoptr(GError) error = NULL;
        char host[HOST_NAME_MAX + 1] = "";
        const RelayTrace *found;
        RelaySelection selection = {.n = 1};
        gsize n;

        gethostname(host, sizeof(host) - 1);
        trace = g_build_filename(output, host, "live-20261121-075400", "ust", NULL);
        index = g_build_filename(trace, "index", NULL);
        excerpt = g_build_filename(output, "excerpt", NULL);
        metadata = g_build_filename(excerpt, "metadata", NULL);
        ck_assert_int_eq(g_mkdir_with_parents(index, 0700), 0);
        put(trace, "metadata", ROWS[_i].both, ROWS[_i].n_both - (ROWS[_i].has_identity ? 1 : 0));
        put(trace, "ch_0", MAGIC, sizeof(MAGIC));
        put_index(index);

        traces = relay_files_scan(output, "live", 0, want_all, NULL, &error);
        ck_assert_ptr_nonnull(traces);
        ck_assert_uint_eq(traces->len, 1);
        found = traces->pdata[0];
        ck_assert_uint_eq(found->streams->len, 1);
        selection.stream = found->streams->pdata[0];
        ck_assert_uint_eq(selection.stream->packets->len, 1);
        ck_assert(relay_files_excerpt(found, &selection, 1, excerpt, &error));
        ck_assert(g_file_get_contents(metadata, &copied, &n, NULL));
        ck_assert_uint_eq(n, ROWS[_i].has_identity ? ROWS[_i].n_first : ROWS[_i].n_both);
        scratch_remove_tree(output);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("relay-metadata");
        TCase *tcase = tcase_create("relay-metadata");

        tcase_add_loop_test(tcase, test_whole, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_identity, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_files, 0, G_N_ELEMENTS(ROWS));
        suite_add_tcase(suite, tcase);
        return suite;
}
