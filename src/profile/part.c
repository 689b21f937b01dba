/* SPDX-License-Identifier: MIT */
#include "profile/data.h"

/* A partial copy of a profile. */
typedef struct Part {
        const Profile *from;
        Profile *to;
        GArray *numbers; /* uint32_t: TO's number of each frame of FROM, + 1; 0: none so far */
        GArray *stack;   /* uint32_t: TO's frames of the sample, the leaf first */
} Part;

static uint32_t part_frame(Part *part, uint32_t number)
{
        uint32_t *known = &g_array_index(part->numbers, uint32_t, number);
        const Frame *frame = &g_array_index(part->from->frames, Frame, number);
        const ProfileFrame row = {.name = frame->name,
                                  .module = frame->module,
                                  .kind = frame->kind,
                                  .tier = frame->tier,
                                  .is_marked = frame->is_marked,
                                  .file = frame->file,
                                  .line = frame->line,
                                  .checksum = frame->checksum};

        if (!*known)
                *known = profile_frame(part->to, &row) + 1;
        return *known - 1;
}

static void part_add(Part *part, const Sample *sample, const Thread *thread)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)part->from->nodes->data;
        uint32_t node;

        g_array_set_size(part->stack, 0);
        for (node = sample->node; nodes[node].parent != PROFILE_ROOT; node = nodes[node].parent) {
                const uint32_t number = part_frame(part, nodes[node].frame);

                g_array_append_val(part->stack, number);
        }
        profile_add(
                part->to,
                &(const ProfileSample){
                        .comm = g_array_index(part->from->frames, Frame, nodes[node].frame).name,
                        .pid = thread->pid,
                        .tid = thread->tid,
                        .time = sample->time,
                        .period = sample->period,
                        .frames = (const uint32_t *)(const void *)part->stack->data,
                        .n_frames = part->stack->len,
                        .n_equal = sample->count - 1,
                        .is_before = sample->is_before,
                });
}

Profile *profile_part(const Profile *profile, ProfileWantsFn wants, void *data)
{
        g_autoptr(GArray) numbers = g_array_new(FALSE, TRUE, sizeof(uint32_t));
        g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        Part part = {profile, profile_new(), numbers, stack};
        guint i;

        g_array_set_size(numbers, profile->frames->len);
        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);
                const Thread *thread = &g_array_index(profile->threads, Thread, sample->thread);

                if (wants(data, thread->pid))
                        part_add(&part, sample, thread);
        }
        return part.to;
}
