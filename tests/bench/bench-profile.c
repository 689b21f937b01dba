/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"
#include "support/profile-folded.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * What a profile costs: 100,000 samples of 40 frames, added and written in each form
 *
 * Stacks are of a made-up program of 2,000 methods: most calls of a method go to a few others, so
 * that stacks have much in common, as real ones have. Each form is written several times, the
 * fastest one counts.
 */

#define N_SAMPLES 100000
#define N_FRAMES  40
#define N_METHODS 2000
#define N_RUNS    3

static const char *const FORMS[] = {".folded", ".speedscope.json", ".pb.gz", ".svg", ".html"};

static double seconds(gint64 begin)
{
        return (double)(g_get_monotonic_time() - begin) / 1e6;
}

static void make_frames(Profile *profile, uint32_t *numbers)
{
        static const char *const TIERS[] = {"OptimizedTier1", "QuickJitted", "ReadyToRun"};
        unsigned i;

        for (i = 0; i < N_METHODS; i++) {
                g_autofree char *name = g_strdup_printf(
                        "Company.Product%u.Part.Type%u.Method%u(int, string)", i % 7, i % 97, i);

                numbers[i] = profile_frame(profile, &(ProfileFrame){.name = name,
                                                                    .module = "Product.dll",
                                                                    .tier = TIERS[i % 3]});
        }
}

static void add_samples(Profile *profile, const uint32_t *numbers)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        uint32_t frames[N_FRAMES];
        unsigned i, j;

        for (i = 0; i < N_SAMPLES; i++) {
                unsigned method = 0;

                for (j = N_FRAMES; j-- > 0;) {
                        int choice = g_rand_int_range(random, 0, 24);

                        method =
                                (method * 31 + (choice < 2 ? 2 + (unsigned)choice : 1)) % N_METHODS;
                        frames[j] = numbers[method];
                }
                profile_add(profile, &(ProfileSample){.comm = i % 3 ? "main" : ".NET TP Worker",
                                                      .pid = 100,
                                                      .tid = 100 + (int)(i % 8),
                                                      .time = i * UINT64_C(1000000),
                                                      .period = 1000000,
                                                      .frames = frames,
                                                      .n_frames = N_FRAMES});
        }
}

int main(void)
{
        static const ProfileOptions OPTIONS = {.title = "Benchmark", .event = "cpu-clock"};
        g_autofree char *directory = g_dir_make_tmp("clrsym-profile-XXXXXX", NULL);
        g_autoptr(Profile) profile = profile_new();
        uint32_t numbers[N_METHODS];
        double folded_time = 0, folded_size = 0;
        gint64 begin = g_get_monotonic_time();
        size_t i;

        if (!directory)
                return 1;
        make_frames(profile, numbers);
        add_samples(profile, numbers);
        printf("added: %d samples of %d frames in %.3f s, %.1f million frames/s\n", N_SAMPLES,
               N_FRAMES, seconds(begin), N_SAMPLES * (double)N_FRAMES / 1e6 / seconds(begin));

        for (i = 0; i < G_N_ELEMENTS(FORMS); i++) {
                g_autofree char *path = g_strdup_printf("%s/x%s", directory, FORMS[i]);
                g_autoptr(GError) error = NULL;
                double best = 0, size;
                GStatBuf st;
                int run;

                for (run = 0; run < N_RUNS; run++) {
                        begin = g_get_monotonic_time();
                        if (!(i == 0 ? profile_write_folded(profile, path, false, &error)
                                     : profile_write(profile, path, &OPTIONS, &error))) {
                                fprintf(stderr, "%s\n", error->message);
                                return 1;
                        }
                        best = run ? MIN(best, seconds(begin)) : seconds(begin);
                }
                if (g_stat(path, &st) < 0)
                        return 1;
                size = (double)st.st_size / 1e6;
                g_unlink(path);
                if (i == 0) {
                        folded_time = best;
                        folded_size = size;
                }
                printf("%-16s %.3f s (%.2f x folded), %7.3f MB (%.2f x folded)\n", FORMS[i], best,
                       best / folded_time, size, size / folded_size);
        }
        g_rmdir(directory);
        return 0;
}
