/* SPDX-License-Identifier: MIT */
#include "profile/hot-lines.h"

typedef struct HotCount {
        HotLine line;
        uint64_t last; /* number of the last sample that counted for it, + 1 */
} HotCount;

static const Frame *hot_frame(const Profile *profile, uint32_t number)
{
        return &g_array_index(profile->frames, Frame, number);
}

/* LINES: for each frame, the frame that represents its line. */
static void hot_count(const Profile *profile, const uint32_t *lines, HotCount *counts)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        guint i;

        for (i = 0; i < profile->samples->len; i++) {
                const Sample *sample = &g_array_index(profile->samples, Sample, i);
                uint32_t at = sample->node;

                for (; !sample->is_before && at != PROFILE_ROOT; at = nodes[at].parent) {
                        HotCount *count = &counts[lines[nodes[at].frame]];

                        count->line.self += at == sample->node ? sample->count : 0;
                        count->line.total += count->last != (uint64_t)i + 1 ? sample->count : 0;
                        count->last = (uint64_t)i + 1;
                }
        }
}

static void hot_method_free(gpointer data)
{
        HotMethod *method = data;

        g_array_unref(method->lines);
        g_free(method);
}

/* The method of the frame, in the frame's source. METHODS: by frame, its number + 1 in HOT. */
static HotMethod *hot_method(const Profile *profile, uint32_t frame, uint32_t *methods,
                             GPtrArray *hot)
{
        const Frame *row = hot_frame(profile, frame);
        HotMethod *method;

        if (methods[frame])
                return hot->pdata[methods[frame] - 1];
        method = g_new(HotMethod, 1);
        *method = (HotMethod){.frame = frame,
                              .file = row->file,
                              .checksum = row->checksum,
                              .lines = g_array_new(FALSE, FALSE, sizeof(HotLine))};
        g_ptr_array_add(hot, method);
        methods[frame] = hot->len;
        return method;
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
        const HotLine *x = a, *y = b;

        return (x->line > y->line) - (x->line < y->line);
}

static gint compare_methods(gconstpointer a, gconstpointer b)
{
        const HotMethod *x = *(HotMethod *const *)a, *y = *(HotMethod *const *)b;

        if (x->weight != y->weight)
                return x->weight > y->weight ? -1 : 1;
        return (x->frame > y->frame) - (x->frame < y->frame);
}

GPtrArray *hot_lines_new(const Profile *profile)
{
        g_autofree uint32_t *lines = profile_merge_frames(profile, MERGE_ALL_BUT_LINES);
        g_autofree uint32_t *sources = profile_merge_frames(profile, MERGE_ALL_BUT_SOURCES);
        g_autofree HotCount *counts = g_new0(HotCount, profile->frames->len + 1);
        g_autofree uint32_t *methods = g_new0(uint32_t, profile->frames->len + 1);
        GPtrArray *hot = g_ptr_array_new_with_free_func(hot_method_free);
        guint i;

        hot_count(profile, lines, counts);
        for (i = 0; i < profile->frames->len; i++) {
                HotCount *count = &counts[i];
                HotMethod *method;

                if (!hot_frame(profile, i)->file || !count->line.total)
                        continue;
                count->line.line = hot_frame(profile, i)->line;
                method = hot_method(profile, sources[i], methods, hot);
                method->weight += 2 * count->line.self + count->line.total;
                g_array_append_val(method->lines, count->line);
        }
        for (i = 0; i < hot->len; i++)
                g_array_sort(((HotMethod *)hot->pdata[i])->lines, compare_lines);
        g_ptr_array_sort(hot, compare_methods);
        return hot;
}
