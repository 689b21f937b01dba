/* SPDX-License-Identifier: MIT */
#include "cli/perf-profile.h"

#include "clrsym/clrsym.h"

static void take_frame(void *data, const StreamFrame *frame, const char *name, const char *module)
{
        static const FrameKind KINDS[_STREAM_KIND_MAX] = {
                [STREAM_MANAGED] = FRAME_MANAGED,
                [STREAM_NATIVE] = FRAME_NATIVE,
                [STREAM_KERNEL] = FRAME_KERNEL,
                [STREAM_UNKNOWN] = FRAME_UNKNOWN,
        };
        PerfProfile *profile = data;
        const ProfileFrame row = {
                .name = frame->n_name ? name : NULL,
                .module = frame->n_module ? module : NULL,
                .kind = KINDS[frame->kind],
                .tier = frame->kind == STREAM_MANAGED && frame->tier != CLRSYM_TIER_UNKNOWN
                                ? clrsym_tier_name((clrsym_tier)frame->tier)
                                : NULL,
                .is_marked = frame->is_marked,
        };
        uint32_t number = profile_frame(profile->profile, &row);

        g_array_append_val(profile->frames, number);
}

static void take_sample(void *data, const StreamSample *sample, const char *comm, const char *event,
                        const uint32_t *frames, size_t n)
{
        PerfProfile *profile = data;
        ProfileSample row = {
                .comm = comm,
                .pid = sample->pid,
                .tid = sample->tid,
                .time = sample->time,
                .period = sample->period,
                .n_frames = n,
        };
        size_t i;

        g_array_set_size(profile->stack, 0);
        for (i = 0; i < n; i++)
                g_array_append_val(profile->stack,
                                   g_array_index(profile->frames, uint32_t, frames[i]));
        row.frames = (const uint32_t *)(const void *)profile->stack->data;
        profile_add(profile->profile, &row);
}

static const StreamCalls CALLS = {take_frame, take_sample};

void perf_profile_init(PerfProfile *profile)
{
        *profile = (PerfProfile){
                .profile = profile_new(),
                .reader = stream_reader_new(&CALLS, profile),
                .frames = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                .stack = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        };
}

void perf_profile_deinit(PerfProfile *profile)
{
        g_clear_pointer(&profile->profile, profile_free);
        g_clear_pointer(&profile->reader, stream_reader_free);
        g_clear_pointer(&profile->frames, g_array_unref);
        g_clear_pointer(&profile->stack, g_array_unref);
}

bool perf_profile_take(const char *bytes, size_t n, void *data)
{
        PerfProfile *profile = data;

        return profile->reader && stream_reader_take(profile->reader, bytes, n);
}
