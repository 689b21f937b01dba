/* SPDX-License-Identifier: MIT */
#include "profile/legend.h"

void legend_init(Legend *legend, const Profile *profile)
{
        const StackNode *nodes = (const StackNode *)(gconstpointer)profile->nodes->data;
        uint32_t i;

        *legend = (Legend){};
        for (i = 0; i < profile->frames->len; i++) {
                const Frame *frame = &g_array_index(profile->frames, Frame, i);

                legend->entries[frame_colour(frame)].is_shown = true;
                legend->has_marked |= frame->is_marked;
        }
        /* Rows of thread names need no explanation. */
        legend->entries[COLOUR_COMM].is_shown = false;
        for (i = 0; i < profile->samples->len; i++) {
                uint32_t node = g_array_index(profile->samples, Sample, i).node;
                const Frame *leaf = &g_array_index(profile->frames, Frame, nodes[node].frame);

                legend->entries[frame_colour(leaf)].self++;
        }
}
