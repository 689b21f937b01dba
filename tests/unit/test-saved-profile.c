/* SPDX-License-Identifier: MIT */

/*
 * Named samples, saved and read again: each output is the same as before; damaged files are refused
 */

#include "cli/saved-profile.h"
#include "profile/data.h"
#include "profile/profile-marker.h"
#include "support/suite.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_BYTES (1 << 20)

static const ProfileFrame FRAMES[] = {
        {"A.B.C(int)", "app.dll", FRAME_MANAGED, "OptimizedTier1", false, NULL, 0, NULL},
        {"A.B.C(int)", "app.dll", FRAME_MANAGED, "OptimizedTier1", false, "/src/\xc3\xa9.cs", 12,
         "0123456789012345678901234567890123456789"},
        {"A.B.C(int)", "app.dll", FRAME_MANAGED, "QuickJitted", true, NULL, 0, NULL},
        {NULL, "/usr/lib/libcoreclr.so", FRAME_NATIVE, NULL, false, NULL, 0, NULL},
        {"do_syscall_64", "[kernel.kallsyms]", FRAME_KERNEL, NULL, false, NULL, 0, NULL},
        {NULL, NULL, FRAME_UNKNOWN, NULL, false, NULL, 0, NULL},
        {"\xc3\xa9\x01\"<&;", "\\u{1}", FRAME_MANAGED, NULL, false, NULL, 0, NULL},
};

static const ProfileOptions OPTIONS = {
        .title = "a title", .event = "cpu-clock:pppH", .clock_offset = 1234567890123456789};

static const SavedTarget OWN = {NULL, false};

static Profile *profile_make(void)
{
        static const char *const COMMS[] = {"main", ".NET TP Worker", "", NULL};
        Profile *profile = profile_new();
        uint32_t numbers[G_N_ELEMENTS(FRAMES)];
        unsigned i, k;

        for (i = 0; i < G_N_ELEMENTS(FRAMES); i++)
                numbers[i] = profile_frame(profile, &FRAMES[i]);
        for (i = 0; i < 40; i++) {
                uint32_t stack[5], physical[2] = {numbers[3], numbers[i % 2]};
                ProfileSample sample = {.comm = COMMS[i % 4],
                                        .pid = 7 + (int32_t)(i % 2),
                                        .tid = 70 + (int32_t)(i % 3),
                                        .time = 1000 + 17 * i,
                                        .period = 1 + i,
                                        .frames = stack,
                                        .n_frames = i % 6};

                for (k = 0; k < sample.n_frames; k++)
                        stack[k] = numbers[(i * 7 + k * k) % G_N_ELEMENTS(FRAMES)];
                if (i % 5 == 3) {
                        sample.physical = physical;
                        sample.n_physical = 2;
                }
                profile_add(profile, &sample);
        }
        profile_set_command(profile, 10, "dotnet a.dll \033");
        return profile;
}

static GArray *markers_make(void)
{
        GArray *markers = profile_markers_new();
        unsigned i;

        for (i = 0; i < 9; i++) {
                const ProfileMarker marker = {
                        .kind = (ProfileMarkerKind)(i % 3),
                        .pid = 7 + (int32_t)(i % 2),
                        .tid = 70 + (int32_t)(i % 4),
                        .begin = 1000 + 31 * i,
                        .end = 1000 + 33 * i,
                        .text = g_strdup_printf("generation %u \xc3\xa9<", i)};

                g_array_append_val(markers, marker);
        }
        return markers;
}

static char *written(const Profile *profile, const ProfileOptions *options, const char *path)
{
        char *text;

        ck_assert(profile_write(profile, path, options, NULL));
        ck_assert(g_file_get_contents(path, &text, NULL, NULL));
        g_unlink(path);
        return text;
}

