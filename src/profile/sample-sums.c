/* SPDX-License-Identifier: MIT */
#include "profile/sample-sums.h"

GArray *sample_sums_new(const Profile *profile)
{
        GArray *sums = g_array_new(FALSE, FALSE, sizeof(SampleSum));
        PairIndex index;
        uint32_t i;

        pair_index_init(&index);
        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);
                const SampleSum new = {.node = sample->node, .thread = sample->thread};
                uint32_t number =
                        pair_index_number(&index, sample->node, sample->thread, sums->len + 1) - 1;
                SampleSum *sum;

                if (number == sums->len)
                        g_array_append_val(sums, new);
                sum = &g_array_index(sums, SampleSum, number);
                sum->n_samples++;
                if (__builtin_add_overflow(sum->period, sample->period, &sum->period))
                        sum->period = UINT64_MAX;
        }
        pair_index_deinit(&index);
        return sums;
}
