/* SPDX-License-Identifier: MIT */

/* SHA-256 against GLib's; sequence points built by the test; and PDBs made by a compiler. */

#include "pdb/debug-directory.h"
#include "pdb/pdb-points.h"
#include "pdb/sha256.h"

#include "support/suite.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(test_sha256)
{
        uint8_t bytes[300], digest[SHA256_SIZE], expected[SHA256_SIZE];
        size_t n, n_digest = sizeof(expected);
        Sha256 hash;

        for (n = 0; n < sizeof(bytes); n++) {
                g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);

                bytes[n] = (uint8_t)(n * 7);
                sha256_init(&hash);
                sha256_add(&hash, bytes, n / 3);
                sha256_add(&hash, bytes + n / 3, n - n / 3);
                sha256_finish(&hash, digest);
                g_checksum_update(checksum, bytes, (gssize)n);
                g_checksum_get_digest(checksum, expected, &n_digest);
                ck_assert_mem_eq(digest, expected, sizeof(digest));
        }
}
END_TEST

#define BLOB(...) .blob = {__VA_ARGS__}, .n = sizeof((const uint8_t[]){__VA_ARGS__})
#define NO        UINT32_MAX

/* Sequence points, and the lines at IL offsets 0, 2, 5 and 9; NO: no line. */
static const struct {
        uint8_t blob[24];
        size_t n;
        bool has_failed;
        uint32_t lines[4];
} POINTS[] = {
        /* Locals; IL 0, line 7 column 3 to column 9; IL 5, two lines lower. */
        {BLOB(0, 0, 0, 6, 7, 3, 5, 0, 1, 4, 0), .lines = {7, 7, 9, 9}},
        /* A hidden point is skipped. */
        {BLOB(0, 0, 0, 6, 7, 3, 5, 0, 0), .lines = {7, 7, 7, 7}},
        /* Only hidden points. */
        {BLOB(0, 0, 0, 0, 5, 0, 0), .lines = {NO, NO, NO, NO}},
        /* The first point is hidden: the next point has its absolute line. */
        {BLOB(0, 0, 0, 0, 2, 1, 2, 40, 5), .lines = {NO, 40, 40, 40}},
        /* Backwards: -3 lines. */
        {BLOB(0, 0, 0, 6, 7, 3, 2, 0, 1, 0x7b, 0), .lines = {7, 4, 4, 4}},
        /* Another document. */
        {BLOB(0, 0, 0, 6, 7, 3, 0, 2, 2, 0, 1, 2, 0), .lines = {7, 8, 8, 8}},
        /* No points. */
        {BLOB(0), .lines = {NO, NO, NO, NO}},
        /* A line below 0; a truncated blob; a number with an invalid first byte. */
        {BLOB(0, 0, 0, 6, 7, 3, 2, 0, 1, 0x71, 0), true, .lines = {NO, NO, NO, NO}},
        {BLOB(0, 0, 0, 6, 7, 3, 5, 0, 1, 4), true, .lines = {NO, NO, NO, NO}},
        {BLOB(0, 0, 0, 6, 7, 3, 0xff, 0, 1, 4, 0), true, .lines = {NO, NO, NO, NO}},
};

START_TEST(test_points)
{
        static const uint32_t IL[] = {0, 2, 5, 9};
        uint8_t blobs[32] = {0, (uint8_t)POINTS[_i].n};
        uint8_t row[4] = {1, 0, 1, 0};
        MetadataRows rows = {
                .at = row, .n = 1, .size = 4, .n_columns = 2, .begin = {0, 2}, .width = {2, 2}};
        Pdb pdb = {0};
        PdbPoints points;
        PdbPoint point;
        size_t i;

        memcpy(blobs + 2, POINTS[_i].blob, POINTS[_i].n);
        pdb.metadata.blobs = (MetadataSpan){blobs, 2 + POINTS[_i].n};
        pdb.metadata.tables[METADATA_METHOD_DEBUG_INFORMATION] = rows;
        ck_assert(pdb_points_init(&points, &pdb, 1));
        while (pdb_points_next(&points))
                ck_assert(points.point.is_hidden == !points.point.line);
        ck_assert(points.has_failed == POINTS[_i].has_failed);
        for (i = 0; i < G_N_ELEMENTS(IL); i++) {
                bool is_found = pdb_find_point(&pdb, 1, IL[i], &point);

                ck_assert_uint_eq(is_found ? point.line : NO, POINTS[_i].lines[i]);
        }
        ck_assert(!pdb_points_init(&points, &pdb, 0));
        ck_assert(!pdb_points_init(&points, &pdb, 2));
}
END_TEST