START_TEST(test_saved)
{
        static const char *const NAMES[] = {"a.svg", "a.html", "a.speedscope.json"};
        g_autoptr(GArray) markers = markers_make();
        ProfileOptions options = OPTIONS;
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "a.clrsym", NULL);
        g_autoptr(Profile) profile = profile_make();
        SavedProfile saved;
        size_t i;

        options.markers = markers;
        ck_assert(saved_profile_write(profile, path, &options, NULL));
        ck_assert(saved_profile_is(path));
        ck_assert(saved_profile_read(path, &OWN, &saved, NULL));
        ck_assert_str_eq(saved.options.title, OPTIONS.title);
        ck_assert_str_eq(saved.options.event, OPTIONS.event);
        ck_assert_int_eq(saved.options.clock_offset, OPTIONS.clock_offset);
        ck_assert_uint_eq(profile_n_samples(saved.samples.profile), profile_n_samples(profile));
        ck_assert_ptr_nonnull(saved.options.markers);
        ck_assert_uint_eq(saved.options.markers->len, markers->len);
        for (i = 0; i < markers->len; i++) {
                const ProfileMarker *one = &g_array_index(markers, ProfileMarker, i),
                                    *other =
                                            &g_array_index(saved.options.markers, ProfileMarker, i);

                ck_assert(one->kind == other->kind && one->pid == other->pid &&
                          one->tid == other->tid && one->begin == other->begin &&
                          one->end == other->end);
                ck_assert_str_eq(one->text, other->text);
        }
        for (i = 0; i < G_N_ELEMENTS(NAMES); i++) {
                g_autofree char *output = g_build_filename(directory, NAMES[i], NULL);
                g_autofree char *before = written(profile, &options, output);
                g_autofree char *after = written(saved.samples.profile, &saved.options, output);

                ck_assert_str_eq(before, after);
        }
        saved_profile_clear(&saved);
        /* Read into an existing profile. */
        ck_assert(saved_profile_read(path, &(const SavedTarget){profile, true}, &saved, NULL));
        saved_profile_clear(&saved);
        ck_assert_uint_eq(profile_n_samples(profile), 80);
        for (i = 40; i < 80; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);

                ck_assert_uint_eq(sample->physical, sample->node);
        }
        g_unlink(path);
        ck_assert(!saved_profile_is(path));
        ck_assert(!saved_profile_read(path, &OWN, &saved, NULL));
        g_rmdir(directory);
}
END_TEST

/* Returns the decompressed bytes of a saved file. */
static GBytes *saved_bytes(void)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "a.clrsym", NULL);
        g_autoptr(Profile) profile = profile_make();
        g_autoptr(GArray) markers = markers_make();
        ProfileOptions options = OPTIONS;
        g_autofree uint8_t *bytes = g_malloc(MAX_BYTES);
        gzFile stream;
        int n;

        options.markers = markers;
        ck_assert(saved_profile_write(profile, path, &options, NULL));
        stream = gzopen(path, "rb");
        n = gzread(stream, bytes, MAX_BYTES);
        ck_assert(n > 0 && n < MAX_BYTES);
        gzclose(stream);
        g_unlink(path);
        g_rmdir(directory);
        return g_bytes_new(bytes, (gsize)n);
}

static gzFile stream_of(const void *bytes, size_t n)
{
        int fd = memfd_create("saved", MFD_CLOEXEC);

        ck_assert(fd >= 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
        return gzdopen(fd, "rb");
}

static bool is_read(const void *bytes, size_t n)
{
        gzFile stream = stream_of(bytes, n);
        g_autoptr(GError) error = NULL;
        SavedProfile saved;
        bool ok = saved_profile_read_stream(stream, "x", &OWN, &saved, &error);

        gzclose(stream);
        ck_assert(ok == (error == NULL));
        if (ok)
                saved_profile_clear(&saved);
        return ok;
}

/* A truncated file is refused; a changed byte does no worse harm. */
START_TEST(test_damaged)
{
        g_autoptr(GBytes) whole = saved_bytes();
        gsize n, i;
        const uint8_t *bytes = g_bytes_get_data(whole, &n);
        g_autofree uint8_t *copy = g_memdup2(bytes, n);

        ck_assert(is_read(bytes, n));
        for (i = 0; i < n; i++) {
                ck_assert(!is_read(bytes, i));
                copy[i] ^= 0x80;
                is_read(copy, n);
                copy[i] ^= 0x81;
                is_read(copy, n);
                copy[i] = bytes[i];
        }
}
END_TEST

/* A truncated file is refused, even if it has all samples. */
START_TEST(test_cut)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "a.clrsym", NULL), *bytes = NULL;
        g_autoptr(Profile) profile = profile_make();
        SavedProfile saved;
        gsize n;

        ck_assert(saved_profile_write(profile, path, &OPTIONS, NULL));
        ck_assert(g_file_get_contents(path, &bytes, &n, NULL));
        while (n-- > 0) {
                g_autoptr(GError) error = NULL;

                ck_assert_int_eq(truncate(path, (off_t)n), 0);
                ck_assert(!saved_profile_read(path, &OWN, &saved, &error));
                ck_assert_ptr_nonnull(error);
        }
        g_unlink(path);
        g_rmdir(directory);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("saved-profile");
        TCase *tcase = tcase_create("saved-profile");

        tcase_add_test(tcase, test_saved);
        tcase_add_test(tcase, test_damaged);
        tcase_add_test(tcase, test_cut);
        suite_add_tcase(suite, tcase);
        return suite;
}
