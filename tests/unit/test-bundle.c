/* SPDX-License-Identifier: MIT */

/* Assemblies in the file of a single-file program, of each version of its header. */

#include "lines/bundle.h"

#include "support/bundle-file.h"
#include "support/suite.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/* Compresses TEXT as raw deflate. */
static GBytes *pack(const char *text)
{
        uint8_t buffer[4096];
        z_stream stream = {.next_in = (z_const Bytef *)text,
                           .avail_in = (uInt)strlen(text),
                           .next_out = buffer,
                           .avail_out = sizeof(buffer)};

        ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
        deflateEnd(&stream);
        return g_bytes_new(buffer, sizeof(buffer) - stream.avail_out);
}

typedef struct TestFile {
        const char *path, *text;
        bool is_packed;
} TestFile;

static const TestFile FILES[] = {
        {"App.dll", "the program", false},
        {"de/App.resources.dll", "words", false},
        {"Lib.dll", "one that is older", false},
        {"more/Lib.dll", "the library, the library, the library, the library", true},
};

/* Creates a program file with LEAD bytes before its mark. Returns the file descriptor. */
static int host_make(uint32_t version, guint lead)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GByteArray) header = g_byte_array_new();
        g_autofree char *name = g_strnfill(200, 'x');
        int fd = memfd_create("host", MFD_CLOEXEC);
        uint64_t at;
        size_t i;

        g_byte_array_set_size(bytes, lead);
        if (lead)
                memset(bytes->data, 0, lead);
        bundle_put_u64(bytes, 0);
        g_byte_array_append(bytes, BUNDLE_MARK, sizeof(BUNDLE_MARK));
        bundle_put_u32(header, version);
        bundle_put_u32(header, 0);
        bundle_put_u32(header, G_N_ELEMENTS(FILES));
        bundle_put_text(header, name);
        for (i = 0; version >= 2 && i < 5; i++)
                bundle_put_u64(header, 0);
        for (i = 0; i < G_N_ELEMENTS(FILES); i++) {
                const TestFile *file = &FILES[i];
                const bool is_packed = file->is_packed && version >= 6;
                g_autoptr(GBytes) packed = is_packed ? pack(file->text) : NULL;
                gsize n = strlen(file->text);
                const void *data = is_packed ? g_bytes_get_data(packed, &n) : file->text;
                const guint8 kind = 1;

                bundle_put_u64(header, bytes->len);
                bundle_put_u64(header, strlen(file->text));
                if (version >= 6)
                        bundle_put_u64(header, is_packed ? n : 0);
                g_byte_array_append(header, &kind, 1);
                bundle_put_text(header, file->path);
                g_byte_array_append(bytes, data, (guint)n);
        }
        at = GUINT64_TO_LE(bytes->len);
        memcpy(bytes->data + lead, &at, sizeof(at));
        g_byte_array_append(bytes, header->data, header->len);
        ck_assert(fd >= 0 && pwrite(fd, bytes->data, bytes->len, 0) == (ssize_t)bytes->len);
        return fd;
}

/* The images that were offered: one word each, and the text at the begin of the last image. */
typedef struct Seen {
        const char *wanted;
        unsigned n;
} Seen;

static bool see(const ImageBytes *image, void *data)
{
        char text[256] = "";
        Seen *seen = data;

        ck_assert_int_gt(pread(image->fd, text, strlen(seen->wanted), (off_t)image->begin), 0);
        seen->n++;
        return !strcmp(text, seen->wanted);
}

static bool find(int host, const char *path, const char *wanted, unsigned n)
{
        Seen seen = {.wanted = wanted};
        Bundles bundles = {0};
        uint64_t work = 0;
        bool is_found = bundles_find_image_in(&bundles, host, path, &work, see, &seen);

        bundles_deinit(&bundles);
        ck_assert_uint_eq(seen.n, n);
        return is_found;
}