static int data_open(const char *name)
{
        g_autofree char *path = g_build_filename(TEST_DATA, name, NULL);
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        return fd;
}

static uint8_t *data_read(const char *name, size_t *ret_n)
{
        g_autofree char *path = g_build_filename(TEST_DATA, name, NULL);
        char *bytes;

        ck_assert(g_file_get_contents(path, &bytes, ret_n, NULL));
        return (uint8_t *)bytes; /* g_malloc() is malloc() */
}

/* Output of sha256sum for Emb.cs. */
static const uint8_t EMB_SHA256[] = {0xc1, 0x60, 0x17, 0xf3, 0x37, 0x54, 0x55, 0x22,
                                     0xae, 0xfe, 0x74, 0xab, 0x17, 0x90, 0xa3, 0xc8,
                                     0x7a, 0x4b, 0xae, 0x6b, 0x7e, 0xb1, 0xd4, 0x24,
                                     0x23, 0x5a, 0x5e, 0x30, 0xe1, 0xa8, 0x43, 0x6c};

START_TEST(test_embedded)
{
        const char *reason = "";
        DebugDirectory directory;
        MetadataSpan checksum;
        char path[256];
        PeFile image;
        uint8_t *bytes;
        size_t n;
        Pdb pdb;
        int fd = data_open("embedded");

        ck_assert_int_eq(pe_file_read(&image, fd, 0, &reason), 0);
        ck_assert_int_eq(debug_directory_read(&directory, &image, &reason), 0);
        ck_assert(directory.has_id);
        ck_assert(directory.has_checksum);
        ck_assert_ptr_nonnull(strstr(directory.path, "LibEmb.pdb"));
        ck_assert_int_eq(debug_directory_unpack(&directory, &image, 100, &bytes, &n, &reason),
                         -EBADMSG);
        ck_assert_int_eq(debug_directory_unpack(&directory, &image, 1 << 20, &bytes, &n, &reason),
                         0);
        ck_assert(pdb_read(&pdb, bytes, n, &(PdbCheck){directory.id, directory.checksum}, &reason));
        ck_assert(pdb_id_equals(&pdb.id, &directory.id));
        ck_assert(pdb_document_path(&pdb, 1, path, sizeof(path)));
        ck_assert_str_eq(path, "/mnt/src/mini/LibEmb/Emb.cs");
        ck_assert(pdb_document_checksum(&pdb, 1, &checksum));
        ck_assert_uint_eq(checksum.n, 32);
        ck_assert_int_eq(memcmp(checksum.at, EMB_SHA256, 32), 0);
        ck_assert(!pdb_document_checksum(&pdb, 1000, &checksum));
        pdb_deinit(&pdb);
        close(fd);
}
END_TEST

START_TEST(test_checksum)
{
        uint8_t checksum[PDB_CHECKSUM_SIZE] = {0};
        PdbCheck check = {.checksum = checksum};
        const char *reason = "";
        uint8_t *bytes;
        size_t n;
        Pdb pdb;

        bytes = data_read("portable", &n);
        ck_assert(pdb_read(&pdb, bytes, n, NULL, &reason));
        ck_assert_uint_lt(pdb.n, n);
        check.id = pdb.id;
        pdb_deinit(&pdb);
        bytes = data_read("portable", &n);
        ck_assert(!pdb_read(&pdb, bytes, n, &check, &reason));
        ck_assert_ptr_nonnull(strstr(reason, "checksum"));
        /* The checksum belongs to another PDB; this PDB is valid. */
        check.id.stamp++;
        bytes = data_read("portable", &n);
        ck_assert(pdb_read(&pdb, bytes, n, &check, &reason));
        pdb_deinit(&pdb);
        bytes = data_read("embedded", &n);
        ck_assert(!pdb_read(&pdb, bytes, n, NULL, &reason));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("pdb");
        TCase *tcase = tcase_create("pdb");

        tcase_add_test(tcase, test_sha256);
        tcase_add_loop_test(tcase, test_points, 0, G_N_ELEMENTS(POINTS));
        tcase_add_test(tcase, test_embedded);
        tcase_add_test(tcase, test_checksum);
        suite_add_tcase(suite, tcase);
        return suite;
}
