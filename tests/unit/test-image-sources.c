/* SPDX-License-Identifier: MIT */

/* The work for a process with deliberately expensive files is bounded, and does not reduce the work
 * for other processes. */

#include "lines/image-search.h"

#include "support/bundle-file.h"
#include "support/suite.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define N_ASSEMBLIES 8u
#define N_UNPACKED   (100u << 20) /* bytes of an assembly */
#define HOG          1000
#define OTHER        1001

/* Returns N zeros as raw deflate. */
static GBytes *pack_zeros(gsize n)
{
        static uint8_t zeros[1 << 20], packed[1 << 20];
        z_stream stream = {.next_out = packed, .avail_out = sizeof(packed)};

        ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        for (; n > 0; n -= sizeof(zeros)) {
                stream.next_in = zeros;
                stream.avail_in = sizeof(zeros);
                ck_assert_int_eq(deflate(&stream, n == sizeof(zeros) ? Z_FINISH : Z_NO_FLUSH),
                                 n == sizeof(zeros) ? Z_STREAM_END : Z_OK);
        }
        deflateEnd(&stream);
        return g_bytes_new(packed, sizeof(packed) - stream.avail_out);
}

/* Writes a program with the assemblies 0.dll, 1.dll, ... */
static void program_write(const char *path)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GByteArray) header = g_byte_array_new();
        g_autoptr(GBytes) packed = pack_zeros(N_UNPACKED);
        const guint8 kind = 1;
        unsigned i;
        gsize n;
        const void *data = g_bytes_get_data(packed, &n);
        uint64_t at;

        bundle_put_u64(bytes, 0);
        g_byte_array_append(bytes, BUNDLE_MARK, sizeof(BUNDLE_MARK));
        bundle_put_u32(header, 6);
        bundle_put_u32(header, 0);
        bundle_put_u32(header, N_ASSEMBLIES);
        bundle_put_text(header, "id");
        for (i = 0; i < 5; i++)
                bundle_put_u64(header, 0);
        for (i = 0; i < N_ASSEMBLIES; i++) {
                g_autofree char *name = g_strdup_printf("%u.dll", i);

                bundle_put_u64(header, bytes->len);
                bundle_put_u64(header, N_UNPACKED);
                bundle_put_u64(header, n);
                g_byte_array_append(header, &kind, 1);
                bundle_put_text(header, name);
                g_byte_array_append(bytes, data, (guint)n);
        }
        at = GUINT64_TO_LE(bytes->len);
        memcpy(bytes->data, &at, sizeof(at));
        g_byte_array_append(bytes, header->data, header->len);
        ck_assert(g_file_set_contents(path, (const char *)bytes->data, bytes->len, NULL));
}

/* Counts the images; never accepts one. */
static bool count_images(const ImageBytes *image, void *data)
{
        (*(unsigned *)data)++;
        return false;
}

typedef struct SourcesWorld {
        char *directory;
        ImageSources sources;
} SourcesWorld;

/* Creates a program beside its first assembly ("0" beside "0.dll"), and a link for each other
 * assembly. */
static void world_init(SourcesWorld *world)
{
        g_autofree char *program = NULL;
        unsigned i;

        *world = (SourcesWorld){
                .directory = g_dir_make_tmp("clrsym-image-sources-XXXXXX", NULL),
        };
        program = g_build_filename(world->directory, "0", NULL);
        program_write(program);
        for (i = 1; i < N_ASSEMBLIES; i++) {
                g_autofree char *path = g_strdup_printf("%s/%u", world->directory, i);

                ck_assert_int_eq(link(program, path), 0);
        }
}

static void world_deinit(SourcesWorld *world)
{
        unsigned i;

        for (i = 0; i < N_ASSEMBLIES; i++) {
                g_autofree char *path = g_strdup_printf("%s/%u", world->directory, i);

                g_unlink(path);
        }
        g_rmdir(world->directory);
        g_free(world->directory);
        image_sources_deinit(&world->sources);
}