/* The mark is found at any offset, also across the border of two read blocks. */
START_TEST(test_versions)
{
        static const guint LEADS[] = {0, 8, 5000, (1 << 20) - 20, (1 << 20) - 40, 3 << 20};
        static const uint32_t VERSIONS[] = {1, 2, 6};
        size_t i, k;

        for (i = 0; i < G_N_ELEMENTS(LEADS); i++)
                for (k = 0; k < G_N_ELEMENTS(VERSIONS); k++) {
                        int host = host_make(VERSIONS[k], LEADS[i]);

                        ck_assert(find(host, "/a/App.dll", "the program", 1));
                        ck_assert(find(host, "/a/Lib.dll", FILES[2].text, 1));
                        ck_assert(find(host, "/a/more/Lib.dll", FILES[3].text, 1));
                        ck_assert(!find(host, "/a/Lib.dll", "another", 1));
                        ck_assert(!find(host, "/a/Another.Lib.dll", "another", 0));
                        ck_assert(!find(host, "/a/app.dll", "the program", 0));
                        ck_assert(!find(host, "/a/", "the program", 0));
                        close(host);
                }
}
END_TEST

/* Images by the offset of a byte; a compressed image has no offset. */
START_TEST(test_at)
{
        static const uint32_t VERSIONS[] = {1, 6};
        size_t i, k;

        for (i = 0; i < G_N_ELEMENTS(VERSIONS); i++) {
                int host = host_make(VERSIONS[i], 4096);
                Bundles bundles = {0};
                uint64_t work = 0;
                uint64_t at = 4096 + 8 + sizeof(BUNDLE_MARK);
                BundleFile file;

                ck_assert(!bundles_find_at(&bundles, host, at - 1, &work, &file));
                for (k = 0; k < G_N_ELEMENTS(FILES); k++) {
                        const size_t n = strlen(FILES[k].text);

                        if (FILES[k].is_packed && VERSIONS[i] >= 6)
                                break;
                        ck_assert(bundles_find_at(&bundles, host, at, &work, &file));
                        ck_assert(bundles_find_at(&bundles, host, at + n - 1, &work, &file));
                        ck_assert_uint_eq(file.begin, at);
                        ck_assert_uint_eq(file.size, n);
                        ck_assert(g_str_has_suffix(FILES[k].path, file.name));
                        ck_assert_ptr_null(strchr(file.name, '/'));
                        at += n;
                }
                ck_assert(!bundles_find_at(&bundles, host, at, &work, &file));
                ck_assert(!bundles_find_at(&bundles, host, UINT64_MAX, &work, &file));
                ck_assert(bundle_is_packed(host) == (VERSIONS[i] >= 6));
                bundles_deinit(&bundles);
                close(host);
        }
}
END_TEST

START_TEST(test_others)
{
        int host = host_make(7, 0), empty = memfd_create("empty", MFD_CLOEXEC);

        ck_assert(!find(host, "App.dll", "the program", 0));
        ck_assert(!find(empty, "App.dll", "the program", 0));
        /* A program with the mark, but without a bundle. */
        ck_assert_int_eq(pwrite(empty, "\0\0\0\0\0\0\0\0", 8, 0), 8);
        ck_assert_int_eq(pwrite(empty, BUNDLE_MARK, sizeof(BUNDLE_MARK), 8), sizeof(BUNDLE_MARK));
        ck_assert(!find(empty, "App.dll", "the program", 0));
        ck_assert(!bundle_is_packed(host) && !bundle_is_packed(empty));
        close(host);
        close(empty);
}
END_TEST

static bool write_all(const char *path, int host)
{
        char bytes[65536];
        ssize_t n = pread(host, bytes, sizeof(bytes), 0);

        return n > 0 && g_file_set_contents(path, bytes, n, NULL);
}

/* A bundle beside the recorded path. */
START_TEST(test_beside)
{
        g_autofree char *dir = g_dir_make_tmp("bundle-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(dir, "App", NULL);
        g_autofree char *module = g_strconcat(path, ".dll", NULL);
        int host = host_make(6, 100), root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        Seen seen = {.wanted = "the program"};
        Bundles bundles = {0};
        uint64_t work = 0;

        ck_assert(write_all(path, host));
        ck_assert(bundles_find_image(&bundles, 0, root, module, &work, see, &seen));
        ck_assert(!bundles_find_image(&bundles, 0, root, path, &work, see, &seen));
        /* This process has no bundle. */
        ck_assert(!bundles_find_image(&bundles, getpid(), root, module, &work, see, &seen));
        bundles_deinit(&bundles);
        close(host);
        close(root);
        g_unlink(path);
        g_rmdir(dir);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("bundle");
        TCase *tcase = tcase_create("bundle");

        tcase_add_test(tcase, test_versions);
        tcase_add_test(tcase, test_at);
        tcase_add_test(tcase, test_others);
        tcase_add_test(tcase, test_beside);
        suite_add_tcase(suite, tcase);
        return suite;
}