/* Returns the number of offered images. */
static unsigned world_ask(SourcesWorld *world, pid_t process, unsigned assembly)
{
        g_autofree char *path = g_strdup_printf("%s/%u.dll", world->directory, assembly);
        unsigned n = 0;

        world->sources.process = process;
        image_search(&world->sources, 0, path, count_images, &n);
        return n;
}

static const SourceAccount *world_account(const SourcesWorld *world, pid_t process)
{
        size_t i;

        for (i = 0; i < world->sources.n_accounts; i++)
                if (world->sources.accounts[i].pid == process)
                        return &world->sources.accounts[i];
        return NULL;
}

START_TEST(test_unpacked_once)
{
        SourcesWorld world;
        uint64_t work;
        unsigned i;

        world_init(&world);
        ck_assert_uint_eq(world_ask(&world, HOG, 0), 1);
        work = world_account(&world, HOG)->work;
        ck_assert_uint_ge(work, N_UNPACKED);
        for (i = 0; i < 20; i++)
                ck_assert_uint_eq(world_ask(&world, HOG, 0), 1);
        /* Work: the table of files, and the search for the file. */
        ck_assert_uint_le(world_account(&world, HOG)->work - work, 20 * (8u << 20));
        world_deinit(&world);
}
END_TEST

START_TEST(test_budget)
{
        unsigned i, k, n = 0;
        SourcesWorld world;

        world_init(&world);
        for (i = 0; i < 3; i++)
                for (k = 0; k < N_ASSEMBLIES; k++)
                        n += world_ask(&world, HOG, k);
        ck_assert_uint_gt(n, 1);
        ck_assert_uint_lt(n, N_ASSEMBLIES);
        ck_assert_uint_le(world_account(&world, HOG)->work, SOURCES_MAX_WORK + N_UNPACKED * 2);
        ck_assert_int_eq(image_sources_spent(&world.sources), HOG);
        ck_assert_uint_eq(world_ask(&world, OTHER, 0), 1);
        ck_assert_int_eq(image_sources_spent(&world.sources), HOG);
        world_deinit(&world);
}
END_TEST

START_TEST(test_period)
{
        SourcesWorld world = {0};

        image_sources_add_work(&world.sources, HOG, SOURCES_MAX_WORK);
        ck_assert(!image_sources_may_look(&world.sources, HOG));
        ck_assert(image_sources_may_look(&world.sources, OTHER));
        world.sources.accounts[0].since -= SOURCES_PERIOD;
        ck_assert(image_sources_may_look(&world.sources, HOG));
        /* The process is refused, and the report still names it. */
        ck_assert_int_eq(image_sources_spent(&world.sources), HOG);
        image_sources_deinit(&world.sources);
}
END_TEST

START_TEST(test_many_processes)
{
        ImageSources sources = {0};
        pid_t pid;
        size_t i;

        for (pid = 1; pid <= 1024; pid++)
                image_sources_add_work(&sources, pid, 1);
        for (i = 0; i < sources.n_accounts; i++)
                sources.accounts[i].since -= SOURCES_PERIOD;
        image_sources_hold(&sources, 1, 10);
        for (pid = 2000; pid < 2500; pid++)
                image_sources_add_work(&sources, pid, 1);
        ck_assert_uint_eq(sources.n_accounts, 1024);
        ck_assert_int_eq(image_sources_largest(&sources), 1);
        image_sources_deinit(&sources);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("image-sources");
        TCase *tests = tcase_create("image-sources");

        tcase_add_test(tests, test_unpacked_once);
        tcase_add_test(tests, test_budget);
        tcase_add_test(tests, test_period);
        tcase_add_test(tests, test_many_processes);
        tcase_set_timeout(tests, 60);
        suite_add_tcase(suite, tests);
        return suite;
}
